// A run from a plan to its result, in a file or in memory.
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

namespace saltus::host {

class sharing;
class store_folder;

/// Who hears of a run while it lasts; from any thread, and each may do nothing.
struct run_listener {
  std::function<void(const std::string&)> say = [](const std::string&) {};      ///< what should be read, in lines
  std::function<void(const std::string&)> mention = [](const std::string&) {};  ///< and what may be left out
  /// Instances of a plan begin, so many, of which some have ended in an earlier run; again if more are added to those that have ended.
  std::function<void(const plan&, std::int64_t, std::int64_t)> begins = [](const plan&, std::int64_t, std::int64_t) {};
  std::function<void(std::int64_t)> progress = [](std::int64_t) {};  ///< so many more have ended
  std::function<void()> ends = [] {};                                ///< no more will end
};

struct run_options {
  bool replace = false;                   ///< an older result is replaced
  bool restart = false;                   ///< a journal that is there is dropped, rather than continued
  double time_limit = 0;                  ///< seconds after which the run ends and leaves its journal; 0: none
  std::vector<std::string> command = {};  ///< words that are noted in the file as its history
  /// Lanes are measured beside the run by another process, which is this program with the words of `command` (measure.hpp).
  bool measure_beside = false;
  /// Whose instances are integrated; it is kept in the journal, of which a later run without a part makes the result.
  ensemble_part part = {};
  /// With whom this run shares the ensemble, of which it keeps in the journal what it integrates; a later run without it makes
  /// the result (share.hpp). Null: it does not.
  sharing* share = nullptr;
  /// Nothing is integrated: the result is made of a journal, in which all instances must have ended.
  bool gathers = false;
  /// Nothing is integrated: what a journal has so far, whoever may be writing it, goes into this file, and the journal stays.
  /// Instances that have not ended are `not_run`. Empty: not so.
  std::string so_far = {};
  /// An unfinished Zarr store whose chunks all parts have written: the result is that, with what is made of the journal besides.
  std::shared_ptr<store_folder> completes = nullptr;
  bool in_memory = false;  ///< the result is in run_report::arrays, too
  /// Before a run that takes long a child of this process may try lanes of other shapes (tune.hpp).
  bool tune = true;
};

struct run_report {
  plan what;  ///< as it was run
  run_summary summary;
  std::string device;
  double compile_seconds = 0;
  std::shared_ptr<result_arrays> arrays;  ///< null unless asked for
  ensemble_part part;
  bool shared = false;  ///< with others, of whom another one makes the result
  std::string file;     ///< that was written; empty: none
  std::string journal;  ///< where what has ended is kept, if there is no result file yet: of a part, or to be continued
  std::int64_t not_in_journal = 0;  ///< instances of this run that ended before it had that journal
  std::string unfinished;      ///< a run that ended early and has no journal: where what has ended is; empty: nowhere
  std::string store;           ///< unfinished, where the chunks of a part are; empty: it has none
  bool gathered = false;       ///< nothing was integrated
  std::int64_t continued = 0;  ///< instances that an earlier run had left there
  /// What a program should return: exit_ok, exit_failed_instances, exit_interrupted, exit_time_limit, exit_failure.
  int exit_code = 0;
};

/// What the run of a journal, FILE.journal, has finished so far, whoever may be writing it, as a result file; instances that have not
/// ended are `not_run`. Nothing is compiled, loaded or integrated, and the journal stays as it is. Throws `error`.
run_report so_far(const std::filesystem::path& journal, const std::string& file, const cancellation& stop = {});

/// Throws `error` if a run of the plan would be refused before anything is integrated: as its result cannot be written, or its
/// options do not go together.
void check_run(const plan& p, const run_options& options, const run_listener& listener = {});

/// Runs all instances of a plan and writes its result file, if it has one, and arrays, if they are asked for. Cancelling `stop`
/// ends it early, and so does a model that crashes: what has ended by then is in the journal, if it lasted long enough to have one
/// (plan::checkpoint), or else in the unfinished file; an older result stays. A journal that is there is continued: what is in it is not integrated again, and the bits of the result are the
/// same. Changes nothing of the process: what a model does that crashes, the process does (model_call.hpp).
/// Throws `error`; what has ended by then is kept.
run_report run(plan p, const run_options& options = {}, const cancellation& stop = {},
               const run_listener& listener = {});

}  // namespace saltus::host
