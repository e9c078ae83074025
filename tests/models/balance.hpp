// An algebraic state that is zero as the difference of two nonzero terms: z equals the rounding errors of x and 3 x.
#include <saltus.hpp>

struct balance {
  static constexpr auto title = "Balance";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 1.0};
  enum state { x, a, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.9, "1", "x' = -x"},
      saltus::variable<state>{a, 0.3, "1", "asin(x); a guess"}.algebraic(),
      saltus::variable<state>{z, 0.7, "1", "zero; a guess"}.algebraic(),
  };
  enum parameter { scale };
  static constexpr saltus::variable<parameter> parameter_list[] = {{scale, 1.0, "1", "of the constraints"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[x] + 0.0 * at[z];
    dy[a] = at[scale] * (sin(at[a]) + at[z] - at[x]);
    dy[z] = at[scale] * (3.0 * sin(at[a]) - at[z] - 3.0 * at[x]);
  }
};
