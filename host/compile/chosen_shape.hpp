// Chooses the lane shape for which a plan is compiled: given by the plan, measured for its model on this machine,
// measured for similar work (machine_shapes.hpp), or chosen by a rule. Measurements are kept in the cache; nothing is
// measured here.
#pragma once

#include <optional>

#include "compile/lane_shape.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The first of: the plan's shape, the remembered shape of the model, the shape measured for the machine, the rule.
lane_shape lane_shape_of(const plan& p);

/// The shape for a model that was not measured.
lane_shape usual_shape(const plan& p);

/// The shape measured for this model, method and machine; nothing if there is none.
std::optional<lane_shape> remembered_shape(const plan& p);
/// Stores the shape for remembered_shape.
void remember(const plan& p, const lane_shape& shape);

}  // namespace saltus::host
