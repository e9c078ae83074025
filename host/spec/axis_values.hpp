// The values along an axis of a sweep. It depends on the plan's axes, not on instances.
#pragma once

#include <cstdint>

#include "spec/plan.hpp"

namespace saltus::host {

/// Value `i` of a column of an axis. The ends of a range are exact; a range of one value is its `from`.
double value_at(const axis::column& column, std::int64_t i);

}  // namespace saltus::host
