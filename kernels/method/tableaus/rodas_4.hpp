// Rodas 4(3) of Hairer and Wanner.
#pragma once

#include "method/implicit_method.hpp"

namespace saltus::methods {

// clang-format off

struct rodas_4 : rosenbrock_method {
  static constexpr const char* name   = "rodas4";
  static constexpr const char* title  = "Rodas 4(3) of Hairer and Wanner";
  static constexpr const char* source = "E. Hairer, G. Wanner, Solving ODEs II (1996), VI.4";
  static constexpr int  order          = 4;
  static constexpr int  embedded_order = 3;
  static constexpr int  stages         = 6;
  static constexpr int  tail           = 5;  ///< from this stage on, a stage's point is the previous point plus its u
  static constexpr bool l_stable       = true;
  static constexpr double gamma = 0.25;
  static constexpr double c[6] = {0.0, 0.386, 0.21, 0.63, 1.0, 1.0};
  static constexpr double d[6] = {0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0};
  static constexpr double a[5][5] = {
      {},
      {1.544},
      {0.9466785280815826, 0.2557011698983284},
      {3.314825187068521, 2.896124015972201, 0.9986419139977817},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950}};
  static constexpr double u[6][6] = {
      {},
      {-5.6688},
      {-2.430093356833875, -0.2063599157091915},
      {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
      {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
      {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};
  /// y(s) = y (1-s) + s (y1 + (1-s) (q_0 + s (q_1 + s q_2 ...))), q_r = sum_i dense_ri u_i
  static constexpr int    dense_powers = 2;
  static constexpr double dense[2][6] = {
      {10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662},
      {-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872}};
};

// clang-format on

}  // namespace saltus::methods
