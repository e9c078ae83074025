// A plan's kernels, loaded onto a device. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "abi/device.hpp"
#include "backend/device/device_driver.hpp"
#include "base/error.hpp"

namespace saltus::host {

/// A kernel, and the number of its blocks that the device holds at once.
struct kernel {
  device_kernel code;
  int blocks;
};

/// A module loaded onto the device.
struct loaded_module {
  device_code beginning, sailing, landing;
  std::optional<device_code> landing_quickly;
  kernel begin, sail, land;
  std::optional<kernel> land_quickly;
  device_kernel turn_over;
  std::size_t local_bytes;  ///< of device memory, for the local memory of the largest number of resident threads
  abi::device_module about;

  loaded_module(const device_binaries& code, const device_in_use& device)
      : beginning(code.begin.code),
        sailing(code.sail.code),
        landing(code.land.code),
        begin(resident(beginning, "saltus_begin", device)),
        sail(resident(sailing, "saltus_sail", device)),
        land(resident(landing, "saltus_land", device)),
        turn_over(beginning.kernel("saltus_turn_over")),
        about(describe()) {
    if (about.lands_quickly && code.quick) {
      landing_quickly.emplace(code.quick->code);
      land_quickly = resident(*landing_quickly, "saltus_land_quickly", device);
    }
    local_bytes = local_memory(device);
    if (about.version != abi::version)
      throw error(exit_failure, "a compiled module is of another version of saltus: clear the cache");
  }

  /// A run's tolerances in the form that kernels take.
  std::vector<unsigned char> tolerances_from(abi::settings how) const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(about.tolerance_bytes));
    const device_memory made(bytes.size());
    const device_stream stream;
    unsigned char* address = reinterpret_cast<unsigned char*>(made.address());
    void* arguments[] = {&how, &address};
    stream.fill(address, 0, bytes.size());  // clears padding, too
    stream.launch(beginning.kernel("saltus_tolerances"), 1, 1, arguments);
    stream.download(bytes.data(), address, bytes.size());
    stream.wait();
    return bytes;
  }

 private:
  static kernel resident(const device_code& code, const char* name, const device_in_use& device) {
    const device_kernel k = code.kernel(name);
    return {k, device_code::blocks_at_once(k, abi::device_block) * device.multiprocessors()};
  }
  /// The driver allocates local memory at the first launch of a kernel that needs more than all before, regardless of
  /// other allocations by then.
  std::size_t local_memory(const device_in_use& device) const {
    std::size_t most = 0;
    for (const kernel& k : {begin, sail, land, land_quickly.value_or(land)})
      most = std::max(most, device_code::local_bytes(k.code));
    return most * static_cast<std::size_t>(device.threads_per_multiprocessor()) *
           static_cast<std::size_t>(device.multiprocessors());
  }
  abi::device_module describe() const {
    const device_memory there(sizeof(abi::device_module));
    const device_stream stream;
    const abi::device_module* address = reinterpret_cast<abi::device_module*>(there.address());
    abi::device_module module{};
    void* arguments[] = {&address};
    stream.launch(beginning.kernel("saltus_describe"), 1, 1, arguments);
    stream.download(&module, address, 1);
    stream.wait();
    return module;
  }
};

}  // namespace saltus::host
