// Models that are integrated by their derivative array instead of their structural analysis.
#pragma once

#include "base/cancellation.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

/// Returns the model with the rank of its derivative array, found at the declared start, and with the values that
/// follow from it. The function that evaluates the array is compiled, or taken from the cache. Throws `error`
/// (exit_usage) with a sentence if the model has no equations of any order, or the array does not determine its
/// solutions.
model by_derivative_array(const model& m, const cancellation& stop = {});

/// The model that a spec for `known` asks for: `known` itself, or its derivative array if structure = "array".
model model_for(const spec_document& spec, const model& known, const cancellation& stop = {});

}  // namespace saltus::host
