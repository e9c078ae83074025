#include "parts/rectified_base.hpp"

struct rectified_mass : rectified_base {
  static constexpr auto title = "rectified wave, with a mass matrix";
  enum state { x, n };
  static constexpr saltus::variable<state> state_list[] = {{x, 0.0, "1", "integral of the corners"},
                                                           {n, 0.0, "1", "integral of the jumps"}};
  static void mass(const auto&, auto& m) {
    m(x, x) = 2.0;
    m(x, n) = 1.0;
    m(n, n) = 1.0;
  }
  static void rhs(const auto& at, auto& dy) {
    dy[x] = 2.0 * with_corners(at) + with_jumps(at);
    dy[n] = with_jumps(at);
  }
};
