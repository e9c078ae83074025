// A block on a rough floor, kicked again and again. From speed v it slides v^2 / (2 mu) and stands until the next kick.
#include <saltus.hpp>

struct kicked_block {
  static constexpr auto title = "a block that is kicked";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "position"}, {v, 1.0, "m/s", "velocity"}};
  enum parameter { mu, kick, period };
  static constexpr saltus::variable<parameter> parameter_list[] = {{mu, 0.6, "m/s2", "deceleration by friction"},
                                                                   {kick, 0.5, "m/s", "speed from a kick"},
                                                                   {period, 3.0, "s", "between kicks"}};
  enum guard { stops };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{stops, saltus::both, saltus::bilateral, "it stops"}.sliding()};
  enum time_event { kicks };
  static constexpr saltus::timed<time_event> time_event_list[] = {{kicks, "it is kicked"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = select(at.above(stops), -at[mu], at[mu]);
  }
  static void guards(const auto& at, auto& g) { g[stops] = at[v]; }
  static void time_events(const auto& at, auto& when) { when.every(kicks, at[period], at[period]); }
  static void transition(auto& now) {
    if (now.due(kicks)) now[v] += now[kick];
  }
};
