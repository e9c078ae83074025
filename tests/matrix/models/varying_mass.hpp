// The solution of parts/turning.hpp with a mass matrix that depends on the states.
#include "parts/turning.hpp"

struct varying_mass : turning_of<varying_mass> {
  static constexpr auto title = "M(y) dy/dt = f(t, y)";

  enum state { x, y, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "1", "of the point"}, {y, 0.0, "1", "of the point"}, {z, 0.9, "1", "relaxes to its target"}};

  static constexpr bool mass_varies = true;
  static void mass(const auto& at, auto& m) {
    m(x, x) = 2.0 + at[y];
    m(x, y) = 0.5;
    m(y, y) = 1.0;
    m(z, z) = 1.0 + at[z] * at[z];
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[turn] * (0.5 * at[x] - (2.0 + at[y]) * at[y]);
    dy[y] = at[turn] * at[x];
    dy[z] = (1.0 + at[z] * at[z]) * at[k] * (at[target] - at[z]);
  }
};
