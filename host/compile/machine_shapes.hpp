// Which lane shape suits this machine, by method and kind of work: measured once, on models of our own, and kept beside the
// compiled models under the name of processor, compiler and version of saltus. A model that is new here begins with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/lane_shape.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// What shapes differ by: landing an event takes longer than a step, and has nothing beside it. Implicit steps take so
/// long that events do not count.
enum class work_kind { smooth, with_events, implicit };

/// "smooth", "with events", "implicit".
std::string name_of(work_kind kind);

work_kind kind_of(const plan& p);

/// Is what was measured on a small model a guide for this one? Not where a state's numbers do not stay in registers and the
/// nearest cache, and not for constant steps, which are too short to tell.
bool follows_machine(const plan& p);

struct machine_shape {
  std::string method, precision;
  work_kind kind = work_kind::smooth;
  lane_shape shape;
  double gain = 1;  ///< how many times as fast as the shape that goes without a measurement
};

/// All that was measured on this machine with this compiler. Lines that are damaged count as not there.
std::vector<machine_shape> machine_shapes();

/// What was measured for the plan's method and kind of work; nothing if it was not, or the plan does not follow it.
std::optional<machine_shape> machine_shape_of(const plan& p);

/// Keeps it, in the place of an earlier one for the same work. Throws `error` if it cannot be written.
void keep(const machine_shape& measured);

}  // namespace saltus::host
