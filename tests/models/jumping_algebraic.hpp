// An algebraic state given by a table that jumps, and a guard on that state.
#include <saltus.hpp>

struct jumping_algebraic {
  static constexpr auto title = "An algebraic state that jumps with a table";
  static constexpr auto source = "tests/test_tables.cpp";
  static constexpr double span[] = {0.0, 3.0};
  static constexpr saltus::knot marks[] = {{0.0, 1.0}, {1.0, 3.0}, {2.0, 2.0}, {3.0, 2.0}};
  enum table { mark };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{mark, "1", "mark", saltus::interpolation::step}.with(marks)};
  enum state { y, z };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "y"},
                                                           saltus::variable<state>{z, 0.0, "1", "z"}.algebraic()};
  enum guard { high };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {high, saltus::both, saltus::bilateral, "z passes 2.5"}};
  static void rhs(const auto& at, auto& dy) {
    dy[y] = at[z] - at[y];
    dy[z] = at[z] - at[mark];
  }
  static void guards(const auto& at, auto& g) { g[high] = at[z] - 2.5; }
};
