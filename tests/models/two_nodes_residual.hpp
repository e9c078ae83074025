// 0 = F(t, y, y'), not linear in y'.
#include "parts/two_nodes_base.hpp"

struct two_nodes_residual : two_nodes_base {
  static constexpr auto title = "Two nodes and a varactor, as a residual";
  static void residual(const auto& at, const auto& dy, auto& r) {
    const auto c = between(at);
    const auto flow = at[current] * at[direction];
    const auto off_p = (c + at[ground]) * dy[p] - c * dy[q] + flow;
    const auto off_q = c * dy[q] - c * dy[p] - flow;
    r[p] = at[scale] * (off_p + off_p * off_p * off_p);
    r[q] = at[scale] * (off_q + off_q * off_q * off_q);
  }
};
