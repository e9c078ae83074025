// A plan's kernels, loaded onto a device; and a check that the driver accepts them. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "abi/cuda.hpp"
#include "backend/cuda/driver.hpp"
#include "base/error.hpp"
#include "compile/nvrtc.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// A kernel, and the number of its blocks that the device holds at once.
struct kernel {
  CUfunction code;
  int blocks;
};

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

/// A module loaded onto the device.
struct loaded_module {
  cuda_module beginning, sailing, landing;
  kernel begin, sail, land;
  CUfunction turn_over;
  std::size_t local_bytes;  ///< of device memory, for the local memory of the largest number of resident threads
  abi::cuda_module about;

  loaded_module(const cuda_module_code& code, const cuda_device& device)
      : beginning(code.begin.code),
        sailing(code.sail.code),
        landing(code.land.code),
        begin(resident(beginning, "saltus_begin", device)),
        sail(resident(sailing, "saltus_sail", device)),
        land(resident(landing, "saltus_land", device)),
        turn_over(beginning.kernel("saltus_turn_over")),
        local_bytes(local_memory(device)),
        about(describe()) {
    if (about.version != abi::version)
      throw error(exit_failure, "a compiled module is of another version of saltus: clear the cache");
  }

  /// A run's tolerances in the form that kernels take.
  std::vector<unsigned char> tolerances_from(abi::settings how, const std::vector<double>& atol) const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(about.tolerance_bytes));
    const cuda_memory atol_there(atol.size() * sizeof(double)), made(bytes.size());
    const cuda_stream stream;
    double* const numbers = reinterpret_cast<double*>(atol_there.address());
    how.atol = numbers;
    how.algebra = nullptr;
    unsigned char* address = reinterpret_cast<unsigned char*>(made.address());
    void* arguments[] = {&how, &address};
    stream.upload(numbers, atol.data(), atol.size());
    stream.fill(address, 0, bytes.size());  // clears padding, too
    stream.launch(beginning.kernel("saltus_tolerances"), 1, 1, arguments);
    stream.download(bytes.data(), address, bytes.size());
    stream.wait();
    return bytes;
  }

 private:
  static kernel resident(const cuda_module& code, const char* name, const cuda_device& device) {
    kernel k{code.kernel(name), 0};
    SALTUS_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor, &k.blocks, k.code, abi::cuda_block, 0);
    k.blocks *= device.multiprocessors();
    return k;
  }
  /// The driver allocates local memory at the first launch of a kernel that needs more than all before, regardless of
  /// other allocations by then.
  std::size_t local_memory(const cuda_device& device) const {
    std::size_t most = 0;
    for (const kernel& k : {begin, sail, land}) most = std::max(most, cuda_module::local_bytes(k.code));
    return most * static_cast<std::size_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)) *
           static_cast<std::size_t>(device.multiprocessors());
  }
  abi::cuda_module describe() const {
    const cuda_memory there(sizeof(abi::cuda_module));
    const cuda_stream stream;
    const abi::cuda_module* address = reinterpret_cast<abi::cuda_module*>(there.address());
    abi::cuda_module module{};
    void* arguments[] = {&address};
    stream.launch(beginning.kernel("saltus_describe"), 1, 1, arguments);
    stream.download(&module, address, 1);
    stream.wait();
    return module;
  }
};

}  // namespace saltus::host
