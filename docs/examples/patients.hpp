// A medicine swallowed at the times of each patient's record: one compartment.
//
//     gut' = -k_a gut,   blood' = k_a gut - k_e blood
#include <saltus.hpp>

struct patients {
  static constexpr auto title = "Oral doses by the records of patients, one compartment";
  static constexpr auto source = "M. Gibaldi, D. Perrier, Pharmacokinetics, 2nd ed., Dekker 1982, chapter 1";
  static constexpr auto time_unit = "h";
  static constexpr double span[] = {0.0, 96.0};

  enum state { gut, blood };
  static constexpr saltus::variable<state> state_list[] = {
      {gut, 0.0, "mg", "medicine in the gut, not yet absorbed"},
      {blood, 0.0, "mg", "medicine in the blood"},
  };

  enum parameter { absorption, elimination, volume };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {absorption, 1.2, "1/h", "rate of absorption k_a"},
      {elimination, 0.15, "1/h", "rate of elimination k_e"},
      {volume, 40.0, "L", "volume of distribution"},
  };

  enum time_event { dose };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{dose, "a dose is taken"}.recorded(),
  };

  enum column { amount };
  static constexpr saltus::recorded<column> column_list[] = {{amount, dose, "mg", "of the dose"}};

  enum output { concentration };
  static constexpr saltus::derived<output> output_list[] = {{concentration, "mg/L", "concentration in the blood"}};

  static void rhs(const auto& at, auto& dy) {
    dy[gut] = -at[absorption] * at[gut];
    dy[blood] = at[absorption] * at[gut] - at[elimination] * at[blood];
  }

  static void transition(auto& now) {
    now.each_due(dose, [&](const auto& row) { now[gut] += row[amount]; });
  }

  static void outputs(const auto& at, auto& out) { out[concentration] = at[blood] / at[volume]; }
};
