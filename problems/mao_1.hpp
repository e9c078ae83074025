// Growth gated by a fast clock: y' = y while sin(20 pi t) >= 0, else 0; 69 switchings before t = 3.5, where
// y = 0.1 exp(7/4). Codes whose steps only follow y miss some of them.
#include <saltus.hpp>

struct mao_1 {
  static constexpr auto title = "Mao problem 1: growth gated by a fast clock";
  static constexpr auto source = "G. Mao, L. R. Petzold, Comput. Math. Appl. 43 (2002) 65, example 1";
  static constexpr double span[] = {0.0, 3.5};
  static constexpr double pi = 3.14159265358979323846;

  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {
      {y, 0.1, "1", "the quantity that grows"},
  };

  enum guard { clock };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {clock, saltus::both, saltus::bilateral, "the clock signal changes sign"},
  };

  static void rhs(const auto& at, auto& dy) { dy[y] = select(at.above(clock), at[y], 0.0); }

  static void guards(const auto& at, auto& g) { g[clock] = sin(20.0 * pi * at.t); }

  // The zeros, 0.05 apart, depend on time alone: a step of a fifth of the period 0.1 contains at most one of them.
  static double max_step(const auto&) { return 0.02; }
};
