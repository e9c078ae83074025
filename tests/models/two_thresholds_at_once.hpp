// A heater whose two thresholds coincide: transitions switch it on and off without end. `gap` separates the thresholds.
#include <saltus.hpp>

struct two_thresholds_at_once {
  static constexpr auto title = "switch without hysteresis";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { warmth };
  static constexpr saltus::variable<state> state_list[] = {{warmth, 0.7, "1", "above the threshold"}};
  enum parameter { gap, rise, level };
  static constexpr saltus::variable<parameter> parameter_list[] = {{gap, 0.0, "1", "between the thresholds"},
                                                                   {rise, 1.0, "1/s", "while it is on"},
                                                                   {level, 0.0, "1", "of the lower threshold"}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", "1 while it heats"}};
  enum guard { cold, hot };
  static constexpr saltus::event_function<guard> guard_list[] = {{cold, saltus::falling, saltus::bilateral, "goes on"},
                                                                 {hot, saltus::rising, saltus::bilateral, "goes off"}};
  static void initial(auto& at) { at[warmth] = at[level] + 0.7; }
  static void rhs(const auto& at, auto& dy) { dy[warmth] = select(at.is_on(on), at[rise], -0.5) + 0.0 * at[warmth]; }
  static void guards(const auto& at, auto& g) {
    g[cold] = at[warmth] - at[level];
    g[hot] = at[warmth] - at[level] - at[gap];
  }
  static void transition(auto& now) {
    if (now.due(cold)) now[on] = 1.0;
    if (now.due(hot)) now[on] = 0.0;
  }
};
