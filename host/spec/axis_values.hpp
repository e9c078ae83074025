// The values along an axis of a sweep. It depends on the plan's axes, not on instances.
#pragma once

#include <cstdint>
#include <span>

#include "spec/plan.hpp"

namespace saltus::host {

/// Value `i` of a column of an axis. The ends of a range are exact; a range of one value is its `from`.
double value_at(const axis::column& column, std::int64_t i);

/// The values of a column for the instances `first`, `first` + 1, ...; `stride` of them follow each other with one value.
void spread_values(const axis& along, const axis::column& column, std::int64_t first, std::int64_t stride,
                   std::span<double> to);

}  // namespace saltus::host
