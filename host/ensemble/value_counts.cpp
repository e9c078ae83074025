#include "ensemble/value_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace saltus::host {

namespace {

/// Maps numbers to integers in the same order; the order of negative ones is reversed.
std::int64_t key_of(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x + 0.0);  // makes both zeros equal
  return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}
double number_of(std::int64_t key) {
  return std::bit_cast<double>(key < 0 ? key ^ std::numeric_limits<std::int64_t>::max() : key);
}

/// Joins neighbours with equal keys.
void join_equal(std::vector<value_counts::bucket>& buckets) {
  std::size_t kept = 0;
  for (const auto& b : buckets)
    if (kept > 0 && buckets[kept - 1].first == b.first) buckets[kept - 1].second += b.second;
    else buckets[kept++] = b;
  buckets.resize(kept);
}

}  // namespace

value_counts::value_counts(const std::vector<double>& values) {
  buckets.reserve(values.size());
  for (const double x : values) buckets.emplace_back(key_of(x), 1);
  std::sort(buckets.begin(), buckets.end());
  join_equal(buckets);
  bound();
}

void value_counts::widen(int to) {
  for (auto& [key, count] : buckets) key >>= to - shift;
  shift = to;
  join_equal(buckets);
}

void value_counts::bound() {
  while (buckets.size() > max_buckets) widen(shift + 1);
}

void value_counts::add(const value_counts& more) {
  value_counts other = more;
  const int wider = std::max(shift, other.shift);
  widen(wider), other.widen(wider);
  std::vector<bucket> both(buckets.size() + other.buckets.size());
  std::merge(buckets.begin(), buckets.end(), other.buckets.begin(), other.buckets.end(), both.begin(),
             [](const bucket& a, const bucket& b) { return a.first < b.first; });
  buckets = std::move(both);
  join_equal(buckets);
  bound();
}

std::int64_t value_counts::count() const {
  return std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0},
                         [](std::int64_t sum, const bucket& b) { return sum + b.second; });
}

double value_counts::order_statistic(std::int64_t rank) const {
  for (const auto& [key, count] : buckets) {
    if (rank >= count) {
      rank -= count;
      continue;
    }
    const double from = number_of(key << shift);
    if (shift == 0) return from;
    const double to = number_of(((key + 1) << shift) - 1);
    return from + (to - from) * ((static_cast<double>(rank) + 0.5) / static_cast<double>(count));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double value_counts::quantile(double p) const {
  const std::int64_t n = count();
  if (n == 0) return std::numeric_limits<double>::quiet_NaN();
  const double rank = p * static_cast<double>(n - 1);
  const auto below = std::min(static_cast<std::int64_t>(rank), n - 1);
  const double part = rank - static_cast<double>(below), low = order_statistic(below);
  return part > 0 ? low + part * (order_statistic(below + 1) - low) : low;
}

double value_counts::error() const { return shift == 0 ? 0.0 : std::ldexp(1.0, shift - 52); }

}  // namespace saltus::host
