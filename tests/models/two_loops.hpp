// Two quantities, each of which relaxes to one of two targets. When one passes its mark the other's target changes, and both are reset; a
// pulse comes periodically. The solution is known in closed form from event to event (tests/loops_reference.hpp).
#include <saltus.hpp>

struct two_loops {
  static constexpr auto title = "two quantities that switch each other";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "first"}, {y, 0.0, "1", "second"}};
  enum parameter { x_rate, y_rate, x_low, x_high, y_low, y_high, x_mark, y_mark, keep, add, mix, dose, period };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {x_rate, 1.0, "1", "at which x approaches its target"},
      {y_rate, 1.0, "1", "at which y approaches its target"},
      {x_low, -1.0, "1", "target of x while y_side is 0"},
      {x_high, 1.0, "1", "target of x while y_side is 1"},
      {y_low, -1.0, "1", "target of y while x_side is 0"},
      {y_high, 1.0, "1", "target of y while x_side is 1"},
      {x_mark, 0.5, "1", "mark of x"},
      {y_mark, 0.5, "1", "mark of y"},
      {keep, 1.0, "1", "what y is multiplied by when x passes its mark"},
      {add, 0.0, "1", "what is added to y then"},
      {mix, 0.0, "1", "share of y that is added to x when y passes its mark"},
      {dose, 0.0, "1", "what a pulse adds to x"},
      {period, 1.0, "1", "of the pulses"}};
  enum discrete { x_side, y_side };
  static constexpr saltus::variable<discrete> discrete_list[] = {{x_side, 0.0, "1", "changes when x passes its mark"},
                                                                 {y_side, 0.0, "1", "changes when y passes its mark"}};
  enum guard { x_there, y_there };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {x_there, saltus::both, saltus::bilateral, "x passes its mark"},
      {y_there, saltus::both, saltus::bilateral, "y passes its mark"}};
  enum time_event { pulse };
  static constexpr saltus::timed<time_event> time_event_list[] = {{pulse, "adds to x"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[x_rate] * (select(at.is_on(y_side), at[x_high], at[x_low]) - at[x]);
    dy[y] = at[y_rate] * (select(at.is_on(x_side), at[y_high], at[y_low]) - at[y]);
  }
  static void guards(const auto& at, auto& g) {
    g[x_there] = at[x] - at[x_mark];
    g[y_there] = at[y] - at[y_mark];
  }
  static void time_events(const auto& at, auto& when) { when.every(pulse, at[period], at[period]); }
  static void transition(auto& now) {
    const bool first = now.due(x_there), second = now.due(y_there);
    if (first) {
      now[x_side] = 1.0 - now[x_side];
      now[y] = now[keep] * now[y] + now[add];
    }
    if (second) {
      now[y_side] = 1.0 - now[y_side];
      now[x] += now[mix] * now[y];
    }
    if (now.due(pulse)) now[x] += now[dose];
  }
};
