// Only the guard varies: sin(2 pi f t) has 999 zeros in (0, 1) at f = 500; each one is counted.
#include <saltus.hpp>

struct sine_roots {
  static constexpr auto title = "999 roots of a sine";
  static constexpr auto source = "analysis: sin(1000 pi t) = 0 at t = k / 1000";
  static constexpr double span[] = {0.0, 1.0};
  static constexpr double pi = 3.14159265358979323846;

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 0.0, "1", "does not change"},
  };

  enum parameter { frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {frequency, 500.0, "1", "cycles per unit of time"},
  };

  enum discrete { count };
  static constexpr saltus::variable<discrete> discrete_list[] = {
      {count, 0.0, "1", "zeros passed so far"},
  };

  enum guard { zero };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {zero, saltus::both, saltus::bilateral, "the sine changes sign"},
  };

  static void rhs(const auto&, auto& dy) { dy[y] = 0.0; }

  static void guards(const auto& at, auto& g) { g[zero] = sin(2.0 * pi * at[frequency] * at.t); }

  static void transition(auto& now) { now[count] += 1.0; }

  // y alone would take one step. The zeros are half a cycle apart: a fifth of a cycle contains at most one.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
