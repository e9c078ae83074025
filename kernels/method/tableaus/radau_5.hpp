// Radau IIA 5(3).
#pragma once

#include "method/collocation_past.hpp"
#include "method/implicit_method.hpp"

namespace saltus::methods {

// clang-format off

/// The stage equations are solved in the basis in which the matrix of coefficients is one real and one complex number: A^-1 = T diag(mu,
/// mu_complex) T^-1 (Hairer, Wanner II, IV.8).
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
  template <class Real, int n> using memory = collocation_past<radau_5, Real, n>;
  static constexpr double c[3] = {0.15505102572168219018, 0.64494897427831780982, 1.0};
  static constexpr double inverse_a[3][3] = {
      {3.2247448713915890491, 1.1678400846904054949, -0.25319726474218082619},
      {-3.5678400846904054949, 0.7752551286084109510, 1.0531972647421808262},
      {5.5319726474218082619, -7.5319726474218082619, 5.0}};
  static constexpr double mu = 3.6378342527444957322;
  static constexpr double mu_pair[1][2] = {{2.6810828736277521339, -3.0504301992474105694}};
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
  /// Weights of quadratures: the last row of A, and (1 / mu) e A, the same error estimate without its filter.
  static constexpr double quadrature_b[3] = {0.37640306270046727505, 0.51248582618842161384, 0.11111111111111111111};
  static constexpr double quadrature_e[3] = {-0.42829829411536810453, 0.24503907438491652605, -0.09162960986522578925};
  /// h times the slope of the collocation polynomial at the beginning; at the end it is the last row of inverse_a.
  static constexpr double slope0[3] = {10.048809399827415562, -1.3821427331607488958, 0.33333333333333333333};
};

// clang-format on

}  // namespace saltus::methods
