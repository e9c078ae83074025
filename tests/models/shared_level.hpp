// A right-hand side that asks the state where it jumps, beside a guard at the same level.
#include <saltus.hpp>

struct shared_level {
  static constexpr auto title = "an oscillator with a force beyond a level";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 1.0, "m/s", "velocity"}};
  enum parameter { w, level, k };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {w, 2.0, "1/s", "angular frequency"}, {level, 0.05, "m", "of the guard"}, {k, 1.0, "m/s2", "force beyond it"}};
  enum guard { passes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::both, saltus::bilateral, "x passes the level"}};

  static auto force(const auto& at) { return select(at[x] > at[level], at[k], 0.0 * at[k]); }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[w] * at[w] * at[x] - force(at);
  }
  static void guards(const auto& at, auto& g) { g[passes] = at[x] - at[level]; }
};
