#include "parts/rectified_base.hpp"

struct rectified_any_order : rectified_base {
  static constexpr auto title = "rectified wave, equations of any order";
  enum state { x, n, twice };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "1", "integral of the corners"}, {n, 0.0, "1", "integral of the jumps"}, {twice, 0.0, "1", "algebraic"}};
  static void residual(const auto& at, auto& r) {
    r[x] = at.d(x, 1) - with_corners(at);
    r[n] = at.d(n, 1) - with_jumps(at);
    r[twice] = at[twice] - 2.0 * at[n];
  }
};
