// The explicit Runge-Kutta methods: their coefficients, and the one list of them.
//
// A method is one struct of constants, read by the stepper as template constants only (no array is ever indexed on a
// device), and one name in `all` below; its order conditions (method/order_conditions.hpp) are then tested unasked.
// From (t, y), k_0 = f(t, y), with step h:
//
//     k_i  = f(t + c_i h, y + h sum_j a_ij k_j)          the stages
//     y1   = y + h sum_i b_i k_i                         the advancing formula, f1 = f(t + h, y1)
//     err  = h sum_i e_i k_i                             e = b - b_hat, b_hat: the embedded formula
//     y(s) = y + s (D + (1-s) (F1 + s (F2 + (1-s) (F3 + s (F4 + (1-s) (F5 + s F6))))))        0 <= s <= 1
//            D = y1 - y,  F1 = h f - D,  F2 = 2 D - h (f + f1),  F_{3+j} = h sum_i d_ji k_i   the dense output
//
// With no row of d the dense output is the cubic Hermite polynomial. The nested form is that of Hairer, Norsett and
// Wanner, "Solving Ordinary Differential Equations I" (2nd ed. 1993), II.6, and of CONTD5 and CONTD8 in their codes.
// Whatever d is, it takes the values y, y1 and the slopes f, f1 at the ends: it is continuously differentiable.
#pragma once

#include "number/base.hpp"

namespace saltus::methods {

/// What most methods have in common; a method that differs declares the member again.
///
/// Every method declares
///   name, title, source   the key in a spec, the name for people, where the coefficients come from
///   order                 of the advancing formula
///   embedded_order        of the embedded formula; 0: there is none, so the step must be fixed
///   stages                of the step itself; the last one of an FSAL method is f1
///   fsal                  true: row stages-1 of a equals b, so that stage is f1 and the first stage of the next step
///   c[n] a[n][n]          n = stages + extra_stages; a is strictly lower triangular, c_i is the sum of row i
///   b[stages] e[stages]   e is zero if embedded_order is 0
struct explicit_method {
  static constexpr bool is_explicit = true;
  static constexpr bool is_low_storage = false;  ///< it is a low_storage_method
  static constexpr bool is_rosenbrock = false;
  static constexpr int highest_index = 0;  ///< of the algebraic states it can integrate; 0: none
  /// Further stages, after the step's, that only the dense output needs.
  static constexpr int extra_stages = 0;
  /// True: the error is |h| |E5|^2 / sqrt(|E5|^2 + 0.01 |E3|^2) with E5 = sum e_i k_i, E3 = sum e3_i k_i.
  static constexpr bool two_errors = false;
  static constexpr int embedded3_order = 0;  ///< of b - e3
  static constexpr double e3[1] = {0.0};
  /// True: the error estimate is zero where f depends on t alone, whatever the error.
  static constexpr bool blind_estimate = false;
  /// Rows of d, each as long as stages + extra_stages; 0: cubic Hermite.
  static constexpr int dense_rows = 0;
  static constexpr double d[1][1] = {{0.0}};
  /// Order of the nested form above: its local error is O(h^(dense_order + 1)).
  static constexpr int dense_order = 3;
};

/// A method whose stages are not kept, but added up at once in two registers (method/low_storage.hpp):
///
///     point = sum = 0
///     for i = 0 .. stages - 2:  k = f(t + c_i h, y + point)
///                               sum   = sum + delta_i point
///                               point = gamma1_i point + gamma2_i sum + h beta_i k
///     y1 = y + point,  f1 = f(t + h, y1):  the last stage, so that the method is FSAL
///
/// It declares gamma1, gamma2, delta, beta [stages - 1] instead of `a`. This is the form 3S* of D. I. Ketcheson, J. Comput.
/// Phys. 229 (2010) 1763, counted from y: the registers of the paper hold point + y and sum + y (delta_0 + ... + delta_i), and
/// what its third one, y, is multiplied by, gamma3_i, makes up for that. Counted from y, what does not move stays exactly
/// where it is.
///
/// Its dense output is a quartic: the cubic through the ends, and what the slope found on it at t + c_stages h says beyond
/// that (W. H. Enright, K. R. Jackson, S. P. Norsett, P. G. Thomsen, ACM Trans. Math. Softw. 12 (1986) 193).
struct low_storage_method : explicit_method {
  static constexpr bool is_low_storage = true;
  static constexpr bool fsal = true;
  static constexpr int extra_stages = 1;
  static constexpr int dense_rows = 1;
  static constexpr int dense_order = 4;
};

/// What the quartic's own term, s^2 (1-s)^2, contributes to the slope at s.
SALTUS_FN constexpr double slope_of_quartic(double s) { return 2.0 * s * (1.0 - s) * (1.0 - 2.0 * s); }

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

/// Advances with the fifth-order weights; its seventh stage is f1. The dense output is of the fourth order at no further
/// cost: row d solves the order conditions, with the least weights in the sense of least squares.
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
  static constexpr double d[1][7] = {{-0.8669739448448042476126414, 0, 3.506470030046451398828190, -4.902352040714346417839044,
                                      1.657787597117409417188982, -1.894931641604710150565487, 2.5}};
};

/// Advances with the eighth-order weights; its fourteenth stage is f1. Its error estimate, 41/840 h (k_11 + k_12 - k_0 -
/// k_10), compares slopes at the two ends of the step only, so it is zero where f depends on t alone, whatever the true
/// error.
///
/// The dense output is of the seventh order, by four further stages at t + h/5, 2h/5, 3h/5 and 4h/5 that are themselves
/// exact to the orders 5, 6, 6 and 6. Their rows, and those of d, solve the order conditions with the least weights in the
/// sense of least squares.
struct fehlberg_8 : explicit_method {
  static constexpr const char* name   = "rkf78";
  static constexpr const char* title  = "Fehlberg 7(8)";
  static constexpr const char* source = "E. Fehlberg, NASA TR R-287 (1968), Table X";
  static constexpr int  order          = 8;
  static constexpr int  embedded_order = 7;
  static constexpr int  stages         = 14;
  static constexpr bool fsal           = true;
  static constexpr bool blind_estimate = true;
  static constexpr int  extra_stages   = 4;
  static constexpr int  dense_rows     = 4;
  static constexpr int  dense_order    = 7;
  static constexpr double c[18] = {0.0, 2.0 / 27, 1.0 / 9, 1.0 / 6, 5.0 / 12, 1.0 / 2, 5.0 / 6, 1.0 / 6, 2.0 / 3,
                                   1.0 / 3, 1.0, 0.0, 1.0, 1.0, 1.0 / 5, 2.0 / 5, 3.0 / 5, 4.0 / 5};
  static constexpr double b[14] = {0, 0, 0, 0, 0, 34.0 / 105, 9.0 / 35, 9.0 / 35, 9.0 / 280, 9.0 / 280, 0, 41.0 / 840,
                                   41.0 / 840, 0};
  static constexpr double a[18][18] = {
      {},
      {2.0 / 27},
      {1.0 / 36, 1.0 / 12},
      {1.0 / 24, 0, 1.0 / 8},
      {5.0 / 12, 0, -25.0 / 16, 25.0 / 16},
      {1.0 / 20, 0, 0, 1.0 / 4, 1.0 / 5},
      {-25.0 / 108, 0, 0, 125.0 / 108, -65.0 / 27, 125.0 / 54},
      {31.0 / 300, 0, 0, 0, 61.0 / 225, -2.0 / 9, 13.0 / 900},
      {2.0, 0, 0, -53.0 / 6, 704.0 / 45, -107.0 / 9, 67.0 / 90, 3.0},
      {-91.0 / 108, 0, 0, 23.0 / 108, -976.0 / 135, 311.0 / 54, -19.0 / 60, 17.0 / 6, -1.0 / 12},
      {2383.0 / 4100, 0, 0, -341.0 / 164, 4496.0 / 1025, -301.0 / 82, 2133.0 / 4100, 45.0 / 82, 45.0 / 164, 18.0 / 41},
      {3.0 / 205, 0, 0, 0, 0, -6.0 / 41, -3.0 / 205, -3.0 / 41, 3.0 / 41, 6.0 / 41, 0},
      {-1777.0 / 4100, 0, 0, -341.0 / 164, 4496.0 / 1025, -289.0 / 82, 2193.0 / 4100, 51.0 / 82, 33.0 / 164, 12.0 / 41,
       0, 1.0},
      {b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12]},
      {0.03576575102475100730843697, 0, 0, 0,
       0, -0.02926869833074601873332054, 0.0301796590326350491008355, 0.1182495219689173396591722,
       -0.02227681191676405435104917, 0.04043585941288308245102998, -0.002950344072142470914513963, 0.03576575102475100730843697,
       -0.002950344072142470914513963, -0.002950344072142470914513963},
      {0.0311299047619047619047619, 0, 0, 0,
       0, 0.04683580952380952380952381, -0.008886857142857142857142857, -0.008886857142857142857142857,
       0.003209142857142857142857143, 0.003209142857142857142857143, -0.006310095238095238095238095, 0.0311299047619047619047619,
       -0.006310095238095238095238095, 0.01488, 0.3},
      {0.02756052857356774477635376, 0, 0, 0,
       0, 0.185814087353070940157895, -0.002652773049585060477417639, 0.1508376419508668959276076,
       0.01135239865524372319638958, 0.02094554959277197047170366, -0.0126091742649339049169513, 0.02756052857356774477635376,
       -0.0126091742649339049169513, 0.02593541039056144363054332, 0.1112458727569673568514591, 0.06661910373283505052301443},
      {0.02668847922174026157276661, 0, 0, 0,
       0, 0.1390225423892510977312676, 0.0700877256183785876298554, 0.1508663978958120739510764,
       0.01127809850720389855531893, 0.01632676552454349145039525, 0.004744332741281766652356909, 0.02668847922174026157276661,
       0.004744332741281766652356909, -0.01538887350119046985927498, 0.1228850239643830101663225, 0.04966955275910515784807758,
       0.1923871429164690960767143}};
  static constexpr double e[14] = {-41.0 / 840, 0, 0, 0, 0, 0, 0, 0, 0, 0, -41.0 / 840, 41.0 / 840, 41.0 / 840, 0};
  static constexpr double d[4][18] = {
      {-2.926255729564553093964859, 0, 0, 0,
       0, 28.7012987012987012987013, 32.03284950343773873185638, 13.55156608097784568372804,
       3.426566080977845683728037, 2.271485867074102368220015, 3.859617710720651897122485, -2.164335052202699261522791,
       3.097697033358798064680418, -7.513368983957219251336898, 0, -32.41978609625668449197861,
       -3.565062388591800356506239, -38.35227272727272727272727},
      {-1.114400305576776165011459, 0, 0, 0,
       0, -57.4025974025974025974026, -76.77158135981665393430099, -14.39724980901451489686784,
       -7.647249809014514896867838, -3.748854087089381207028266, -5.396931499872676343264579, 5.624013241660300483829896,
       -12.13534504710975299210593, 24.31595365418894830659537, 0, 49.52094474153297682709447,
       22.44875222816399286987522, 76.70454545454545454545455},
      {-1.335903679653679653679654, 0, 0, 0,
       0, -110.3896103896103896103896, -142.2077922077922077922078, -33.11688311688311688311688,
       -14.36688311688311688311688, -7.548701298701298701298701, -10.64777236652236652236652, 9.538465007215007215007215,
       -21.52214105339105339105339, 35.66919191919191919191919, 0, 126.2626262626262626262626,
       -7.891414141414141414141414, 177.5568181818181818181818},
      {17.6840622612681436210848, 0, 0, 0,
       0, 220.7792207792207792207792, 319.7097020626432391138273, 30.939648586707410236822,
       30.939648586707410236822, 12.89152024446142093200917, 16.29145976572447160682455, -24.12186465495289024700789,
       58.09738668194550547491724, -91.35472370766488413547237, 0, -181.0383244206773618538324,
       -55.70409982174688057040998, -355.1136363636363636363636}};
};

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

/// Twelve stages make the step; the thirteenth is f1. `e` (order 5) and `e3` (order 3) make one estimate of order 7.
struct dormand_prince_8 : explicit_method {
  static constexpr const char* name   = "dop853";
  static constexpr const char* title  = "Dormand-Prince 8(5,3)";
  static constexpr const char* source = "Hairer, Norsett, Wanner, Solving ODEs I (1993), II.5 and II.6, "
                                        "and their code DOP853";
  static constexpr int  order           = 8;
  static constexpr int  embedded_order  = 5;
  static constexpr bool two_errors      = true;
  static constexpr int  embedded3_order = 3;
  static constexpr int  stages          = 13;
  static constexpr bool fsal            = true;
  static constexpr int  extra_stages    = 3;
  static constexpr int  dense_rows      = 4;
  static constexpr int  dense_order     = 7;
  static constexpr double c[16] = {
      0.0, 0.526001519587677318785587544488e-01, 0.789002279381515978178381316732e-01, 0.118350341907227396726757197510,
      0.281649658092772603273242802490, 0.333333333333333333333333333333, 0.25, 0.307692307692307692307692307692,
      0.651282051282051282051282051282, 0.6, 0.857142857142857142857142857142, 1.0, 1.0, 0.1, 0.2,
      0.777777777777777777777777777778};
  static constexpr double b[13] = {
      5.42937341165687622380535766363e-2, 0, 0, 0, 0, 4.45031289275240888144113950566, 1.89151789931450038304281599044,
      -5.8012039600105847814672114227, 3.1116436695781989440891606237e-1, -1.52160949662516078556178806805e-1,
      2.01365400804030348374776537501e-1, 4.47106157277725905176885569043e-2, 0};
  static constexpr double a[16][16] = {
      {},
      {5.26001519587677318785587544488e-2},
      {1.97250569845378994544595329183e-2, 5.91751709536136983633785987549e-2},
      {2.95875854768068491816892993775e-2, 0, 8.87627564304205475450678981324e-2},
      {2.41365134159266685502369798665e-1, 0, -8.84549479328286085344864962717e-1, 9.24834003261792003115737966543e-1},
      {3.7037037037037037037037037037e-2, 0, 0, 1.70828608729473871279604482173e-1, 1.25467687566822425016691814123e-1},
      {3.7109375e-2, 0, 0, 1.70252211019544039314978060272e-1, 6.02165389804559606850219397283e-2, -1.7578125e-2},
      {3.70920001185047927108779319836e-2, 0, 0, 1.70383925712239993810214054705e-1, 1.07262030446373284651809199168e-1,
       -1.53194377486244017527936158236e-2, 8.27378916381402288758473766002e-3},
      {6.24110958716075717114429577812e-1, 0, 0, -3.36089262944694129406857109825, -8.68219346841726006818189891453e-1,
       2.75920996994467083049415600797e1, 2.01540675504778934086186788979e1, -4.34898841810699588477366255144e1},
      {4.77662536438264365890433908527e-1, 0, 0, -2.48811461997166764192642586468, -5.90290826836842996371446475743e-1,
       2.12300514481811942347288949897e1, 1.52792336328824235832596922938e1, -3.32882109689848629194453265587e1,
       -2.03312017085086261358222928593e-2},
      {-9.3714243008598732571704021658e-1, 0, 0, 5.18637242884406370830023853209, 1.09143734899672957818500254654,
       -8.14978701074692612513997267357, -1.85200656599969598641566180701e1, 2.27394870993505042818970056734e1,
       2.49360555267965238987089396762, -3.0467644718982195003823669022},
      {2.27331014751653820792359768449, 0, 0, -1.05344954667372501984066689879e1, -2.00087205822486249909675718444,
       -1.79589318631187989172765950534e1, 2.79488845294199600508499808837e1, -2.85899827713502369474065508674,
       -8.87285693353062954433549289258, 1.23605671757943030647266201528e1, 6.43392746015763530355970484046e-1},
      {b[0], 0, 0, 0, 0, b[5], b[6], b[7], b[8], b[9], b[10], b[11]},
      {5.61675022830479523392909219681e-2, 0, 0, 0, 0, 0, 2.53500210216624811088794765333e-1,
       -2.46239037470802489917441475441e-1, -1.24191423263816360469010140626e-1, 1.5329179827876569731206322685e-1,
       8.20105229563468988491666602057e-3, 7.56789766054569976138603589584e-3, -8.298e-3},
      {3.18346481635021405060768473261e-2, 0, 0, 0, 0, 2.83009096723667755288322961402e-2,
       5.35419883074385676223797384372e-2, -5.49237485713909884646569340306e-2, 0, 0,
       -1.08347328697249322858509316994e-4, 3.82571090835658412954920192323e-4, -3.40465008687404560802977114492e-4,
       1.41312443674632500278074618366e-1},
      {-4.28896301583791923408573538692e-1, 0, 0, 0, 0, -4.69762141536116384314449447206,
       7.68342119606259904184240953878, 4.06898981839711007970213554331, 3.56727187455281109270669543021e-1, 0, 0, 0,
       -1.39902416515901462129418009734e-3, 2.9475147891527723389556272149, -9.15095847217987001081870187138}};
  static constexpr double e[13] = {
      0.1312004499419488073250102996e-1, 0, 0, 0, 0, -0.1225156446376204440720569753e+1,
      -0.4957589496572501915214079952, 0.1664377182454986536961530415e+1, -0.3503288487499736816886487290,
      0.3341791187130174790297318841, 0.8192320648511571246570742613e-1, -0.2235530786388629525884427845e-1, 0};
  static constexpr double e3[13] = {
      b[0] - 0.244094488188976377952755905512, 0, 0, 0, 0, b[5], b[6], b[7],
      b[8] - 0.733846688281611857341361741547, b[9], b[10], b[11] - 0.220588235294117647058823529412e-1, 0};
  static constexpr double d[4][16] = {
      {-0.84289382761090128651353491142e+1, 0, 0, 0, 0, 0.56671495351937776962531783590,
       -0.30689499459498916912797304727e+1, 0.23846676565120698287728149680e+1, 0.21170345824450282767155149946e+1,
       -0.87139158377797299206789907490, 0.22404374302607882758541771650e+1, 0.63157877876946881815570249290,
       -0.88990336451333310820698117400e-1, 0.18148505520854727256656404962e+2, -0.91946323924783554000451984436e+1,
       -0.44360363875948939664310572000e+1},
      {0.10427508642579134603413151009e+2, 0, 0, 0, 0, 0.24228349177525818288430175319e+3,
       0.16520045171727028198505394887e+3, -0.37454675472269020279518312152e+3, -0.22113666853125306036270938578e+2,
       0.77334326684722638389603898808e+1, -0.30674084731089398182061213626e+2, -0.93321305264302278729567221706e+1,
       0.15697238121770843886131091075e+2, -0.31139403219565177677282850411e+2, -0.93529243588444783865713862664e+1,
       0.35816841486394083752465898540e+2},
      {0.19985053242002433820987653617e+2, 0, 0, 0, 0, -0.38703730874935176555105901742e+3,
       -0.18917813819516756882830838328e+3, 0.52780815920542364900561016686e+3, -0.11573902539959630126141871134e+2,
       0.68812326946963000169666922661e+1, -0.10006050966910838403183860980e+1, 0.77771377980534432092869265740,
       -0.27782057523535084065932004339e+1, -0.60196695231264120758267380846e+2, 0.84320405506677161018159903784e+2,
       0.11992291136182789328035130030e+2},
      {-0.25693933462703749003312586129e+2, 0, 0, 0, 0, -0.15418974869023643374053993627e+3,
       -0.23152937917604549567536039109e+3, 0.35763911791061412378285349910e+3, 0.93405324183624310003907691704e+2,
       -0.37458323136451633156875139351e+2, 0.10409964950896230045147246184e+3, 0.29840293426660503123344363579e+2,
       -0.43533456590011143754432175058e+2, 0.96324553959188282948394950600e+2, -0.39177261675615439165231486172e+2,
       -0.14972683625798562581422125276e+3}};
};

/// Of the methods of the paper the one that needs the fewest evaluations for an accuracy, and whose nodes lie within the
/// step (those of its 4(3) pair, which is stabler for its cost, lie between -0.68 and 1.67). e = b - b_hat.
struct rdpk_5 : low_storage_method {
  static constexpr const char* name   = "rdpk510";
  static constexpr const char* title  = "Ranocha-Dalcin-Parsani-Ketcheson 5(4), low storage";
  static constexpr const char* source = "H. Ranocha, L. Dalcin, M. Parsani, D. I. Ketcheson, "
                                        "Commun. Appl. Math. Comput. 4 (2022) 1191: RK5(4)10[3S*+ FSAL]; "
                                        "coefficients: github.com/ranocha/Optimized-RK-CFD, 3SstarpFSAL510.txt";
  static constexpr int  order          = 5;
  static constexpr int  embedded_order = 4;
  static constexpr int  stages         = 11;
  static constexpr double c[12] = {0, 0.2597883554788674084040, 0.09904573247592460887087, 0.2155511890524058691860,
                                   0.5007950088969676776844, 0.5592251911688643533788, 0.5449986978853637084973,
                                   0.7615224694532590139829, 0.8427062083267360939805, 0.9152209805057669959658, 1.0,
                                   1.0 / 4};
  static constexpr double gamma1[10] = {0, 0.4043660121685749695640, -0.8503427289575839690883,
                                        -6.950894175262117526410, 0.9238765192731084931855, -2.563178056509891340216,
                                        0.2545744879365226143946, 0.3125831707411998258747, -0.7007114414440507927791,
                                        0.4839621016023833375810};
  static constexpr double gamma2[10] = {1.0, 0.6871467028161416909922, 1.093024748914750833701,
                                        3.225975379607193001678, 1.041153702510101386914, 1.292821487912164945158,
                                        0.7391462755788122847651, 0.1239129251371800313942, 0.1842753472370123193132,
                                        0.05712788998796583446479};
  static constexpr double delta[10] = {1.0, -0.1331778419508803397033, 0.8260422814750207498262,
                                       1.513700425755728332485, -1.305810059935023735972, 3.036678802924163246003,
                                       -1.449458274398895177923, 3.834313899176362315090, 4.122293760012985409331, 0};
  static constexpr double beta[10] = {0.2597883554788674084040, 0.01777008889438867858759, 0.2481636629715501931295,
                                      0.7941736871152005775822, 0.3885391285642019129576, 0.1455051657916305055731,
                                      0.1587517385964749337691, 0.1650605617880053419242, 0.2118093284937153836909,
                                      0.1559392342362059886107};
  static constexpr double b[11] = {-0.002280100321836980811831, 0.01407393115790186300731, 0.2332691775508456597720,
                                   0.04808266741353862546319, 0.4119003217706951892386, -0.1291461067807736321057,
                                   0.1220746013848710098878, 0.04357858583174420432201, 0.1025076877568080726159,
                                   0.1559392342362059886107, 0};
  static constexpr double e[11] = {0.01791245407828367999726, -0.01330510365168998039202, -0.06961268606375089366452,
                                   0.08465110621976084736390, 0.01363384430301841625226, -0.07198651256936677773886,
                                   0.02357605034638542667823, -0.02296742969281664546414, 0.01177289232932694535124,
                                   0.07161634098289794936178, -0.04529095628204896774513};
};

// clang-format on

/// Does the error estimate hold for every f? Then a step can be certified (event/certify.hpp).
template <class Method>
inline constexpr bool certifies = Method::embedded_order > 0 && !Method::blind_estimate;

/// The order of the error estimate: it is O(h^(error_order + 1)), which a step-size controller takes the root of.
template <class Method>
inline constexpr int error_order =
    Method::two_errors ? 2 * Method::embedded_order - Method::embedded3_order : Method::embedded_order;

template <class... Method>
struct list {
  static constexpr int size = sizeof...(Method);
};
template <class... A, class... B>
constexpr list<A..., B...> operator+(list<A...>, list<B...>) {
  return {};
}

/// Every explicit method, once.
using all = list<kutta_3, bogacki_shampine_3, runge_kutta_4, fehlberg_5, fehlberg_8, dormand_prince_5, tsitouras_5,
                 dormand_prince_8, rdpk_5>;

/// body(Method{}) for every method of a list, in its order.
template <class... Method, class F>
constexpr SALTUS_FN void for_each(list<Method...>, F&& body) {
  (body(Method{}), ...);
}

}  // namespace saltus::methods
