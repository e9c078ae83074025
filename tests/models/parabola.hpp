// g = (t - centre)^2 - depth along a constant state: no root, a double root, or two roots.
#include <saltus.hpp>

struct parabola {
  static constexpr auto title = "a parabola's roots";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "constant"}};
  enum parameter { centre, depth };
  static constexpr saltus::variable<parameter> parameter_list[] = {{centre, 0.5, "1", "time of the bottom"},
                                                                   {depth, 0.01, "1", "how far it dips below zero"}};
  enum guard { dip };
  static constexpr saltus::event_function<guard> guard_list[] = {{dip, saltus::both, saltus::bilateral, "passes zero"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) { g[dip] = (at.t - at[centre]) * (at.t - at[centre]) - at[depth]; }
  static void transition(auto&) {}
};
