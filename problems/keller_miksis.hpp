// A gas bubble in water under one or two sound waves: it grows slowly and collapses fast. A guard without any action marks the end of
// each collapse, so that the event log lists the smallest radii.
//
// The units are equilibrium radii R0 for lengths and cycles of the first wave for times, hence U = R0 f1 for velocities and rho U^2 for
// pressures; M = U / c is the Mach number of U. In these units, with y the radius, v its velocity, p(t) the pressure far away,
// q = 3 kappa and G the gas pressure at rest, the Keller-Miksis equation
//     (1 - M v) y v' + (3/2) (1 - M v / 3) v^2 = (1 + M v + M y d/dt) (p_wall - p),
//     p_wall = G y^-q + p_vapour - (S + V v) / y,
// with d/dt carried out and solved for v', reads
//
//     v' ((1 - M v) y + M V) = G y^-q (1 + (1 - q) M v) - (1 + M v) (p - p_vapour) - (S + V v) / y
//                              - (3/2) (1 - M v / 3) v^2 - M y p'.
#include <saltus.hpp>

struct keller_miksis {
  static constexpr auto title = "Keller-Miksis bubble under two sound waves";
  static constexpr auto source =
      "J. B. Keller, M. Miksis, J. Acoust. Soc. Am. 68 (1980) 628; F. Hegedus, K. Klapcsik, W. Lauterborn, U. Parlitz, "
      "R. Mettin, Ultrason. Sonochem. 67 (2020) 105067 for the scaling";
  static constexpr double span[] = {0.0, 10.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { radius, velocity };
  static constexpr saltus::variable<state> state_list[] = {
      {radius, 1.0, "1", "radius of the bubble over its equilibrium radius"},
      {velocity, 0.0, "1", "change of that radius per cycle of the first wave"},
  };

  enum parameter {
    rest_radius,
    amplitude_1,
    frequency_1,
    amplitude_2,
    frequency_2,
    phase,
    ambient,
    vapour,
    density,
    sound_speed,
    tension,
    viscosity,
    polytropic
  };
  // The liquid is water at 25 degC and 1 bar.
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {rest_radius, 10e-6, "m", "equilibrium radius"},
      {amplitude_1, 0.8e5, "Pa", "pressure amplitude of the first wave"},
      {frequency_1, 100e3, "Hz", "frequency of the first wave; its cycle is the unit of time"},
      {amplitude_2, 0.4e5, "Pa", "pressure amplitude of the second wave"},
      {frequency_2, 150e3, "Hz", "frequency of the second wave"},
      {phase, 0.0, "rad", "phase of the second wave at t = 0"},
      {ambient, 1e5, "Pa", "static pressure of the liquid"},
      {vapour, 3166.8, "Pa", "vapour pressure"},
      {density, 997.1, "kg/m3", "density of the liquid"},
      {sound_speed, 1497.3, "m/s", "speed of sound in the liquid"},
      {tension, 0.072, "N/m", "surface tension"},
      {viscosity, 8.902e-4, "Pa s", "dynamic viscosity of the liquid"},
      {polytropic, 1.4, "1", "polytropic exponent kappa of the gas"},
  };

  enum guard { collapse };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {collapse, saltus::rising, saltus::bilateral, "the radius passes a minimum"},
  };

  enum output { gas_pressure };
  static constexpr saltus::derived<output> output_list[] = {
      {gas_pressure, "Pa", "pressure of the gas in the bubble"},
  };

  /// Pressure of the gas at the equilibrium radius, in Pa.
  static auto gas_pressure_at_rest(const auto& at) {
    return at[ambient] - at[vapour] + 2.0 * at[tension] / at[rest_radius];
  }

  static void rhs(const auto& at, auto& dy) {
    const auto y = at[radius], v = at[velocity];

    const auto unit = at[rest_radius] * at[frequency_1];   // U, m/s
    const auto scale = 1.0 / (at[density] * unit * unit);  // 1 / pressure unit
    const auto mach = unit / at[sound_speed];              // M
    const auto over_r0 = scale / at[rest_radius];
    const auto surface = 2.0 * at[tension] * over_r0;           // S
    const auto viscous = 4.0 * at[viscosity] * unit * over_r0;  // V

    const auto w1 = 2.0 * pi;  // per cycle of the first wave
    const auto w2 = w1 * (at[frequency_2] / at[frequency_1]);
    const auto angle1 = w1 * at.t;
    const auto angle2 = w2 * at.t + at[phase];
    const auto excess = at[ambient] - at[vapour] + at[amplitude_1] * sin(angle1) + at[amplitude_2] * sin(angle2);
    const auto change = at[amplitude_1] * w1 * cos(angle1) + at[amplitude_2] * w2 * cos(angle2);

    const auto q = 3.0 * at[polytropic];
    const auto gas = gas_pressure_at_rest(at) * scale * pow(y, -q);
    const auto mv = mach * v;

    const auto force = gas * (1.0 + (1.0 - q) * mv) - (1.0 + mv) * (excess * scale) - (surface + viscous * v) / y -
                       (1.5 - 0.5 * mv) * v * v - mach * y * (change * scale);
    dy[radius] = v;
    dy[velocity] = force / ((1.0 - mv) * y + mach * viscous);
  }

  static void guards(const auto& at, auto& g) { g[collapse] = at[velocity]; }

  static void outputs(const auto& at, auto& out) {
    out[gas_pressure] = gas_pressure_at_rest(at) * pow(at[radius], -3.0 * at[polytropic]);
  }
};
