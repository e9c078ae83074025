// A polynomial of degree 4 whose highest term the cubic interpolant over [0, 1] misses: y = tilt s + dip s^2 + hump (1 - 4 s^2)^2 with
// s = t - 1/2. That term and its slope vanish at both ends of the step, so the interpolant is tilt s + dip s^2, while a method of order 4
// integrates y exactly for every step size.
#include <saltus.hpp>

struct hump {
  static constexpr auto title = "a hump between the ends of a step";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum parameter { tilt, dip, height, level, mark };
  static constexpr saltus::variable<parameter> parameter_list[] = {{tilt, 1.0, "1", "of the straight line"},
                                                                   {dip, 0.0, "1", "of the parabola"},
                                                                   {height, 0.0, "1", "of the hump"},
                                                                   {level, 0.0, "1", "that y passes"},
                                                                   {mark, 2.0, "1", "time that is passed"}};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "the polynomial"}};
  enum guard { at_level, at_mark };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {at_level, saltus::both, saltus::bilateral, "y passes level"},
      {at_mark, saltus::both, saltus::bilateral, "t passes mark"}};
  static void initial(auto& at) { at[y] = 0.25 * at[dip] - 0.5 * at[tilt]; }
  static void rhs(const auto& at, auto& dy) {
    const auto s = at.t - 0.5;
    dy[y] = at[tilt] + 2.0 * at[dip] * s - 16.0 * at[height] * s * (1.0 - 4.0 * s * s) + 0.0 * at[y];
  }
  static void guards(const auto& at, auto& g) {
    g[at_level] = at[y] - at[level];
    g[at_mark] = at.t - at[mark];
  }
};
