// Explicit Runge-Kutta methods: the meaning of their coefficients. Each method stands in a file of its own in method/tableaus/.
//
// A method is one struct of constants, which the stepper reads as template constants only (no array is ever indexed on a
// device), and one name in method/list.hpp. Its order conditions (method/order_conditions.hpp) are then tested automatically.
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
// For any d it takes the values y, y1 and the slopes f, f1 at the ends, so it is continuously differentiable.
#pragma once

#include "number/base.hpp"

namespace saltus::methods {

///  Defaults shared by most methods; a method that differs declares the member again.
///
///  Every method declares
///    name, title, source   the key in a spec, the name for people, the source of the coefficients
///    order                 of the advancing formula
///    embedded_order        of the embedded formula; 0: there is none, so the step must be fixed
///    stages                of the step itself; the last one of an FSAL method is f1
///    fsal                  true: row stages-1 of a equals b, so that stage is f1 and the first stage of the next step
///    c[n] a[n][n]          n = stages + extra_stages; a is strictly lower triangular, c_i is the sum of row i
///    b[stages] e[stages]   e is zero if embedded_order is 0
struct explicit_method {
  static constexpr bool is_explicit = true;
  static constexpr bool is_low_storage = false;  ///< true for a low_storage_method
  static constexpr bool is_series = false;       ///< true for a series_method (method/tableaus/taylor.hpp)
  static constexpr bool is_rosenbrock = false;
  static constexpr bool for_mechanics = false;
  static constexpr int highest_index = 0;  ///< of the algebraic states that it can integrate; 0: none
  /// Stages after those of the step, needed by the dense output alone.
  static constexpr int extra_stages = 0;
  /// True: the error is |h| |E5|^2 / sqrt(|E5|^2 + 0.01 |E3|^2) with E5 = sum e_i k_i, E3 = sum e3_i k_i.
  static constexpr bool two_errors = false;
  static constexpr int embedded3_order = 0;  ///< of b - e3
  static constexpr double e3[1] = {0.0};
  /// True: the error estimate is zero if f depends on t alone, whatever the error. Another one counts where it is larger:
  /// |h| |E5|^2 / sqrt(|E5|^2 + |E3|^2) / 150 with E5 = sum seeing_e_i k_i, E3 = sum seeing_e3_i k_i; b - seeing_e and b - seeing_e3 have
  /// the orders 5 and 3.
  static constexpr bool blind_estimate = false;
  /// Number of quantities integrated beside the states (method/quadrature.hpp), and of those whose squares are integrated as well.
  static constexpr int quadratures = 0, squares = 0;
  /// Rows of d, each as long as stages + extra_stages; 0: cubic Hermite.
  static constexpr int dense_rows = 0;
  static constexpr double d[1][1] = {{0.0}};
  /// Order of the nested form above: its local error is O(h^(dense_order + 1)).
  static constexpr int dense_order = 3;
  /// y + h sum_i middle_i k_i, on top of the cubic Hermite polynomial in the middle of the step: its order by the stages of the step alone.
  /// 3: that polynomial.
  static constexpr int middle_order = 3;
  static constexpr double middle[1] = {0.0};
};

///  A method that does not keep its stages, but adds them up at once in two registers (method/low_storage.hpp):
///
///      point = sum = 0
///      for i = 0 .. stages - 2:  k = f(t + c_i h, y + point)
///                                sum   = sum + delta_i point
///                                point = gamma1_i point + gamma2_i sum + h beta_i k
///      y1 = y + point,  f1 = f(t + h, y1):  the last stage, so that the method is FSAL
///
///  It declares gamma1, gamma2, delta, beta [stages - 1] instead of `a`. This is the form 3S* of D. I. Ketcheson, J. Comput.
///  Phys. 229 (2010) 1763, with registers relative to y. The registers of the paper hold point + y and sum + y (delta_0 + ... +
///  delta_i); the coefficient gamma3_i of its third register, y, compensates for these shifts. Relative to y, a state whose derivative is
///  zero keeps its bits.
///
///  Its dense output is a quartic: the cubic through the ends, corrected by the slope evaluated on the cubic at t + c_stages h
///  (W. H. Enright, K. R. Jackson, S. P. Norsett, P. G. Thomsen, ACM Trans. Math. Softw. 12 (1986) 193).
struct low_storage_method : explicit_method {
  static constexpr bool is_low_storage = true;
  static constexpr bool fsal = true;
  static constexpr int extra_stages = 1;
  static constexpr int dense_rows = 1;
  static constexpr int dense_order = 4;
};

/// The slope at s of the quartic's own term, s^2 (1-s)^2.
SALTUS_FN constexpr double slope_of_quartic(double s) { return 2.0 * s * (1.0 - s) * (1.0 - 2.0 * s); }

}  // namespace saltus::methods
