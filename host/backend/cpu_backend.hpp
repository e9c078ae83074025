// CPU lanes as a backend.
#pragma once

#include <memory>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"

namespace saltus::host {

/// Makes the backend; compiles the module if it is not in the cache, unless `stop` is cancelled. Throws `error`.
std::unique_ptr<backend> make_cpu_backend(const plan& p, const cancellation& stop = {});

}  // namespace saltus::host
