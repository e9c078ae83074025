// The values along an axis of a sweep. Knows the plan's axes, and nothing of instances.
#pragma once

#include <cstdint>

#include "spec/plan.hpp"

namespace saltus::host {

/// Value `i` of a column of an axis; the ends of a range are exact, and a range of one value is its `from`.
double value_at(const axis::column& column, std::int64_t i);

}  // namespace saltus::host
