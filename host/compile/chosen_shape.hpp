// Which lane shape a plan is compiled for: what the plan gives, or what was measured of its model on this machine, or of the
// like of it (machine_shapes.hpp), or a rule. Keeps what was measured in the cache; measures nothing.
#pragma once

#include <optional>

#include "compile/lane_shape.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// What the plan gives, or what was remembered of the model, or what was measured of the machine, or a rule by the number
/// of states.
lane_shape lane_shape_of(const plan& p);

/// What is taken for a model about which nothing is remembered.
lane_shape usual_shape(const plan& p);

/// What was measured for this model, method and machine; nothing if none was.
std::optional<lane_shape> remembered_shape(const plan& p);
/// Keeps it.
void remember(const plan& p, const lane_shape& shape);

}  // namespace saltus::host
