// Descriptions and units of reductions.
#pragma once

#include <string>

#include "spec/plan.hpp"

namespace saltus::host {

/// The description of a reduction, and its unit; empty: unknown.
std::string about_reduction(const reduction& r, const model& m);
std::string unit_of(const reduction& r, const model& m);

}  // namespace saltus::host
