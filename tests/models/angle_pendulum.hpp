// The pendulum of cartesian_pendulum.hpp by its angle.
#include <saltus.hpp>

struct angle_pendulum {
  static constexpr auto title = "Pendulum that swings against a wall, by its angle";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 4.0};
  enum state { turned, rate };
  static constexpr saltus::variable<state> state_list[] = {{turned, 0.0, "rad", "angle from the vertical"},
                                                           {rate, 0.0, "rad/s", "angular velocity"}};
  enum parameter { angle, length, gravity, wall, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {{angle, 1.0, "rad", "at the start, at rest"},
                                                                   {length, 1.0, "m", "of the rod"},
                                                                   {gravity, 9.81, "m/s2", "acceleration of gravity"},
                                                                   {wall, -0.3, "m", "where it stands"},
                                                                   {restitution, 0.9, "1", "of the impact"}};
  enum guard { impact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the pendulum meets the wall"}};

  static void initial(auto& at) { at[turned] = at[angle]; }
  static void rhs(const auto& at, auto& dy) {
    dy[turned] = at[rate];
    dy[rate] = -at[gravity] / at[length] * sin(at[turned]);
  }
  static void guards(const auto& at, auto& g) { g[impact] = at[length] * sin(at[turned]) - at[wall]; }
  static void transition(auto& now) { now[rate] = -now[restitution] * now[rate]; }
};
