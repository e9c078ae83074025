// A constraint with two solutions that merge and vanish: z = +-sqrt(x), x = x_0 - t.
#include <saltus.hpp>

struct fold {
  static constexpr auto title = "Fold of a constraint";
  static constexpr auto source = "tests";
  static constexpr double span[] = {0.0, 2.0};
  enum state { x, w, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 4.0, "1", "falls at a rate of 1"},
      saltus::variable<state>{w, 0.0, "1", "1 - z"}.algebraic(),
      saltus::variable<state>{z, 1.0, "1", "a root of x: the one that the guess leads to"}.algebraic(),
  };
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -1.0 + 0.0 * at[z];
    dy[w] = at[w] + at[z] - 1.0;
    dy[z] = at[z] * at[z] - at[x];
  }
};
