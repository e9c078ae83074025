// Trapezoidal rule 2(1).
#pragma once

#include "method/implicit_method.hpp"

namespace saltus::methods {

// clang-format off

/// A-stable, not L-stable: stiff components decay slowly.
struct trapezoid_2 : dirk_method {
  static constexpr const char* name   = "trapezoid";
  static constexpr const char* title  = "Trapezoidal rule 2(1)";
  static constexpr const char* source = "E. J. Haug, D. Negrut, C. Engstler, table 3 (with backward Euler embedded)";
  static constexpr int  order          = 2;
  static constexpr int  embedded_order = 1;
  static constexpr int  stages         = 2;
  static constexpr int  dense_order    = 2;
  static constexpr bool explicit_first = true;
  static constexpr bool l_stable       = false;
  static constexpr double gamma = 1.0 / 2;
  static constexpr double c[2] = {0.0, 1.0};
  static constexpr double a[2][2] = {{}, {1.0 / 2, 1.0 / 2}};
  static constexpr double e[2] = {1.0 / 2, -1.0 / 2};
  static constexpr double slope0[2] = {1.0, 0.0};
};

// clang-format on

}  // namespace saltus::methods
