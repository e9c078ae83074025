// What reductions are, in words and units.
#pragma once

#include <string>

#include "spec/plan.hpp"

namespace saltus::host {

/// What a reduction is, in words, and its unit; empty: not known.
std::string about_reduction(const reduction& r, const model& m);
std::string unit_of(const reduction& r, const model& m);

}  // namespace saltus::host
