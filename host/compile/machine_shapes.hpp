// The best lane shape of this machine for each method and kind of work: measured once, on built-in models, and kept
// beside the compiled models under the name of processor, compiler and version of saltus. A model without a measurement
// of its own uses it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/lane_shape.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Kinds of work with different best shapes: landing an event takes longer than a step and leaves other lanes idle.
/// Implicit steps take so long that events do not matter.
enum class work_kind { smooth, with_events, implicit };

/// "smooth", "with events", "implicit".
std::string name_of(work_kind kind);

work_kind kind_of(const plan& p);

/// Does the measurement on small models apply to this plan? It does not if the numbers of a state exceed registers and
/// nearest cache, or if steps are constant, since these are too short to tell.
bool follows_machine(const plan& p);

struct machine_shape {
  std::string method, precision;
  work_kind kind = work_kind::smooth;
  lane_shape shape;
  double gain = 1;  ///< speed over that of the rule's shape
};

/// All measurements on this machine with this compiler. Damaged lines are ignored.
std::vector<machine_shape> machine_shapes();

/// The measurement for the plan's method and kind of work; nothing if there is none, or the plan does not follow it.
std::optional<machine_shape> machine_shape_of(const plan& p);

/// Stores a measurement in place of an earlier one for the same work. Throws `error` if it cannot be written.
void keep(const machine_shape& measured);

}  // namespace saltus::host
