// The rectifier of carver_3 (with its figure) by Kirchhoff's laws: a DAE of index 1 whose equations, except those of the diodes, are the
// same in every mode.
//
//     Ls i1' = e1 - u1 - v,    Ls i2' = e2 - u2 - v           either branch: source, inductance, diode, load
//     v = R (i1 + i2) + L (i1' + i2')                         the load, with the derivatives from above
//     u = 0 while a diode conducts;  i' = 0 while it blocks   (that is, u = e - v)
//
// The load's voltage v and the diodes' voltages u1, u2 are algebraic states. A diode blocks when its current has fallen to zero, and
// conducts when its voltage has risen to zero. So guards depend on an algebraic state, which jumps at an event and is solved for anew.
#include <saltus.hpp>

struct rectifier_dae {
  static constexpr auto title = "Rectifier of two diodes as a DAE";
  static constexpr auto source = "the circuit of carver_3, of our own, from Kirchhoff's laws: DAE of index 1";
  static constexpr double span[] = {0.0, 0.085};
  static constexpr double pi = 3.14159265358979323846;

  enum state { i1, i2, v, u1, u2 };
  static constexpr saltus::variable<state> state_list[] = {
      {i1, 1e-6, "A", "current through diode 1"},
      {i2, 0.0, "A", "current through diode 2"},
      saltus::variable<state>{v, 0.0, "V", "voltage of the load"}.algebraic(),
      saltus::variable<state>{u1, 0.0, "V", "voltage of diode 1"}.algebraic(),
      saltus::variable<state>{u2, 0.0, "V", "voltage of diode 2"}.algebraic(),
  };

  enum parameter { amplitude, frequency, source_inductance, inductance, resistance };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 100.0, "V", "E: amplitude of the sources"},
      {frequency, 50.0, "Hz", "f: frequency of the sources"},
      {source_inductance, 1e-3, "H", "Ls: in series with each source"},
      {inductance, 10e-3, "H", "L: of the load"},
      {resistance, 5.0, "ohm", "R: of the load"},
  };

  enum discrete { diode_1, diode_2 };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {diode_1, 1.0, "1", "1 while diode 1 conducts"},
      {diode_2, 0.0, "1", "1 while diode 2 conducts"},
  };

  // A current must not reverse: unilateral. A voltage continues through zero, and just past it the diode conducts, where its current can
  // only grow: bilateral.
  enum guard { current_1, current_2, voltage_1, voltage_2 };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {current_1, saltus::falling, saltus::unilateral, "i1 has fallen to zero: diode 1 blocks"},
      {current_2, saltus::falling, saltus::unilateral, "i2 has fallen to zero: diode 2 blocks"},
      {voltage_1, saltus::rising, saltus::bilateral, "e1 rises above the load: diode 1 conducts"},
      {voltage_2, saltus::rising, saltus::bilateral, "e2 rises above the load: diode 2 conducts"},
  };

  static auto e1(const auto& at) { return at[amplitude] * sin(2.0 * pi * at[frequency] * at.t); }

  static void rhs(const auto& at, auto& dy) {
    const auto on_1 = at.is_on(diode_1), on_2 = at.is_on(diode_2);
    const auto e = e1(at);
    const auto left_1 = e - at[u1] - at[v], left_2 = -e - at[u2] - at[v];  // voltage across the source's inductance
    dy[i1] = select(on_1, left_1 / at[source_inductance], 0.0);  // a current of zero stays zero to the last bit
    dy[i2] = select(on_2, left_2 / at[source_inductance], 0.0);
    dy[v] = at[resistance] * (at[i1] + at[i2]) + at[inductance] * (dy[i1] + dy[i2]) - at[v];
    dy[u1] = select(on_1, at[u1], left_1);
    dy[u2] = select(on_2, at[u2], left_2);
  }

  // A guard without meaning in a mode is a constant on its side.
  static void guards(const auto& at, auto& g) {
    g[current_1] = select(at.is_on(diode_1), at[i1], 1.0);
    g[current_2] = select(at.is_on(diode_2), at[i2], 1.0);
    g[voltage_1] = select(at.is_on(diode_1), -1.0, at[u1]);
    g[voltage_2] = select(at.is_on(diode_2), -1.0, at[u2]);
  }

  static void transition(auto& now) {
    if (now.due(voltage_1)) now[diode_1] = 1.0;
    if (now.due(voltage_2)) now[diode_2] = 1.0;
    if (now.due(current_1)) now[diode_1] = now[i1] = 0.0;
    if (now.due(current_2)) now[diode_2] = now[i2] = 0.0;
  }

  // Zeros of the sources are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
