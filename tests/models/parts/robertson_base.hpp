// Common part of the forms of Robertson's reactions with y_3 from the conservation of mass.
#pragma once

#include <saltus.hpp>

struct robertson_base {
  static constexpr auto source = "E. Hairer, G. Wanner, Solving ODEs II, eq. IV.1.4";
  static constexpr double span[] = {0.0, 40.0};
  enum state { y1, y2, y3 };
  static constexpr saltus::variable<state> state_list[] = {
      {y1, 1.0, "1", "of A"},
      {y2, 0.0, "1", "of B"},
      saltus::variable<state>{y3, 0.5, "1", "of C; a bad guess"}.algebraic(),
  };
  static auto first(const auto& at) { return 1e4 * at[y2] * at[y3] - 0.04 * at[y1]; }
  static auto second(const auto& at) { return -first(at) - 3e7 * at[y2] * at[y2]; }
  static auto conserved(const auto& at) { return at[y1] + at[y2] + at[y3] - 1.0; }
};
