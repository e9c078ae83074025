// A coil, a resistor and a diode whose capacitance depends on its voltage: one of the first circuits known to double their period. The
// capacitance is the sum of that of the junction,
//
//     C(v) = C0 / sqrt(1 - v / phi)    below v = F phi,    linear in v above, with the same value and slope,
//
// and of that of the charge stored by the current, tau dI/dv. It multiplies the time derivative of the voltage: a mass matrix that
// depends on the state. The second derivative of C jumps at F phi: a guard without a transition makes a step end there.
#include <saltus.hpp>

struct varactor {
  static constexpr auto title = "Oscillator with a varactor diode: a mass matrix that varies";
  static constexpr auto source =
      "P. S. Linsay, Phys. Rev. Lett. 47 (1981) 1349; capacitances of a junction as in circuit simulators; figures of "
      "our own";
  static constexpr double span[] = {0.0, 1e-5};
  static constexpr double pi = 3.14159265358979323846;

  static constexpr bool mass_varies = true;

  enum state { current, voltage };
  static constexpr saltus::variable<state> state_list[] = {
      {current, 0.0, "A", "in the coil"},
      {voltage, 0.0, "V", "at the diode, forwards"},
  };

  enum parameter { amplitude, frequency, resistance, inductance, saturation, thermal, C0, phi, F, tau };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 2.0, "V", "of the source"},
      {frequency, 1e6, "Hz", "of the source"},
      {resistance, 100.0, "ohm", "in series"},
      {inductance, 1e-4, "H", "in series"},
      {saturation, 1e-14, "A", "saturation current of the diode"},
      {thermal, 0.026, "V", "the diode's current is saturation (exp(v / thermal) - 1)"},
      {C0, 1e-10, "F", "capacitance of the junction at zero volts"},
      {phi, 0.8, "V", "potential of the junction"},
      {F, 0.5, "1", "part of phi up to which the root holds"},
      {tau, 1e-8, "s", "time that the charge of the current stays"},
  };

  enum guard { forward };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {forward, saltus::both, saltus::bilateral, "the voltage passes F phi"},
  };

  static void mass(const auto& at, auto& m) {
    const auto rest = 1.0 - at[F];
    const auto edge = at[C0] / sqrt(rest);
    const auto straight = edge * (1.0 + 0.5 * (at[voltage] / at[phi] - at[F]) / rest);
    const auto root = at[C0] / sqrt(1.0 - at[voltage] / at[phi]);
    const auto stored = at[tau] * at[saturation] / at[thermal] * exp(at[voltage] / at[thermal]);
    m(current, current) = at[inductance];
    m(voltage, voltage) = select(at.above(forward), straight, root) + stored;
  }

  static void rhs(const auto& at, auto& dy) {
    const auto source_voltage = at[amplitude] * sin(2.0 * pi * at[frequency] * at.t);
    dy[current] = source_voltage - at[resistance] * at[current] - at[voltage];
    dy[voltage] = at[current] - at[saturation] * (exp(at[voltage] / at[thermal]) - 1.0);
  }

  static void guards(const auto& at, auto& g) { g[forward] = at[voltage] - at[F] * at[phi]; }

  // Zeros of the source are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
