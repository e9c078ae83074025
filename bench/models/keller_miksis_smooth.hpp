// The Keller-Miksis bubble without a guard, with its precomputed constant coefficients as parameters, as other solvers get
// it (bench/peers/problems.hpp). The equation is that of problems/keller_miksis.hpp; the second wave has one and a half
// times the frequency of the first.
#include <saltus.hpp>

struct keller_miksis_smooth {
  static constexpr auto title = "Keller-Miksis bubble without guards";
  static constexpr auto source = "J. B. Keller, M. Miksis, J. Acoust. Soc. Am. 68 (1980) 628";
  static constexpr double span[] = {0.0, 10.0};
  static constexpr double w1 = 2.0 * 3.14159265358979323846, w2 = 1.5 * w1, q = 4.2;

  enum state { radius, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {radius, 1.0, "1", "radius of the bubble over its equilibrium radius"},
      {velocity, 0.0, "1", "change of that radius per cycle of the first wave"},
  };

  // Pressures are measured in rho U^2, U = R0 f1. The defaults are those of problems/keller_miksis.hpp.
  enum parameter { mach, gas, surface, viscous, rest, wave_1, wave_2 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mach, 0.0006678688305616777, "1", "U over the speed of sound"},
      {gas, 111.5567144719687, "1", "pressure of the gas at the equilibrium radius"},
      {surface, 14.441881456223046, "1", "twice the surface tension over R0"},
      {viscous, 0.3571156353424932, "1", "four times the viscosity over R0, times U"},
      {rest, 97.11483301574566, "1", "static pressure of the liquid less that of its vapour"},
      {wave_1, 80.23267475679471, "1", "amplitude of the first wave"},
      {wave_2, 40.116337378397354, "1", "amplitude of the second wave"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto y = at[radius], v = at[velocity];

    const auto angle1 = w1 * at.t, angle2 = w2 * at.t;
    const auto excess = at[rest] + at[wave_1] * sin(angle1) + at[wave_2] * sin(angle2);
    const auto change = at[wave_1] * w1 * cos(angle1) + at[wave_2] * w2 * cos(angle2);

    const auto mv = at[mach] * v;
    const auto force = at[gas] * pow(y, -q) * (1.0 + (1.0 - q) * mv) - (1.0 + mv) * excess -
                       (at[surface] + at[viscous] * v) / y - (1.5 - 0.5 * mv) * v * v - at[mach] * y * change;
    dy[radius] = v;
    dy[velocity] = force / ((1.0 - mv) * y + at[mach] * at[viscous]);
  }
};
