// Sensitivity indices of an ensemble whose samples have the design saltelli, morris or fast, computed from sums over
// its instances; nothing is kept per instance. Their bits do not depend on chunks or threads.
//
// y(A), y(B), y(A_j) and y(B_j) are the results of a pair of samples, of A with input j from B, and of B with input j
// from A; c is the mean of all results, V the variance of all y(A) and y(B); <> is the mean over pairs:
//
//     first order   S_j  = <(y(B) - c) (y(A_j) - y(A))> / V         A. Saltelli et al., Comput. Phys. Commun. 181 (2010) 259,
//     total order   T_j  = <(y(A) - y(A_j))^2> / (2 V)              table 2, rows b and f (f: M. J. W. Jansen, ibid. 117
//                                                                   (1999) 35)
//     second order  S_jk = (<(y(B_j) - c) (y(A_k) - c)> - <(y(A) - c) (y(B) - c)>) / V - S_j - S_k     Saltelli, ibid. 145
//                                                                   (2002) 280
//     Morris        e_j = elementary effect in the unit cube; mu = <e>, mu* = <|e|>, sigma its standard deviation
//     FAST          share of the first harmonics of the frequency of input j in the variance along its curve
//
// SALib 1.6 has the same estimators. An instance that failed, or whose result is not finite, is left out with every
// term that contains it, and nothing else is: indices of other inputs keep that pair of samples.
//
// Intervals are of 95 %: 1.96 standard deviations of the index over `resamples` bootstrap samples of the units (pairs
// with all their instances, or trajectories). If there are more than `max_groups` units, groups of consecutive units
// are resampled (with thousands of sums there are fewer groups, to save memory). Consecutive Sobol' points are not
// independent: intervals from groups were up to twice as wide as those from single pairs. If a share p of the terms of
// an index was left out, the interval is (1 - p) times the bootstrap interval plus p times the possible range of the
// index: 0 to 1 (first and total order), -1 to 1 (second order), up to the largest effect seen (Morris). FAST has no
// intervals: its instances form one curve.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ensemble/blocks.hpp"
#include "ensemble/chunk_indices.hpp"
#include "spec/design.hpp"
#include "spec/plan.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {

inline constexpr int resamples = 400;
inline constexpr std::int64_t max_groups = 512;

/// The design, inputs and outcomes of indices.
struct indices_setup {
  host::design design;
  std::uint64_t seed = 0;
  std::vector<std::string> inputs;
  std::vector<statistic_column> outcomes;
  std::int64_t instances() const;
};
indices_setup indices_setup_of(const plan& p);

/// An index with its interval; NaN if the outcome does not vary or no term is left.
struct index_estimate {
  double value, low, high;
  double left_out;  ///< share of its terms
};

struct sensitivity_indices {
  struct outcome {
    statistic_column what;
    std::vector<std::vector<index_estimate>> indices;  ///< [index][input], for second order [pair]
  };
  std::string design;  ///< empty: no indices were asked for
  std::vector<std::string> inputs;
  std::vector<std::string> names;          ///< names of the indices: first_order, ...
  std::vector<std::pair<int, int>> pairs;  ///< pairs of inputs, for second_order
  std::vector<outcome> outcomes;
  std::int64_t failed = 0;                 ///< instances that failed or did not finish
  std::vector<std::int64_t> first_failed;  ///< their first ids
};
/// The largest half-width of all intervals; 0 if there are none.
double widest_half_width(const sensitivity_indices& all);
/// The names of a design's indices.
std::vector<std::string> index_names(const design& d);
/// The pairs of inputs, (0, 1), (0, 2), ...; none if the design has no second-order indices.
std::vector<std::pair<int, int>> input_pairs(const design& d, int inputs);
inline constexpr std::string_view second_order_name = "second_order";

/// Adds up the terms of indices, chunk by chunk, in any order.
class indices_sum {
 public:
  /// With no outcomes, nothing is added.
  explicit indices_sum(indices_setup setup);

  /// The sums of a chunk's blocks. Several threads may call it at once.
  chunk_indices make(std::int64_t first_id, std::int64_t count, const std::vector<number_column>& outcomes,
                     const unsigned char* status) const;
  /// Adds a chunk whose sums `make` has computed.
  void add(std::int64_t first_id, std::int64_t count, const std::vector<number_column>& outcomes,
           const unsigned char* status, chunk_indices&& made);
  /// Raises the number of pairs in the design to `count`; the pairs so far must be whole blocks.
  void grow(std::int64_t count);
  /// The indices over all instances added.
  sensitivity_indices finish() const;

 private:
  std::vector<co_moment> sums_of(const std::vector<number_column>& outcomes, const unsigned char* status,
                                 std::int64_t first, std::int64_t rows, std::int64_t first_id) const;
  std::vector<std::vector<co_moment>> groups() const;

  indices_setup setup_;
  design_points points_;
  std::size_t items_ = 0;                    ///< sums for one outcome
  std::int64_t block_units_ = 1;             ///< units per block
  std::int64_t block_ = 1;                   ///< instances per block
  block_tree<std::vector<co_moment>> tree_;  ///< for each block, [outcome][item]
  spread_blocks spread_;
  std::int64_t failed_ = 0;
  std::vector<std::int64_t> first_failed_;
};

}  // namespace saltus::host
