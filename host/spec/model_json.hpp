// The description of a model as JSON: what a journal keeps of it, so that what is in the journal can be read without running any code.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json.hpp"
#include "spec/model.hpp"

namespace saltus::host {

/// All of a model that the variables of its results follow from: not what modules are made of.
json json_of(const model& m);
/// The model that such a text describes, of which nothing can be compiled. Throws `error` (exit_failure) if it describes none.
model model_from(const json& all);

}  // namespace saltus::host
