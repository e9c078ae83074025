// The CUDA devices of this machine. Loads the plug-in library when first asked; nothing else here knows CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ensemble/backend.hpp"

namespace saltus::host {

/// The CUDA devices that the plan asks for, by way of the plug-in library; throws `error` (exit_device) with the reason if
/// there is none, or not that one.
std::unique_ptr<backend> make_cuda_backend(const plan& p);

/// Why there is no CUDA device to use; empty if there is one. `name` receives its name, or those of all.
std::string cuda_absent(std::string* name = nullptr);

/// The names of the CUDA devices, by number; empty if there is none to use, for which `reason` receives the reason.
std::vector<std::string> cuda_devices(std::string* reason = nullptr);

}  // namespace saltus::host
