// A quantity falls as fast as it was high a delay ago, and is raised once: its solution is a polynomial between breaking points. The delay
// differs between instances.
#include <saltus.hpp>

struct delayed {
  static constexpr auto title = "delayed states";
  static constexpr auto source = "tests: closed form by the method of steps (tests/matrix/forms.py)";
  static constexpr double span[] = {0.0, 3.0};

  enum state { z, total };
  static constexpr saltus::variable<state> state_list[] = {{z, 0.9, "1", "follows its past"},
                                                           {total, 0.0, "1", "time integral of the past z"}};
  enum parameter { k };
  static constexpr saltus::variable<parameter> parameter_list[] = {{k, 1.5, "1/s", "rate"}};
  enum delay { late };
  static constexpr saltus::lag<delay> delay_list[] = {{late, "until a change is seen"}};
  enum time_event { raise };
  static constexpr saltus::timed<time_event> time_event_list[] = {{raise, "z is raised"}};
  enum guard { full, echo };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {full, saltus::falling, saltus::bilateral, "z falls below 0.2"},
      {echo, saltus::falling, saltus::bilateral, "the past z falls below 0.4"}};
  enum output { fast, slow };
  static constexpr saltus::derived<output> output_list[] = {{fast, "1", "much faster than the states"},
                                                            {slow, "1", "as slow as z"}};

  static void delays(const auto& at, auto& lag) { lag[late] = 0.675 / at[k]; }
  static void rhs(const auto& at, auto& dy) {
    dy[z] = -at[k] * at.delayed(z, late);
    dy[total] = at.delayed(z, late);
  }
  static void guards(const auto& at, auto& g) {
    g[full] = at[z] - 0.2;
    g[echo] = at.delayed(z, late) - 0.4;
  }
  static void time_events(const auto& at, auto& when) { when.at(raise, 1.61); }
  static void transition(auto& now) {
    if (now.due(raise)) now[z] += 0.7;
  }
  static void outputs(const auto& at, auto& out) {
    out[fast] = (0.5 + at[z]) * cos(40.0 * at.t - 1.0);
    out[slow] = at[z] * at[z];
  }
};
