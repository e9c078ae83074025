// The g function of I. M. Sobol' with the coefficients 0, 1, 4.5, 9, 99, 99, 99, 99 (A. Saltelli, I. M. Sobol', Reliab. Eng.
// Syst. Saf. 50 (1995) 225) as the final value of a state.
#include <saltus.hpp>

struct sobol_g {
  static constexpr auto title = "Sobol's g function";
  static constexpr auto source = "Saltelli, Sobol' 1995";
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "the function at the end"}};
  enum parameter { x1, x2, x3, x4, x5, x6, x7, x8 };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {x1, 0.5, "1", "input"}, {x2, 0.5, "1", "input"}, {x3, 0.5, "1", "input"}, {x4, 0.5, "1", "input"},
      {x5, 0.5, "1", "input"}, {x6, 0.5, "1", "input"}, {x7, 0.5, "1", "input"}, {x8, 0.5, "1", "input"},
  };
  static void rhs(const auto& at, auto& dy) {
    const auto factor = [](const auto& x, double a) { return (abs(4.0 * x - 2.0) + a) / (1.0 + a); };
    dy[y] = factor(at[x1], 0.0) * factor(at[x2], 1.0) * factor(at[x3], 4.5) * factor(at[x4], 9.0) *
            factor(at[x5], 99.0) * factor(at[x6], 99.0) * factor(at[x7], 99.0) * factor(at[x8], 99.0);
  }
};
