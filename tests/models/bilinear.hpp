// x'' = -x above zero, x'' = -4 x below: half waves of duration pi and pi / 2. Runs forward and backward.
#include <saltus.hpp>

struct bilinear {
  static constexpr auto title = "an oscillator with two stiffnesses";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "m", "position"}, {v, 0.0, "m/s", "velocity"}};
  enum guard { zero, out, back };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {zero, saltus::both, saltus::bilateral, "x passes zero: the stiffness changes"},
      {out, saltus::rising, saltus::bilateral, "x passes 1/2 upwards, in the direction of integration"},
      {back, saltus::falling, saltus::bilateral, "x passes 1/2 downwards, in the direction of integration"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -select(at.above(zero), at[x], 4.0 * at[x]);
  }
  static void guards(const auto& at, auto& g) {
    g[zero] = at[x];
    g[out] = g[back] = at[x] - 0.5;
  }
};
