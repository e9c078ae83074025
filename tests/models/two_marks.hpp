// Two ramps with a mark each: the event of one ramp may or may not affect the other. With `coupling` the order of the events matters; a
// third guard, on the first ramp, ends the run.
#include <saltus.hpp>

struct two_marks {
  static constexpr auto title = "two ramps with a mark each";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "m", "first ramp"}, {y, 0.0, "m", "second ramp"}};
  enum parameter { x_mark, y_mark, x_speed, y_speed, growth, coupling, end_mark, pulse_at };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {x_mark, 1.0, "m", "of x"},
      {y_mark, 3.0, "m", "of y"},
      {x_speed, 1.0, "m/s", "of x"},
      {y_speed, 3.0, "m/s", "of y"},
      {growth, 2.0, "1", "what x and y are multiplied by at their marks"},
      {coupling, 0.0, "1", "of y that is added to x at the mark of x"},
      {end_mark, 1e6, "m", "of x: the end"},
      {pulse_at, 1e6, "s", "when x grows by 1 m"}};
  enum discrete { kept };
  static constexpr saltus::variable<discrete> discrete_list[] = {{kept, 0.0, "m", "x at its mark"}};
  enum guard { x_there, y_there, end };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {x_there, saltus::rising, saltus::bilateral, "x passes its mark"},
      {y_there, saltus::rising, saltus::bilateral, "y passes its mark"},
      {end, saltus::rising, saltus::bilateral, "x passes its end", saltus::terminal}};
  enum time_event { pulse };
  static constexpr saltus::timed<time_event> time_event_list[] = {{pulse, "x grows"}};
  enum output { product };
  static constexpr saltus::derived<output> output_list[] = {{product, "m2", "x y"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[x_speed] + 0.0 * at[x];
    dy[y] = at[y_speed] + 0.0 * at[y];
  }
  static void guards(const auto& at, auto& g) {
    g[x_there] = at[x] - at[x_mark];
    g[y_there] = at[y] - at[y_mark];
    g[end] = at[x] - at[end_mark];
  }
  static void time_events(const auto& at, auto& when) { when.at(pulse, at[pulse_at]); }
  static void transition(auto& now) {
    if (now.due(x_there)) {
      now[kept] = now[x];
      now[x] = now[growth] * now[x] + now[coupling] * now[y];
    }
    if (now.due(y_there)) now[y] = now[growth] * now[y];
    if (now.due(pulse)) now[x] += 1.0;
  }
  static void outputs(const auto& at, auto& out) { out[product] = at[x] * at[y]; }
};
