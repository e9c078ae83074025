// A run that shares its ensemble with others dynamically, on one machine or on many that see one folder
// (result/leases.hpp).
#pragma once

#include "study/run.hpp"

namespace saltus::host {

/// Integrates instances of the plan that no other run works at, as long as there are any, and stores them in the common
/// journal. The last run makes the result; its report is then that of the result, and names no journal. Throws `error`.
run_report run_with_others(const plan& p, const run_options& options, const cancellation& stop = {},
                           const run_listener& listener = {});

}  // namespace saltus::host
