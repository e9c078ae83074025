// A step-up converter whose switch follows a clock of fixed period and duty cycle: closed from k T to (k + D) T.
//
//              switch closed     open, diode conducts    open, diode blocks
//     L i' =   V                 V - v                   0
//     C v' =   -v / R            i - v / R               -v / R
//
// The clock's edges are time events: known in advance and hit exactly, without a guard or a longest step. In continuous conduction they
// are the only events and v settles near V / (1 - D). With a light load, R > 2 L / (D (1 - D)^2 T), the current falls to zero in every
// period and the ideal diode blocks (discontinuous conduction).
#include <saltus.hpp>

struct pwm_boost_converter {
  static constexpr auto title = "Boost converter under pulse-width modulation";
  static constexpr auto source =
      "R. W. Erickson, D. Maksimovic, Fundamentals of Power Electronics, 2nd ed., Kluwer "
      "2001, sections 2.3 and 5.3";
  static constexpr double span[] = {0.0, 2e-3};

  enum state { current, voltage };
  static constexpr saltus::variable<state> state_list[] = {
      {current, 0.0, "A", "current i in the inductor"},
      {voltage, 0.0, "V", "voltage v of the capacitor and the load (default: that of the supply)"},
  };

  enum parameter { supply, inductance, capacitance, load, period, duty };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {supply, 12.0, "V", "supply voltage V"},
      {inductance, 100e-6, "H", "inductance L"},
      {capacitance, 20e-6, "F", "capacitance C"},
      {load, 24.0, "ohm", "resistance R of the load"},
      {period, 20e-6, "s", "period T of the clock, the inverse of the switching frequency"},
      {duty, 0.5, "1", "duty cycle D: the part of a period for which the switch is closed"},
  };

  enum discrete { closed, blocked };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {closed, 1.0, "1", "1 while the switch is closed (default: as the clock has it at the start)"},
      {blocked, 0.0, "1", "1 while the switch is open and the diode blocks"},
  };

  enum guard { dry, forward };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {dry, saltus::falling, saltus::unilateral, "the inductor has run empty: the diode blocks"},
      saltus::event_function<guard>{forward, saltus::both, saltus::bilateral, "the load's voltage passes the supply's"}
          .condition(),
  };

  enum time_event { switch_on, switch_off };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {switch_on, "a period of the clock begins: the switch closes"},
      {switch_off, "the pulse is over: the switch opens"},
  };

  enum output { load_current };
  static constexpr saltus::derived<output> output_list[] = {
      {load_current, "A", "current in the load"},
  };

  static void initial(auto& at) {
    const auto periods = at.t / at[period];
    at[voltage] = at[supply];
    at[closed] = select(periods - floor(periods) < at[duty], 1.0 + 0.0 * periods, 0.0);
  }

  static void rhs(const auto& at, auto& dy) {
    const auto opposing = select(at.is_on(closed), 0.0, at[voltage]);
    const auto charging = select(at.is_on(closed), 0.0, at[current]);
    dy[current] = select(at.is_on(blocked), 0.0, (at[supply] - opposing) / at[inductance]);
    dy[voltage] = (charging - at[voltage] / at[load]) / at[capacitance];
  }

  static void guards(const auto& at, auto& g) {
    g[dry] = at[current];
    g[forward] = at[voltage] - at[supply];
  }

  static void time_events(const auto& at, auto& when) {
    when.every(switch_on, at[period]);
    when.every(switch_off, at[period], at[duty] * at[period]);
  }

  static void transition(auto& now) {
    if (now.due(dry)) now[current] = 0.0;
    // With D = 0 or D = 1 both edges come at once.
    if (now.due(switch_off)) now[closed] = 0.0;
    if (now.due(switch_on)) now[closed] = now[duty] > 0.0 ? 1.0 : 0.0;
  }

  // The ideal diode: without a current it conducts only if the supply's voltage is the higher one.
  static void mode(auto& now) {
    const bool blocks = !now.is_on(closed) && now[current] <= 0.0 && now.above(forward);
    now[blocked] = blocks ? 1.0 : 0.0;
  }

  static void outputs(const auto& at, auto& out) { out[load_current] = at[voltage] / at[load]; }
};
