// Growth that a clock switches on and off: y' = y while sin(2 pi f t) >= 0, else 0. The guard depends on time alone, so the error control
// of y does not keep a step from passing over its zeros; the model therefore limits its steps.
#include <saltus.hpp>

struct carver_1 {
  static constexpr auto title = "Carver problem 1: growth gated by a clock";
  static constexpr auto source =
      "in place of M. B. Carver, Math. Comput. Simul. 20 (1978) 190: example 1 of G. Mao, L. R. Petzold, "
      "Comput. Math. Appl. 43 (2002) 65, with the frequency and event count of M. D. Compere (2001), tables 5.2 and "
      "5.4";
  static constexpr double span[] = {0.0, 0.9};
  static constexpr double pi = 3.14159265358979323846;

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 0.1, "1", "the quantity that grows"},
  };

  enum parameter { frequency };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {frequency, 2.0, "1", "clock cycles per unit of time"},
  };

  enum guard { clock };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {clock, saltus::both, saltus::bilateral, "the clock signal changes sign"},
  };

  static void rhs(const auto& at, auto& dy) { dy[y] = select(at.above(clock), at[y], 0.0); }

  static void guards(const auto& at, auto& g) { g[clock] = sin(2.0 * pi * at[frequency] * at.t); }

  // The zeros are half a cycle apart. A fifth of a cycle contains at most one, which then shows as a change of sign.
  static auto max_step(const auto& at) { return 0.2 / at[frequency]; }
};
