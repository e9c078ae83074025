// saltus bench --advise finds the method, controller and detection that reach the requested accuracy in the shortest
// time. It measures and recommends; it changes nothing.
#pragma once

#include "base/cancellation.hpp"
#include "bench/advice.hpp"
#include "bench/options.hpp"

namespace saltus::host {

/// Throws `error`: exit_usage for a spec without a tolerance, exit_failure if there is no reference.
advice advise(const bench_options& options, const cancellation& stop);

}  // namespace saltus::host
