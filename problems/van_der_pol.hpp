// Van der Pol's oscillator: with a large mu it creeps along one branch of a slow curve, jumps to the other within a time of the order
// 1/mu, and creeps back. The guard logs the jumps.
//
// In the time unit of the undamped oscillation, x'' = mu (1 - x^2) x' - x, half a period lasts about 0.81 mu. With mu as the unit of
// time the equation has its usual form, with eps = 1/mu^2:
//
//     eps v' = (1 - x^2) v - x,    unit = mu
//
// and x' = v in either.
#include <saltus.hpp>

struct van_der_pol {
  static constexpr auto title = "Van der Pol's oscillator";
  static constexpr auto source = "B. van der Pol, Phil. Mag. 2 (1926) 978; E. Hairer, G. Wanner, Solving ODEs II, IV.1";
  static constexpr double span[] = {0.0, 2000.0};

  enum state { x, v };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 2.0, "1", "deflection"},
      {v, 0.0, "1", "its rate"},
  };

  enum parameter { mu, unit };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {mu, 1000.0, "1", "damping: negative within |x| < 1, positive outside"},
      {unit, 1.0, "1", "unit of time: 1, or mu for the scaled form"},
  };

  enum guard { jump };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {jump, saltus::both, saltus::bilateral, "x passes zero"},
  };

  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = at[unit] * (at[mu] * (1.0 - at[x] * at[x]) * at[v] - at[unit] * at[x]);
  }

  static void guards(const auto& at, auto& g) { g[jump] = at[x]; }
};
