// A clock that passes a jumping mark: guards that change sign at a knot, beside guards and time events at other times.
#include <saltus.hpp>

struct knot_events {
  static constexpr auto title = "A mark that jumps";
  static constexpr auto source = "tests/test_tables.cpp";

  enum table { mark, slope };
  static constexpr saltus::tabulated<table> table_list[] = {
      {mark, "1", "jumps", saltus::interpolation::step, saltus::at_ends::held},
      {slope, "1", "rate of the clock", saltus::interpolation::step, saltus::at_ends::held},
  };

  enum state { clock };
  static constexpr saltus::variable<state> state_list[] = {{clock, 0.0, "1", "moves by the slope"}};

  enum parameter { tick_at };
  static constexpr saltus::variable<parameter> parameter_list[] = {{tick_at, 1e9, "1", "time of the time event"}};

  enum discrete { seen, transitions };
  static constexpr saltus::variable<discrete> discrete_list[] = {{seen, -1.0, "1", "the mark at the last transition"},
                                                                 {transitions, 0.0, "1", "how many there were"}};

  enum guard { passes, falls_back };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {passes, saltus::rising, saltus::bilateral, "the clock passes the mark, or the mark falls below it"},
      {falls_back, saltus::falling, saltus::bilateral, "the mark rises above the clock"},
  };

  enum time_event { tick };
  static constexpr saltus::timed<time_event> time_event_list[] = {{tick, "a time event"}};

  static void initial(auto& at) { at[clock] = 0.0 * at[mark]; }
  static void rhs(const auto& at, auto& dy) { dy[clock] = at[slope]; }
  static void guards(const auto& at, auto& g) { g[passes] = g[falls_back] = at[clock] - at[mark]; }
  static void time_events(const auto& at, auto& when) { when.at(tick, at[tick_at]); }
  static void transition(auto& now) {
    now[seen] = now[mark];
    now[transitions] += 1.0;
  }
};
