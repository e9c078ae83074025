// Runs a plan and makes its result, in a file or in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/pipeline.hpp"
#include "result/arrays.hpp"
#include "spec/plan.hpp"
#include "study/run_mode.hpp"

namespace saltus::host {

/// Receives reports of a run, on any thread; each function may do nothing.
struct run_listener {
  /// messages that should be shown, with line breaks
  std::function<void(const std::string&)> say = [](const std::string&) {};
  std::function<void(const std::string&)> mention = [](const std::string&) {};  ///< messages that may be left out
  /// A plan begins: number of its instances, and number that an earlier run has ended. Called again when instances are
  /// added.
  std::function<void(const plan&, std::int64_t, std::int64_t)> begins = [](const plan&, std::int64_t, std::int64_t) {};
  std::function<void(std::int64_t)> progress = [](std::int64_t) {};  ///< number of further instances that have ended
  std::function<void()> ends = [] {};                                ///< no more instances will end
};

struct run_options {
  bool replace = false;                            ///< replace an older result
  bool restart = false;                            ///< drop an existing journal instead of continuing it
  double time_limit = 0;                           ///< seconds after which the run ends and leaves its journal; 0: none
  std::vector<std::string> command = {};           ///< command line for the history in the file
  std::shared_ptr<const run_mode> mode = alone();  ///< the share of the run in the work of its ensemble
  bool in_memory = false;                          ///< also keep the result in run_report::arrays
};

struct run_report {
  plan what;  ///< as it was run
  run_summary summary;
  std::string device;
  double compile_seconds = 0;
  std::shared_ptr<result_arrays> arrays;  ///< null unless asked for
  ensemble_part part;
  bool shared = false;  ///< with other runs, one of which makes the result
  std::string file;     ///< the file that was written; empty: none
  /// the folder with the ended instances if there is no result file yet: of a part, or of a run to be continued
  std::string journal;
  std::int64_t not_in_journal = 0;  ///< instances of this run that ended before it had that journal
  /// for a run that ended early without a journal: the file with the ended instances; empty: none
  std::string unfinished;
  std::string store;           ///< the unfinished store with the chunks of a part; empty: none
  bool gathered = false;       ///< nothing was integrated
  std::int64_t continued = 0;  ///< instances that an earlier run had left in the journal
  /// Exit code for the program: exit_ok, exit_failed_instances, exit_interrupted, exit_time_limit, exit_failure.
  int exit_code = 0;
};

/// Writes the ended instances of a journal, FILE.journal, as a result file; another run may be writing the journal.
/// Instances that have not ended are `not_run`. Nothing is compiled, loaded or integrated, and the journal is not
/// changed. Throws `error`.
run_report so_far(const std::filesystem::path& journal, const std::string& file, const cancellation& stop = {});

/// Throws `error` if a run of the plan would be refused before anything is integrated: its result cannot be written, or
/// its options conflict.
void check_run(const plan& p, const run_options& options, const run_listener& listener = {});

/// Runs all instances of a plan and writes its result file, if it has one, and arrays, if they are asked for.
/// Cancelling `stop` ends the run early, and so does a model that crashes. Ended instances are then in the journal, if
/// the run lasted long enough to have one (plan::checkpoint), or else in the unfinished file; an older result stays. An
/// existing journal is continued: its instances are not integrated again, and the bits of the result are the same. The
/// call changes no state of the process: a model that crashes crashes the process (model_call.hpp). Throws `error`;
/// ended instances are kept.
run_report run(plan p, const run_options& options = {}, const cancellation& stop = {},
               const run_listener& listener = {});

/// Integrates instances of the plan that no other run works at, as long as there are any, and stores them in the common
/// journal. The last run makes the result; its report is then that of the result, and names no journal. Throws `error`.
run_report run_with_others(const plan& p, const run_options& options, const cancellation& stop = {},
                           const run_listener& listener = {});

}  // namespace saltus::host
