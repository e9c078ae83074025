// M y' = f with a zero row in M.
#include "parts/robertson_base.hpp"

struct robertson_mass : robertson_base {
  static constexpr auto title = "Robertson's reactions, with a mass matrix";
  static void mass(const auto&, auto& m) {
    m(y1, y1) = 2.0, m(y1, y2) = 1.0;
    m(y2, y1) = 1.0, m(y2, y2) = 3.0;
  }
  static void rhs(const auto& at, auto& dy) {
    dy[y1] = 2.0 * first(at) + second(at);
    dy[y2] = first(at) + 3.0 * second(at);
    dy[y3] = conserved(at);
  }
};
