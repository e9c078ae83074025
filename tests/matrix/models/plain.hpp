// The solution of parts/turning.hpp by a right-hand side.
#include "parts/turning.hpp"

struct plain : turning_of<plain> {
  static constexpr auto title = "dy/dt = f(t, y)";

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"}, {y, 0.0, "1", "of the point"}, {z, 0.9, "1", "relaxes to its target"}};

  static void rhs(const auto& at, auto& dy) {
    dy[x] = -at[turn] * at[y];
    dy[y] = at[turn] * at[x];
    dy[z] = at[k] * (at[target] - at[z]);
  }
};
