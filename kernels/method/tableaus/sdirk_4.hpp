// SDIRK 4(3) of Hairer and Wanner.
#pragma once

#include "method/implicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct sdirk_4 : dirk_method {
  static constexpr const char* name   = "sdirk4";
  static constexpr const char* title  = "SDIRK 4(3) of Hairer and Wanner";
  static constexpr const char* source = "E. J. Haug, D. Negrut, C. Engstler, table 2; "
                                        "E. Hairer, G. Wanner, Solving ODEs II (1996), IV.6";
  static constexpr int  order          = 4;
  static constexpr int  embedded_order = 3;
  static constexpr int  stages         = 5;
  static constexpr bool l_stable       = true;
  static constexpr double gamma = 1.0 / 4;
  static constexpr double c[5] = {1.0 / 4, 3.0 / 4, 11.0 / 20, 1.0 / 2, 1.0};
  static constexpr double a[5][5] = {
      {1.0 / 4},
      {1.0 / 2, 1.0 / 4},
      {17.0 / 50, -1.0 / 25, 1.0 / 4},
      {371.0 / 1360, -137.0 / 2720, 15.0 / 544, 1.0 / 4},
      {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 1.0 / 4}};
  static constexpr double e[5] = {-3.0 / 16, -27.0 / 32, 25.0 / 32, 0.0, 1.0 / 4};
  /// From the continuous extension of Hairer and Wanner (6.17), at the beginning of a step.
  static constexpr double slope0[5] = {11.0 / 3, 11.0 / 2, -125.0 / 18, 0.0, -11.0 / 9};
};

// clang-format on

}  // namespace saltus::methods
