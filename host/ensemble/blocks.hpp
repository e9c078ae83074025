// Blocks of instances by their ids: how sums over an ensemble get the same bits whatever chunks bring its instances, and in
// whatever order. A block is the same number of instances each, the first with an id that is a multiple of it; the last one of
// the ensemble may be shorter.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "statistics/statistics.hpp"

namespace saltus::host {

/// The slots of a chunk's blocks.
struct chunk_blocks {
  std::int64_t first;  ///< slot of the first block, or the number of instances without any
  std::int64_t count;
};
/// Of a chunk of `instances`, the first with id `first_id`, out of `all`, in blocks of `block`.
inline chunk_blocks blocks_of(std::int64_t all, std::int64_t first_id, std::int64_t instances, std::int64_t block) {
  const std::int64_t first = std::min((block - first_id % block) % block, instances);
  const bool last = first_id + instances == all;  // and so is the block that is not full
  return {first, (instances - first + (last ? block - 1 : 0)) / block};
}

/// Blocks number * 2^level and so on, 2^level of them.
struct block_place {
  std::int64_t level, number;
  auto operator<=>(const block_place&) const = default;
};

/// Sums of blocks, merged two and two by their numbers, and the results two and two: rounding errors grow with the logarithm of
/// their number. Who is merged with whom does not depend on who comes first.
template <class Sum>
class block_tree {
 public:
  /// What has been merged is not merged further above level `top`.
  explicit block_tree(std::int64_t top = std::numeric_limits<std::int64_t>::max()) : top_(top) {}

  /// `join(early, late)` merges two sums.
  template <class Join>
  void push(block_place here, Sum of, Join&& join) {
    while (here.level < top_) {
      const auto other = pending_.find({here.level, here.number ^ 1});
      if (other == pending_.end()) break;
      of = (here.number & 1) != 0 ? join(other->second, of) : join(of, other->second);
      pending_.erase(other);
      here = {here.level + 1, here.number >> 1};
    }
    pending_.emplace(here, std::move(of));
  }

  /// Merges further what stands at the top, up to another one that is higher.
  template <class Join>
  void raise(std::int64_t top, Join&& join) {
    auto pending = std::exchange(pending_, {});
    top_ = top;
    for (auto& [where, of] : pending) push(where, std::move(of), join);
  }

  /// What is left, those of few blocks first: with all blocks here they are the later ones.
  const std::map<block_place, Sum>& left() const { return pending_; }
  std::map<block_place, Sum> take() { return std::exchange(pending_, {}); }

 private:
  std::int64_t top_;
  std::map<block_place, Sum> pending_;
};

/// Blocks that are spread over chunks, as far as they are here.
class spread_blocks {
 public:
  /// A block all of whose rows are here.
  struct whole {
    std::int64_t number = 0, rows = 0;
    std::vector<double> values = {};  ///< [column][block]
    std::vector<unsigned char> status = {};
    std::vector<number_column> columns(std::int64_t block) const;
  };
  /// Of an ensemble of `all` instances.
  spread_blocks(std::int64_t all, std::int64_t block) : all_(all), block_(block) {}

  /// Takes the rows [from, to) of a chunk, which are of one block. Returns that if it is complete.
  std::optional<whole> take(std::int64_t first_id, const std::vector<number_column>& columns,
                            const unsigned char* status, std::int64_t from, std::int64_t to);
  /// A block whose other rows will not come: they read as not run. None if there is none.
  std::optional<whole> take_incomplete();

 private:
  std::int64_t all_, block_;
  std::map<std::int64_t, whole> spread_;  ///< by their numbers
};

}  // namespace saltus::host
