// A point runs past a level, or is set on it, at the tick of a clock; `mode` follows the side on which it is. The tick may be followed by
// other events at once.
#include <saltus.hpp>

struct gated {
  static constexpr auto title = "a point and a level";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { x, time_above };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "runs at a constant rate"},
                                                           {time_above, 0.0, "1", "integral of `is_above`"}};
  enum parameter { rate, tick, at_start, set, follow };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {rate, 1.0, "1", "of x"},
      {tick, 1.25, "1", "when the clock ticks; from zero, x is at the level then"},
      {at_start, 0.0, "1", "1: the level is zero"},
      {set, 0.0, "1", "1: the tick sets x to the level"},
      {follow, 0.0, "1", "1: the tick schedules an item at once; 2: it moves another guard"}};
  enum discrete { is_above, passes, turns };
  static constexpr saltus::variable<discrete> discrete_list[] = {{is_above, 0.0, "1", "1: x is above the level"},
                                                                 {passes, 0.0, "1", "events of `level`"},
                                                                 {turns, 0.0, "1", "moves `chain`"}};
  enum guard { level, chain };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {level, saltus::both, saltus::bilateral, "x passes the level"},
      {chain, saltus::rising, saltus::bilateral, "moved by the tick"}};
  enum time_event { clock, item };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      {clock, "ticks once"}, saltus::timed<time_event>{item, "follows a tick"}.scheduled(2)};
  static auto height(const auto& at) { return select(at[at_start] > 0.5, 0.0, at[rate] * at[tick]); }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[rate];
    dy[time_above] = at[is_above];
  }
  static void guards(const auto& at, auto& g) {
    g[level] = at[x] - height(at);
    g[chain] = at[turns] - 0.5;
  }
  static void time_events(const auto& at, auto& when) { when.at(clock, at[tick]); }
  static void transition(auto& now) {
    if (now.due(level)) now[passes] += 1.0;
    if (!now.due(clock)) return;
    if (now[set] > 0.5) now[x] = height(now);
    if (now[follow] == 1.0) now.after(item, 0.0);
    if (now[follow] == 2.0) now[turns] = 1.0;
  }
  static void mode(auto& now) { now[is_above] = now.above(level) ? 1.0 : 0.0; }
};
