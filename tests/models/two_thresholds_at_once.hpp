// A heater whose two thresholds are one: it goes on and off without end, by transitions. `gap` sets them apart.
#include <saltus.hpp>

struct two_thresholds_at_once {
  static constexpr auto title = "switch without hysteresis";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { warmth };
  static constexpr saltus::variable<state> state_list[] = {{warmth, 0.7, "1", "above the threshold"}};
  enum parameter { gap };
  static constexpr saltus::variable<parameter> parameter_list[] = {{gap, 0.0, "1", "between the thresholds"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "1 while it heats"}};
  enum guard { cold, hot };
  static constexpr saltus::event_function<guard> guard_list[] = {{cold, saltus::falling, saltus::bilateral, "goes on"},
                                                                 {hot, saltus::rising, saltus::bilateral, "goes off"}};
  static void rhs(const auto& at, auto& dy) { dy[warmth] = select(at.is_on(on), 1.0, -0.5) + 0.0 * at[warmth]; }
  static void guards(const auto& at, auto& g) {
    g[cold] = at[warmth];
    g[hot] = at[warmth] - at[gap];
  }
  static void transition(auto& now) {
    if (now.due(cold)) now[on] = 1.0;
    if (now.due(hot)) now[on] = 0.0;
  }
};
