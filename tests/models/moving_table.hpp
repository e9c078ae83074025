// A ball on a shaking table. It has no rest mode: an instance ends where its impacts accumulate, while the table moves on.
#include <saltus.hpp>

struct moving_table {
  static constexpr auto title = "ball on a table that shakes";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 6.0};
  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {{height, 1.0, "m", "of the ball"},
                                                           {velocity, 0.0, "m/s", "of the ball"}};
  enum parameter { amplitude, frequency, phase, restitution, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 0.1, "m", "of the table"},
      {frequency, 6.0, "1/s", "angular, of the table"},
      {phase, 0.0, "1", "of the table at t = 0"},
      {restitution, 0.75, "1", "share of the relative speed kept"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"}};
  enum guard { hit };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {hit, saltus::falling, saltus::unilateral, "the ball meets the table"}};
  static auto angle(const auto& at) { return at[frequency] * at.t + at[phase]; }
  static void rhs(const auto& at, auto& dy) {
    dy[height] = at[velocity];
    dy[velocity] = -at[gravity];
  }
  static void guards(const auto& at, auto& g) { g[hit] = at[height] - at[amplitude] * sin(angle(at)); }
  static void transition(auto& now) {
    const auto of_table = now[amplitude] * now[frequency] * cos(now[frequency] * now.t + now[phase]);
    if (now.due(hit)) now[velocity] = of_table - now[restitution] * (now[velocity] - of_table);
  }
};
