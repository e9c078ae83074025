// A decaying quantity with doses by rows of data, which come the later the faster it decays, and one cure at a separate time.
#include <saltus.hpp>

struct recorded {
  static constexpr auto title = "recorded time events";
  static constexpr auto source = "tests: closed form between events (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { z, total };
  static constexpr saltus::variable<state> state_list[] = {{z, 0.9, "1", "decays"},
                                                           {total, 0.0, "1", "time integral of z"}};
  enum parameter { k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{k, 1.5, "1/s", "rate of decay"}};
  enum time_event { dose, cure };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{dose, "doses are added"}.recorded(), {cure, "half is taken away"}};
  enum column { amount };
  static constexpr saltus::recorded<column> column_list[] = {{amount, dose, "1", "added"}};
  enum guard { full };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {full, saltus::falling, saltus::bilateral, "z falls below one"}};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void rhs(const auto& at, auto& dy) {
    dy[z] = -at[k] * at[z];
    dy[total] = at[z];
  }
  static void guards(const auto& at, auto& g) { g[full] = at[z] - 1.0; }
  static void time_events(const auto& at, auto& when) {
    when.delay(dose, 0.1 * at[k]);
    when.at(cure, 1.61);
  }
  static void transition(auto& now) {
    now.each_due(dose, [&](const auto& row) { now[z] += row[amount]; });
    if (now.due(cure)) now[z] = 0.5 * now[z];
  }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
  }
};
