// flat_index_1 written as a residual.
#include "parts/flat_base.hpp"

struct flat_residual : flat_base {
  static constexpr auto title = "A guard that begins flat, as a residual";
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "1", "cubic"}, {v, 0.0, "1", "dx/dt"}, saltus::variable<state>{force, 0.0, "1", "dv/dt"}.algebraic()};
  static void residual(const auto& at, const auto& dy, auto& r) {
    const auto s = at.t - at[since];
    r[x] = dy[x] - at[v];
    r[v] = dy[v] - at[force];
    r[force] = at[force] - (at[b] * s - at[a]);
  }
};
