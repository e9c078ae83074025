// A ball is thrown up to a ceiling that it just reaches or just misses: it would rise to the ceiling's height times 1 + excess.
#include <saltus.hpp>

struct low_ceiling {
  static constexpr auto title = "ball thrown to a ceiling";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {{height, 0.0, "m", "of the ball"},
                                                           {velocity, 0.0, "m/s", "of the ball"}};
  enum parameter { ceiling, excess, restitution, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {ceiling, 0.5, "m", "height of the ceiling"},
      {excess, 0.0, "1", "how far the ball would rise beyond the ceiling, as a part of that"},
      {restitution, 0.5, "1", "share of the speed kept"},
      {gravity, 1.0, "m/s2", "acceleration of gravity"}};
  enum guard { hit };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {hit, saltus::rising, saltus::unilateral, "the ball meets the ceiling"}};
  static void initial(auto& at) { at[velocity] = sqrt(2.0 * at[gravity] * at[ceiling] * (1.0 + at[excess])); }
  static void rhs(const auto& at, auto& dy) {
    dy[height] = at[velocity];
    dy[velocity] = -at[gravity];
  }
  static void guards(const auto& at, auto& g) { g[hit] = at[height] - at[ceiling]; }
  static void transition(auto& now) {
    if (now.due(hit)) now[velocity] = -now[restitution] * now[velocity];
  }
};
