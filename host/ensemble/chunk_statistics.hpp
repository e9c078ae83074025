// Statistics of one chunk, before they are added up.
#pragma once

#include <vector>

#include "ensemble/value_counts.hpp"
#include "statistics/device_statistics.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

/// The statistics of one chunk by blocks of `statistics_block` instances; a block begins at an id that is a multiple of
/// that. The last one of the ensemble may be shorter. Instances of a chunk before its first block and after its last
/// one belong to blocks that are spread over chunks.
struct chunk_statistics {
  std::vector<summary> summaries;                  ///< [block][column], the columns at sample times (band_columns) last
  std::vector<std::vector<long long>> histograms;  ///< [histogram][counter]
  std::vector<value_counts> values;                ///< [column at a sample time]

  // for a chunk whose columns, except `status`, have stayed on the device that made them; else empty
  std::vector<abi::block_costs> costs;  ///< [block]
  std::vector<bool> has_rows;           ///< [block] its rows were copied to the host nevertheless

  void clear() {
    summaries.clear();
    histograms.clear();
    values.clear();
    costs.clear();
    has_rows.clear();
  }
};

}  // namespace saltus::host
