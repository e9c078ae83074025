// Makes the backend that a plan asks for. Only this file knows all kinds of backends.
#pragma once

#include <memory>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"

namespace saltus::host {

/// CPU lanes and all CUDA devices of the plan. If there is no device, the CPU works alone, and the description says so.
std::unique_ptr<backend> make_backend_of_all(const plan& p, const cancellation& stop = {});

/// Makes the backend of the plan: "cpu", "cuda", "all", or "auto" (the devices if there are any, else the CPU).
/// Cancelling `stop` ends the compiler.
std::unique_ptr<backend> make_backend(const plan& p, const cancellation& stop = {});

/// CPU lanes; compiles the module if it is not in the cache, unless `stop` is cancelled. Throws `error`.
std::unique_ptr<backend> make_cpu_backend(const plan& p, const cancellation& stop = {});

}  // namespace saltus::host
