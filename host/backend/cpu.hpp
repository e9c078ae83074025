// CPU lanes as a backend.
#pragma once

#include <memory>

#include "ensemble/backend.hpp"

namespace saltus::host {

/// CPU lanes; compiles the unit if it is not in the cache.
std::unique_ptr<backend> make_cpu_backend(const plan& p);

}  // namespace saltus::host
