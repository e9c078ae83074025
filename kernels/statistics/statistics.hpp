// Statistics of an ensemble: count, mean, deviation, smallest and largest value of a column of results.
//
// The bits of a sum depend on the order of its terms. Here the order follows from the ids, so the bits of a mean depend on the instances
// alone. A block is `statistics_block` instances whose first id is a multiple of that number. Within it each of 32 lanes takes every 32nd
// instance, and the lanes are then joined in a tree. A warp does so on a device, a loop on a CPU, by the one function below. The host
// merges blocks (host/ensemble/run_statistics.hpp).
#pragma once

#include "abi/status.hpp"
#include "number/base.hpp"

namespace saltus {

inline constexpr int statistics_block = 256;
inline constexpr int statistics_lanes = 32;

/// A column of a chunk: real numbers or integers; the other pointer is null.
struct number_column {
  const double* reals;
  const int64* integers;
  int64 stride = 1;  ///< distance from one instance to the next

  SALTUS_FN double at(int64 slot) const {
    return reals ? reals[slot * stride] : static_cast<double>(integers[slot * stride]);
  }
};

/// Summary of the values of some instances; one for each column.
struct summary {
  int64 count = 0;       ///< finite values of instances that ended well; all members below are about these
  double mean = 0.0;     ///< 0 if there are none
  double squares = 0.0;  ///< sum of the squares of their deviations from the mean
  double min = 0.0, max = 0.0;
  int64 min_id = -1, max_id = -1;  ///< ids of the first instances with these values; -1 if there are none
};

/// Merges the summaries of two sets of instances; those of `a` have smaller ids (T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for
/// computing the sample variance", The American Statistician 37 (1983) 242).
SALTUS_FN summary merge(const summary& a, const summary& b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  summary r = a;
  const double part = static_cast<double>(b.count) / static_cast<double>(a.count + b.count);
  const double delta = b.mean - a.mean;
  r.count += b.count;
  r.mean += delta * part;
  r.squares += b.squares + delta * delta * (static_cast<double>(a.count) * part);
  if (b.min < a.min) r.min = b.min, r.min_id = b.min_id;
  if (b.max > a.max) r.max = b.max, r.max_id = b.max_id;
  return r;
}

/// All lanes of a warp, one after another: for a CPU.
class whole_warp {
 public:
  static constexpr int held = statistics_lanes;  ///< lanes held by this object
  static constexpr int rows = statistics_block / statistics_lanes;

  /// body(k) for each lane held here.
  template <class F>
  SALTUS_FN void each_lane(F&& body) const {
    for (int k = 0; k < held; ++k) body(k);
  }
  /// body(row, k, at) for each value of a block, at position `at`, that is held here: row `row` of lane k.
  template <class F>
  SALTUS_FN void each_value(F&& body) const {
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < held; ++k) body(row, k, row * statistics_lanes + k);
  }
  /// Joins the lanes in a tree: `join(mine, other)` joins the value that is 16, 8, 4, 2 and 1 lanes away. Returns the final value of lane
  /// 0, to all lanes.
  template <class Number, class F>
  SALTUS_FN Number meet(Number (&x)[held], F&& join) const {
    for (int distance = held / 2; distance > 0; distance /= 2)
      for (int k = 0; k < distance; ++k) join(x[k], x[k + distance]);
    return x[0];
  }
  SALTUS_FN void count_in(int64& to) const { to += 1; }
  /// True for the lane that stores the warp's result.
  SALTUS_FN bool stores() const { return true; }
};

namespace detail {

/// The numbers of one column in one block.
template <class Warp>
struct block_values {
  double value[Warp::rows][Warp::held];  ///< 0 where not kept
  double kept[Warp::rows][Warp::held];   ///< 1 or 0
};

/// Takes the `count` numbers of a column from `first` on, of instances that ended well; numbers that are not finite are not kept.
template <class Warp>
SALTUS_FN void take_values(const Warp& warp, const number_column& column, const unsigned char* status, int64 first,
                           int count, block_values<Warp>& v) {
  warp.each_value([&](int row, int k, int at) SALTUS_INLINE_LAMBDA {
    const bool there = at < count;
    const int64 slot = first + (there ? at : 0);
    const double x = column.at(slot);
    const bool kept = there && is_ok(static_cast<saltus::status>(status[slot])) && x - x == 0.0;
    v.value[row][k] = kept ? x : 0.0;
    v.kept[row][k] = kept ? 1.0 : 0.0;
  });
}

/// Sums number(row, k) over a block.
template <class Warp, class F>
SALTUS_FN double sum_of(const Warp& warp, F&& number) {
  double sum[Warp::held];
  warp.each_lane([&](int k) SALTUS_INLINE_LAMBDA { sum[k] = 0.0; });
  warp.each_value([&](int row, int k, int) SALTUS_INLINE_LAMBDA { sum[k] += number(row, k); });
  return warp.meet(sum, [](double& mine, double other) SALTUS_INLINE_LAMBDA { mine += other; });
}

/// A number and its position in its block.
struct placed {
  double value;
  int at;
};

/// The smallest of the kept numbers of a block, or with sign = -1 the largest, negated; the first one if several are equal.
template <class Warp>
SALTUS_FN placed least_of(const Warp& warp, const block_values<Warp>& v, double sign) {
  constexpr double beyond = 1.7976931348623157e308;  // not less than any finite number
  const auto number = [&](int row, int k)
                          SALTUS_INLINE_LAMBDA { return v.kept[row][k] != 0.0 ? sign * v.value[row][k] : beyond; };
  const auto lesser = [](auto& mine, auto other) SALTUS_INLINE_LAMBDA { mine = other < mine ? other : mine; };
  double least[Warp::held];
  warp.each_lane([&](int k) SALTUS_INLINE_LAMBDA { least[k] = beyond; });
  warp.each_value([&](int row, int k, int) SALTUS_INLINE_LAMBDA { lesser(least[k], number(row, k)); });
  const double value = warp.meet(least, lesser);

  int at[Warp::held];
  warp.each_lane([&](int k) SALTUS_INLINE_LAMBDA { at[k] = statistics_block; });
  warp.each_value([&](int row, int k, int position) SALTUS_INLINE_LAMBDA {
    lesser(at[k], v.kept[row][k] != 0.0 && sign * v.value[row][k] == value ? position : statistics_block);
  });
  return {value, warp.meet(at, lesser)};
}

}  // namespace detail

/// The summary of one column of a block: its `count` instances begin at `first`, with ids from `first_id` on. The mean is computed first,
/// then the deviations from it: no digits cancel.
template <class Warp>
SALTUS_FN summary summary_of_block(const Warp& warp, const number_column& column, const unsigned char* status,
                                   int64 first, int count, int64 first_id) {
  detail::block_values<Warp> v;
  detail::take_values(warp, column, status, first, count, v);
  const double number = detail::sum_of(warp, [&](int row, int k) SALTUS_INLINE_LAMBDA { return v.kept[row][k]; });
  const double sum = detail::sum_of(warp, [&](int row, int k) SALTUS_INLINE_LAMBDA { return v.value[row][k]; });
  summary r;
  if (number == 0.0) return r;
  r.count = static_cast<int64>(number);
  r.mean = sum / number;
  // Removes the rounding error of the mean (the corrected two-pass algorithm of the same paper).
  const auto deviation = [&](int row, int k)
                             SALTUS_INLINE_LAMBDA { return v.kept[row][k] * (v.value[row][k] - r.mean); };
  const double rest = detail::sum_of(warp, deviation);
  const double squares =
      detail::sum_of(warp, [&](int row, int k) SALTUS_INLINE_LAMBDA { return deviation(row, k) * deviation(row, k); });
  const double corrected = squares - rest * rest / number;
  r.squares = corrected > 0.0 ? corrected : 0.0;

  const detail::placed least = detail::least_of(warp, v, 1.0), greatest = detail::least_of(warp, v, -1.0);
  r.min = 0.0 + least.value;  // zeros of either sign are equal, and the result must not depend on which one comes first
  r.max = 0.0 - greatest.value;
  r.min_id = first_id + least.at;
  r.max_id = first_id + greatest.at;
  return r;
}

/// Bins of equal width over [from, to]: a bin includes its lower edge and excludes its upper one; the last bin includes both.
struct histogram_bins {
  double from, to;
  int bins;

  /// Number of counters: one for each bin, then one for values below and one for values above.
  SALTUS_FN int counters() const { return bins + 2; }
  SALTUS_FN double edge(int k) const { return k < bins ? from + (to - from) * (static_cast<double>(k) / bins) : to; }

  /// The counter of a finite value.
  SALTUS_FN int counter_of(double x) const {
    if (x < from) return bins;
    if (x > to) return bins + 1;
    const double scaled = (x - from) / (to - from) * bins;
    int k = scaled < bins ? static_cast<int>(scaled) : bins - 1;
    // Uses the edges as a file states them, because `scaled` is rounded.
    while (k > 0 && x < edge(k)) --k;
    while (k + 1 < bins && x >= edge(k + 1)) ++k;
    return k;
  }
};

/// Counts the values of a column of a block in `counters`. Counts may come in any order.
template <class Warp>
SALTUS_FN void count_block(const Warp& warp, const number_column& column, const unsigned char* status, int64 first,
                           int count, const histogram_bins& bins, int64* counters) {
  detail::block_values<Warp> v;
  detail::take_values(warp, column, status, first, count, v);
  warp.each_value([&](int row, int k, int) SALTUS_INLINE_LAMBDA {
    if (v.kept[row][k] != 0.0) warp.count_in(counters[bins.counter_of(v.value[row][k])]);
  });
}

}  // namespace saltus
