// The smallest change that satisfies linear equations: at most as many equations as unknowns.
#pragma once

#include "linear/lu.hpp"

namespace saltus {

template <class Real, int n>
struct smallest_change {
  vec<Real, n> x;
  Real dependent;  ///< the first equation that depends on those before it, and is left out; -1: none
  Real least, of;  ///< smallest norm of a row's part orthogonal to the rows before it, at most 1; and that row
};

/// The shortest x with (A x)_i = b_i for the rows i with is_row(i), the same rows in all lanes. By Gram and Schmidt, each row against those
/// before it twice, which is as accurate as reflections (Giraud, Langou, Rozloznik, Numer. Math. 101 (2005) 87).
template <class Real, int n, class Rows>
SALTUS_FN_COLD smallest_change<Real, n> least_change(const matrix<Real, n>& a, const vec<Real, n>& b, Rows&& is_row) {
  constexpr double negligible = 0x1p10 * limits<scalar_of<Real>>::epsilon;  // relative norm of a row's orthogonal part
  matrix<Real, n> q;
  vec<Real, n> along;
  smallest_change<Real, n> r;
  r.dependent = r.of = Real(-1.0);
  r.least = Real(1.0);
  for (int j = 0; j < n; ++j) r.x[j] = Real(0.0);
  for (int i = 0; i < n; ++i) {
    if (!is_row(i)) continue;
    Real rest = b[i], whole = Real(0.0), own = Real(0.0);
    for (int j = 0; j < n; ++j) {
      q[i][j] = a[i][j];
      whole = fma(a[i][j], a[i][j], whole);
    }
    for (int turn = 0; turn < 2; ++turn)
      for (int l = 0; l < i; ++l) {
        if (!is_row(l)) continue;
        Real part = Real(0.0);
        for (int j = 0; j < n; ++j) part = fma(q[l][j], q[i][j], part);
        for (int j = 0; j < n; ++j) q[i][j] = fma(-part, q[l][j], q[i][j]);
        rest = fma(-part, along[l], rest);
      }
    for (int j = 0; j < n; ++j) own = fma(q[i][j], q[i][j], own);
    const Real number(static_cast<double>(i));
    const auto is_dependent = !(own > Real(negligible * negligible) * whole);
    r.dependent = select(is_dependent & (r.dependent < Real(0.0)), number, r.dependent);
    const Real length = select(own > Real(0.0), sqrt(own), Real(0.0));
    r.of = select(length < r.least, number, r.of);
    r.least = min(r.least, length);
    const Real inverse = select(is_dependent, Real(0.0), Real(1.0) / length);
    along[i] = rest * inverse;
    for (int j = 0; j < n; ++j) {
      q[i][j] = q[i][j] * inverse;
      r.x[j] = fma(along[i], q[i][j], r.x[j]);
    }
  }
  return r;
}

}  // namespace saltus
