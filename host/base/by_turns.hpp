// Times several ways of doing the same work in turns, so that a disturbance of the machine affects all of them alike.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/cancellation.hpp"

namespace saltus::host {

/// Seconds that each way took in each round: [way][round].
using times_by_turns = std::vector<std::vector<double>>;

/// Calls `seconds_of(way)` for each of `ways` ways, `rounds` times over. Every round begins with another way. A round
/// that `stop` cuts short is left out.
times_by_turns time_by_turns(std::size_t ways, int rounds, const std::function<double(std::size_t)>& seconds_of,
                             const cancellation& stop);

/// The median of a way's times; for an even number of times, the higher of the middle two.
double median_of(std::vector<double> times);

/// The median over the rounds of the ratio: time of `way` over time of `other`.
double times_as_long(const times_by_turns& t, std::size_t way, std::size_t other);

/// The first way, unless another one is clearly faster: by 5 % or more in the median of the rounds, and faster at all
/// in three of four rounds. If several ways are, each must beat the best of those before it by the same rule.
std::size_t fastest_beyond_doubt(const times_by_turns& t);

}  // namespace saltus::host
