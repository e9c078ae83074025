// What looks like a mistake in a model, without running it.
#pragma once

#include <string>
#include <vector>

#include "spec/model.hpp"

namespace saltus::host {

/// One sentence each, with file and line where it is in the model's text: whole numbers that are divided (1/2 is 0), units that read
/// like sentences, names that are listed and never used.
std::vector<std::string> lint(const model& m);

}  // namespace saltus::host
