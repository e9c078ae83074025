// Prints the structural analysis of a model, for `saltus describe`.
#pragma once

#include "base/json.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// Index and degrees of freedom; also Sigma with offsets if the index is above 0 or the equations are of any order.
void print_structure(const model& m);
/// The same in full; null if the equations could not be recorded.
json structure_json(const model& m);

}  // namespace saltus::host
