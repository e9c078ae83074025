// The rectifier of carver_3 (with its figure and equations) as propositional logic: four relations
//
//     i1 > 0,  i2 > 0,  e1 > v,  e2 > v        (v is the load's voltage)
//
// and three modes. A diode conducts while its current is positive, or its source is above the load; each mode is a conjunction over both
// diodes. Most sign changes of a relation change no mode: a source falls below the load while the current of its diode, kept up by the
// inductance, is still positive. The signs alone do not determine the mode: a current of zero has ended if its diode conducted, and has
// not begun if it did not.
//
// Without derivatives among the states, v depends on the mode and e1 - v would jump with it. The guard for e1 > v is therefore the value
// that e1 - v would have if both diodes conducted. While diode 1 blocks, that value has the sign of e1 - v, and it is continuous. When
// diode 1 has begun to conduct, its sign is that of i1' to the last bit, so that no rounding can start a current backwards.
#include <saltus.hpp>

struct mao_4 {
  static constexpr auto title = "Mao and Petzold example 4: rectifier of two diodes by logic";
  static constexpr auto source =
      "G. Mao, L. R. Petzold, Comput. Math. Appl. 43 (2002) 65, example 4: its form (three modes, each by four "
      "relations); no equations are printed: the circuit is that of carver_3";
  static constexpr double span[] = {0.0, 0.085};
  static constexpr double pi = 3.14159265358979323846;

  enum state { i1, i2 };
  static constexpr saltus::variable<state> state_list[] = {
      {i1, 1e-6, "A", "current through diode 1"},
      {i2, 0.0, "A", "current through diode 2"},
  };

  enum parameter { amplitude, frequency, source_inductance, inductance, resistance };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 100.0, "V", "E: amplitude of the sources"},
      {frequency, 50.0, "Hz", "f: frequency of the sources"},
      {source_inductance, 1e-3, "H", "Ls: in series with each source"},
      {inductance, 10e-3, "H", "L: of the load"},
      {resistance, 5.0, "ohm", "R: of the load"},
  };

  enum discrete { only_1, only_2, both };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {only_1, 1.0, "1", "mode: diode 1 conducts alone"},
      {only_2, 0.0, "1", "mode: diode 2 conducts alone"},
      {both, 0.0, "1", "mode: both conduct"},
  };

  // A current must not reverse: unilateral. A source that passes the load is a condition.
  enum guard { empty_1, empty_2, forward_1, forward_2 };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {empty_1, saltus::rising, saltus::unilateral, "i1 has fallen to zero"},
      {empty_2, saltus::rising, saltus::unilateral, "i2 has fallen to zero"},
      saltus::event_function<guard>{forward_1, saltus::both, saltus::bilateral, "e1 passes the load's voltage"}
          .condition(),
      saltus::event_function<guard>{forward_2, saltus::both, saltus::bilateral, "e2 passes the load's voltage"}
          .condition(),
  };

  static auto e1(const auto& at) { return at[amplitude] * sin(2.0 * pi * at[frequency] * at.t); }

  /// e - v for a source at e, if both diodes conduct.
  static auto excess(const auto& at, const auto& e) {
    const auto share = at[source_inductance] / (at[source_inductance] + 2.0 * at[inductance]);
    return e - share * at[resistance] * (at[i1] + at[i2]);
  }

  static void rhs(const auto& at, auto& dy) {
    const auto e = e1(at);
    const auto drop = at[resistance] * (at[i1] + at[i2]);
    const auto in_line = at[source_inductance] + at[inductance];
    dy[i1] = select(at.is_on(both), excess(at, e) / at[source_inductance],
                    select(at.is_on(only_1), (e - drop) / in_line, 0.0));
    dy[i2] = select(at.is_on(both), excess(at, -e) / at[source_inductance],
                    select(at.is_on(only_2), (-e - drop) / in_line, 0.0));
  }

  static void guards(const auto& at, auto& g) {
    const auto e = e1(at);
    g[empty_1] = select(at.is_on(only_2), -1.0, -at[i1]);  // not zero throughout
    g[empty_2] = select(at.is_on(only_1), -1.0, -at[i2]);
    g[forward_1] = excess(at, e);
    g[forward_2] = excess(at, -e);
  }

  // The event is located just before zero. The transition sets the rest of the current to zero, so `mode` finds -i >= 0.
  static void transition(auto& now) {
    if (now.due(empty_1)) now[i1] = 0.0;
    if (now.due(empty_2)) now[i2] = 0.0;
  }

  static void mode(auto& now) {
    const bool flows_1 = !now.is_on(only_2) && !now.above(empty_1);
    const bool flows_2 = !now.is_on(only_1) && !now.above(empty_2);
    const bool conducts_1 = flows_1 || now.above(forward_1);
    const bool conducts_2 = flows_2 || now.above(forward_2);
    now[only_1] = conducts_1 && !conducts_2 ? 1.0 : 0.0;
    now[only_2] = conducts_2 && !conducts_1 ? 1.0 : 0.0;
    now[both] = conducts_1 && conducts_2 ? 1.0 : 0.0;
  }

  // Zeros of the sources are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
