// Sums for sensitivity indices over one chunk, before they are added up.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ensemble/blocks.hpp"

namespace saltus::host {

/// Moments of pairs of numbers (x, y).
struct co_moment {
  double count = 0, mean_x = 0, mean_y = 0;
  double product = 0;   ///< sum of (x - mean_x) (y - mean_y)
  double greatest = 0;  ///< |x|
};

/// The sums of one chunk: by blocks as in chunk_statistics, but of another size; merged as far as possible.
struct chunk_indices {
  std::map<block_node, std::vector<co_moment>> sums = {};  ///< [outcome, item]
  /// instances of the whole chunk that failed or did not finish
  std::int64_t failed = 0;
  std::vector<std::int64_t> first_failed = {};  ///< their first ids
};

}  // namespace saltus::host
