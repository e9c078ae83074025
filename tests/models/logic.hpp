// Modes as logic over conditions along a wave x = sin t: an AND of two relations, and a relay with memory.
#include <saltus.hpp>

struct logic {
  static constexpr auto title = "conditions";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 10.0};
  enum state { x, v, both_time, relay_time };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "sin t"},
                                                           {v, 1.0, "1", "cos t"},
                                                           {both_time, 0.0, "1", "how long x > high and v > 0"},
                                                           {relay_time, 0.0, "1", "how long the relay has been on"}};
  enum parameter { high, upper, lower, enabled };
  static constexpr saltus::variable<parameter> parameter_list[] = {{high, 0.5, "1", "threshold of x in the AND"},
                                                                   {upper, 0.8, "1", "the relay goes on above"},
                                                                   {lower, -0.8, "1", "the relay goes off below"},
                                                                   {enabled, 1.0, "1", "0: no mode ever changes"}};
  enum discrete { are_both, relay };
  static constexpr saltus::variable<discrete> discrete_list[] = {{are_both, 0.0, "1", "x > high and v > 0"},
                                                                 {relay, 0.0, "1", "on"}};
  enum guard { is_high, is_rising, is_upper, is_lower };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{is_high, saltus::both, saltus::bilateral, "x > high"}.condition(),
      saltus::event_function<guard>{is_rising, saltus::both, saltus::bilateral, "v > 0"}.condition(),
      saltus::event_function<guard>{is_upper, saltus::both, saltus::bilateral, "x > upper"}.condition(),
      saltus::event_function<guard>{is_lower, saltus::both, saltus::bilateral, "x > lower"}.condition()};
  enum time_event { tick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{tick, "nothing happens"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[x];
    dy[both_time] = at[are_both] + 0.0 * at[x];
    dy[relay_time] = at[relay] + 0.0 * at[x];
  }
  static void guards(const auto& at, auto& g) {
    g[is_high] = at[x] - at[high];
    g[is_rising] = at[v];
    g[is_upper] = at[x] - at[upper];
    g[is_lower] = at[x] - at[lower];
  }
  static void time_events(const auto&, auto& when) { when.every(tick, 5.0, 5.0); }
  static void mode(auto& now) {
    if (now[enabled] < 0.5) return;
    now[are_both] = now.above(is_high) && now.above(is_rising) ? 1.0 : 0.0;
    if (now.above(is_upper)) now[relay] = 1.0;
    if (!now.above(is_lower)) now[relay] = 0.0;
  }
};
