// A run as the command line tells it: progress while it lasts, a summary at its end.
#pragma once

#include <functional>

#include "cli/commands.hpp"
#include "study/run.hpp"

namespace saltus::host {

/// Tells of a run that is made by `how` with the listener that it is given. Returns the exit code.
int run_and_tell(const run_arguments& a, const std::function<run_report(const run_listener&)>& how);

}  // namespace saltus::host
