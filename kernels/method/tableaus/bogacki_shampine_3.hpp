// Bogacki-Shampine 3(2).
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct bogacki_shampine_3 : explicit_method {
  static constexpr const char* name   = "bs3";
  static constexpr const char* title  = "Bogacki-Shampine 3(2)";
  static constexpr const char* source = "P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2 (1989) 321";
  static constexpr int  order          = 3;
  static constexpr int  embedded_order = 2;
  static constexpr int  stages         = 4;
  static constexpr bool fsal           = true;
  static constexpr double c[4] = {0.0, 1.0 / 2, 3.0 / 4, 1.0};
  static constexpr double b[4] = {2.0 / 9, 1.0 / 3, 4.0 / 9, 0.0};
  static constexpr double a[4][4] = {
      {},
      {1.0 / 2},
      {0, 3.0 / 4},
      {b[0], b[1], b[2]}};
  static constexpr double e[4] = {-5.0 / 72, 1.0 / 12, 1.0 / 9, -1.0 / 8};
};

// clang-format on

}  // namespace saltus::methods
