// A stone thrown onto a cushion of constant force: x = (t - 1)^2 / 2 passes its walls by the given depths, or misses them.
// Every method of order 2 integrates it exactly, so only the events matter.
#include <saltus.hpp>

struct graze {
  static constexpr auto title = "grazing";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.5, "m", "position"}, {v, -1.0, "m/s", "velocity"}};
  enum parameter { wall_depth, line_depth, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {wall_depth, -1.0, "m", "how far it would get behind the wall"},
      {line_depth, -1.0, "m", "how far it gets behind the line"},
      {restitution, 0.5, "1", "share of the speed kept at the wall"}};
  enum guard { wall, line };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {wall, saltus::falling, saltus::unilateral, "it hits the wall"},
      {line, saltus::both, saltus::bilateral, "it passes the line"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = 1.0 + 0.0 * at[v];
  }
  static void guards(const auto& at, auto& g) {
    g[wall] = at[x] - at[wall_depth];
    g[line] = at[x] - at[line_depth];
  }
  static void transition(auto& now) {
    if (now.due(wall)) now[v] = -now[restitution] * now[v];
  }
};
