// A rectifier: two sources in antiphase, each with an inductance and an ideal diode in series, feed one load.
//
//     e1 --Ls--|>|--+                e1 = E sin(2 pi f t),  e2 = -e1
//                   +-- R -- L --|   load voltage v = R (i1 + i2) + L (i1' + i2')
//     e2 --Ls--|>|--+                a conducting branch: Ls i' = e - v
//
// Modes. Diode 1 alone: (Ls + L) i1' = e1 - R i1. Diode 2 alone: the same with e2 and i2. Both, while the current changes over from one
// to the other: (Ls + 2 L) (i1 + i2)' = -2 R (i1 + i2) and Ls (i1 - i2)' = 2 e1. At least one diode conducts, because of the load's
// inductance. A diode blocks when its current has fallen to zero; it conducts when the source has risen above the load.
//
// The voltage e - v contains the time derivatives of the currents. The model has them as states, so that guards are functions of states,
// and integrates them by the derivatives of the equations above. When a diode begins to conduct, the derivative of its current rises
// from zero and the other's is continuous: e = v on either side. When a diode blocks, the derivatives jump.
#include <saltus.hpp>

struct carver_3 {
  static constexpr auto title = "Carver problem 3: rectifier of two diodes, with rates as states";
  static constexpr auto source =
      "in place of M. B. Carver, Math. Comput. Simul. 20 (1978) 190: its form (two currents and their rates, four "
      "guards, "
      "16 events; M. D. Compere (2001), tables 5.2 and 5.4), circuit of our own";
  static constexpr double span[] = {0.0, 0.085};
  static constexpr double pi = 3.14159265358979323846;

  enum state { i1, i2, j1, j2 };
  static constexpr saltus::variable<state> state_list[] = {
      {i1, 1e-6, "A", "current through diode 1"},
      {i2, 0.0, "A", "current through diode 2"},
      {j1, 0.0, "A/s", "rate of i1 (default: that of diode 1 alone)"},
      {j2, 0.0, "A/s", "rate of i2"},
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

  /// Voltage of source 1, and its time derivative.
  static auto e1(const auto& at) { return at[amplitude] * sin(2.0 * pi * at[frequency] * at.t); }
  static auto e1_rate(const auto& at) {
    const auto w = 2.0 * pi * at[frequency];
    return at[amplitude] * w * cos(w * at.t);
  }

  /// Time derivative of a current whose source is at e while `sum` flows through the load. The circuit is linear: with the derivatives of e
  /// and of the sum as arguments it gives the second derivative.
  static auto alone(const auto& at, const auto& e, const auto& sum) {
    return (e - at[resistance] * sum) / (at[source_inductance] + at[inductance]);
  }
  static auto together(const auto& at, const auto& e, const auto& sum) {
    const auto share = at[source_inductance] / (at[source_inductance] + 2.0 * at[inductance]);
    return (e - share * at[resistance] * sum) / at[source_inductance];
  }

  static void initial(auto& at) { at[j1] = alone(at, e1(at), at[i1]); }

  static void rhs(const auto& at, auto& dy) {
    const auto on_1 = at.is_on(diode_1), on_2 = at.is_on(diode_2);
    const auto e = e1_rate(at), sum = at[j1] + at[j2];
    dy[i1] = at[j1];
    dy[i2] = at[j2];
    dy[j1] = select(on_1 && on_2, together(at, e, sum), select(on_1, alone(at, e, sum), 0.0));
    dy[j2] = select(on_1 && on_2, together(at, -e, sum), select(on_2, alone(at, -e, sum), 0.0));
  }

  // A guard without meaning in a mode is a constant on its side.
  static void guards(const auto& at, auto& g) {
    const auto e = e1(at), load = at[resistance] * (at[i1] + at[i2]) + at[inductance] * (at[j1] + at[j2]);
    g[current_1] = select(at.is_on(diode_1), at[i1], 1.0);
    g[current_2] = select(at.is_on(diode_2), at[i2], 1.0);
    g[voltage_1] = select(at.is_on(diode_1), -1.0, e - load);
    g[voltage_2] = select(at.is_on(diode_2), -1.0, -e - load);
  }

  static void transition(auto& now) {
    if (now.due(voltage_1)) now[diode_1] = 1.0;
    if (now.due(voltage_2)) now[diode_2] = 1.0;
    if (now.due(current_1)) {
      now[diode_1] = now[i1] = now[j1] = 0.0;
      now[j2] = alone(now, -e1(now), now[i2]);
    }
    if (now.due(current_2)) {
      now[diode_2] = now[i2] = now[j2] = 0.0;
      now[j1] = alone(now, e1(now), now[i1]);
    }
  }

  // Zeros of the sources are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
