// Failures on demand that lanes cannot settle: guards that jump, a solution that blows up, the root of a negative number.
#include <saltus.hpp>

struct mishaps {
  static constexpr auto title = "exceptions";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { y, clock };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0, "1", "y' = growth y + square y^2"},
                                                           {clock, 0.0, "s", "time"}};
  enum parameter { growth, square, jump_at, wall_at, nan_from };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {growth, -1.0, "1/s", "rate"},
      {square, 0.0, "1/s", "1: y blows up at t = 1 (with growth 0)"},
      {jump_at, 1e6, "s", "when the bilateral guard jumps from -1 to 1"},
      {wall_at, 1e6, "s", "when the unilateral guard jumps from 1 to -1"},
      {nan_from, 1e6, "s", "from then on y' is not a number"}};
  enum discrete { jumps, walls };
  static constexpr saltus::variable<discrete> discrete_list[] = {{jumps, 0.0, "1", "events of the bilateral guard"},
                                                                 {walls, 0.0, "1", "events of the unilateral guard"}};
  enum guard { jump, wall };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {jump, saltus::rising, saltus::bilateral, "discontinuous"},
      {wall, saltus::falling, saltus::unilateral, "discontinuous, and open after its event"}};
  static void rhs(const auto& at, auto& dy) {
    dy[y] = at[growth] * at[y] + at[square] * at[y] * at[y] + 0.0 * sqrt(at[nan_from] - at[clock]);
    dy[clock] = 1.0 + 0.0 * at[y];
  }
  static void guards(const auto& at, auto& g) {
    g[jump] = select(at[clock] > at[jump_at], 1.0 + 0.0 * at[clock], -1.0);
    g[wall] = select(at.is_on(walls) || !(at[clock] > at[wall_at]), 1.0 + 0.0 * at[clock], -1.0);
  }
  static void transition(auto& now) {
    if (now.due(jump)) now[jumps] += 1.0;
    if (now.due(wall)) now[walls] += 1.0;
  }
};
