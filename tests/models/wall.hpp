// A wall between a room and the weather: y' = (outdoor - y) / lag. The weather is a table whose values the run supplies.
#include <saltus.hpp>

struct wall {
  static constexpr auto title = "Temperature of a wall";
  static constexpr auto source = "tests/test_tables.cpp";

  enum table { outdoor };
  static constexpr saltus::tabulated<table> table_list[] = {{outdoor, "K", "temperature outside"}};
  enum state { temperature };
  static constexpr saltus::variable<state> state_list[] = {{temperature, 5.0, "K", "of the wall"}};
  enum parameter { lag };
  static constexpr saltus::variable<parameter> parameter_list[] = {{lag, 3.0, "h", "with which it follows"}};
  enum guard { freezes };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {freezes, saltus::both, saltus::bilateral, "passes zero"}};

  static void rhs(const auto& at, auto& dy) { dy[temperature] = (at[outdoor] - at[temperature]) / at[lag]; }
  static void guards(const auto& at, auto& g) { g[freezes] = at[temperature]; }
};
