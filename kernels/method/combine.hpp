// Sums of vectors with compile-time coefficients: rows of a tableau over the stages of a step.
#pragma once

#include "number/base.hpp"
#include "number/real.hpp"

namespace saltus::detail {

/// Component i of the sum over j < Count of coefficient(j) k[j]; zero coefficients cost nothing.
template <int Count, class Coefficient, class Real, int n, int S>
SALTUS_FN Real combine(const vec<Real, n> (&k)[S], int i, Coefficient) {
  Real sum = Real(0.0);
  bool first = true;
  static_for<Count>([&](auto j) SALTUS_INLINE_LAMBDA {
    constexpr double w = Coefficient{}(constant<decltype(j)::value>{});
    if constexpr (w != 0.0) {
      sum = first ? SALTUS_COEFFICIENT(Real, w) * k[j][i] : fma(SALTUS_COEFFICIENT(Real, w), k[j][i], sum);
      first = false;
    }
  });
  return sum;
}

/// All components of this sum.
template <int Count, class Coefficient, class Real, int n, int S>
SALTUS_FN vec<Real, n> combine(const vec<Real, n> (&k)[S], Coefficient coefficient) {
  vec<Real, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = combine<Count>(k, i, coefficient); });
  return r;
}

/// Its first m components.
template <int Count, int m, class Coefficient, class Real, int n, int S>
SALTUS_FN vec<Real, m> combine(const vec<Real, n> (&k)[S], Coefficient coefficient) {
  vec<Real, m> r;
  each<m>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = combine<Count>(k, i, coefficient); });
  return r;
}

/// base + sum over j < Count of coefficient(j) k[j].
template <int Count, class Coefficient, class Real, int n, int S>
SALTUS_FN vec<Real, n> combine_onto(vec<Real, n> base, const vec<Real, n> (&k)[S], Coefficient) {
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    static_for<Count>([&](auto j) SALTUS_INLINE_LAMBDA {
      constexpr double w = Coefficient{}(constant<decltype(j)::value>{});
      if constexpr (w != 0.0) base[i] = fma(SALTUS_COEFFICIENT(Real, w), k[j][i], base[i]);
    });
  });
  return base;
}

}  // namespace saltus::detail
