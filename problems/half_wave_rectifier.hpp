// An alternating source drives a coil and a resistor through one diode. While the diode conducts, the current is free (index 1). While it
// blocks, the current is zero, and so is the voltage of the coil, its derivative (index 2, no degree of freedom). No offsets serve both.
//
// With the angle a = 2 pi frequency t + phase, counted from the point where the diode begins to conduct, and Z = R + i w L =
// |Z| exp(i p) the impedance of coil and resistor:
//
//     current = E/|Z| (sin(a - p) + sin(p) exp(-a R/(w L)))
//
// until that is zero, at the same angle in each period.
#include <saltus.hpp>

struct half_wave_rectifier {
  static constexpr auto title = "Half-wave rectifier with a coil, index 1 and 2";
  static constexpr auto source = "textbook; the load of carver_3";
  static constexpr double span[] = {0.0, 0.1};
  static constexpr double pi = 3.14159265358979323846;

  enum state { current, coil_voltage, diode_voltage };
  static constexpr saltus::variable<state> state_list[] = {{current, 0.0, "A", "through all of them"},
                                                           {coil_voltage, 0.0, "V", "at the coil"},
                                                           {diode_voltage, 0.0, "V", "at the diode"}};
  enum equation { loop, coil, diode };
  static constexpr saltus::equated<equation> equation_list[] = {
      {loop, "V", "the voltages in the loop"},
      {coil, "V", "the coil"},
      {diode, "V or A", "the diode has no voltage, or no current"}};
  enum parameter { amplitude, frequency, phase, inductance, resistance };
  static constexpr saltus::variable<parameter> parameter_list[] = {{amplitude, 100.0, "V", "E: of the source"},
                                                                   {frequency, 50.0, "Hz", "of the source"},
                                                                   {phase, -0.5, "rad", "of the source at t = 0"},
                                                                   {inductance, 10e-3, "H", "L: of the coil"},
                                                                   {resistance, 5.0, "ohm", "R: of the resistor"}};
  enum discrete { conducts };
  static constexpr saltus::variable<discrete> discrete_list[] = {{conducts, 0.0, "1", "1 while the diode conducts"}};
  // The guards are those of rectifier_dae.hpp: a current must not reverse; a voltage continues through zero.
  enum guard { ends, begins };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {ends, saltus::falling, saltus::unilateral, "the current has fallen to zero: the diode blocks"},
      {begins, saltus::rising, saltus::bilateral, "the voltage rises through zero: the diode conducts"}};

  static auto source_voltage(const auto& at) {
    return at[amplitude] * sin(2.0 * pi * at[frequency] * at.t + at[phase]);
  }
  static void initial(auto& at) { at[diode_voltage] = source_voltage(at); }  // the diode blocks
  static void residual(const auto& at, auto& r) {
    r[loop] = source_voltage(at) - at[resistance] * at[current] - at[coil_voltage] - at[diode_voltage];
    r[coil] = at[inductance] * at.d(current, 1) - at[coil_voltage];
    r[diode] = select(at.is_on(conducts), at[diode_voltage], at[current]);
  }
  // A guard without meaning in a mode is a constant on its side.
  static void guards(const auto& at, auto& g) {
    g[ends] = select(at.is_on(conducts), at[current], 1.0);
    g[begins] = select(at.is_on(conducts), -1.0, at[diode_voltage]);
  }
  static void transition(auto& now) {
    if (now.due(begins)) now[conducts] = 1.0;
    if (now.due(ends)) now[conducts] = now[current] = 0.0;
  }
  // Zeros of the source are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
