// A main of pulsating pressure feeds a vessel through a check valve, and the vessel leaks through an orifice. While the valve is open, the
// vessel has the pressure of the main, and the inflow follows from its derivative (index 2, no degree of freedom). While the valve is
// shut, there is no inflow (index 1). No offsets serve both.
//
// The valve shuts when the inflow has fallen to zero: there the main falls as fast as the vessel leaks. It opens when the main has risen
// to the pressure of the vessel. While it is shut, the root of the pressure falls linearly in time:
//
//     sqrt(pressure) = sqrt(pressure at the shutting) - leak (t - t at the shutting) / (2 compliance)
#include <saltus.hpp>

struct hydraulic_check_valve {
  static constexpr auto title = "Vessel behind a check valve, index 2 and 1";
  static constexpr auto source = "of our own; the smallest hydraulic circuit whose index changes with its mode";
  static constexpr double span[] = {0.0, 5.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { pressure, inflow };
  static constexpr saltus::variable<state> state_list[] = {
      {pressure, 3.0, "bar", "in the vessel (default: that of the main)"},
      {inflow, 1.0, "l/s", "through the valve; a guess at the start"}};
  enum equation { volume, valve };
  static constexpr saltus::equated<equation> equation_list[] = {
      {volume, "l/s", "what flows in leaks or is stored"},
      {valve, "bar or l/s", "the vessel has the pressure of the main, or nothing flows in"}};
  enum parameter { mean, amplitude, frequency, compliance, leak };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mean, 3.0, "bar", "pressure of the main"},
      {amplitude, 1.0, "bar", "by which it pulsates"},
      {frequency, 1.0, "Hz", "at which it pulsates"},
      {compliance, 0.1, "l/bar", "of the vessel"},
      {leak, 0.2, "l/(s bar^0.5)", "of the orifice: flow by the root of the pressure"}};
  enum discrete { open };
  static constexpr saltus::variable<discrete> discrete_list[] = {{open, 1.0, "1", "1 while the valve is open"}};
  enum guard { shuts, opens };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {shuts, saltus::falling, saltus::unilateral, "the inflow has fallen to zero: the valve shuts"},
      {opens, saltus::rising, saltus::bilateral, "the main rises above the vessel: the valve opens"}};

  static auto main_pressure(const auto& at) { return at[mean] + at[amplitude] * sin(2.0 * pi * at[frequency] * at.t); }
  static void initial(auto& at) { at[pressure] = main_pressure(at); }

  static void residual(const auto& at, auto& r) {
    r[volume] = at[compliance] * at.d(pressure, 1) + at[leak] * sqrt(at[pressure]) - at[inflow];
    r[valve] = select(at.is_on(open), at[pressure] - main_pressure(at), at[inflow]);
  }
  // A guard without meaning in a mode is a constant on its side.
  static void guards(const auto& at, auto& g) {
    g[shuts] = select(at.is_on(open), at[inflow], 1.0);
    g[opens] = select(at.is_on(open), -1.0, main_pressure(at) - at[pressure]);
  }
  static void transition(auto& now) {
    if (now.due(shuts)) {
      now[open] = now[inflow] = 0.0;
      now[pressure] =
          (1.0 + 1e-15) * now[pressure];  // a few ulps above the main; the difference then grows as the square of time
    }
    if (now.due(opens)) now[open] = 1.0;
  }
  // Zeros of the pulsation are half a period apart.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
