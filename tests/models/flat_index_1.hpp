// A guard that starts at zero with zero time derivative, and again at `anew`: x = -a s^2/2 + b s^3/6, with s the time since then, is zero
// again at s = 3 a/b. The force is an algebraic state.
#include "parts/flat_base.hpp"

struct flat_index_1 : flat_base {
  static constexpr auto title = "A guard that begins flat, index 1";
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "1", "cubic"}, {v, 0.0, "1", "dx/dt"}, saltus::variable<state>{force, 0.0, "1", "dv/dt"}.algebraic()};
  static void rhs(const auto& at, auto& dy) {
    const auto s = at.t - at[since];
    dy[x] = at[v];
    dy[v] = at[force];
    dy[force] = at[force] - (at[b] * s - at[a]);
  }
};
