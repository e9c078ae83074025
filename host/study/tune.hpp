// Measures the fastest lane shape for a model and method on this machine. Runs pilots on CPU lanes, in child processes,
// and stores the findings (compile/chosen_shape.hpp).
#pragma once

#include <vector>

#include "base/cancellation.hpp"
#include "compile/lane_shape.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// A shape and the time of instances of the plan with it.
struct timed_shape {
  lane_shape shape;
  double seconds;   ///< of one thread per instance, the median of some rounds
  double gain = 1;  ///< for the first: speed over that of the shape used without measurement
};

/// Measures the candidate shapes on instances spread over the plan, and remembers the best. The result begins with the
/// best: the shape used without measurement, unless another one is clearly faster. The others follow, fastest first.
/// Empty if the plan gives the lanes itself, if its instances take too long to measure, or if the model crashes. Throws
/// `error`.
std::vector<timed_shape> tune_lanes(const plan& p, const cancellation& stop);

/// The reference plan on which the shape for such a plan is measured, with the plan's method and precision.
plan reference_plan(const plan& p);

/// Measures the reference model of such plans (compile/machine_shapes.hpp), for all further plans on this machine.
std::vector<timed_shape> tune_machine(const plan& p, const cancellation& stop);

}  // namespace saltus::host
