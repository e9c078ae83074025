// Counts numbers in buckets by their leading bits: quantiles of an ensemble in bounded memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace saltus::host {

/// Numbers counted by their sign, exponent and leading digits. A bucket holds one number at first; all buckets become
/// twice as wide whenever more than `max_buckets` of them are occupied. Wide buckets are unions of narrow ones and
/// counts are integers, so the result depends neither on the order of the numbers nor on how they were divided for
/// counting. With up to `max_buckets` different values, quantiles are exact. Otherwise each lies in the right bucket,
/// placed in proportion within it: its relative error is less than `error()`.
class value_counts {
 public:
  static constexpr std::size_t max_buckets = 1024;

  value_counts() = default;
  /// Counts finite numbers, in any order.
  explicit value_counts(const std::vector<double>& values);

  void add(const value_counts& more);
  /// The number below which the fraction p lies, interpolated linearly between order statistics like NumPy's
  /// `quantile`. NaN if there are no numbers.
  double quantile(double p) const;
  /// The largest width of a bucket relative to its numbers; 0 while all values are exact.
  double error() const;
  std::int64_t count() const;

  using bucket = std::pair<std::int64_t, std::int64_t>;  ///< key and count
  int shift = 0;                                         ///< number of low bits dropped from keys
  std::vector<bucket> buckets;                           ///< in ascending order of keys

 private:
  void widen(int to);
  void bound();
  double order_statistic(std::int64_t rank) const;
};

}  // namespace saltus::host
