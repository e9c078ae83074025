// Many more states than guards: forty independent states, and two guards that depend on the last state and on one in the middle.
#include <saltus.hpp>

struct column {
  static constexpr auto title = "forty states, two guards";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  static constexpr int n = 40;
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      saltus::variable<state>{y, 0.0, "1", "grows at rate 1 + i / 8"}.of(n)};
  enum guard { middle, last };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {middle, saltus::rising, saltus::bilateral, "state 20 passes 1"},
      {last, saltus::falling, saltus::unilateral, "state 39 reaches 10 and is sent back to 0"}};
  static void rhs(const auto& at, auto& dy) {
    for (int i = 0; i < n; ++i) dy(y, i) = 1.0 + 0.125 * i + 0.0 * at(y, i);
  }
  static void guards(const auto& at, auto& g) {
    g[middle] = at(y, 20) - 1.0;
    g[last] = 10.0 - at(y, n - 1);
  }
  static void transition(auto& now) {
    if (now.due(last)) now(y, n - 1) = 0.0;
  }
};
