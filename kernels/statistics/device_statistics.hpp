// The data that host and device exchange about the statistics of a chunk.
#pragma once

#include "abi/module.hpp"
#include "statistics/statistics.hpp"

namespace saltus::abi {

/// A column whose values are counted in bins.
struct device_histogram {
  int column;
  histogram_bins bins;
  long long* counters;  ///< [bins.counters()]
};

/// The costs of a block of instances, whatever their status.
struct block_costs {
  long long counters[counter_count];  ///< sums, in the order of counter_table
  int is_left;                        ///< 1: the host continues some of its instances, so its summaries are not final
};

/// A chunk, all of whose instances have ended. Pointers are to device memory.
struct device_statistics {
  long long count, first_id;
  const unsigned char* status;
  unsigned carried_on;  ///< bit s: the host continues instances with status s
  int columns, histograms;
  number_column counters[counter_count];
  const number_column* column;        ///< [columns]
  summary* summaries;                 ///< [block][columns]
  block_costs* costs;                 ///< [block]
  const device_histogram* histogram;  ///< [histograms]; over the blocks that are final
};

}  // namespace saltus::abi
