// Runge-Kutta 4 (classical).
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct runge_kutta_4 : explicit_method {
  static constexpr const char* name   = "rk4";
  static constexpr const char* title  = "Runge-Kutta 4 (classical)";
  static constexpr const char* source = "W. Kutta, Z. Math. Phys. 46 (1901) 435; "
                                        "Hairer, Norsett, Wanner, Solving ODEs I (1993), II.1";
  static constexpr int  order          = 4;
  static constexpr int  embedded_order = 0;
  static constexpr int  stages         = 4;
  static constexpr bool fsal           = false;
  static constexpr double c[4] = {0.0, 1.0 / 2, 1.0 / 2, 1.0};
  static constexpr double a[4][4] = {
      {},
      {1.0 / 2},
      {0, 1.0 / 2},
      {0, 0, 1.0}};
  static constexpr double b[4] = {1.0 / 6, 2.0 / 6, 2.0 / 6, 1.0 / 6};
  static constexpr double e[4] = {};
};

// clang-format on

}  // namespace saltus::methods
