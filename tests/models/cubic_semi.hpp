// y' = f, 0 = g.
#include "parts/cubic_base.hpp"

struct cubic_semi : cubic_base {
  static constexpr auto title = "Cubic constraint, semi-explicit";
  static void rhs(const auto& at, auto& dy) {
    dy[x] = rate(at);
    dy[z] = cubic(at);
    dy[w] = logarithm(at);
  }
};
