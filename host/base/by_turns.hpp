// Several ways to do the same work, timed by turns: what disturbs the machine for a while disturbs all of them alike.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/cancellation.hpp"

namespace saltus::host {

/// Seconds that each way took in each round: [way][round].
using times_by_turns = std::vector<std::vector<double>>;

/// Has `seconds_of(way)` do the work in each of `ways` ways, `rounds` times over. Every round begins with another way. A
/// round that `stop` has cut short is left out.
times_by_turns time_by_turns(std::size_t ways, int rounds, const std::function<double(std::size_t)>& seconds_of,
                             const cancellation& stop);

/// Of a way's times; of an even number of them the higher of the two in the middle.
double median_of(std::vector<double> times);

/// How many times as long as `other` a way takes: the median over the rounds.
double times_as_long(const times_by_turns& t, std::size_t way, std::size_t other);

/// The first way, unless another one is faster beyond doubt: by a twentieth or more in the median of the rounds, and at all
/// in three of four rounds. Where several are, each must be so against the best of those before it.
std::size_t fastest_beyond_doubt(const times_by_turns& t);

}  // namespace saltus::host
