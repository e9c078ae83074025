#include "parts/rectified_base.hpp"

struct rectified_semi : rectified_base {
  static constexpr auto title = "rectified wave, semi-explicit";
  enum state { x, n, z };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 0.0, "1", "integral of the corners"},
      {n, 0.0, "1", "integral of the jumps"},
      saltus::variable<state>{z, 0.0, "1", "the wave with corners"}.algebraic()};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[z];
    dy[n] = with_jumps(at);
    dy[z] = at[z] - with_corners(at);
  }
};
