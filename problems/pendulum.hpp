// A swinging rod without friction: no events, and an energy that changes only by the error of the method.
#include <saltus.hpp>

struct pendulum {
  static constexpr auto title = "Compound pendulum";
  static constexpr auto source = "M. D. Compere, dissertation, The University of Texas at Austin (2001), section 3.5";
  static constexpr double span[] = {0.0, 5.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { angle, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {angle, 20.0 * pi / 180.0, "rad", "angle from the vertical"},
      {velocity, 1.0, "rad/s", "angular velocity"},
  };

  enum parameter { mass, length, gravity };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mass, 36.0, "kg", "mass of the rod"},
      {length, 1.0, "m", "length of the rod"},
      {gravity, 9.81, "m/s2", "acceleration of gravity"},
  };

  enum output { energy };
  static constexpr saltus::derived<output> output_list[] = {
      {energy, "J", "kinetic and potential energy, the latter zero at the height of the pivot"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[angle] = at[velocity];
    dy[velocity] = -1.5 * at[gravity] / at[length] * sin(at[angle]);
  }

  static void outputs(const auto& at, auto& out) {
    const auto inertia = at[mass] * at[length] * at[length] / 3.0;  // about the pivot, at the rod's end
    out[energy] =
        0.5 * inertia * at[velocity] * at[velocity] - 0.5 * at[mass] * at[gravity] * at[length] * cos(at[angle]);
  }
};
