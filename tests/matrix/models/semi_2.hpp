// The solution of parts/turning.hpp with an algebraic state of index 2: the force that keeps the point on its circle.
#include "parts/turning.hpp"

struct semi_2 : turning_of<semi_2> {
  static constexpr auto title = "algebraic state of index 2";

  enum state { x, y, z, push };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"},
      {y, 0.0, "1", "of the point"},
      {z, 0.9, "1", "relaxes to its target"},
      saltus::variable<state>{push, -0.9, "1", "along the radius; a guess at the start"}.algebraic(2)};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[turn] * at[y] + at[x] * (at[z] + at[push]);
    dy[y] = at[turn] * at[x] + at[y] * (at[z] + at[push]);
    dy[z] = at[k] * (at[target] - at[z]);
    dy[push] = at[x] * at[x] + at[y] * at[y] - 1.0;
  }
};
