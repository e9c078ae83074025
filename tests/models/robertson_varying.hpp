// M(y) y' = f with a zero row in M.
#include "parts/robertson_base.hpp"

struct robertson_varying : robertson_base {
  static constexpr auto title = "Robertson's reactions, with a mass matrix that depends on time and state";
  static constexpr bool mass_varies = true;
  static void mass(const auto& at, auto& m) {
    m(y1, y1) = 1.0 + at[y1];
    m(y2, y1) = at[y3];
    m(y2, y2) = 2.0 + sin(at.t);
  }
  static void rhs(const auto& at, auto& dy) {
    dy[y1] = (1.0 + at[y1]) * first(at);
    dy[y2] = at[y3] * first(at) + (2.0 + sin(at.t)) * second(at);
    dy[y3] = conserved(at);
  }
};
