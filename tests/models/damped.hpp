// x = exp(-s / 10) cos(2 s), s = t + start, and its velocity.
#include <saltus.hpp>

struct damped {
  static constexpr auto title = "damped oscillator";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "elongation"}, {v, -0.1, "1", "velocity"}};
  enum parameter { start };
  static constexpr saltus::variable<parameter> parameter_list[] = {{start, 0.0, "s", "time by which it begins later"}};
  static void initial(auto& at) {
    const auto size = exp(-0.1 * at[start]), c = cos(2.0 * at[start]), s = sin(2.0 * at[start]);
    at[x] = size * c;
    at[v] = size * (-0.1 * c - 2.0 * s);
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -0.2 * at[v] - 4.01 * at[x];
  }
};
