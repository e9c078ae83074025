// Throughput against the number of instances, for one backend or several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "bench/options.hpp"
#include "bench/spread.hpp"

namespace saltus::host {

struct growth_point {
  std::int64_t instances;
  spread rate;  ///< instances per second, end to end
};
struct growth_curve {
  std::string backend, device;
  std::vector<growth_point> points;
};

/// Measures 10, 32, 100 ... 10^7 instances, as far as each backend's share of the time limit allows.
std::vector<growth_curve> measure_growth(const bench_options& options, const std::vector<std::string>& backends,
                                         const cancellation& stop);

/// The number of instances from which the second curve stays above the first, by linear interpolation of logarithms.
std::optional<double> overtakes(const growth_curve& first, const growth_curve& second);

}  // namespace saltus::host
