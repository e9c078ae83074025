// A right-hand side that asks the state where it jumps, beside a guard at the same level.
#include "parts/level_base.hpp"

struct shared_level : with_level {
  static constexpr auto title = "an oscillator with a force beyond a level";
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 1.0, "m/s", "velocity"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[w] * at[w] * at[x] - push(at, at[x]);
  }
  static void guards(const auto& at, auto& g) { g[passes] = at[x] - at[level]; }
};
