// A ball that falls onto a shelf at a nonzero height: its gap is a difference of heights and has their rounding.
#include <saltus.hpp>

struct shelf {
  static constexpr auto title = "Ball on a shelf";
  static constexpr auto source = "own";
  static constexpr double span[] = {0.0, 5.0};

  enum state { y, v };
  static constexpr saltus::variable<state> state_list[] = {{y, 2.0, "m", "height"}, {v, 0.0, "m/s", "speed"}};
  enum parameter { restitution, height, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {{restitution, 0.01, "1", "of the shelf"},
                                                                   {height, 1.0, "m", "of the shelf"},
                                                                   {gravity, 9.81, "m/s2", "acceleration of gravity"}};
  enum discrete { rests };
  static constexpr saltus::variable<discrete> discrete_list[] = {{rests, 0.0, "1", "1: lies on the shelf"}};
  enum guard { hit };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {hit, saltus::falling, saltus::unilateral, "meets the shelf"}};

  static void rhs(const auto& at, auto& dy) {
    dy[y] = at[v];
    dy[v] = select(at.is_on(rests), 0.0, -at[gravity]);
  }
  static void guards(const auto& at, auto& g) { g[hit] = select(at.is_on(rests), 1.0, at[y] - at[height]); }
  static void transition(auto& now) { now[v] = -now[restitution] * now[v]; }
  static void rest(auto& now) {
    now[rests] = 1.0;
    now[y] = now[height];
    now[v] = 0.0;
  }
};
