// Fehlberg 4(5).
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

/// Advances with the fifth-order weights; its seventh stage is f1. The dense output has order 4 without further evaluations: row d is the
/// least-squares solution of the order conditions with the smallest weights.
struct fehlberg_5 : explicit_method {
  static constexpr const char* name   = "rkf45";
  static constexpr const char* title  = "Fehlberg 4(5)";
  static constexpr const char* source = "E. Fehlberg, NASA TR R-315 (1969); Computing 6 (1970) 61";
  static constexpr int  order          = 5;
  static constexpr int  embedded_order = 4;
  static constexpr int  stages         = 7;
  static constexpr bool fsal           = true;
  static constexpr int  dense_rows     = 1;
  static constexpr int  dense_order    = 4;
  static constexpr double c[7] = {0.0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1.0, 1.0 / 2, 1.0};
  static constexpr double b[7] = {16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55, 0};
  static constexpr double a[7][7] = {
      {},
      {1.0 / 4},
      {3.0 / 32, 9.0 / 32},
      {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
      {439.0 / 216, -8.0, 3680.0 / 513, -845.0 / 4104},
      {-8.0 / 27, 2.0, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40},
      {b[0], b[1], b[2], b[3], b[4], b[5]}};
  static constexpr double e[7] = {1.0 / 360, 0, -128.0 / 4275, -2197.0 / 75240, 1.0 / 50, 2.0 / 55, 0};
  static constexpr double quadrature_safety = 2.0;  ///< see esdirk_4; 1, 2, 3 times at 1, 2, 3 rad
  static constexpr double d[1][7] = {{-0.8669739448448042476126414, 0, 3.506470030046451398828190, -4.902352040714346417839044,
                                      1.657787597117409417188982, -1.894931641604710150565487, 2.5}};
};

// clang-format on

}  // namespace saltus::methods
