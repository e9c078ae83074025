// Kutta 3 (Simpson).
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct kutta_3 : explicit_method {
  static constexpr const char* name   = "kutta3";
  static constexpr const char* title  = "Kutta 3 (Simpson)";
  static constexpr const char* source = "W. Kutta, Z. Math. Phys. 46 (1901) 435; "
                                        "Hairer, Norsett, Wanner, Solving ODEs I (1993), II.1";
  static constexpr int  order          = 3;
  static constexpr int  embedded_order = 0;
  static constexpr int  stages         = 3;
  static constexpr bool fsal           = false;
  static constexpr double c[3] = {0.0, 1.0 / 2, 1.0};
  static constexpr double a[3][3] = {
      {},
      {1.0 / 2},
      {-1.0, 2.0}};
  static constexpr double b[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
  static constexpr double e[3] = {};
};

// clang-format on

}  // namespace saltus::methods
