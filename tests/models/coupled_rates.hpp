// x1' = x3 + sin t, x2' = x4 + cos t, with two equations for x3 + x4: the structural analysis finds det J = 0.
#include <saltus.hpp>

struct coupled_rates {
  static constexpr auto source =
      "G. Tan, N. S. Nedialkov, J. D. Pryce, Symbolic-numeric methods for improving structural analysis (2015)";
  static constexpr double span[] = {0.0, 2.0};

  enum state { x1, x2, x3, x4 };
  static constexpr saltus::variable<state> state_list[] = {
      {x1, 0.0, "1"}, {x2, 0.0, "1"}, {x3, 0.0, "1"}, {x4, 0.0, "1"}};

  static void residual(const auto& at, auto& r) {
    r[x1] = -at.d(x1, 1) + at[x3] + sin(at.t);
    r[x2] = -at.d(x2, 1) + at[x4] + cos(at.t);
    r[x3] = at[x2] + at[x3] + at[x4] + exp(-at.t);
    r[x4] = -at[x1] + at[x3] + at[x4] + at.t * at.t;
  }
};
