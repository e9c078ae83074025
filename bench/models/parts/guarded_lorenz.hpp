// problems/lorenz.hpp with guards that never fire, to measure the cost of detection.
#pragma once

#include "../../../problems/lorenz.hpp"

template <int N>
struct guarded_lorenz {
  using chaos = lorenz;
  static constexpr auto source = "problems/lorenz.hpp, with guards";
  static constexpr const auto& span = chaos::span;

  using state = chaos::state;
  using parameter = chaos::parameter;
  static constexpr const auto& state_list = chaos::state_list;
  static constexpr const auto& parameter_list = chaos::parameter_list;

  enum guard { far };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{far, saltus::both, saltus::bilateral, "far away"}.of(N),
  };

  static void rhs(const auto& at, auto& dy) { chaos::rhs(at, dy); }

  // One of any two guards falls while the other rises, and none comes near zero.
  static void guards(const auto& at, auto& g) {
    constexpr chaos::state watched[] = {chaos::x, chaos::y, chaos::z, chaos::x};
    for (int i = 0; i < N; ++i) g(far, i) = i % 2 == 0 ? 1e3 - at[watched[i]] : 1e3 + at[watched[i]];
  }
};
