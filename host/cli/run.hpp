// A run as the command line tells it: progress while it lasts, a summary at its end.
#pragma once

#include <functional>
#include <optional>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "study/run.hpp"

namespace saltus::host {

/// Tells of a run that is made by `how` with the listener that it is given. Returns the exit code.
int run_and_tell(const run_arguments& a, const std::function<run_report(const run_listener&)>& how);

/// Shows on stderr what is heard of a run; `bar` must live as long.
run_listener listener_of(bool quiet, std::optional<progress>& bar);
/// Says on stderr what went wrong in a run.
void say_what_went_wrong(const run_report& r);

}  // namespace saltus::host
