// A number that was measured several times.
#pragma once

#include <vector>

#include "base/json.hpp"

namespace saltus::host {

/// The median of some numbers, with the lowest and the highest.
struct spread {
  double median = 0, low = 0, high = 0;
};

spread spread_of(std::vector<double> values);
json json_of(const spread& values);

}  // namespace saltus::host
