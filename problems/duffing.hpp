// A driven particle in a double well: smooth, two states, chaotic at the default parameters.
#include <saltus.hpp>

struct duffing {
  static constexpr auto title = "Duffing oscillator";
  static constexpr auto source = "J. Guckenheimer, P. Holmes, Nonlinear Oscillations, Springer 1983, section 2.2";
  static constexpr double span[] = {0.0, 20.0};

  enum state { position, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {position, 1.0, "1", "position; the wells are at -1 and 1"},
      {velocity, 0.0, "1", "velocity"},
  };

  enum parameter { damping, linear, cubic, amplitude, frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {damping, 0.25, "1", "viscous damping"},
      {linear, -1.0, "1", "linear stiffness, negative for a double well"},
      {cubic, 1.0, "1", "cubic stiffness"},
      {amplitude, 0.3, "1", "amplitude of the drive"},
      {frequency, 1.0, "1", "angular frequency of the drive"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto x = at[position];
    dy[position] = at[velocity];
    dy[velocity] =
        at[amplitude] * cos(at[frequency] * at.t) - at[damping] * at[velocity] - x * (at[linear] + at[cubic] * x * x);
  }
};
