// Tsitouras 5(4).
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

/// The paper gives 16 to 18 digits; the longer ones here solve its order conditions with c_2, c_3, c_4, a_72 as given.
/// d_i is the leading coefficient of the paper's interpolant b_i(s), which is of degree 4 and continuously
/// differentiable, hence equal to the nested form.
struct tsitouras_5 : explicit_method {
  static constexpr const char* name   = "tsit5";
  static constexpr const char* title  = "Tsitouras 5(4)";
  static constexpr const char* source = "Ch. Tsitouras, Comput. Math. Appl. 62 (2011) 770";
  static constexpr int  order          = 5;
  static constexpr int  embedded_order = 4;
  static constexpr int  stages         = 7;
  static constexpr bool fsal           = true;
  static constexpr int  dense_rows     = 1;
  static constexpr int  dense_order    = 4;
  static constexpr double c[7] = {0.0, 0.161, 0.327, 0.9, 0.9800255409045096857298103, 1.0, 1.0};
  static constexpr double b[7] = {0.09646076681806522951816731, 0.01, 0.4798896504144995747752495,
                                  1.379008574103741893192275, -3.290069515436080679901048,
                                  2.324710524099773982415356, 0};
  static constexpr double a[7][7] = {
      {},
      {0.161},
      {-0.008480655492356988544426874, 0.3354806554923569885444269},
      {2.897153057105493432130433, -6.35944848997507484314816, 4.362295432869581411017727},
      {5.325864828439256604428878, -11.74888356406282787774717, 7.495539342889836208304605,
       -0.09249506636175524925650208},
      {5.861455442946420028659251, -12.92096931784710929170612, 8.159367898576158643180401,
       -0.07158497328140099722453054, -0.02826905039406838290900306},
      {b[0], b[1], b[2], b[3], b[4], b[5]}};
  static constexpr double e[7] = {0.001780011052225771443378551, 0.0008164344596567469032236361,
                                  -0.007880878010261996010314728, 0.1447110071732629075371651,
                                  -0.5823571654525552250199376, 0.4580821059291869466616365, -1.0 / 66};
  static constexpr double d[1][7] = {
      {-1.0530884977290216, 0.1017, 2.490627285651252793, -16.54810288924490272, 47.37952196281928122,
       -34.87065786149660974, 2.5}};
};

// clang-format on

}  // namespace saltus::methods
