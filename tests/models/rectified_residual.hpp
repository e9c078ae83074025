#include "parts/rectified_base.hpp"

struct rectified_residual : rectified_base {
  static constexpr auto title = "rectified wave, by a residual";
  enum state { x, n };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "integral of the corners"},
                                                           {n, 0.0, "1", "integral of the jumps"}};
  static void residual(const auto& at, const auto& dy, auto& r) {
    r[x] = dy[x] - with_corners(at);
    r[n] = dy[n] - with_jumps(at);
  }
};
