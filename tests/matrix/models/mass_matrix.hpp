// The solution of parts/turning.hpp with a constant diagonal mass matrix.
#include "parts/turning.hpp"

struct mass_matrix : turning_of<mass_matrix> {
  static constexpr auto title = "M dy/dt = f(t, y)";

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"}, {y, 0.0, "1", "of the point"}, {z, 0.9, "1", "relaxes to its target"}};

  static void mass(const auto& at, auto& m) {
    m(x, x) = 2.0;
    m(y, y) = 0.5;
    m(z, z) = 1.0 / at[k];
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = -2.0 * at[turn] * at[y];
    dy[y] = 0.5 * at[turn] * at[x];
    dy[z] = at[target] - at[z];
  }
};
