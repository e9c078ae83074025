// Implicit methods: the meaning of their coefficients. Each stands in a file of its own in method/tableaus/. Like an explicit method,
// each is one struct, which steppers read as template constants, and one name in method/list.hpp.
//
// Diagonally implicit Runge-Kutta (`dirk`), gamma = a_ii the same in every implicit stage:
//     M k_i = f(t + c_i h, y + h sum_{j <= i} a_ij k_j),  y1 = the last stage's point,  err = h sum_i e_i k_i, filtered
// Rosenbrock (`rosenbrock`), in the form without multiplications by J (Hairer, Wanner II, IV.7):
//     (M / (h gamma) - J) u_i = f(t + c_i h, y + sum_j a_ij u_j) + M sum_j (c_ij / h) u_j + h d_i df/dt
//     y1 = the last stage's point + u_last,  err = u_last
// Fully implicit (`collocation`): Radau IIA.
// For mechanical models alone, in accelerations (`coordinate_partitioning`): the same formulas as `dirk`,
// method/coordinate_partitioning.hpp.
//
// Between the ends of a step the dense output is that of explicit_method.hpp, with end slopes from the method itself:
// for `dirk`, k at the end and sum_i slope0_i k_i at the beginning.
#pragma once

#include "number/base.hpp"

namespace saltus::methods {

enum class family { dirk, rosenbrock, collocation, coordinate_partitioning };

/// Defaults shared by most implicit methods. The `error_order` of all of them is `embedded_order`.
struct implicit_method {
  static constexpr bool is_explicit = false;
  static constexpr bool is_rosenbrock = false;
  static constexpr bool for_mechanics = false;
  static constexpr int highest_index = 1;  ///< of the algebraic states that it can integrate
  static constexpr bool two_errors = false;
  static constexpr int embedded3_order = 0;
  static constexpr bool blind_estimate = false;
  static constexpr int quadratures = 0, squares = 0;
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
/// A diagonally implicit method whose stages are solved for accelerations, on the constraints of a mechanical model.
template <class Formula>
struct in_descriptor_form : Formula {
  static constexpr family kind = family::coordinate_partitioning;
  static constexpr bool for_mechanics = true;
};

}  // namespace saltus::methods
