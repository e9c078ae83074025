#include "spec/axis_values.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace saltus::host {

namespace {

double range_value(const ranged& range, std::int64_t i) {
  if (i == 0) return range.from;
  if (i == range.count - 1) return range.to;
  const double part = static_cast<double>(i);
  const double steps = static_cast<double>(range.count - 1);
  double value;
  if (range.logarithmic) {
    const double from = std::log(range.from), to = std::log(range.to);
    value = std::exp(from + (to - from) * part / steps);
  } else {
    value = range.from + (range.to - range.from) * part / steps;
  }
  const auto [low, high] = std::minmax(range.from, range.to);
  return std::clamp(value, low, high);  // rounding must not leave the range
}

}  // namespace

double value_at(const axis::column& column, std::int64_t i) {
  if (const auto* list = std::get_if<listed>(&column.values)) return list->values[i];
  return range_value(std::get<ranged>(column.values), i);
}

void spread_values(const axis& along, const axis::column& column, std::int64_t first, std::int64_t stride,
                   std::span<double> to) {
  std::size_t k = 0;
  std::int64_t index = first / stride % along.count, left = stride - first % stride;
  const auto spread = [&](const auto& value_of) {
    for (; k < to.size(); index = index + 1 < along.count ? index + 1 : 0, left = stride)
      for (const double value = value_of(index); left > 0 && k < to.size(); --left) to[k++] = value;
  };
  if (const auto* list = std::get_if<listed>(&column.values)) spread([&](std::int64_t i) { return list->values[i]; });
  else spread([&](std::int64_t i) { return range_value(std::get<ranged>(column.values), i); });
}

}  // namespace saltus::host
