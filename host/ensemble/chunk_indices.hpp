// Sums for indices of sensitivity over one chunk, before they are added up.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ensemble/blocks.hpp"

namespace saltus::host {

/// Of pairs of numbers (x, y).
struct co_moment {
  double count = 0, mean_x = 0, mean_y = 0;
  double product = 0;   ///< sum of (x - mean_x) (y - mean_y)
  double greatest = 0;  ///< |x|
};

/// Of one chunk: its blocks, as those of chunk_statistics, but of another size; merged as far as they will be.
struct chunk_indices {
  std::map<block_place, std::vector<co_moment>> sums = {};  ///< [outcome, item]
  std::int64_t failed = 0;                                  ///< instances of the whole chunk that did not end well
  std::vector<std::int64_t> first_failed = {};              ///< their first ids
};

}  // namespace saltus::host
