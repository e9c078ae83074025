// Chunks of a run that are kept where its end does not lose them: those that an earlier run has left, and those that end.
#pragma once

#include <cstdint>
#include <vector>

#include "ensemble/part.hpp"

namespace saltus::host {

class claims;
struct chunk_data;
struct tally;

class kept_chunks {
 public:
  virtual ~kept_chunks() = default;

  /// What an earlier run of the same instances has left, in the order of their ids; these are not integrated again.
  virtual const std::vector<id_range>& left() const = 0;
  /// Where the instances come from that are integrated, if others integrate the rest; null: all that was not left.
  virtual claims* taken_from() = 0;
  /// Only what was left is looked at: nothing is integrated.
  virtual bool is_all_there_is() const { return false; }
  /// Brings one of the ranges that were left into a chunk that has its inputs and nothing else: its results; or, if the plan
  /// keeps no rows, its statistics, and what `counts` are. Any thread. Throws `error`.
  virtual void load(const id_range& range, chunk_data& chunk, tally& counts) const = 0;
  /// Keeps the instances of a chunk that have ended; nothing of a chunk that was loaded. By one thread at a time. Throws
  /// `error` if it cannot.
  virtual void keep(const chunk_data& chunk, const tally& counts) = 0;
};

}  // namespace saltus::host
