// Statistics of one chunk, before they are added up.
#pragma once

#include <vector>

#include "ensemble/value_counts.hpp"
#include "statistics/device.hpp"
#include "statistics/statistics.hpp"

namespace saltus::host {

/// Of one chunk: its blocks, which are `statistics_block` instances, the first with an id that is a multiple of that.
/// The last one of the ensemble may be shorter. Instances of a chunk before its first block and after its last one belong
/// to blocks that are spread over chunks.
struct chunk_statistics {
  std::vector<summary> summaries;                  ///< [block][column], those at sample times (band_columns) the last
  std::vector<std::vector<long long>> histograms;  ///< [histogram][counter]
  std::vector<value_counts> values;                ///< [column at a sample time]

  // of a chunk whose columns have stayed on the device that made them, but for `status`; else empty
  std::vector<abi::block_costs> costs;  ///< [block]
  std::vector<bool> has_rows;           ///< [block] its rows are here all the same

  void clear() {
    summaries.clear();
    histograms.clear();
    values.clear();
    costs.clear();
    has_rows.clear();
  }
};

}  // namespace saltus::host
