// A relay with hysteresis: y tends to u = 2 until it reaches 3/2, then to u = 0 until it reaches 1/2. The first arrival is at ln 4, the
// others follow every ln 3; there are seven in the default span.
#include <saltus.hpp>

struct carver_2b {
  static constexpr auto title = "Carver problem 2, unilateral: relay between two thresholds";
  static constexpr auto source =
      "in place of M. B. Carver, Math. Comput. Simul. 20 (1978) 190: its counts (one state, two guards, seven events; "
      "M. D. Compere (2001), tables 5.2 and 5.4), equations of our own";
  static constexpr double span[] = {0.0, 8.5};

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 0.0, "1", "the relayed quantity"},
  };

  enum discrete { u };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {u, 2.0, "1", "the value y heads for"},
  };

  enum guard { upper, lower };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {upper, saltus::falling, saltus::unilateral, "y arrives at 3/2: u <- 0"},
      {lower, saltus::falling, saltus::unilateral, "y arrives at 1/2: u <- 2"},
  };

  static void rhs(const auto& at, auto& dy) { dy[y] = at[u] - at[y]; }

  static void guards(const auto& at, auto& g) {
    g[upper] = 1.5 - at[y];
    g[lower] = at[y] - 0.5;
  }

  static void transition(auto& now) {
    if (now.due(upper)) now[u] = 0.0;
    if (now.due(lower)) now[u] = 2.0;
  }
};
