// problems/bouncing_balls_100.hpp for a solver of smooth equations: the ground pushes where a height is negative, and the
// switching points are not located.
#include <saltus.hpp>

struct bouncing_balls_100_smooth {
  static constexpr auto title = "100 bouncing balls without events";
  static constexpr auto source = "problems/bouncing_balls_100.hpp, less its guards";
  static constexpr double span[] = {0.0, 3.7};
  static constexpr int balls = 100;

  enum state { height, velocity = height + balls };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{height, 1.0, "m", "height above the ground (default: 1e-9 m apart)"}.of(balls),
      saltus::variable<state>{velocity, 0.0, "m/s", "velocity, upwards"}.of(balls),
  };

  enum parameter { gravity, mass, stiffness, damping };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {gravity, 9.81, "m/s2", "acceleration of gravity, downwards"},
      {mass, 1.0, "kg", "mass of a ball"},
      {stiffness, 1e4, "N/m", "of the ground"},
      {damping, 10.0, "N s/m", "of the ground"},
  };

  static void initial(auto& at) {
    for (int i = 0; i < balls; ++i) at(height, i) = 1.0 + 1e-9 * i;
  }

  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < balls; ++i) {
      const auto push = -(at[stiffness] * at(height, i) + at[damping] * at(velocity, i)) / at[mass];
      dy(height, i) = at(velocity, i);
      dy(velocity, i) = select(at(height, i) >= 0.0, 0.0, push) - at[gravity];
    }
  }
};
