// x' = push(t) - sign(x): the solution slides on x = 0 while |push| < 1.
#include <saltus.hpp>

struct pushed_slide {
  static constexpr auto title = "Friction under a push that jumps";
  static constexpr auto source = "tests/test_tables.cpp";
  static constexpr double span[] = {0.0, 4.0};
  static constexpr saltus::knot pushes[] = {{0.0, 0.5}, {1.0, 2.0}, {2.0, -3.0}, {3.0, 0.0}, {4.0, 0.0}};
  enum table { push };
  static constexpr saltus::tabulated<table> table_list[] = {
      saltus::tabulated<table>{push, "1", "push", saltus::interpolation::step}.with(pushes)};
  enum state { x };
  static constexpr saltus::variable<state> state_list[] = {{x, -0.75, "1", "x"}};
  enum guard { zero };
  static constexpr saltus::event_function<guard> guard_list[] = {
      saltus::event_function<guard>{zero, saltus::both, saltus::bilateral, "x"}.sliding()};
  static void rhs(const auto& at, auto& dy) { dy[x] = at[push] + select(at.above(zero), -1.0, 1.0); }
  static void guards(const auto& at, auto& g) { g[zero] = at[x]; }
};
