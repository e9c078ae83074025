// Counts the floating-point operations of a run: an addition, multiplication, division or square root is one, an fma is
// two; comparisons are none.
//
// The count includes right-hand sides, guards with their time derivatives after each trial step, weighted sums of
// stages and error estimates, and, for implicit methods, factorisations and solutions. It excludes norms, the step-size
// controller, landing except its right-hand sides, samples and reductions. Every number is therefore a lower bound.
#pragma once

#include <optional>

#include "ensemble/tally.hpp"
#include "spec/plan.hpp"
#include "spec/spec_choices.hpp"

namespace saltus::host {

struct operations {
  double rhs = 0, guards = 0, sums = 0, linear = 0;
  double all() const { return rhs + guards + sums + linear; }
};

/// Operations of an explicit method on its stages, found by running a step over counting numbers.
struct step_operations {
  int evaluations;     ///< of the right-hand side
  int sums_per_state;  ///< for stages, new point and error estimate
};
/// Nothing for implicit methods.
std::optional<step_operations> step_operations_of(const std::string& method);

/// Operations of an LU factorisation of n rows, and of a solution with it (linear/lu.hpp).
double lu_operations(double n);
double solve_operations(double n);
double complex_lu_operations(double n);
double complex_solve_operations(double n);

/// The operations of a run with these counts. Nothing if the model's functions could not be counted, or if instances
/// changed to another method. For implicit methods, a sweep of derivatives counts as one right-hand side.
std::optional<operations> operations_of(const plan& p, const tally& counts);

/// Peak floating-point operations per second of `threads` concurrent threads of this machine: independent multiply-adds
/// (two operations each) in a module that is compiled for this machine like a model. The measurement takes some 0.1 s
/// of each thread, and a compilation on first use. It counts processor time, so other programs do not affect it.
double cpu_peak_flops(precision_kind precision, int threads);

}  // namespace saltus::host
