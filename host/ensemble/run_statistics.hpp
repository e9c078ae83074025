// Statistics over the instances of a run that ended well, column by column. Their bits do not depend on chunks,
// threads, lanes or devices (kernels/statistics/statistics.hpp), and nothing is kept per instance.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/module.hpp"
#include "ensemble/blocks.hpp"
#include "ensemble/chunk_data.hpp"
#include "spec/plan.hpp"
#include "spec/statistic_columns.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

/// The columns of a chunk's results, in the order of statistic_columns, followed by those of band_columns; they point
/// into the memory of `out`.
std::vector<number_column> number_columns(const plan& p, std::int64_t count, const abi::results& out);
/// The statistics of a column in a file and in `--json`, by name; NaN if undefined.
inline constexpr std::array statistic_names = {"count", "mean",         "standard_deviation", "min",
                                               "max",   "min_instance", "max_instance"};
/// The standard deviation is that of a sample: for n values the divisor is n - 1.
std::array<double, statistic_names.size()> statistic_numbers(const summary& s);

/// The blocks of a chunk over which statistics are summed.
chunk_blocks blocks_of(const plan& p, std::int64_t first_id, std::int64_t instances);

/// Makes the statistics of a chunk whose instances have all ended, except those that a device has made. Any thread.
void make_statistics(const plan& p, chunk_data& chunk);

/// The statistics of a whole run.
struct statistics {
  struct histogram {
    std::string name;  ///< name of its column
    histogram_bins bins;
    std::vector<long long> counts;  ///< [bins.bins]
    long long below = 0, above = 0;
  };
  std::vector<statistic_column> columns;  ///< empty: none were asked for
  std::vector<summary> summaries;         ///< [column]
  std::vector<histogram> histograms;

  // at sample times: [quantity][sample]
  std::vector<summary> bands;
  std::vector<value_counts> values;
};

/// Adds up the statistics of chunks, in any order.
class statistics_sum {
 public:
  /// Refers to `p`, which must outlive it.
  explicit statistics_sum(const plan& p);

  /// Adds a chunk whose statistics are made.
  void add(chunk_data& chunk);
  /// The plan has more instances now; the earlier ones must be whole blocks.
  void grow();
  /// The statistics of all chunks of the run; instances of missing chunks count as not run.
  statistics finish();

 private:
  void carry(chunk_data& chunk, std::int64_t from, std::int64_t to);
  void push(const spread_blocks::whole& of);
  void push(std::int64_t number, std::vector<summary> of);
  void count(std::size_t histogram, const std::vector<long long>& more);

  const plan* plan_;
  block_tree<std::vector<summary>> pending_;        ///< for each block, [column]
  std::vector<std::vector<long long>> histograms_;  ///< [histogram][counter]
  std::vector<value_counts> values_;                ///< [column at a sample time]
  spread_blocks spread_;
};

}  // namespace saltus::host
