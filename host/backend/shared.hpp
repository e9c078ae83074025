// Several backends that take chunks from one queue: CPU lanes and CUDA devices, or several devices. The scheduler serves
// each of them by itself; here is what is said of all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ensemble/backend.hpp"

namespace saltus::host {

/// Several that take chunks from one queue. `note` is said of them besides.
std::unique_ptr<backend> make_shared_backend(std::vector<std::unique_ptr<backend>> parts, std::string note = {});

}  // namespace saltus::host
