// ESDIRK 4(3) of Kennedy and Carpenter.
#pragma once

#include "method/implicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct esdirk_4 : dirk_method {
  static constexpr const char* name   = "esdirk4";
  static constexpr const char* title  = "ESDIRK 4(3) of Kennedy and Carpenter";
  static constexpr const char* source = "C. A. Kennedy, M. H. Carpenter, Appl. Numer. Math. 44 (2003) 139: ARK4(3)6L[2]SA, "
                                        "its implicit half";
  static constexpr int  order          = 4;
  static constexpr int  embedded_order = 3;
  static constexpr int  stages         = 6;
  static constexpr bool explicit_first = true;
  static constexpr bool l_stable       = true;
  static constexpr double gamma = 1.0 / 4;
  static constexpr double c[6] = {0.0, 1.0 / 2, 83.0 / 250, 31.0 / 50, 17.0 / 20, 1.0};
  static constexpr double a[6][6] = {
      {},
      {1.0 / 4, 1.0 / 4},
      {8611.0 / 62500, -1743.0 / 31250, 1.0 / 4},
      {5012029.0 / 34652500, -654441.0 / 2922500, 174375.0 / 388108, 1.0 / 4},
      {15267082809.0 / 155376265600.0, -71443401.0 / 120774400, 730878875.0 / 902184768, 2285395.0 / 8070912, 1.0 / 4},
      {82889.0 / 524892, 0.0, 15625.0 / 83664, 69875.0 / 102672, -2260.0 / 8211, 1.0 / 4}};
  static constexpr double e[6] = {
      82889.0 / 524892 - 4586570599.0 / 29645900160.0, 0.0, 15625.0 / 83664 - 178811875.0 / 945068544,
      69875.0 / 102672 - 814220225.0 / 1159782912, -2260.0 / 8211 + 3700637.0 / 11593932, 1.0 / 4 - 61727.0 / 225920};
  /// Only in short steps is order 4 better than order 3: where a wave turns by 1, 2.5, 5 rad in a step, the error of its integral is 1.6, 4,
  /// 9 times the estimate.
  static constexpr double quadrature_safety = 4.0;
  static constexpr double slope0[6] = {1.0};
};

// clang-format on

}  // namespace saltus::methods
