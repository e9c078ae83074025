#include "ensemble/part.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

namespace {

/// Ranges per part: enough to balance the work of the parts, few enough to keep chunks large.
constexpr std::int64_t ranges_per_part = 32;
constexpr std::int64_t max_parts = 1'000'000;

/// Instances in a range; whole blocks of statistics if possible.
std::int64_t range_size(std::int64_t parts, std::int64_t count, std::int64_t whole) {
  const std::int64_t ranges = parts * ranges_per_part, size = (count + ranges - 1) / ranges;
  if (whole > 1) return (size + whole - 1) / whole * whole;
  const std::int64_t blocks = (size + statistics_block - 1) / statistics_block;
  return size < statistics_block ? std::max<std::int64_t>(size, 1) : blocks * statistics_block;
}

}  // namespace

ensemble_part part_called(const std::string& text) {
  ensemble_part part{0, 0};
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto [slash, bad_number] = std::from_chars(begin, end, part.number);
  const bool has_slash = bad_number == std::errc() && slash != end && *slash == '/';
  const auto [rest, bad_count] =
      has_slash ? std::from_chars(slash + 1, end, part.of) : std::from_chars_result{begin, {}};
  if (!has_slash || bad_count != std::errc() || rest != end || part.number < 1 || part.number > part.of ||
      part.of > max_parts)
    throw error(exit_usage, fmt::format("--part {}: must be K/N, the part K of N, from 1/N to N/N; N is at most {}",
                                        text, max_parts));
  return part;
}

std::string text_of(const ensemble_part& part) { return fmt::format("{}/{}", part.number, part.of); }

std::vector<id_range> ranges_of(const ensemble_part& part, std::int64_t count, std::int64_t whole) {
  if (part.is_all()) return {{0, count}};
  std::vector<id_range> all;
  const std::int64_t size = range_size(part.of, count, whole);
  for (std::int64_t first = (part.number - 1) * size; first < count; first += part.of * size)
    all.push_back({first, std::min(size, count - first)});
  return all;
}

std::int64_t instances_in(const std::vector<id_range>& ranges) {
  std::int64_t sum = 0;
  for (const id_range& range : ranges) sum += range.count;
  return sum;
}

std::vector<id_range> complement(const std::vector<id_range>& ranges, std::int64_t count) {
  std::vector<id_range> left;
  std::int64_t next = 0;
  const auto up_to = [&](std::int64_t end) {
    if (end > next) left.push_back({next, end - next});
  };
  for (const id_range& range : ranges) {
    up_to(range.first);
    next = std::max(next, range.end());
  }
  up_to(count);
  return left;
}

std::vector<id_range> intersection(const std::vector<id_range>& a, const std::vector<id_range>& b) {
  std::vector<id_range> both;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const std::int64_t first = std::max(i->first, j->first), end = std::min(i->end(), j->end());
    if (first < end) both.push_back({first, end - first});
    if (i->end() < j->end()) ++i;
    else ++j;
  }
  return both;
}

}  // namespace saltus::host
