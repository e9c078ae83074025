// A clock lifts a load past a mark, where it drops or stops the instance if asked.
#include <saltus.hpp>

struct lifted {
  static constexpr auto title = "a lifted load";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { height };
  static constexpr saltus::variable<state> state_list[] = {{height, -1.0, "m", "of the load; it rises only at ticks"}};
  enum parameter { stops, drop };
  static constexpr saltus::variable<parameter> parameter_list[] = {{stops, 0.0, "1", "1: stop at the mark"},
                                                                   {drop, 0.0, "m", "how far the load drops there"}};
  enum discrete { passed };
  static constexpr saltus::variable<discrete> discrete_list[] = {{passed, 0.0, "1", "how often the mark was passed"}};
  enum guard { mark };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {mark, saltus::rising, saltus::bilateral, "the load passes 0.5 m"}};
  enum time_event { tick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{tick, "lifts the load by a metre"}};
  static void rhs(const auto& at, auto& dy) { dy[height] = 0.0 * at[height]; }
  static void guards(const auto& at, auto& g) { g[mark] = at[height] - 0.5; }
  static void time_events(const auto&, auto& when) { when.every(tick, 1.0, 1.0); }
  static void transition(auto& now) {
    if (now.due(tick)) now[height] += 1.0;
    if (now.due(mark)) {
      now[passed] += 1.0;
      now[height] -= now[drop];
      if (now[stops] > 0.5) now.stop();
    }
  }
};
