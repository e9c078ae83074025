// A ball on a floor far from height zero. The guard may be written in several ways: each is zero at the floor, and each has terms that are
// large compared with the last bounces.
#include <saltus.hpp>

struct high_floor {
  static constexpr auto title = "ball on a floor far from zero";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 40.0};
  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {{height, 1.0, "m", "of the ball"},
                                                           {velocity, 0.0, "m/s", "of the ball"}};
  enum parameter { floor_at, drop, restitution, gravity, form };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {floor_at, 1.0, "m", "height of the floor"},
      {drop, 1.0, "m", "height from which the ball falls onto it"},
      {restitution, 0.75, "1", "share of the speed kept"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
      {form, 0.0, "1", "how the guard is written: 0 to 4"}};
  enum discrete { still };
  static constexpr saltus::variable<discrete> discrete_list[] = {{still, 0.0, "1", "1 once the ball rests"}};
  enum guard { hit };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {hit, saltus::falling, saltus::unilateral, "the ball meets the floor"}};
  static void initial(auto& at) { at[height] = at[floor_at] + at[drop]; }
  static void rhs(const auto& at, auto& dy) {
    dy[height] = at[velocity];
    dy[velocity] = select(at.is_on(still), 0.0, -at[gravity]);
  }
  static void guards(const auto& at, auto& g) {
    const auto h = at[height];
    const auto c = at[floor_at], k = at[form];
    const auto written = select(
        k < 0.5, h - c,
        select(k < 1.5, h * h - c * c, select(k < 2.5, h / c - 1.0, select(k < 3.5, sqrt(h) - sqrt(c), log(h / c)))));
    g[hit] = select(at.is_on(still), 1.0, written);
  }
  static void transition(auto& now) {
    if (now.due(hit)) now[velocity] = -now[restitution] * now[velocity];
  }
  static void rest(auto& now) {
    now[height] = now[floor_at];
    now[velocity] = 0.0;
    now[still] = 1.0;
  }
};
