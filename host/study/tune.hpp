// Measures which lane shape is fastest for a model and method on this machine. Runs pilots on CPU lanes, in child processes,
// and keeps what it finds (compile/chosen_shape.hpp).
#pragma once

#include <vector>

#include "base/cancellation.hpp"
#include "compile/lane_shape.hpp"
#include "ensemble/backend.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// A shape and what instances of the plan took in it.
struct timed_shape {
  lane_shape shape;
  double seconds;   ///< of one thread per instance, the median of some rounds
  double gain = 1;  ///< of the first: how many times as fast as the shape that would have been taken
};

/// Measures the shapes that come into question on instances spread over the plan, and remembers the one to take, which
/// comes first: that which would have been taken without, unless another is faster beyond doubt. The others follow, fastest
/// first. Nothing where the plan gives the lanes itself, where its instances take too long to measure, or where the model
/// crashes. Throws `error`.
std::vector<timed_shape> tune_lanes(const plan& p, const cancellation& stop);

/// The model on which the shape for such a plan is measured, with the plan's method and precision.
plan reference_plan(const plan& p);

/// The same on the reference model for plans like this one (compile/machine_shapes.hpp), for all that come on this machine.
std::vector<timed_shape> tune_machine(const plan& p, const cancellation& stop);

/// tune_lanes for a run on `where`, if that is CPU lanes, nothing is remembered, and the whole run would take so long that
/// it is worth while. Returns whether it was: there may be a faster backend for the plan now.
bool tune_long_run(const plan& p, backend& where, const cancellation& stop);

/// Is there anything about lanes that a run on `where` could find out beside itself?
bool lanes_are_unknown(const plan& p, backend& where);

}  // namespace saltus::host
