// A medicine taken at fixed times, absorbed from the gut, eliminated from the blood: time events, no guards.
//
//     gut' = -k_a gut,   blood' = k_a gut - k_e blood
//
// A loading dose at one time, then the same dose again and again. Between doses the solution is a sum of
// exponentials (Bateman's), one pair for each dose taken.
#include <saltus.hpp>

struct pulsed_dose {
  static constexpr auto title = "Repeated oral doses, one compartment";
  static constexpr auto source =
      "M. Gibaldi, D. Perrier, Pharmacokinetics, 2nd ed., Dekker 1982, chapters 1 and 3; H. Bateman, Proc. Cambridge "
      "Philos. Soc. 15 (1910) 423";
  static constexpr double span[] = {0.0, 50.0};

  enum state { gut, blood };
  static constexpr saltus::variable<state> state_list[] = {
      {gut, 0.0, "mg", "medicine in the gut, not yet absorbed"},
      {blood, 0.0, "mg", "medicine in the blood"},
  };

  enum parameter { absorption, elimination, volume, amount, loading, interval, t_first, t_loading };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {absorption, 1.2, "1/h", "rate of absorption k_a"},
      {elimination, 0.15, "1/h", "rate of elimination k_e"},
      {volume, 40.0, "L", "volume of distribution"},
      {amount, 250.0, "mg", "what a dose brings into the gut"},
      {loading, 400.0, "mg", "what the loading dose brings into the gut"},
      {interval, 8.0, "h", "time between doses"},
      {t_first, 6.0, "h", "time of the first dose"},
      {t_loading, 0.5, "h", "time of the loading dose"},
  };

  enum time_event { dose, loading_dose };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {dose, "a dose is taken"},
      {loading_dose, "the loading dose is taken"},
  };

  enum output { concentration };
  static constexpr saltus::derived<output> output_list[] = {
      {concentration, "mg/L", "concentration in the blood"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[gut] = -at[absorption] * at[gut];
    dy[blood] = at[absorption] * at[gut] - at[elimination] * at[blood];
  }

  static void time_events(const auto& at, auto& when) {
    when.every(dose, at[interval], at[t_first]);
    when.at(loading_dose, at[t_loading]);
  }

  // Both may be due at once.
  static void transition(auto& now) {
    if (now.due(dose)) now[gut] += now[amount];
    if (now.due(loading_dose)) now[gut] += now[loading];
  }

  static void outputs(const auto& at, auto& out) { out[concentration] = at[blood] / at[volume]; }
};
