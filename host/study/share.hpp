// A run that shares its ensemble with others as they go, on one machine or many that see one folder (result/leases.hpp).
#pragma once

#include "study/run.hpp"

namespace saltus::host {

/// Integrates what others leave of the plan, as long as there is anything that nobody works at, and keeps it in the journal that
/// all have in common. The last one makes the result: then the report is of that, and its journal is empty. Throws `error`.
run_report run_with_others(const plan& p, const run_options& options, const cancellation& stop = {},
                           const run_listener& listener = {});

}  // namespace saltus::host
