// A guard that is 3 - x or x - 3 by the sign of another guard, which a time event changes.
#include <saltus.hpp>

struct switched_guard {
  static constexpr auto title = "guard that switches by the sign of another";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { x, s };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "the time"}, {s, 1.0, "1", "turned at 1"}};
  enum guard { sign_of_s, level };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {sign_of_s, saltus::rising, saltus::bilateral, "s rises through zero"},
      {level, saltus::falling, saltus::bilateral, "3 - x while s is above zero, else x - 3"}};
  enum time_event { turn };
  static constexpr saltus::timed<time_event> time_event_list[] = {{turn, "s changes its sign"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = 1.0 + 0.0 * at[x];
    dy[s] = 0.0 * at[s];
  }
  static void guards(const auto& at, auto& g) {
    g[sign_of_s] = at[s];
    g[level] = select(at.above(sign_of_s), 3.0 - at[x], at[x] - 3.0);
  }
  static void time_events(const auto&, auto& when) { when.at(turn, 1.0); }
  static void transition(auto& now) {
    if (now.due(turn)) now[s] = -1.0;
  }
};
