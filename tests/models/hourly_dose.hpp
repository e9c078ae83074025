// A state that grows at a tariff and is doubled once, at a time that is a parameter.
#include <saltus.hpp>

struct hourly_dose {
  static constexpr auto title = "a doubling beside a tariff that jumps";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 5.0};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "grows at the tariff"}};
  enum parameter { doubled_at };
  static constexpr saltus::variable<parameter> parameter_list[] = {{doubled_at, 3.0, "h", "time of the doubling"}};
  enum table { tariff };
  static constexpr saltus::knot knots[] = {{0.0, 1.0}, {3.0, 5.0}, {5.0, 5.0}};
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{tariff, "1", "tariff", saltus::interpolation::step}.with(knots)};
  enum time_event { doubling };
  static constexpr saltus::timed<time_event> time_event_list[] = {{doubling, "x is doubled"}};
  static void rhs(const auto& at, auto& dy) { dy[x] = at[tariff]; }
  static void time_events(const auto& at, auto& when) { when.at(doubling, at[doubled_at]); }
  static void transition(auto& now) { now[x] = 2.0 * now[x]; }
};
