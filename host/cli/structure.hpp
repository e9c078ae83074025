// The structural analysis of a model as `saltus describe` shows it.
#pragma once

#include "base/json.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// Index and degrees of freedom; where the index is above 0, or derivatives are of any order, Sigma with offsets as well.
void print_structure(const model& m);
/// The same in full; null where the equations could not be recorded.
json structure_json(const model& m);

}  // namespace saltus::host
