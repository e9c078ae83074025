// What host and device tell each other about the statistics of a chunk.
#pragma once

#include "abi/module.hpp"
#include "statistics/statistics.hpp"

namespace saltus {

namespace abi {

/// The values of a column that are counted by bins.
struct cuda_histogram {
  int column;
  histogram_bins bins;
  long long* counters;  ///< [bins.counters()]
};

/// What a block of instances has cost, whatever became of them.
struct block_costs {
  long long counters[counter_count];  ///< sums, in the order of counter_table
  int is_left;  ///< 1: the host carries on with some of its instances: its summaries are not final
};

/// A chunk, all of whose instances have ended. Pointers are to device memory.
struct cuda_statistics {
  long long count, first_id;
  const unsigned char* status;
  unsigned carried_on;  ///< bit s: with status s an instance is carried on by the host
  int columns, histograms;
  number_column counters[counter_count];
  const number_column* column;      ///< [columns]
  summary* summaries;               ///< [block][columns]
  block_costs* costs;               ///< [block]
  const cuda_histogram* histogram;  ///< [histograms]; over the blocks that are not left to the host
};

}  // namespace abi

}  // namespace saltus
