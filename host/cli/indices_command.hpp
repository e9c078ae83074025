// Prints sensitivity indices, for `saltus run` and `saltus sensitivity`.
#pragma once

#include "base/json.hpp"
#include "ensemble/indices.hpp"

namespace saltus::host {

void print_indices(const sensitivity_indices& s);
json indices_json(const sensitivity_indices& s);

}  // namespace saltus::host
