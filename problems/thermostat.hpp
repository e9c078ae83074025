// A room under a thermostat: the smallest hybrid automaton, with two guards of different effect. After the first switching it is off for 10
// ln(21/19) and on for 10 ln(31/29), forever.
#include <saltus.hpp>

struct thermostat {
  static constexpr auto title = "Thermostat with hysteresis";
  static constexpr auto source = "T. A. Henzinger, The theory of hybrid automata, LICS 1996, fig. 1";
  static constexpr double span[] = {0.0, 10.0};

  enum state { temperature };
  static constexpr saltus::variable<state> state_list[] = {
      {temperature, 20.0, "degC", "temperature of the room; it is 0 outside"},
  };

  enum parameter { cooling, heating, low, high };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {cooling, 0.1, "1/h", "rate at which the room loses heat"},
      {heating, 5.0, "degC/h", "warming by the heater"},
      {low, 19.0, "degC", "the heater starts below this"},
      {high, 21.0, "degC", "the heater stops above this"},
  };

  enum discrete { heater };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {heater, 0.0, "1", "1 while the heater is on"},
  };

  enum guard { cold, hot };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {cold, saltus::falling, saltus::bilateral, "the room is too cold: heater on"},
      {hot, saltus::rising, saltus::bilateral, "the room is too hot: heater off"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[temperature] = select(at.is_on(heater), at[heating], 0.0) - at[cooling] * at[temperature];
  }

  static void guards(const auto& at, auto& g) {
    g[cold] = at[temperature] - at[low];
    g[hot] = at[temperature] - at[high];
  }

  static void transition(auto& now) {
    if (now.due(cold)) now[heater] = 1.0;
    if (now.due(hot)) now[heater] = 0.0;
  }
};
