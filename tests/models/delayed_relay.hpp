// A tank is heated and cooled by a relay whose sensor sees the temperature late: the relay switches where the delayed value crosses zero.
#include <saltus.hpp>

struct delayed_relay {
  static constexpr auto title = "Relay with a delayed sensor";
  static constexpr auto source =
      "Ya. Z. Tsypkin, Relay Control Systems (1984), ch. 3: self-oscillations of a first-order plant with a dead time";
  static constexpr double span[] = {0.0, 20.0};

  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.5, "1", "temperature above its set point"}};

  enum parameter { loss, power, dead_time };
  static constexpr saltus::variable<parameter> parameter_list[] = {{loss, 1.0, "1/s", "rate of loss"},
                                                                   {power, 1.0, "1/s", "heating and cooling"},
                                                                   {dead_time, 0.75, "s", "delay of the sensor"}};

  enum discrete { heats };
  static constexpr saltus::variable<discrete> discrete_list[] = {{heats, -1.0, "1", "1: it heats, -1: it cools"}};

  enum delay { sensor };
  static constexpr saltus::lag<delay> delay_list[] = {{sensor, "from the tank to the relay"}};

  enum guard { warm, cold };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {warm, saltus::rising, saltus::bilateral, "the sensor says it is warm"},
      {cold, saltus::falling, saltus::bilateral, "the sensor says it is cold"}};

  enum output { seen };
  static constexpr saltus::derived<output> output_list[] = {{seen, "1", "what the sensor says"}};

  static void delays(const auto& at, auto& lag) { lag[sensor] = at[dead_time]; }
  static void rhs(const auto& at, auto& dy) { dy[x] = at[power] * at[heats] - at[loss] * at[x]; }
  static void guards(const auto& at, auto& g) { g[warm] = g[cold] = at.delayed(x, sensor); }
  static void outputs(const auto& at, auto& out) { out[seen] = at.delayed(x, sensor); }
  static void transition(auto& now) {
    if (now.due(warm)) now[heats] = -1.0;
    if (now.due(cold)) now[heats] = 1.0;
  }
};
