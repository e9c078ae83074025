// Common part of the models of a guard that starts at zero with zero time derivative.
#pragma once

#include <saltus.hpp>

struct flat_base {
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v, force };
  enum parameter { a, b, anew };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {a, 1.0, "1", "downward"}, {b, 1.0, "1", "upward"}, {anew, 5.0, "s", "when x begins again"}};
  enum discrete { since };
  static constexpr saltus::variable<discrete> discrete_list[] = {{since, 0.0, "s", "when x began"}};
  enum guard { any };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {any, saltus::both, saltus::bilateral, "x passes zero"}};
  enum time_event { restart };
  static constexpr saltus::timed<time_event> time_event_list[] = {{restart, "x begins anew"}};
  static void guards(const auto& at, auto& g) { g[any] = at[x]; }
  static void time_events(const auto& at, auto& when) { when.at(restart, at[anew]); }
  static void transition(auto& now) {
    if (!now.due(restart)) return;
    now[x] = now[v] = 0.0;
    now[since] = now[anew];
  }
};
