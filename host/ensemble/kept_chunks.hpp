// Stored chunks of a run that outlive it: those that an earlier run has left, and those that end in this one.
#pragma once

#include <vector>

#include "ensemble/part.hpp"

namespace saltus::host {

class claims;
struct chunk_data;
struct tally;

class kept_chunks {
 public:
  virtual ~kept_chunks() = default;

  /// Ranges that an earlier run of the same instances has stored, in the order of ids; these are not integrated again.
  virtual const std::vector<id_range>& stored() const = 0;
  /// The source of the instances to integrate, if other runs integrate the rest; null: all that are not stored.
  virtual claims* taken_from() = 0;
  /// Is this run to read only what is stored, and to integrate nothing?
  virtual bool is_all_there_is() const { return false; }
  /// Loads a stored range into a chunk that has only its inputs: its results; or, if the plan keeps no rows, its
  /// statistics and its `counts`. Any thread. Throws `error`.
  virtual void load(const id_range& range, chunk_data& chunk, tally& counts) const = 0;
  /// Stores the instances of a chunk that have ended; does nothing for a chunk that was loaded. One thread at a time.
  /// Throws `error` if it cannot.
  virtual void keep(const chunk_data& chunk, const tally& counts) = 0;
};

}  // namespace saltus::host
