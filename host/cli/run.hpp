// What commands share that run something.
#pragma once

#include <optional>

#include "cli/progress.hpp"
#include "study/run.hpp"

namespace saltus::host {

/// Shows on stderr what is heard of a run; `bar` must live as long.
run_listener listener_of(bool quiet, std::optional<progress>& bar);
/// Says on stderr what went wrong in a run.
void say_what_went_wrong(const run_report& r);

}  // namespace saltus::host
