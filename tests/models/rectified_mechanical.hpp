#include "parts/rectified_base.hpp"

struct rectified_mechanical : rectified_base {
  static constexpr auto title = "rectified wave, as forces";
  enum state { p, q, x, n };
  static constexpr auto first_velocity = x;
  static constexpr saltus::variable<state> state_list[] = {{p, 0.0, "1", "a position"},
                                                           {q, 0.0, "1", "a position"},
                                                           {x, 0.0, "1/s", "integral of the corners"},
                                                           {n, 0.0, "1/s", "integral of the jumps"}};
  static void mass(const auto&, auto& m) {
    m(x, x) = 2.0;
    m(n, n) = 1.0;
  }
  static void force(const auto& at, auto& f) {
    f[x] = 2.0 * with_corners(at);
    f[n] = with_jumps(at);
  }
};
