// Runs that share an ensemble as they go: each takes instances when it has none, and keeps what has ended in a file of its own of
// the one journal. Who takes what is agreed on by files (leases.hpp), or by messages between processes of one job (cli/mpi.cpp).
#pragma once

#include <string>

#include "base/cancellation.hpp"
#include "ensemble/claims.hpp"
#include "result/journal.hpp"

namespace saltus::host {

class sharing : public claims {
 public:
  /// Of this run: of letters, digits, dots and hyphens, and nobody else's, ever.
  virtual const std::string& name() const = 0;
  /// Called before the journal is opened; may wait for others to have done so.
  virtual void before_opening() {}
  /// The journal is open, and nothing was claimed yet. After `stop` nothing more is.
  virtual void opened(journal& kept, const cancellation& stop) = 0;
  /// All that could be claimed has ended here. Waits until it has elsewhere, or until there is more to claim: then true.
  virtual bool wait_for_more() = 0;
};

}  // namespace saltus::host
