#include "parts/driven.hpp"

struct cornered_implicit : driven {
  static constexpr auto title = "corners and jumps without guards, 0 = r(t, y, dy/dt)";
  static void residual(const auto& at, const auto& dy, auto& r) {
    r[z] = dy[z] - rate_of_z(at);
    r[sum] = (1.0 + at[z] * at[z]) * (dy[sum] - rate_of_sum(at));
  }
};
