// Van der Pol's oscillator without a guard: problems/van_der_pol.hpp as solvers without events get it, in its own time
// unit.
#include <saltus.hpp>

struct van_der_pol_smooth {
  static constexpr auto title = "Van der Pol's oscillator without a guard";
  static constexpr auto source = "E. Hairer, G. Wanner, Solving ODEs II, IV.1";
  static constexpr double span[] = {0.0, 2000.0};

  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 2.0, "1", "deflection"},
      {v, 0.0, "1", "its rate"},
  };

  enum parameter { mu };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mu, 1000.0, "1", "damping: negative within |x| < 1, positive outside"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = at[mu] * (1.0 - at[x] * at[x]) * at[v] - at[x];
  }
};
