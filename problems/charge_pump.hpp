// A charge pump: a transistor whose gate is driven by a pulse, with a capacitor at its source and one at its drain. The charges of the
// transistor's terminals are functions of its voltages. These functions differ without a channel (up to a threshold), with a channel, and
// with a channel that reaches the drain. The gate current enters the equations only as the time derivative of a charge: index 2.
//
// Only conserved quantities are integrated, the charge at the source and that at the drain; all voltages are functions of the input. The
// current jumps with the time derivative of the input, and when a channel forms. At that moment the voltages of both its ends pass the
// threshold, and a charge that depends on both has no derivative. But the end at the drain, with the smaller capacitor, falls back at once,
// and stays below the threshold for the parameters given here. It counts only if it is above the threshold by more than tolerances leave
// uncertain of the conserved charges (`least_excess`).
//
// In pC, ns, V and mA all values are of one magnitude, so one tolerance serves for all.
//
// The input is a trapezoid of period 120 ns: it rises from 50 ns to 60 ns and falls from 110 ns to 120 ns.
#include <saltus.hpp>

struct charge_pump {
  static constexpr auto title = "Charge pump, index 2";
  static constexpr auto source =
      "M. Guenther, G. Denk, U. Feldmann, How models for MOS transistors reflect charge distribution effects (1995), "
      "as in "
      "the CWI and Bari test set";
  static constexpr double span[] = {0.0, 1200.0};

  enum state { gate_charge, left_charge, source_charge, right_charge, drain_charge, gate_u, source_u, drain_u, gate_i };
  static constexpr saltus::variable<state> state_list[] = {
      {gate_charge, 0.12628, "pC", "of the transistor's gate; a guess at the start"},
      {left_charge, 0.0, "pC", "of the capacitor at the source"},
      {source_charge, 0.0, "pC", "of the transistor's source"},
      {right_charge, 0.0, "pC", "of the capacitor at the drain"},
      {drain_charge, 0.0, "pC", "of the transistor's drain"},
      {gate_u, 0.0, "V", "at the gate"},
      {source_u, 0.0, "V", "at the source"},
      {drain_u, 0.0, "V", "at the drain"},
      {gate_i, 0.0, "mA", "from the gate into the input"}};
  enum equation { gate, at_source, at_drain, input, of_gate, of_left, of_source, of_right, of_drain };
  static constexpr saltus::equated<equation> equation_list[] = {
      {gate, "mA", "the gate is charged by the input alone"},
      {at_source, "mA", "the charge at the source is conserved"},
      {at_drain, "mA", "the charge at the drain is conserved"},
      {input, "V", "the gate has the voltage of the input"},
      {of_gate, "pC", "the charge of the gate"},
      {of_left, "pC", "the charge of the capacitor at the source"},
      {of_source, "pC", "the charge of the source"},
      {of_right, "pC", "the charge of the capacitor at the drain"},
      {of_drain, "pC", "the charge of the drain"}};
  enum parameter { high, Cs, Cd, Cox, threshold, body, surface, least_excess };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {high, 20.0, "V", "of the input"},
      {Cs, 1.6, "pF", "at the source"},
      {Cd, 0.4, "pF", "at the drain"},
      {Cox, 4.0, "pF", "of the oxide"},
      {threshold, 0.2, "V", "VT0: at which a channel is formed"},
      {body, 0.035, "V^0.5", "gamma: effect of the bulk on the threshold"},
      {surface, 1.01, "V", "phi: of the surface"},
      {least_excess, 1e-3, "V", "over the threshold: from where the channel reaches its far end"}};

  // The input is base + rise (t - since).
  enum discrete { since, base, rise };
  static constexpr saltus::variable<discrete> discrete_list[] = {{since, 0.0, "ns", "time of the last corner"},
                                                                 {base, 0.0, "V", "input at that time"},
                                                                 {rise, 0.0, "V/ns", "time derivative of the input"}};
  enum time_event { rises, is_high, falls, is_low };
  static constexpr saltus::timed<time_event> time_event_list[] = {{rises, "the input begins to rise"},
                                                                  {is_high, "the input has risen"},
                                                                  {falls, "the input begins to fall"},
                                                                  {is_low, "the input has fallen"}};
  static constexpr double period = 120.0, edge = 10.0, first_rise = 50.0, first_fall = 110.0;  // ns

  enum guard { flat, channel, whole };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {flat, saltus::both, saltus::bilateral, "the gate passes the flat band voltage"},
      {channel, saltus::both, saltus::bilateral,
       "the voltage at the nearer end passes the threshold: there is a channel"},
      {whole, saltus::both, saltus::bilateral, "the voltage at the other end does: the channel reaches it"}};

  static void time_events(const auto&, auto& when) {
    when.every(rises, period, first_rise);
    when.every(is_high, period, first_rise + edge);
    when.every(falls, period, first_fall);
    when.every(is_low, period, first_fall + edge);
  }
  static void transition(auto& now) {
    const auto turn = [&](const auto& to, const auto& slope) {
      now[since] = now.t;
      now[base] = to;
      now[rise] = slope;
    };
    if (now.due(rises)) turn(0.0, now[high] / edge);
    if (now.due(is_high)) turn(now[high], 0.0);
    if (now.due(falls)) turn(now[high], -now[high] / edge);
    if (now.due(is_low)) turn(0.0, 0.0);
  }

  /// Voltages of the gate against the bulk and against the ends of the channel, the larger of the two first; and their threshold.
  template <class Value>
  struct voltages {
    Value gate, near, far, least;
  };
  template <class Value>
  static voltages<Value> at_gate(const auto& at, const Value& gate, const Value& source, const Value& drain) {
    const Value near = max(gate - source, gate - drain), far = min(gate - source, gate - drain);
    return {gate, near, far, at[threshold] + at[body] * (sqrt(at[surface] + gate - near) - sqrt(at[surface]))};
  }
  static auto voltages_at(const auto& at) { return at_gate(at, at[gate_u], at[source_u], at[drain_u]); }
  static auto flat_band(const auto& at) { return at[threshold] - at[body] * sqrt(at[surface]) - at[surface]; }

  static void residual(const auto& at, auto& r) {
    const auto u = voltages_at(at);
    // Excess over the threshold at either end of a channel.
    const auto near = u.near - u.least, far = u.far - u.least;
    const auto filled = select(at.above(whole), near + far - near * far / (near + far), near);
    const auto with_channel = 2.0 / 3.0 * filled + at[body] * sqrt(at[surface] + u.gate - u.near);
    const auto without = at[body] * (sqrt(0.25 * at[body] * at[body] + u.gate - flat_band(at)) - 0.5 * at[body]);
    const auto of_end = select(at.above(channel), -at[Cox] / 3.0 * filled, 0.0);

    r[gate] = at.d(gate_charge, 1) + at[gate_i];
    r[at_source] = at.d(left_charge, 1) + at.d(source_charge, 1);
    r[at_drain] = at.d(right_charge, 1) + at.d(drain_charge, 1);
    r[input] = at[gate_u] - (at[base] + at[rise] * (at.t - at[since]));
    r[of_gate] = at[gate_charge] - at[Cox] * select(at.above(flat), select(at.above(channel), with_channel, without),
                                                    u.gate - flat_band(at));
    r[of_left] = at[left_charge] - at[Cs] * at[source_u];
    r[of_source] = at[source_charge] - of_end;
    r[of_right] = at[right_charge] - at[Cd] * at[drain_u];
    r[of_drain] = at[drain_charge] - of_end;
  }
  static void guards(const auto& at, auto& g) {
    const auto u = voltages_at(at);
    g[flat] = u.gate - flat_band(at);
    g[channel] = u.near - u.least;
    g[whole] = u.far - u.least - at[least_excess];
  }
};
