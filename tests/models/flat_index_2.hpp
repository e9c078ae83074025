// flat_index_1 with a prescribed velocity: the force follows from its derivative.
#include "parts/flat_base.hpp"

struct flat_index_2 : flat_base {
  static constexpr auto title = "A guard that begins flat, index 2";
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "1", "cubic"}, {v, 0.0, "1", "dx/dt"}, saltus::variable<state>{force, 0.0, "1", "dv/dt"}.algebraic(2)};
  static void rhs(const auto& at, auto& dy) {
    const auto s = at.t - at[since];
    dy[x] = at[v];
    dy[v] = at[force];
    dy[force] = at[v] - s * (0.5 * at[b] * s - at[a]);
  }
};
