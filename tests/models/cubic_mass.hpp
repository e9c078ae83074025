// M y' = f with zero rows in M.
#include "parts/cubic_base.hpp"

struct cubic_mass : cubic_base {
  static constexpr auto title = "Cubic constraint, with a mass matrix";
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[weight] * rate(at);
    dy[z] = cubic(at);
    dy[w] = logarithm(at);
  }
  static void mass(const auto& at, auto& m) { m(x, x) = at[weight]; }
};
