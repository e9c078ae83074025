// A hundred balls, dropped from heights 1e-9 m apart, bounce by a coefficient of restitution: nearly concurrent events
// of unilateral guards, each located just before its zero. Seven impacts per ball in the default span.
#include <saltus.hpp>

struct bouncing_balls_100_impact {
  static constexpr auto title = "100 bouncing balls: nearly concurrent unilateral events";
  static constexpr auto source =
      "M. D. Compere (2001), section 5.3.3 and table 5.2; restitution and time span are of our own";
  static constexpr double span[] = {0.0, 3.7};
  static constexpr int balls = 100;

  enum state { height, velocity = height + balls };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{height, 1.0, "m", "height above the ground (default: 1e-9 m apart)"}.of(balls),
      saltus::variable<state>{velocity, 0.0, "m/s", "velocity, upwards"}.of(balls),
  };

  enum parameter { gravity, restitution };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {restitution, 0.85, "1", "share of the speed kept at an impact"},
  };

  enum guard { impact };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{impact, saltus::falling, saltus::unilateral, "the ball reaches the ground"}.of(
          balls),
  };

  static void initial(auto& at) {
    for (int i = 0; i < balls; ++i) at(height, i) = 1.0 + 1e-9 * i;
  }

  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < balls; ++i) {
      dy(height, i) = at(velocity, i);
      dy(velocity, i) = -at[gravity];
    }
  }

  static void guards(const auto& at, auto& g) {
    for (int i = 0; i < balls; ++i) g(impact, i) = at(height, i);
  }

  static void transition(auto& now) {
    for (int i = 0; i < balls; ++i)
      if (now.due(impact, i)) now(velocity, i) = -now[restitution] * now(velocity, i);
  }
};
