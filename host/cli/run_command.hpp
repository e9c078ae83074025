// Shows a run on the command line: progress while it lasts, a summary at its end.
#pragma once

#include <functional>
#include <optional>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "study/run.hpp"

namespace saltus::host {

/// Calls `how`, which makes the run, with a listener, and prints its report. Returns the exit code.
int run_and_tell(const run_arguments& a, const std::function<run_report(const run_listener&)>& how);

/// A listener that shows reports on stderr; `bar` must live as long.
run_listener listener_of(bool quiet, std::optional<progress>& bar);
/// Prints the failures of a run on stderr.
void say_what_went_wrong(const run_report& r);

}  // namespace saltus::host
