// What a model may break is done in a child process: it may crash there, call exit or loop for ever.
#pragma once

#include <functional>
#include <string>

#include "base/cancellation.hpp"
#include "base/error.hpp"

namespace saltus::host {

/// The child did not do what it was asked to; `what()` says how it ended: "SIGSEGV (Segmentation fault)", "exit was
/// called", "threw ...", "did not come back in 10 s".
struct child_failure : error {
  explicit child_failure(const std::string& how) : error(exit_failure, how) {}
};

/// Forks, and returns what `task` returns there. Nothing else that happens in the child is seen here; the other threads of
/// the program are not there. The child is killed after `longest` seconds (0: never), when `stop` is cancelled, and when this
/// program ends. Throws an `error` that the task has thrown; child_failure.
std::string in_child(const std::function<std::string()>& task, double longest, const cancellation& stop);

}  // namespace saltus::host
