// CUDA as the driver of backend/device/: the names that it uses. Part of the plug-in library.
#pragma once

#include <string>

#include <fmt/format.h>

#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/throughput.hpp"
#include "base/error.hpp"
#include "compile/nvrtc.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The first branch of drivers for a major version of CUDA (release notes of the CUDA toolkit, "CUDA Driver").
inline std::string driver_for(int version) {
  switch (version / 1000) {
    case 11: return "driver R450 or newer";
    case 12: return "driver R525 or newer";
    case 13: return "driver R580 or newer";
    default: return fmt::format("a driver for CUDA {} or newer", version / 1000);
  }
}

/// Why the driver does not accept the output of this NVRTC; empty if it does. It accepts code of its own and earlier
/// major versions, whatever the minor version. It compiles PTX itself, which must not be of a newer CUDA version than
/// the driver.
inline std::string too_old_driver(bool for_ptx) {
  int driver = 0;
  SALTUS_CUDA(cuDriverGetVersion, &driver);
  const int ours = nvrtc_cuda_version();
  if (for_ptx ? driver >= ours : driver / 1000 >= ours / 1000) return {};
  return fmt::format("the NVIDIA driver is for CUDA {}, and {} makes {} for CUDA {}: install {}{}",
                     cuda_version_text(driver), nvrtc_version(), for_ptx ? "PTX" : "kernels", cuda_version_text(ours),
                     for_ptx ? fmt::format("a driver for CUDA {} or newer", cuda_version_text(ours)) : driver_for(ours),
                     for_ptx ? "" : fmt::format(", or build saltus with CUDA {}", driver / 1000));
}

/// The module of a plan; throws if the driver does not accept it.
inline cuda_module_code code_for(const plan& p, int capability) {
  auto code = build_cuda_module(p, capability);
  if (code.sail.ptx_of != 0)
    if (const std::string reason = too_old_driver(true); !reason.empty())
      throw error(exit_device, fmt::format("a device of compute capability {}.{} is newer than {}: {}", capability / 10,
                                           capability % 10, nvrtc_version(), reason));
  return code;
}

using device_address = CUdeviceptr;
using device_binaries = cuda_module_code;
using device_binary = built_cuda;
using device_chain = cuda_chain;
using device_code = cuda_module;
using device_error = cuda_error;
using device_event = cuda_event;
using device_in_use = cuda_device;
using device_kernel = CUfunction;
using device_memory = cuda_memory;
using device_stream = cuda_stream;

/// The kernels of a plan, and those of statistics, for a device. Throws `error`.
inline device_binaries binaries_for(const plan& p, const device_in_use& device) {
  return code_for(p, device.capability());
}
inline device_binary statistics_binary_for(const device_in_use& device) {
  return build_statistics_module(device.capability());
}

/// The device for people, and the program that compiled the kernels.
inline std::string description_of(const device_in_use& device, int number, const device_binaries& built) {
  const int capability = device.capability();
  return fmt::format("cuda: device {}, {} (compute capability {}.{}, {} multiprocessors), {}{}", number, device.name(),
                     capability / 10, capability % 10, device.multiprocessors(), nvrtc_version(),
                     built.sail.ptx_of != 0 ? ", as PTX for the driver," : "");
}
/// Multiply-adds per second in the plan's precision; 0: unknown.
inline double fma_per_second(const device_in_use& device, const plan& p) {
  const double clock = 1e3 * device.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);  // the attribute is in kHz
  return cuda_fma_per_clock(device.capability(), p.precision) * device.multiprocessors() * clock;
}

}  // namespace saltus::host
