// A bouncing ball in air: methods integrate the flight with drag inexactly, yet every impact is known in closed form.
//
// With k the drag, c = sqrt(g / k) and w = sqrt(g k): a ball that leaves with speed u rises for atan(u / c) / w to the
// height ln(1 + (u / c)^2) / (2 k). A ball dropped from H falls for acosh(exp(k H)) / w and lands with
// c sqrt(1 - exp(-2 k H)).
#include <saltus.hpp>

struct ball_drag {
  static constexpr auto title = "Bouncing ball with quadratic drag";
  static constexpr auto source = "free fall with quadratic drag, any textbook of mechanics; Newton's impact law";
  static constexpr double span[] = {0.0, 3.0};

  enum state { height, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {height, 1.0, "m", "height of the ball above the floor"},
      {velocity, 0.0, "m/s", "velocity of the ball, upwards"},
  };

  enum parameter { gravity, drag, restitution, v_min };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {drag, 0.1, "1/m", "deceleration by drag over the square of the speed"},
      {restitution, 0.7, "1", "share of the speed kept at an impact"},
      {v_min, 0.1, "m/s", "the ball is at rest once it leaves the floor slower than this"},
  };

  enum guard { impact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {impact, saltus::falling, saltus::unilateral, "the ball reaches the floor"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[height] = at[velocity];
    dy[velocity] = -at[gravity] - at[drag] * at[velocity] * abs(at[velocity]);
  }

  static void guards(const auto& at, auto& g) { g[impact] = at[height]; }

  static void transition(auto& now) {
    if (now.due(impact)) {
      now[velocity] = -now[restitution] * now[velocity];
      if (now[velocity] < now[v_min]) now.stop();
    }
  }
};
