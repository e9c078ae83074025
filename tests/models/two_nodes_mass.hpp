// M(y) y' = f with a regular M.
#include "parts/two_nodes_base.hpp"

struct two_nodes_mass : two_nodes_base {
  static constexpr auto title = "Two nodes and a varactor, with a mass matrix";
  static constexpr bool mass_varies = true;
  static void rhs(const auto& at, auto& dy) {
    dy[p] = -at[scale] * at[current] * at[direction];
    dy[q] = at[scale] * at[current] * at[direction];
  }
  static void mass(const auto& at, auto& m) {
    const auto c = at[scale] * between(at);
    m(p, p) = c + at[scale] * at[ground], m(p, q) = -c;
    m(q, p) = -c, m(q, q) = c;
  }
};
