// The share that a run has in the work of its ensemble. Each mode is one class in run_mode.cpp, which says what the run
// reads, integrates, writes and leaves behind; the defaults are those of a run that does all of it alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/cancellation.hpp"
#include "ensemble/part.hpp"
#include "result/journal.hpp"
#include "result/output.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

class sharing;

class run_mode {
 public:
  virtual ~run_mode() = default;

  /// Throws `error` (exit_usage) if the plan excludes this mode, or if the run cannot drop an existing journal.
  virtual void check(const plan& p, bool restarts) const = 0;

  // read:
  /// Must the run have a journal, however short it is?
  virtual bool needs_journal() const { return true; }
  virtual journal::older use_of_journal() const { return journal::older::continued; }
  virtual void before_opening() const {}  ///< called before the journal is opened
  virtual void opened(journal&, const cancellation&) const {}

  // integrated:
  /// false: all instances are read from an existing journal.
  virtual bool integrates() const { return true; }
  virtual ensemble_part part() const { return {}; }  ///< the part that the run has in its journal
  /// The source of the instances; null: all that are not in the journal.
  virtual claims* taken_from(journal* kept) const { return kept ? kept->taken_from() : nullptr; }
  /// Called when all claimed instances have ended. Are there more to claim?
  virtual bool wait_for_more() const { return false; }
  virtual std::int64_t unclaimed() const { return 0; }  ///< instances that no run has claimed

  // written:
  virtual std::string result_of(const plan& p) const { return p.file; }  ///< the file that is made
  /// The output for the rows of this run, whose journal is `kept`; null: they are in the journal alone.
  virtual std::unique_ptr<output_file> output(const plan& p, const provenance& origin, existing older,
                                              const journal* kept) const;

  // left:
  /// false: another run makes the result, from the journal.
  virtual bool makes_result() const { return true; }
  virtual bool removes_journal() const { return true; }  ///< when the result is made
  /// The mode in which this process goes on after all instances of this run have ended; null: it is done. `run`
  /// identifies the run of the journal.
  virtual std::shared_ptr<const run_mode> next(const plan&, const std::string& run) const;
};

/// Integrates all instances, or those that are not in an existing journal, and makes the result.
std::shared_ptr<const run_mode> alone();
/// Integrates the instances of a part and leaves them in the journal. If parts write their rows into the result, the
/// part that ends last makes it.
std::shared_ptr<const run_mode> one_part(const ensemble_part& part);
/// Integrates what none of the runs has that share the ensemble, and leaves it in the common journal; one of the runs
/// makes the result (run_with_others).
std::shared_ptr<const run_mode> shared_with(sharing& others);
/// Makes the result from a journal in which all instances must have ended.
std::shared_ptr<const run_mode> gathering();
/// Writes the present content of a journal, which another run may be writing, to a file; the journal stays. Instances
/// that have not ended are `not_run`.
std::shared_ptr<const run_mode> so_far_into(const std::string& file);

}  // namespace saltus::host
