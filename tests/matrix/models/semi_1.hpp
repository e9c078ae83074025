// The solution of parts/turning.hpp with an algebraic state of index 1: the real root of a + a^3 = z.
#include "parts/turning.hpp"

struct semi_1 : turning_of<semi_1> {
  static constexpr auto title = "algebraic state of index 1";

  enum state { x, y, z, a };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"},
      {y, 0.0, "1", "of the point"},
      {z, 0.9, "1", "relaxes to its target"},
      saltus::variable<state>{a, 0.6, "1", "root of an equation; a guess at the start"}.algebraic()};
  static void rhs(const auto& at, auto& dy) {
    const auto root = at[a] + at[a] * at[a] * at[a];
    dy[x] = -at[turn] * at[y];
    dy[y] = at[turn] * at[x];
    dy[z] = at[k] * (at[target] - root);
    dy[a] = at[z] - root;
  }
};
