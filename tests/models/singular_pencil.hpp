// Two equations with the same combination of two unknowns: they determine only that combination.
#include <saltus.hpp>
struct singular_pencil {
  static constexpr double span[] = {0.0, 1.0};
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1"}, {y, 0.0, "1"}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) + at.d(y, 1) + at[x] + at[y];
    r[y] = at[x] + at[y];
  }
};
