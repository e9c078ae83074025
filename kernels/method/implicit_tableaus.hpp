// The implicit methods: their coefficients, and the one list of them. As with the explicit ones (tableaus.hpp) a method is
// one struct, which steppers read as template constants, and one name in `implicit` below.
//
// Diagonally implicit Runge-Kutta (`dirk`), gamma = a_ii the same in every implicit stage:
//     M k_i = f(t + c_i h, y + h sum_{j <= i} a_ij k_j),  y1 = the last stage's point,  err = h sum_i e_i k_i, filtered
// Rosenbrock (`rosenbrock`), in the form without multiplications by J (Hairer, Wanner II, IV.7):
//     (M / (h gamma) - J) u_i = f(t + c_i h, y + sum_j a_ij u_j) + M sum_j (c_ij / h) u_j + h d_i df/dt
//     y1 = the last stage's point + u_last,  err = u_last
// Fully implicit (`collocation`): Radau IIA of three stages.
//
// What is between the ends of a step is the dense output of tableaus.hpp, with slopes at the ends that the method itself
// gives: for `dirk`, k at the end and sum_i slope0_i k_i at the beginning.
#pragma once

#include "method/tableaus.hpp"

namespace saltus::methods {

enum class family { dirk, rosenbrock, collocation };

/// What most implicit methods have in common. `error_order` of all of them is `embedded_order`.
struct implicit_method {
  static constexpr bool is_explicit = false;
  static constexpr bool is_rosenbrock = false;
  static constexpr int highest_index = 1;  ///< of the algebraic states it can integrate
  static constexpr bool two_errors = false;
  static constexpr int embedded3_order = 0;
  static constexpr bool blind_estimate = false;
  static constexpr int extra_stages = 0;
  static constexpr int dense_rows = 0;
  static constexpr int dense_order = 3;
};

struct dirk_method : implicit_method {
  static constexpr family kind = family::dirk;
  static constexpr bool explicit_first = false;  ///< the first stage is the slope at the beginning
};
struct rosenbrock_method : implicit_method {
  static constexpr family kind = family::rosenbrock;
  static constexpr bool is_rosenbrock = true;
};

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
  /// Of the continuous extension of Hairer and Wanner (6.17), at the beginning of a step.
  static constexpr double slope0[5] = {11.0 / 3, 11.0 / 2, -125.0 / 18, 0.0, -11.0 / 9};
};

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
  static constexpr double slope0[6] = {1.0};
};

struct rodas_4 : rosenbrock_method {
  static constexpr const char* name   = "rodas4";
  static constexpr const char* title  = "Rodas 4(3) of Hairer and Wanner";
  static constexpr const char* source = "E. Hairer, G. Wanner, Solving ODEs II (1996), VI.4";
  static constexpr int  order          = 4;
  static constexpr int  embedded_order = 3;
  static constexpr int  stages         = 6;
  static constexpr int  tail           = 5;  ///< from this stage on, a stage's point is the last one's plus its u
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

struct rodas_5p : rosenbrock_method {
  static constexpr const char* name   = "rodas5p";
  static constexpr const char* title  = "Rodas 5P of Steinebach";
  static constexpr const char* source = "G. Steinebach, BIT Numer. Math. 63 (2023) 27";
  static constexpr int  order          = 5;
  static constexpr int  embedded_order = 4;
  static constexpr int  stages         = 8;
  static constexpr int  tail           = 6;
  static constexpr int  dense_rows     = 1;
  static constexpr int  dense_order    = 4;
  static constexpr bool l_stable       = true;
  static constexpr double gamma = 0.21193756319429014;
  static constexpr double c[8] = {0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664,
                                  1.0, 1.0, 1.0};
  static constexpr double d[8] = {0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734,
                                  2.325825639765069, 0.0, 0.0, 0.0};
  static constexpr double a[6][6] = {
      {},
      {3.0},
      {2.849394379747939, 0.45842242204463923},
      {-6.954028509809101, 2.489845061869568, -10.358996098473584},
      {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
      {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946}};
  static constexpr double u[8][8] = {
      {},
      {-14.155112264123755},
      {-17.97296035885952, -2.859693295451294},
      {147.12150275711716, -1.41221402718213, 71.68940251302358},
      {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
      {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
      {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
       -28.087943162872662},
      {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
       -54.66780262877968, -9.48861652309627}};
  static constexpr int    dense_powers = 3;
  static constexpr double dense[3][8] = {
      {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
       1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
      {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
       15.98066361424651, -6.789040303419874, -6.710236069923372},
      {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
       -59.78993625266729, -0.15582684282751913, 4.883087185713722}};
};

/// The stage equations are solved in the basis in which the matrix of coefficients is one real and one complex number:
/// A^-1 = T diag(mu, mu_complex) T^-1 (Hairer, Wanner II, IV.8).
struct radau_5 : implicit_method {
  static constexpr const char* name   = "radau5";
  static constexpr const char* title  = "Radau IIA 5(3)";
  static constexpr const char* source = "E. Hairer, G. Wanner, Solving ODEs II (1996), IV.8; coefficients to 20 digits "
                                        "from their definition";
  static constexpr family kind           = family::collocation;
  static constexpr int    order          = 5;
  static constexpr int    embedded_order = 3;
  static constexpr int    stages         = 3;
  static constexpr int    highest_index  = 2;
  static constexpr bool   l_stable       = true;
  static constexpr double c[3] = {0.15505102572168219018, 0.64494897427831780982, 1.0};
  static constexpr double inverse_a[3][3] = {
      {3.2247448713915890491, 1.1678400846904054949, -0.25319726474218082619},
      {-3.5678400846904054949, 0.7752551286084109510, 1.0531972647421808262},
      {5.5319726474218082619, -7.5319726474218082619, 5.0}};
  static constexpr double mu = 3.6378342527444957322, mu_re = 2.6810828736277521339, mu_im = -3.0504301992474105694;
  static constexpr double t[3][3] = {
      {0.094438762488975241487, -0.14125529502095420843, 0.030029194105147424492},
      {0.25021312296533331138, 0.204129352293799932, -0.3829421127572619378},
      {1.0, 1.0, 0.0}};
  static constexpr double inverse_t[3][3] = {
      {4.1787185915519047273, 0.32768282076106238708, 0.52337644549944954804},
      {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
      {0.50287263494578687595, -2.5719269498556054292, 0.59603920482822492497}};
  /// err = (M mu/h - J)^-1 (f + (1/h) M sum_i e_i z_i), z_i the increments of the stages
  static constexpr double e[3] = {-10.048809399827415562, 1.3821427331607488958, -0.33333333333333333333};
  /// h times the slope of the collocation polynomial at the beginning; at the end it is the last row of inverse_a.
  static constexpr double slope0[3] = {10.048809399827415562, -1.3821427331607488958, 0.33333333333333333333};
};

// clang-format on

/// Every implicit method, once.
using implicit = list<trapezoid_2, sdirk_4, esdirk_4, rodas_4, rodas_5p, radau_5>;

}  // namespace saltus::methods
