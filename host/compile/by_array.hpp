// A model by its derivative array, in place of its structural analysis.
#pragma once

#include "base/cancellation.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

/// The model with the values and the rank of its derivative array, which is found at its declared start; what evaluates it is
/// compiled, or in the cache. Throws `error` (exit_usage) with a sentence if it has no equations of any order, or the array does not
/// determine its solutions.
model by_derivative_array(const model& m, const cancellation& stop = {});

/// The model that a spec for `known` means: this, or, with structure = "array", by its derivative array.
model model_for(const spec_document& spec, const model& known, const cancellation& stop = {});

}  // namespace saltus::host
