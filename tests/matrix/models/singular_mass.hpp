// The solution of parts/turning.hpp with a singular mass matrix that mixes derivatives in its rows: w = 2 z is a constraint.
#include "parts/turning.hpp"

struct singular_mass : turning_of<singular_mass> {
  static constexpr auto title = "M dy/dt = f(t, y), M singular";

  enum state { x, y, z, w };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", "of the point"},
                                                           {y, 0.0, "1", "of the point"},
                                                           {z, 0.9, "1", "relaxes to its target"},
                                                           {w, 1.8, "1", "twice as much"}};
  static constexpr bool mass_is_singular = true;
  static void mass(const auto&, auto& m) {
    m(x, x) = 2.0;
    m(x, y) = 1.0;
    m(y, y) = 1.0;
    m(z, z) = 1.0;
    m(z, w) = 1.0;
    m(w, z) = 2.0;
    m(w, w) = 2.0;
  }
  static void transition(auto& now) {
    turning_of::transition(now);
    now[w] = 2.0 * now[z];
  }
  static void rhs(const auto& at, auto& dy) {
    const auto rate = at[k] * (at[target] - at[z]);  // derivative of z
    dy[x] = at[turn] * (at[x] - 2.0 * at[y]);
    dy[y] = at[turn] * at[x];
    dy[z] = 3.0 * rate;
    dy[w] = 6.0 * rate + (at[w] - 2.0 * at[z]);
  }
};
