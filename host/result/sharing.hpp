// Runs that share an ensemble dynamically: each claims instances when it has none, and stores ended ones in its own
// file of the common journal. Runs agree on claims by files (leases.hpp), or by messages between processes of one job
// (cli/mpi.cpp).
#pragma once

#include <string>

#include "base/cancellation.hpp"
#include "ensemble/claims.hpp"
#include "result/journal.hpp"

namespace saltus::host {

class sharing : public claims {
 public:
  /// The name of this run: letters, digits, dots and hyphens; no other run ever has it.
  virtual const std::string& name() const = 0;
  /// Called before the journal is opened; may wait for other runs to open theirs.
  virtual void before_opening() {}
  /// Called when the journal is open and before the first claim. After `stop` nothing more is claimed.
  virtual void opened(journal& kept, const cancellation& stop) = 0;
  /// Called when all claimed instances have ended here. Waits until those of other runs have ended, or until there is
  /// more to claim; returns true in the latter case.
  virtual bool wait_for_more() = 0;
};

}  // namespace saltus::host
