// x_0 = sin t, and each other unknown is the derivative of the one before it: index N, no degree of freedom. The solution is
//
//     x_k = sin(t + k pi / 2),    k = 0 .. N - 1
#pragma once
#include <saltus.hpp>

template <int N>
struct index_chain_of {
  static constexpr auto source = "textbook; x_k is the k-th derivative of sin t";
  static constexpr double span[] = {0.0, 10.0};

  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{x, 0.0, "1", "a derivative of sin t"}.of(N)};

  static void residual(const auto& at, auto& r) {
    for (int k = 0; k + 1 < N; ++k) r(x, k) = at.d(x, k, 1) - at(x, k + 1);
    r(x, N - 1) = at(x, 0) - sin(at.t);
  }
};
