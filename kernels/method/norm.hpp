// Norms of errors.
#pragma once

#include "abi/choices.hpp"
#include "number/real.hpp"

namespace saltus {

///  The square of an error norm of the first m states: a step is accepted if this is <= 1 (a NaN never is).
///   rms      Haug, Negrut, Engstler eq. 60: root mean square of e_i / (atol_i + rtol max(|y0_i|, |y1_i|))
///   max      the largest of these ratios
///   compere  Compere eq. 5.8: max |e_i| / (rtol max(max |y_i|, 1))
template <norm_kind Norm, class Real, int m, int n, int l>
SALTUS_FN Real scaled_norm_squared(const vec<Real, l>& e, const vec<Real, n>& y0, const vec<Real, n>& y1, Real rtol,
                                   const vec<Real, m>& atol) {
  Real sum = Real(0.0);
  if constexpr (Norm == norm_kind::compere) {
    Real largest = Real(1.0), error = Real(0.0);
    each<m>([&](int i) SALTUS_INLINE_LAMBDA {
      largest = max(largest, abs(y1[i]));
      error = max(error, abs(e[i])) + not_finite(e[i]);  // max() may drop a NaN, a sum cannot
    });
    const Real r = rough_quotient(error, rtol * largest);
    return r * r;
  } else {
    each<m>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real scale = fma(rtol, max(abs(y0[i]), abs(y1[i])), atol[i]);
      const Real r = rough_quotient(e[i], scale);
      if constexpr (Norm == norm_kind::rms) sum = fma(r, r, sum);
      else sum = max(sum, r * r) + not_finite(r);
    });
    return Norm == norm_kind::rms ? sum * Real(1.0 / m) : sum;
  }
}

/// The inverse scales of components, from the state y alone: for norms of many terms of one step.
template <norm_kind Norm, class Real, int m, int n>
SALTUS_FN vec<Real, m> inverse_scales(const vec<Real, n>& y, Real rtol, const vec<Real, m>& atol) {
  Real largest = Real(1.0);
  if constexpr (Norm == norm_kind::compere)
    each<m>([&](int i) SALTUS_INLINE_LAMBDA { largest = max(largest, abs(y[i])); });
  vec<Real, m> inverse;
  each<m>([&](int i) SALTUS_INLINE_LAMBDA {
    inverse[i] = Real(1.0) / (Norm == norm_kind::compere ? rtol * largest : fma(rtol, abs(y[i]), atol[i]));
  });
  return inverse;
}
/// The square of the norm of a term with these scales; it equals scaled_norm_squared up to rounding.
template <norm_kind Norm, class Real, int m, int n>
SALTUS_FN Real norm_squared(const vec<Real, n>& e, const vec<Real, m>& inverse_scale) {
  Real sum = Real(0.0);
  each<m>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real r = e[i] * inverse_scale[i];
    if constexpr (Norm == norm_kind::rms) sum = fma(r, r, sum);
    else sum = max(sum, r * r) + not_finite(r);
  });
  return Norm == norm_kind::rms ? sum * Real(1.0 / m) : sum;
}

}  // namespace saltus
