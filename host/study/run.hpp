// A run from a plan to its result file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/pipeline.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Who hears of a run while it lasts; from any thread, and each may do nothing.
struct run_listener {
  std::function<void(const std::string&)> say = [](const std::string&) {};      ///< what should be read, in lines
  std::function<void(const std::string&)> mention = [](const std::string&) {};  ///< and what may be left out
  std::function<void(const plan&)> begins = [](const plan&) {};                 ///< instances begin
  std::function<void(std::int64_t)> progress = [](std::int64_t) {};             ///< so many more have ended
  std::function<void()> ends = [] {};                                           ///< no more will end
};

struct run_options {
  bool replace = false;              ///< an older result is replaced
  std::vector<std::string> command;  ///< words that are noted in the file as its history
  /// Lanes are measured beside the run by another process, which is this program with the words of `command` (measure.hpp).
  bool measure_beside = false;
};

struct run_report {
  plan what;  ///< as it was run
  run_summary summary;
  std::string device;
  double compile_seconds = 0;
  int exit_code = 0;  ///< what a program should return: exit_ok, exit_failed_instances, exit_interrupted, exit_failure
};

/// Runs all instances of a plan and writes its result file, if it has one. Cancelling `stop` ends it early: what has ended by
/// then is in the file. Changes nothing of the process: what a model does that crashes, the process does (model_call.hpp).
/// Throws `error`; what the file has by then is kept.
run_report run(plan p, const run_options& options = {}, const cancellation& stop = {},
               const run_listener& listener = {});

}  // namespace saltus::host
