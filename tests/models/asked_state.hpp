// A fall that slows down at a level: x' = -1 above it, -0.3 below. A guard announces the level; the right-hand side asks the guard, or the
// state, which may be on the other side where the guard is zero.
#include <saltus.hpp>

struct asked_state {
  static constexpr auto title = "A right-hand side that asks a state beside a guard";
  static constexpr auto source = "the project's own";
  static constexpr double span[] = {0.0, 1.5};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "height"}};
  enum parameter { level, by_guard };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {level, 0.41, "1", "where the fall slows down"}, {by_guard, 0.0, "1", "1: the right-hand side asks the guard"}};
  enum guard { passes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::falling, saltus::bilateral, "x falls below the level"}};
  static void guards(const auto& at, auto& g) { g[passes] = at[x] - at[level]; }
  static void rhs(const auto& at, auto& dy) {
    const auto of_state = select(at[x] > at[level], -1.0, -0.3), of_guard = select(at.above(passes), -1.0, -0.3);
    dy[x] = select(at[by_guard] > 0.5, of_guard, of_state);
  }
};
