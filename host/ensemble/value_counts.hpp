// How often numbers occur, in buckets by their leading bits: an ensemble's quantiles, in bounded memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace saltus::host {

/// Numbers counted by their sign, exponent and leading digits. Buckets begin as narrow as numbers themselves, and become twice as
/// wide whenever more than `max_buckets` of them would have members. Wide buckets are unions of narrow ones and counts are whole
/// numbers, so what comes of a set of numbers depends neither on their order nor on who has counted which. With up to `max_buckets`
/// different values quantiles are exact; else each lies in the bucket that says so: relative to its value it is off by less than
/// `error()`, and within its bucket it is placed in proportion.
class value_counts {
 public:
  static constexpr std::size_t max_buckets = 1024;

  value_counts() = default;
  /// Of finite numbers, in any order.
  explicit value_counts(const std::vector<double>& values);

  void add(const value_counts& more);
  /// The part p of all is below it: between order statistics in proportion, as NumPy's `quantile` has it. NaN without any.
  double quantile(double p) const;
  /// The width of a bucket over the numbers in it, at most; 0 while all values are known as they are.
  double error() const;
  std::int64_t count() const;

  using bucket = std::pair<std::int64_t, std::int64_t>;  ///< key, and how many have it
  int shift = 0;                                         ///< digits that keys lack
  std::vector<bucket> buckets;                           ///< by their keys, ascending

 private:
  void widen(int to);
  void bound();
  double order_statistic(std::int64_t rank) const;
};

}  // namespace saltus::host
