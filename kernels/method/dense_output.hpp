// The solution between the ends of a step. The dense output of a method is the object that `interpolate` returns. Detection, location and
// samples evaluate it within the step, and a certified search expands it as a polynomial; none depends on its inner form. Runge-Kutta
// methods share one type; a method with polynomials of another form brings its own.
#pragma once

#include "method/method_concept.hpp"

namespace saltus {

///  The interface of a dense output, as a function of s in [0, 1]:
///     p(s), p.slope(s)         y(s) and dy/ds
///     p.t, p.h, p.y0           start time, length, and y(0)
///     terms                    the degree of its polynomials
///     p.expand(i, middle, c)   component i as sum over k of c[k] (s - middle)^k; returns size_of_terms(i) without y0
///     p.size_of_terms(i)       the sum of the magnitudes of all summands of component i: rounding in them may amount to
///                              2 (terms + 2) epsilons of this sum
template <class Interpolant, class Real>
concept is_interpolant = requires(const Interpolant& p, Real s, int i, Real (&c)[Interpolant::terms + 1]) {
  s = p(s)[0];
  s = p.slope(s)[0];
  s = p.t;
  s = p.h;
  s = p.y0[0];
  s = p.expand(i, s, c);
  s = p.size_of_terms(i);
};

/// The dense output of Runge-Kutta methods: cubic Hermite plus the method's own terms, in Hairer's nested form
///   y(s) = y0 + s (D + (1-s) (F1 + s (F2 + (1-s) (F3 + s (F4 + (1-s) (F5 + s F6)))))),  s in [0, 1].
template <class Method, class Real, int n>
struct dense_output {
  static constexpr int terms = 3 + Method::dense_rows;
  Real t, h;
  vec<Real, n> y0, y1;
  vec<Real, n> term[terms];

  SALTUS_FN vec<Real, n> operator()(Real s) const {
    const Real r = Real(1.0) - s;
    vec<Real, n> y;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real sum = term[terms - 1][i];
      static_for<terms - 1>([&](auto back) SALTUS_INLINE_LAMBDA {
        constexpr int j = terms - 2 - back;
        sum = fma(j % 2 == 0 ? r : s, sum, term[j][i]);
      });
      y[i] = fma(s, sum, y0[i]);
    });
    return y;
  }

  /// dy/ds: the derivative of the nested form, by the product rule from the inside out.
  SALTUS_FN vec<Real, n> slope(Real s) const {
    const Real r = Real(1.0) - s;
    vec<Real, n> dy;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real sum = term[terms - 1][i], d = Real(0.0);
      static_for<terms - 1>([&](auto back) SALTUS_INLINE_LAMBDA {
        constexpr int j = terms - 2 - back;
        if constexpr (j % 2 == 0) {
          d = fma(r, d, -sum);
          sum = fma(r, sum, term[j][i]);
        } else {
          d = fma(s, d, sum);
          sum = fma(s, sum, term[j][i]);
        }
      });
      dy[i] = fma(s, d, sum);
    });
    return dy;
  }

  /// Component i as a polynomial in u = s - middle, c[0] + c[1] u + ... + c[terms] u^terms: the nested form multiplied out.
  /// Returns the sum of the magnitudes of the terms behind y0.
  SALTUS_FN Real expand(int i, Real middle, Real (&c)[terms + 1]) const {
    const Real rest = Real(1.0) - middle;
    c[0] = term[terms - 1][i];
    Real size = abs(c[0]);
    static_for<terms>([&](auto back) SALTUS_INLINE_LAMBDA {
      constexpr int j = terms - 2 - back;  // the factor in front is s where j is odd, 1 - s where it is even
      const Real factor = j % 2 != 0 ? middle : rest;
      const Real sign = Real(j % 2 != 0 ? 1.0 : -1.0);
      const Real next = j >= 0 ? term[j >= 0 ? j : 0][i] : y0[i];
      c[back + 1] = sign * c[back];
      for (int k = back; k > 0; --k) c[k] = fma(factor, c[k], sign * c[k - 1]);
      c[0] = fma(factor, c[0], next);
      if constexpr (j >= 0) size = size + abs(next);
    });
    return size;
  }

  /// The sum of the magnitudes of all terms of component i; a few epsilon times this bounds the rounding error.
  SALTUS_FN Real size_of_terms(int i) const {
    Real size = abs(y0[i]);
    for (int j = 0; j < terms; ++j) size = size + abs(term[j][i]);
    return size;
  }
};

namespace detail {
/// The cubic Hermite part of a dense output.
template <class Method, class Real, int n>
SALTUS_FN dense_output<Method, Real, n> hermite(const stages<Method, Real, n>& s) {
  dense_output<Method, Real, n> q;
  q.t = s.t;
  q.h = s.h;
  q.y0 = s.y;
  q.y1 = s.y1;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real D = s.y1[i] - s.y[i];
    q.term[0][i] = D;
    q.term[1][i] = fma(s.h, s.f0()[i], -D);
    q.term[2][i] = fma(-s.h, s.f0()[i] + s.f1()[i], D + D);
  });
  return q;
}
}  // namespace detail

}  // namespace saltus
