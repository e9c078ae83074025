// What a run has computed, in floating-point operations: an addition, multiplication, division or square root is one, an
// fma is two; comparisons are none.
//
// Counted are the right-hand sides, the guards with their rates after each trial step, what a method makes of the stages
// (their weighted sums and the error estimate), and of implicit methods the factorisations and solutions. Not counted: norms,
// the step-size controller, the landing but for its right-hand sides, samples, reductions. So every number is a lower bound.
#pragma once

#include <optional>

#include "ensemble/tally.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

struct operations {
  double rhs = 0, guards = 0, sums = 0, linear = 0;
  double all() const { return rhs + guards + sums + linear; }
};

/// What an explicit method makes of its stages, by running a step of it over counting numbers.
struct step_operations {
  int evaluations;     ///< of the right-hand side
  int sums_per_state;  ///< stages, the new point and the error estimate
};
/// Nothing for implicit methods.
std::optional<step_operations> step_operations_of(const std::string& method);

/// Of an LU factorisation of n rows, and of a solution with it (linear/lu.hpp).
double lu_operations(double n);
double solve_operations(double n);
double complex_lu_operations(double n);
double complex_solve_operations(double n);

/// Of a run that counted `counts`. Nothing if the model's functions could not be counted, or if instances went over to
/// another method. Of implicit methods: a sweep of derivatives counts as one right-hand side.
std::optional<operations> operations_of(const plan& p, const tally& counts);

}  // namespace saltus::host
