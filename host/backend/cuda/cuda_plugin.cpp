// The plug-in library of the CUDA backend.
#define SALTUS_DEVICE_DRIVER "backend/cuda/device_names.hpp"

#include <string>
#include <vector>

#include "backend/cuda/device_names.hpp"
#include "backend/cuda/plugin.hpp"
#include "backend/device/device_backend.hpp"
#include "base/error.hpp"

namespace saltus::host {

#pragma GCC visibility push(default)
extern "C" {

const char* saltus_cuda_version() { return SALTUS_VERSION; }

void saltus_cuda_absent(std::string& reason, std::vector<std::string>& names) {
  try {
    int count = 0;
    SALTUS_CUDA(cuInit, 0);
    SALTUS_CUDA(cuDeviceGetCount, &count);
    if (reason = too_old_driver(false); !reason.empty()) return;
    for (int i = 0; i < count; ++i) names.push_back(cuda_device::name_of(i));
    if (count == 0) reason = "the driver finds no device";
  } catch (const error& e) { reason = e.what(); }
}

backend* saltus_cuda_backend(const plan& p, int device) { return new device_backend(p, device); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace saltus::host
