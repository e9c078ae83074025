// Two clocks and two tables whose times are products of decimal numbers, so that times meant to be equal differ by an ulp. Discrete
// variables count simultaneous events.
#include <saltus.hpp>

struct meeting_clocks {
  static constexpr auto title = "clocks that meet";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};

  // The sequence 0, 1, 0, 1, ... with a tenth each, once by its period and once knot by knot.
  static constexpr saltus::knot turns[] = {{0.0, 0.0}, {0.1, 1.0}, {0.2, 0.0}};
  static constexpr saltus::knot spelled[] = {{0.0, 0.0}, {0.1, 1.0}, {0.2, 0.0}, {0.3, 1.0}, {0.4, 0.0}, {0.5, 1.0},
                                             {0.6, 0.0}, {0.7, 1.0}, {0.8, 0.0}, {0.9, 1.0}, {1.0, 0.0}, {1.1, 1.0},
                                             {1.2, 0.0}, {1.3, 1.0}, {1.4, 0.0}, {1.5, 1.0}, {1.6, 0.0}, {1.7, 1.0},
                                             {1.8, 0.0}, {1.9, 1.0}, {2.0, 0.0}, {2.1, 1.0}, {2.2, 0.0}, {2.3, 1.0},
                                             {2.4, 0.0}, {2.5, 1.0}, {2.6, 0.0}, {2.7, 1.0}, {2.8, 0.0}, {2.9, 1.0}};
  enum table { in_turn, by_list };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{in_turn, "1", "changes", saltus::interpolation::step, saltus::at_ends::periodic}.with(
          turns),
      saltus::tabulated<table>{by_list, "1", "changes, too", saltus::interpolation::step, saltus::at_ends::held}.with(
          spelled)};

  enum state { steps };
  static constexpr saltus::variable<state> state_list[] = {{steps, 0.0, "1", "ticks of the slow clock"}};
  enum parameter { fast_period, slow_period };
  static constexpr saltus::variable<parameter> parameter_list[] = {{fast_period, 0.02, "s", "of the fast clock"},
                                                                   {slow_period, 0.1, "s", "of the slow clock"}};
  enum discrete { fast_ticks, slow_ticks, together, old_values };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {fast_ticks, 0.0, "1", "ticks of the fast clock"},
      {slow_ticks, 0.0, "1", "ticks of the slow clock"},
      {together, 0.0, "1", "transitions in which both ticked"},
      {old_values, 0.0, "1", "ticks of the slow clock at which a table had not turned"}};
  enum guard { differ };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {differ, saltus::both, saltus::bilateral, "one table has turned, the other has not"}};
  enum time_event { fast, slow };
  static constexpr saltus::timed<time_event> time_event_list[] = {{fast, "the fast clock ticks"},
                                                                  {slow, "the slow clock ticks"}};
  static void rhs(const auto& at, auto& dy) { dy[steps] = 0.0 * at[steps]; }
  static void guards(const auto& at, auto& g) { g[differ] = 0.5 - abs(at[in_turn] - at[by_list]); }
  static void time_events(const auto& at, auto& when) {
    when.every(fast, at[fast_period], at[fast_period]);
    when.every(slow, at[slow_period], at[slow_period]);
  }
  static void transition(auto& now) {
    if (now.due(fast) && now.due(slow)) now[together] += 1.0;
    if (now.due(fast)) now[fast_ticks] += 1.0;
    if (now.due(slow)) {
      now[slow_ticks] += 1.0;
      now[steps] += 1.0;
      const auto odd = now[slow_ticks] - 2.0 * floor(0.5 * now[slow_ticks]);
      if (now[in_turn] != odd) now[old_values] += 1.0;
    }
  }
};
