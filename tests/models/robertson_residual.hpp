// 0 = F(t, y, y').
#include "parts/robertson_base.hpp"

struct robertson_residual : robertson_base {
  static constexpr auto title = "Robertson's reactions, as a residual";
  static void residual(const auto& at, const auto& dy, auto& r) {
    r[y1] = dy[y1] - first(at);
    r[y2] = dy[y1] + dy[y2] + 3e7 * at[y2] * at[y2];
    r[y3] = conserved(at);
  }
};
