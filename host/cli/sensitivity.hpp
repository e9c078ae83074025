// How indices of sensitivity are told: by `saltus run` and by `saltus sensitivity`.
#pragma once

#include "base/json.hpp"
#include "ensemble/sensitivity.hpp"

namespace saltus::host {

void print_sensitivity(const sensitivities& s);
json sensitivity_json(const sensitivities& s);

}  // namespace saltus::host
