// A source, a choke whose iron saturates, a diode, and a capacitor beside the load. Flux and current of the choke satisfy
//
//     flux = L i + saturation tanh(i / knee)
//
// which gives the flux for a current but not the reverse: the current is an algebraic state. All equations are written as residuals. The
// diode begins to conduct when the source has risen above the load, and blocks when the current has fallen to zero.
#include <saltus.hpp>

struct saturating_choke {
  static constexpr auto title = "Rectifier with a saturating choke: equations as residuals";
  static constexpr auto source = "Kirchhoff's laws and a curve of magnetisation by tanh; figures of our own";
  static constexpr double span[] = {0.0, 0.1};
  static constexpr double pi = 3.14159265358979323846;

  enum state { flux, v, i };
  static constexpr saltus::variable<state> state_list[] = {
      {flux, 0.0, "V s", "of the choke"},
      {v, 0.0, "V", "voltage of the load"},
      saltus::variable<state>{i, 0.0, "A", "current through the diode"}.algebraic(),
  };

  enum parameter { amplitude, frequency, resistance, inductance, saturation, knee, capacitance, load };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {amplitude, 100.0, "V", "of the source"},
      {frequency, 50.0, "Hz", "of the source"},
      {resistance, 2.0, "ohm", "of the choke's coil"},
      {inductance, 2e-3, "H", "L: of the choke when it is saturated"},
      {saturation, 0.05, "V s", "flux in the iron when it is saturated"},
      {knee, 1.0, "A", "current at which saturation sets in"},
      {capacitance, 1e-3, "F", "beside the load"},
      {load, 50.0, "ohm", "resistance of the load"},
  };

  enum discrete { conducts };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {conducts, 1.0, "1", "1 while the diode conducts"},
  };

  enum guard { ends, begins };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {ends, saltus::falling, saltus::unilateral, "the current has fallen to zero: the diode blocks"},
      {begins, saltus::rising, saltus::bilateral, "the source rises above the load: the diode conducts"},
  };

  static auto e(const auto& at) { return at[amplitude] * sin(2.0 * pi * at[frequency] * at.t); }

  static void residual(const auto& at, const auto& dy, auto& r) {
    const auto across = select(at.is_on(conducts), e(at) - at[resistance] * at[i] - at[v], 0.0);
    r[flux] = dy[flux] - across;
    r[v] = at[capacitance] * dy[v] + at[v] / at[load] - at[i];
    r[i] = at[flux] - at[inductance] * at[i] - at[saturation] * tanh(at[i] / at[knee]);
  }

  // A guard without meaning in a mode is a constant on its side.
  static void guards(const auto& at, auto& g) {
    g[ends] = select(at.is_on(conducts), at[i], 1.0);
    g[begins] = select(at.is_on(conducts), -1.0, e(at) - at[v]);
  }

  static void transition(auto& now) {
    if (now.due(ends)) now[conducts] = now[flux] = 0.0;
    if (now.due(begins)) now[conducts] = 1.0;
  }

  // Zeros of the source are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
