// y' = f, 0 = g.
#include "parts/robertson_base.hpp"

struct robertson_semi : robertson_base {
  static constexpr auto title = "Robertson's reactions, semi-explicit";
  static void rhs(const auto& at, auto& dy) {
    dy[y1] = first(at);
    dy[y2] = second(at);
    dy[y3] = conserved(at);
  }
};
