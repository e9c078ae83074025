#include "bench/spread.hpp"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace saltus::host {

spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double median = n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
  return {median, values.front(), values.back()};
}

json json_of(const spread& values) {
  return json{{"median", values.median}, {"low", values.low}, {"high", values.high}};
}

}  // namespace saltus::host
