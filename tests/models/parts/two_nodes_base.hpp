// Two nodes of a circuit, joined by a varactor. A current enters one and leaves the other, so that p is constant: the computed
// p' is the rounding error of terms of the current's size. The charge of the varactor, capacity asinh(q - p), grows by current t,
// and falls at that rate from `turns_at` on. The models that use this base differ in the form of their equations; all of them may
// be scaled, which changes nothing.
#pragma once

#include <saltus.hpp>

struct two_nodes_base {
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};

  enum state { p, q };
  static constexpr saltus::variable<state> state_list[] = {{p, 5.0, "V", "held"}, {q, -2.5, "V", "charged"}};
  enum parameter { current, ground, capacity, scale, turns_at };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {current, 1.0, "A", "into q, out of p"},
      {ground, 0.3, "F", "from p to ground"},
      {capacity, 0.24, "F", "between the nodes, where they are level"},
      {scale, 1.0, "1", "of all equations"},
      {turns_at, 1e6, "s", "when the current turns"},
  };
  enum discrete { direction };
  static constexpr saltus::variable<discrete> discrete_list[] = {{direction, 1.0, "1", "of the current"}};
  enum time_event { turn };
  static constexpr saltus::timed<time_event> time_event_list[] = {{turn, "the current turns"}};

  static auto between(const auto& at) {
    const auto v = at[q] - at[p];
    return at[capacity] / sqrt(1.0 + v * v);
  }
  static void time_events(const auto& at, auto& when) { when.at(turn, at[turns_at]); }
  static void transition(auto& now) { now[direction] = -now[direction]; }
};
