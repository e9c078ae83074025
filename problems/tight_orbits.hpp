// The orbit of campbell_orbits.hpp in its original form, with no index declared: x3 = 0, and from x = (sqrt(L), 0)
//
//     x1 = sqrt(L) cos(sqrt(b) t),    x2 = sqrt(L / b) sin(sqrt(b) t)
//
// Published for b = 10, and for b = 100, where fixed coordinates fail.
#include <saltus.hpp>

struct tight_orbits {
  static constexpr auto title = "Orbit on an ellipse, index 2, as a residual";
  static constexpr auto source =
      "S. L. Campbell, A Numerical Integrator for Simulation of Unstructured Implicit Models (2004), problem 1 (tight "
      "orbits)";
  static constexpr double span[] = {0.0, 30.0};

  enum state { x1, x2, x3 };
  static constexpr saltus::variable<state> state_list[] = {
      {x1, 1.0, "1", "along the long axis"}, {x2, 0.0, "1", "along the short axis"}, {x3, 0.0, "1", "multiplier"}};
  enum parameter { b, L };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {b, 10.0, "1", "the square of the ratio of the axes"}, {L, 1.0, "1", "the square of the long half axis"}};

  static void initial(auto& at) { at[x1] = sqrt(at[L]); }
  static void residual(const auto& at, auto& r) {
    r[x1] = at.d(x1, 1) + at[b] * at[x2] + at[x1] * at[x3];
    r[x2] = at.d(x2, 1) - at[x1] + at[b] * at[x2] * at[x3];
    r[x3] = at[x1] * at[x1] + at[b] * at[x2] * at[x2] - at[L];
  }
};
