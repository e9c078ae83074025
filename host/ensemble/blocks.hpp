// Blocks of instances by their ids. Sums over an ensemble are formed by blocks, so that their bits do not depend on the
// chunks or their order. Every block has the same number of instances and begins at an id that is a multiple of it;
// only the last block of the ensemble may be shorter.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "statistics/statistics.hpp"

namespace saltus::host {

/// The complete blocks in a chunk.
struct chunk_blocks {
  std::int64_t first;  ///< slot of the first block, or the number of instances if there is no block
  std::int64_t count;
};
/// The blocks of a chunk with `instances` instances from id `first_id`, in an ensemble of `all` and with blocks of
/// `block`.
inline chunk_blocks blocks_of(std::int64_t all, std::int64_t first_id, std::int64_t instances, std::int64_t block) {
  const std::int64_t first = std::min((block - first_id % block) % block, instances);
  const bool last = first_id + instances == all;  // then the last block counts, although it may not be full
  return {first, (instances - first + (last ? block - 1 : 0)) / block};
}

/// The node of the 2^level blocks from number * 2^level on.
struct block_node {
  std::int64_t level, number;
  auto operator<=>(const block_node&) const = default;
};

/// Sums of blocks, merged in pairs by number, then the results in pairs, and so on: rounding errors grow with the
/// logarithm of the number of blocks. The pairs do not depend on the order of arrival.
template <class Sum>
class block_tree {
 public:
  /// Sums at level `top` are not merged further.
  explicit block_tree(std::int64_t top = std::numeric_limits<std::int64_t>::max()) : top_(top) {}

  /// `join(early, late)` merges two sums.
  template <class Join>
  void push(block_node here, Sum of, Join&& join) {
    while (here.level < top_) {
      const auto other = pending_.find({here.level, here.number ^ 1});
      if (other == pending_.end()) break;
      of = (here.number & 1) != 0 ? join(other->second, of) : join(of, other->second);
      pending_.erase(other);
      here = {here.level + 1, here.number >> 1};
    }
    pending_.emplace(here, std::move(of));
  }

  /// Raises the top level and merges the sums held at the old one.
  template <class Join>
  void raise(std::int64_t top, Join&& join) {
    auto pending = std::exchange(pending_, {});
    top_ = top;
    for (auto& [where, of] : pending) push(where, std::move(of), join);
  }

  /// The sums that remain, those of few blocks first: if all blocks have arrived, these are the later ones.
  const std::map<block_node, Sum>& pending() const { return pending_; }
  std::map<block_node, Sum> take() { return std::exchange(pending_, {}); }

 private:
  std::int64_t top_;
  std::map<block_node, Sum> pending_;
};

/// Collects blocks whose rows are spread over several chunks.
class spread_blocks {
 public:
  /// A block with all its rows.
  struct whole {
    std::int64_t number = 0, rows = 0;
    std::vector<double> values = {};  ///< [column][block]
    std::vector<unsigned char> status = {};
    std::vector<number_column> columns(std::int64_t block) const;
  };
  /// For an ensemble of `all` instances in blocks of `block`.
  spread_blocks(std::int64_t all, std::int64_t block) : all_(all), block_(block) {}

  /// Adds the rows [from, to) of a chunk, which belong to one block. Returns the block once it is complete.
  std::optional<whole> take(std::int64_t first_id, const std::vector<number_column>& columns,
                            const unsigned char* status, std::int64_t from, std::int64_t to);
  /// Returns a block whose missing rows will not come; they count as not run. None if there is no such block.
  std::optional<whole> take_incomplete();

 private:
  std::int64_t all_, block_;
  std::map<std::int64_t, whole> spread_;  ///< by number
};

}  // namespace saltus::host
