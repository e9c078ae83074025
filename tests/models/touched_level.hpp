// An oscillation that touches a level, passes it slightly, or misses it; the guard is linear in the states or quadratic.
#include <saltus.hpp>

struct touched_level {
  static constexpr auto title = "oscillation that touches a level";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 20.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "sin t"}, {v, 1.0, "1", "cos t"}};
  enum parameter { below, form };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {below, 0.0, "1", "the level lies by so much below 1"}, {form, 0.0, "1", "how the guard is written: 0 or 1"}};
  enum guard { passes, rises, falls };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::both, saltus::bilateral, "passes the level"},
      {rises, saltus::rising, saltus::bilateral, "rises above it"},
      {falls, saltus::falling, saltus::bilateral, "falls below it"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[x];
  }
  static void guards(const auto& at, auto& g) {
    const auto level = 1.0 - at[below];
    const auto written = select(at[form] < 0.5, at[x] - level, at[x] * at[x] + 0.25 * at[v] * at[v] - level * level);
    g[passes] = g[rises] = g[falls] = written;
  }
};
