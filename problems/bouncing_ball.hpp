// A ball that loses speed at every bounce and is stopped when it is slow: its impacts approach a Zeno point. Free flight is exact for every
// method of order 2 or more, so the model tests the events alone.
//
// Bounce k happens at T (1 + 2 (e + ... + e^(k-1))), T = sqrt(2 h0 / g), and leaves with speed e^k sqrt(2 g h0). With the defaults the
// eleventh bounce, at 2.49911331422462069, is the last; without the stop they would accumulate at 2.55863396558580846.
#include <saltus.hpp>

struct bouncing_ball {
  static constexpr auto title = "Bouncing ball";
  static constexpr auto source = "Modelica Association, Reference FMUs: BouncingBall";
  static constexpr double span[] = {0.0, 3.0};

  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {height, 1.0, "m", "height of the ball above the floor"},
      {velocity, 0.0, "m/s", "velocity of the ball, upwards"},
  };

  enum parameter { gravity, restitution, v_min };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {restitution, 0.7, "1", "share of the speed kept at an impact"},
      {v_min, 0.1, "m/s", "the ball is at rest once it leaves the floor slower than this"},
  };

  enum guard { impact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the ball reaches the floor"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[height] = at[velocity];
    dy[velocity] = -at[gravity];
  }

  static void guards(const auto& at, auto& g) { g[impact] = at[height]; }

  static void transition(auto& now) {
    if (now.due(impact)) {
      now[velocity] = -now[restitution] * now[velocity];
      if (now[velocity] < now[v_min]) now.stop();
    }
  }
};
