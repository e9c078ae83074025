// The same as shared_level.hpp, the force as an algebraic state.
#include "parts/level_base.hpp"

struct shared_level_semi : with_level {
  static constexpr auto title = "an oscillator with an algebraic force beyond a level";
  enum state { x, v, f };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "m", "position"},
      {v, 1.0, "m/s", "velocity"},
      saltus::variable<state>{f, 0.0, "m/s2", "force beyond the level"}.algebraic()};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[w] * at[w] * at[x] - at[f];
    dy[f] = at[f] - push(at, at[x]);
  }
  static void guards(const auto& at, auto& g) { g[passes] = at[x] - at[level]; }
};
