// A medicine in two compartments, swallowed or infused, by rows of data for each patient.
#include <saltus.hpp>

struct patients {
  static constexpr double span[] = {0.0, 48.0};
  static constexpr auto time_unit = "h";

  enum state { gut, blood, tissue };
  static constexpr saltus::variable<state> state_list[] = {
      {gut, 0.0, "mg", "not yet absorbed"},
      {blood, 0.0, "mg", "in the blood"},
      {tissue, 0.0, "mg", "in the tissue"},
  };

  enum parameter { absorption, elimination, to_tissue, to_blood, bioavailability, lag };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {absorption, 1.1, "1/h", "rate of absorption"},
      {elimination, 0.15, "1/h", "rate of elimination"},
      {to_tissue, 0.0, "1/h", "rate from the blood to the tissue"},
      {to_blood, 0.0, "1/h", "rate from the tissue to the blood"},
      {bioavailability, 0.8, "1", "part of a dose that is absorbed"},
      {lag, 0.0, "h", "from a dose to its arrival in the gut"},
  };

  enum discrete { infusion, given, last };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {infusion, 0.0, "mg/h", "rate of infusion into the blood"},
      {given, 0.0, "1", "number of rows so far"},
      {last, 0.0, "mg", "amount of the last row"},
  };

  enum time_event { dose, check };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{dose, "a dose is given, or an infusion changes"}.recorded(),
      {check, "nothing happens"},
  };
  enum column { amount, rate };
  static constexpr saltus::recorded<column> column_list[] = {
      {amount, dose, "mg", "swallowed"},
      {rate, dose, "mg/h", "by which the infusion changes"},
  };

  static void rhs(const auto& at, auto& dy) {
    const auto exchange = at[to_tissue] * at[blood] - at[to_blood] * at[tissue];
    dy[gut] = -at[absorption] * at[gut];
    dy[blood] = at[absorption] * at[gut] + at[infusion] - at[elimination] * at[blood] - exchange;
    dy[tissue] = exchange;
  }

  static void time_events(const auto& at, auto& when) {
    when.delay(dose, at[lag]);
    when.every(check, 7.0);
  }

  static void transition(auto& now) {
    now.each_due(dose, [&](const auto& row) {
      now[gut] = now[gut] + now[bioavailability] * row[amount];
      now[infusion] = now[infusion] + row[rate];
      now[given] = now[given] + 1.0;
      now[last] = row[amount];
    });
  }
};
