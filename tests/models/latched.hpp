// A Schmitt trigger: on above `high`, off below `low`, and as before in between. A clock may set x, and switches the trigger off.
#include <saltus.hpp>

struct latched {
  static constexpr auto title = "a Schmitt trigger";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { x, time_on };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "falls at a constant rate"},
                                                           {time_on, 0.0, "1", "integral of `on`"}};
  enum parameter { rate, tick, high, set };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {rate, 1.0, "1", "at which x falls"},
      {tick, 1.25, "1", "when the clock ticks"},
      {high, 0.0, "1", "threshold; the lower one is 9 below"},
      {set, 0.0, "1", "1: the tick sets x to `high`"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "1: on"}};
  enum guard { above_high, above_low };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {above_high, saltus::both, saltus::bilateral, "x passes `high`"},
      {above_low, saltus::both, saltus::bilateral, "x passes the lower threshold"}};
  enum time_event { clock };
  static constexpr saltus::timed<time_event> time_event_list[] = {{clock, "ticks once"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[rate];
    dy[time_on] = at[on];
  }
  static void guards(const auto& at, auto& g) {
    g[above_high] = at[x] - at[high];
    g[above_low] = at[x] - (at[high] - 9.0);
  }
  static void time_events(const auto& at, auto& when) { when.at(clock, at[tick]); }
  static void transition(auto& now) {
    if (!now.due(clock)) return;
    now[on] = 0.0;
    if (now[set] > 0.5) now[x] = now[high];
  }
  static void mode(auto& now) {
    if (now.above(above_high)) now[on] = 1.0;
    if (!now.above(above_low)) now[on] = 0.0;
  }
};
