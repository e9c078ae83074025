// What a method makes of its stages, in floating-point operations. Host side only.
#pragma once

#include "method/low_storage.hpp"
#include "number/counted.hpp"

namespace saltus {

namespace detail {

/// Of one step of n states whose right-hand side is free, counted by taking it.
template <class Method, int n>
int operations_of_step() {
  using Real = pack<counted>;
  vec<Real, n> y, f;
  for (int i = 0; i < n; ++i) y[i] = f[i] = Real(1.0);
  const auto count = count_operations([&] {
    const auto s = step<Method>([&](Real, const vec<Real, n>&) { return f; }, Real(0.0), y, f, Real(0.5));
    local_error(s);
  });
  return static_cast<int>(count.flops);
}

}  // namespace detail

/// Of one step of an explicit method for each state: weighted sums of the stages, and the estimate of the error.
template <class Method>
int operations_per_state() {
  return detail::operations_of_step<Method, 2>() - detail::operations_of_step<Method, 1>();
}

}  // namespace saltus
