// A step-up converter: a clock closes its switch, a current limit opens it, a diode keeps its current from reversing.
#include <saltus.hpp>

struct boost_converter {
  static constexpr auto title = "Boost converter under current-mode control";
  static constexpr auto source = "J. H. B. Deane, IEEE Trans. Circuits Syst. I 39 (1992) 680";
  static constexpr double span[] = {0.0, 4.95e-3};
  static constexpr double pi = 3.14159265358979323846;

  enum state { current, voltage };
  static constexpr saltus::variable<state> state_list[] = {
      {current, 0.0, "A", "current in the coil"},
      {voltage, 0.0, "V", "voltage at the load (default: the supply's)"},
  };

  enum parameter { supply, inductance, capacitance, load, clock_rate, limit, v_max };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {supply, 10.0, "V", "supply voltage"},
      {inductance, 1e-3, "H", "inductance of the coil"},
      {capacitance, 12e-6, "F", "capacitance across the load"},
      {load, 20.0, "ohm", "resistance of the load"},
      {clock_rate, 10e3, "Hz", "clock ticks per second"},
      {limit, 1.5, "A", "current at which the switch opens"},
      {v_max, 60.0, "V", "voltage at which the load is destroyed"},
  };

  enum discrete { closed, blocked };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {closed, 1.0, "1", "1 while the switch is closed"},
      {blocked, 0.0, "1", "1 while the diode blocks and no current flows"},
  };

  enum guard { tick, peak, dry, breakdown };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {tick, saltus::rising, saltus::bilateral, "the clock ticks: the switch closes below the limit"},
      {peak, saltus::rising, saltus::bilateral, "the current reaches the limit: the switch opens"},
      {dry, saltus::falling, saltus::unilateral, "the coil has run empty: the diode blocks"},
      {breakdown, saltus::rising, saltus::bilateral, "the load is destroyed", saltus::terminal},
  };

  enum output { power };
  static constexpr saltus::derived<output> output_list[] = {
      {power, "W", "power taken by the load"},
  };

  static void initial(auto& at) { at[voltage] = at[supply]; }

  static void rhs(const auto& at, auto& dy) {
    const auto opposing = select(at.is_on(closed), 0.0, at[voltage]);
    const auto charging = select(at.is_on(closed), 0.0, at[current]);
    dy[current] = select(at.is_on(blocked), 0.0, (at[supply] - opposing) / at[inductance]);
    dy[voltage] = (charging - at[voltage] / at[load]) / at[capacitance];
  }

  static void guards(const auto& at, auto& g) {
    g[tick] = sin(2.0 * pi * at[clock_rate] * at.t);
    g[peak] = at[current] - at[limit];
    g[dry] = select(at.is_on(blocked), 1.0, at[current]);  // nothing to watch while no current flows
    g[breakdown] = at[voltage] - at[v_max];
  }

  static void transition(auto& now) {
    if (now.due(dry)) {
      now[current] = 0.0;
      now[blocked] = 1.0;
    }
    if (now.due(tick) && !now.above(peak)) {
      now[closed] = 1.0;
      now[blocked] = 0.0;
    }
    if (now.due(peak)) now[closed] = 0.0;
  }

  // Half a wave of the clock is 1/2 of its period: a step of 1/5 cannot pass over two of its zeros.
  static auto max_step(const auto& at) { return 0.2 / at[clock_rate]; }

  static void outputs(const auto& at, auto& out) { out[power] = at[voltage] * at[voltage] / at[load]; }
};
