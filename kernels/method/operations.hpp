// Floating-point operations of a method on its stages. Host side only.
#pragma once

#include "method/low_storage.hpp"
#include "number/counted.hpp"

namespace saltus {

namespace detail {

/// Operations of one step of n states with a free right-hand side, counted by taking such a step.
template <class Method, int n>
int operations_of_step() {
  using Real = pack<counted>;
  vec<Real, n> y, f;
  for (int i = 0; i < n; ++i) y[i] = f[i] = Real(1.0);
  const auto count = count_operations([&] {
    const auto s =
        step<Method>([&](Real, const vec<Real, n>&) { return f; }, solution_point{Real(0.0), y, f}, Real(0.5));
    local_error(s);
  });
  return static_cast<int>(count.flops);
}

}  // namespace detail

/// Operations of one step of an explicit method per state: weighted sums of the stages, and the error estimate.
template <class Method>
int operations_per_state() {
  return detail::operations_of_step<Method, 2>() - detail::operations_of_step<Method, 1>();
}

}  // namespace saltus
