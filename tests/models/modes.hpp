// Discrete variables that follow the signs of guards: `mode` only, no transition.
#include <saltus.hpp>

struct modes {
  static constexpr auto title = "slopes by mode";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 3.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "grows at the slope of its mode"}};
  enum discrete { slope };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {slope, 0.0, "1", "1, 2, 4 by the number of marks passed"}};
  enum guard { first, second };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {first, saltus::both, saltus::bilateral, "y passes 1"}, {second, saltus::both, saltus::bilateral, "y passes 3"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = at[slope]; }
  static void guards(const auto& at, auto& g) {
    g[first] = at[y] - 1.0;
    g[second] = at[y] - 3.0;
  }
  static void mode(auto& now) { now[slope] = now.above(second) ? 4.0 : now.above(first) ? 2.0 : 1.0; }
};
