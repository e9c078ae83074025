#include "parts/driven.hpp"

struct cornered_any_order : driven {
  static constexpr auto title = "corners and jumps without guards, 0 = r(t, x, x')";
  static void residual(const auto& at, auto& r) {
    r[z] = at.d(z, 1) - rate_of_z(at);
    r[sum] = at.d(sum, 1) - rate_of_sum(at);
  }
};
