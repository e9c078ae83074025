// The CUDA devices of this machine. The first call loads the plug-in library; nothing else in libsaltus knows CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ensemble/backend.hpp"

namespace saltus::host {

/// The backend for the CUDA devices of the plan, from the plug-in library; throws `error` (exit_device) with the reason
/// if there is no device, or not the one asked for.
std::unique_ptr<backend> make_cuda_backend(const plan& p);

/// Why there is no usable CUDA device; empty if there is one. `name` receives the name of the device, or the names of
/// all.
std::string cuda_absent(std::string* name = nullptr);

/// The names of the CUDA devices, by number; empty if none is usable, and `reason` then receives the reason.
std::vector<std::string> cuda_devices(std::string* reason = nullptr);

}  // namespace saltus::host
