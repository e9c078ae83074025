// The description of a model as JSON: a journal stores it, so that its results can be read without running code of the
// model.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// The properties of a model that determine the variables of its results; the data for modules are not included.
json json_of(const model& m);
/// The model that the JSON describes; it cannot be compiled. Throws `error` (exit_failure) if it describes none.
model model_from(const json& all);

}  // namespace saltus::host
