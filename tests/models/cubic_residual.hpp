// 0 = F(t, y, y').
#include "parts/cubic_base.hpp"

struct cubic_residual : cubic_base {
  static constexpr auto title = "Cubic constraint, as a residual";
  static void residual(const auto& at, const auto& dy, auto& r) {
    const auto off = dy[x] - rate(at);
    r[x] = at[weight] * off + off * off * off;
    r[z] = cubic(at);
    r[w] = logarithm(at);
  }
};
