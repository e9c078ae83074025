// Several backends that take chunks from one queue: CPU lanes and CUDA devices, or several devices. The scheduler
// serves each of them separately; this class only describes them together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ensemble/backend.hpp"

namespace saltus::host {

/// Combines several backends that take chunks from one queue. `note` is added to their description.
std::unique_ptr<backend> make_shared_backend(std::vector<std::unique_ptr<backend>> parts, std::string note = {});

}  // namespace saltus::host
