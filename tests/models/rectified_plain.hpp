#include "parts/rectified_base.hpp"

struct rectified_plain : rectified_base {
  static constexpr auto title = "rectified wave, plain";
  enum state { x, n };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "integral of the corners"},
                                                           {n, 0.0, "1", "integral of the jumps"}};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = with_corners(at);
    dy[n] = with_jumps(at);
  }
};
