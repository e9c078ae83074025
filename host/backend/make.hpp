// The backend that a plan asks for. Knows all that there are.
#pragma once

#include <memory>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"

namespace saltus::host {

/// CPU lanes and all CUDA devices that the plan asks for. Where there is no device, that is said, and the CPU works alone.
std::unique_ptr<backend> make_backend_of_all(const plan& p, const cancellation& stop = {});

/// As the plan asks: "cpu", "cuda", "all", or "auto" - the devices if there are any, else the CPU. Cancelling `stop` ends the compiler.
std::unique_ptr<backend> make_backend(const plan& p, const cancellation& stop = {});

}  // namespace saltus::host
