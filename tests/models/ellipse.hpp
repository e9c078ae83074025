// Inconsistent starts and the points that they are moved to: on an ellipse, or on a line.
#include <saltus.hpp>

struct ellipse {
  static constexpr auto title = "Ellipse or line";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { x, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "constant"},
      saltus::variable<state>{z, 1.0, "1", "on an ellipse with x, or on a line"}.algebraic(),
  };
  enum parameter { curved, long_axis };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {curved, 1.0, "1", "1: x^2 / long_axis^2 + z^2 = 1; 0: x + 2 z = 5"},
      {long_axis, 1.0, "1", "of the ellipse"},
  };
  static void rhs(const auto& at, auto& dy) {
    const auto part = at[x] / at[long_axis];
    dy[x] = 0.0 * at[x];
    dy[z] = at[curved] * (part * part + at[z] * at[z] - 1.0) + (1.0 - at[curved]) * (at[x] + 2.0 * at[z] - 5.0);
  }
};
