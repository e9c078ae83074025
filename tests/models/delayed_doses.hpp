// Doses of a record that arrive after a delay: each row schedules an item, which carries the amount.
#include <saltus.hpp>

struct delayed_doses {
  static constexpr double span[] = {0.0, 48.0};

  enum state { blood };
  static constexpr saltus::variable<state> state_list[] = {{blood, 0.0, "mg", "in the blood"}};

  enum parameter { elimination, delay };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {elimination, 0.15, "1/h", "rate of elimination"},
      {delay, 9.5, "h", "from a dose to its arrival"},
  };

  enum time_event { dose, arrival };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{dose, "a dose is given"}.recorded(),
      saltus::timed<time_event>{arrival, "a dose arrives"}.scheduled(16).carrying(1),
  };
  enum column { amount, rate };
  static constexpr saltus::recorded<column> column_list[] = {
      {amount, dose, "mg", "given"},
      {rate, dose, "mg/h", "ignored"},
  };

  static void rhs(const auto& at, auto& dy) { dy[blood] = -at[elimination] * at[blood]; }

  static void time_events(const auto& at, auto& when) { when.delay(dose, 0.0 * at[delay]); }

  static void transition(auto& now) {
    now.each_due(dose, [&](const auto& row) { now.after(arrival, now[delay], row[amount]); });
    now.each_due(arrival, [&](const auto& item) { now[blood] += item[0]; });
  }
};
