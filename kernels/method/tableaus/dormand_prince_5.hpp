// Dormand-Prince 5(4).
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct dormand_prince_5 : explicit_method {
  static constexpr const char* name   = "dp5";
  static constexpr const char* title  = "Dormand-Prince 5(4)";
  static constexpr const char* source = "J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19; "
                                        "dense output: Hairer, Norsett, Wanner, Solving ODEs I (1993), II.6, "
                                        "and their code DOPRI5";
  static constexpr int  order          = 5;
  static constexpr int  embedded_order = 4;
  static constexpr int  stages         = 7;
  static constexpr bool fsal           = true;
  static constexpr int  dense_rows     = 1;
  static constexpr int  dense_order    = 4;
  static constexpr double c[7] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
  static constexpr double b[7] = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0};
  static constexpr double a[7][7] = {
      {},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {b[0], b[1], b[2], b[3], b[4], b[5]}};
  static constexpr double e[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525,
                                  -1.0 / 40};
  static constexpr double d[1][7] = {
      {-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072,
       701980252875.0 / 199316789632, -1453857185.0 / 822651844, 69997945.0 / 29380423}};
};

// clang-format on

}  // namespace saltus::methods
