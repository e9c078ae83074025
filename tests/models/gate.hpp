// A fast clock, which depends on time alone, switches growth on and off, and no longest step is declared: y = 0.1 exp(s / 2) after a
// time s of whole periods.
#include <saltus.hpp>

struct gate {
  static constexpr auto title = "gated growth";
  static constexpr auto source = "tests; problem 1 of G. Mao, L. R. Petzold, Comput. Math. Appl. 43 (2002) 65";
  static constexpr double span[] = {0.0, 3.5};
  static constexpr double pi = 3.14159265358979323846;
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.1, "1", "what grows"}};
  enum guard { clock };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {clock, saltus::both, saltus::bilateral, "the clock signal changes sign"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = select(at.above(clock), at[y], 0.0); }
  static void guards(const auto& at, auto& g) { g[clock] = sin(20.0 * pi * at.t); }
};
