// A constraint of index 2 holds an orbit on an ellipse. The multiplier x3 is not in the constraint but in its time derivative,
// d/dt (x1^2 + b x2^2) = -2 x3 (x1^2 + b^2 x2^2). So x3 = 0, and with x(0) = (sqrt(L), 0)
//
//     x1 = sqrt(L) cos(sqrt(b) t),    x2 = sqrt(L / b) sin(sqrt(b) t)
//
// A larger b gives a flatter ellipse and a faster revolution.
#include <saltus.hpp>

struct campbell_orbits {
  static constexpr auto title = "Orbit on an ellipse, index 2";
  static constexpr auto source =
      "S. L. Campbell, A Numerical Integrator for Simulation of Unstructured Implicit Models (2004), problem 1 (tight "
      "orbits), from the start (1, 0)";
  static constexpr double span[] = {0.0, 30.0};

  enum state { x1, x2, x3 };
  static constexpr saltus::variable<state> state_list[] = {
      {x1, 1.0, "1", "along the long axis"},
      {x2, 0.0, "1", "along the short axis"},
      saltus::variable<state>{x3, 0.0, "1", "multiplier"}.algebraic(2),
  };

  enum parameter { b, L };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {b, 10.0, "1", "the square of the ratio of the axes"},
      {L, 1.0, "1", "the square of the long half axis"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x1] = -at[b] * at[x2] - at[x1] * at[x3];
    dy[x2] = at[x1] - at[b] * at[x2] * at[x3];
    dy[x3] = at[x1] * at[x1] + at[b] * at[x2] * at[x2] - at[L];
  }
};
