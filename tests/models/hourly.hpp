// Ticks of a clock, and a tariff that jumps from hour to hour.
#include <saltus.hpp>

struct hourly {
  static constexpr auto title = "ticks of a clock beside a tariff that jumps";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { ticks, cost };
  static constexpr saltus::variable<state> state_list[] = {{ticks, 0.0, "1", "ticks so far"},
                                                           {cost, 0.0, "1", "doubled at each tick"}};
  enum parameter { period, first, level };
  static constexpr saltus::variable<parameter> parameter_list[] = {{period, 0.1, "h", "from tick to tick"},
                                                                   {first, 0.0, "h", "time of the first tick"},
                                                                   {level, 0.5, "1", "of the tariff"}};
  enum table { tariff };
  static constexpr saltus::knot knots[] = {{0.0, 1.0}, {1.0, 1.0}};
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{tariff, "1", "tariff", saltus::interpolation::step, saltus::at_ends::periodic}.with(
          knots)};
  enum guard { passes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::both, saltus::bilateral, "the tariff passes the level"}};
  enum time_event { tick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{tick, "tick"}};
  enum output { now_due };
  static constexpr saltus::derived<output> output_list[] = {{now_due, "1", "the tariff"}};
  static void rhs(const auto& at, auto& dy) {
    dy[ticks] = 0.0;
    dy[cost] = at[tariff];
  }
  static void guards(const auto& at, auto& g) { g[passes] = at[tariff] - at[level]; }
  static void time_events(const auto& at, auto& when) { when.every(tick, at[period], at[first]); }
  static void transition(auto& now) {
    if (!now.due(tick)) return;
    now[ticks] += 1.0;
    now[cost] = 2.0 * now[cost];
  }
  static void outputs(const auto& at, auto& out) { out[now_due] = at[tariff]; }
};
