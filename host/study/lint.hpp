// Finds probable mistakes in a model without running it.
#pragma once

#include <string>
#include <vector>

#include "spec/model.hpp"

namespace saltus::host {

/// Returns one sentence for each, with file and line if it is in the model's text: divided whole numbers (1/2 is 0),
/// units that read like sentences, names that are listed and never used.
std::vector<std::string> lint(const model& m);

}  // namespace saltus::host
