// Two nearly identical constraints: a = b = asin(x / 2), with a matrix whose condition number is 4 / apart.
#include <saltus.hpp>

struct nearly_parallel {
  static constexpr auto title = "Nearly parallel constraints";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { x, a, b };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "x' = -x"},
      saltus::variable<state>{a, 0.4, "1", "a guess"}.algebraic(),
      saltus::variable<state>{b, 0.7, "1", "a guess"}.algebraic(),
  };
  enum parameter { apart };
  static constexpr saltus::variable<parameter> parameter_list[] = {{apart, 1e-4, "1", "how far from being the same"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[x] + 0.0 * at[a];
    dy[a] = sin(at[a]) + sin(at[b]) - at[x];
    dy[b] = (1.0 + at[apart]) * sin(at[a]) + sin(at[b]) - at[x] * (1.0 + 0.5 * at[apart]);
  }
};
