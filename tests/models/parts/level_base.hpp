// A level with a guard, and a force that asks on which side of it the position is.
#pragma once

#include <saltus.hpp>

struct with_level {
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum parameter { w, level, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {w, 2.0, "1/s", "angular frequency"}, {level, 0.05, "m", "of the guard"}, {k, 1.0, "m/s2", "force beyond it"}};
  enum guard { passes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::both, saltus::bilateral, "the position passes the level"}};

  static auto push(const auto& at, const auto& position) { return select(position > at[level], at[k], 0.0 * at[k]); }
};
