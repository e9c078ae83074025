#include "parts/driven.hpp"

struct cornered : driven {
  static constexpr auto title = "corners and jumps without guards, dy/dt = f(t, y)";
  static void rhs(const auto& at, auto& dy) {
    dy[z] = rate_of_z(at);
    dy[sum] = rate_of_sum(at);
  }
};
