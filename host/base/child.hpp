// Runs code that a model may break in a child process: there it may crash, call exit or loop for ever.
#pragma once

#include <functional>
#include <string>

#include "base/cancellation.hpp"
#include "base/error.hpp"

namespace saltus::host {

/// The child did not finish its task; `what()` says how it ended: "SIGSEGV (Segmentation fault)", "exit was called",
/// "threw ...", "did not come back in 10 s".
struct child_failure : error {
  explicit child_failure(const std::string& how) : error(exit_failure, how) {}
};

/// Forks, runs `task` in the child and returns its result; no other effect of the task reaches this process. The child
/// has none of the program's other threads. It is killed after `longest` seconds (0: never), when `stop` is cancelled,
/// and when this program ends. Throws any `error` that the task throws; child_failure.
std::string in_child(const std::function<std::string()>& task, double longest, const cancellation& stop);

}  // namespace saltus::host
