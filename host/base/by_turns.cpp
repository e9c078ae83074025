#include "base/by_turns.hpp"

#include <algorithm>

namespace saltus::host {

namespace {

/// The ratio of the two times in each round, sorted.
std::vector<double> ratios(const times_by_turns& t, std::size_t way, std::size_t other) {
  std::vector<double> r;
  for (std::size_t k = 0; k < t[way].size(); ++k) r.push_back(t[way][k] / t[other][k]);
  std::sort(r.begin(), r.end());
  return r;
}

}  // namespace

times_by_turns time_by_turns(std::size_t ways, int rounds, const std::function<double(std::size_t)>& seconds_of,
                             const cancellation& stop) {
  times_by_turns all(ways);
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> took(ways);
    for (std::size_t k = 0; k < ways; ++k) {
      const std::size_t way = (k + static_cast<std::size_t>(round)) % ways;
      took[way] = seconds_of(way);
      if (stop) return all;
    }
    for (std::size_t way = 0; way < ways; ++way) all[way].push_back(took[way]);
  }
  return all;
}

double median_of(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double times_as_long(const times_by_turns& t, std::size_t way, std::size_t other) {
  return median_of(ratios(t, way, other));
}

std::size_t fastest_beyond_doubt(const times_by_turns& t) {
  constexpr double clearly = 0.95;
  std::size_t best = 0;
  for (std::size_t way = 1; way < t.size(); ++way) {
    const auto r = ratios(t, way, best);
    if (r.empty()) continue;
    const std::size_t of_four = (3 * r.size() + 3) / 4;  // three of four rounds, rounded up
    if (r[r.size() / 2] <= clearly && r[of_four - 1] < 1) best = way;
  }
  return best;
}

}  // namespace saltus::host
