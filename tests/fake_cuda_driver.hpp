// A CUDA driver for tests on machines without a device: device memory is host memory, and kernels are those of a module
// that the test has compiled for the CPU (emulated_cuda.hpp). Copies from and to pinned memory happen as late as a
// driver may leave them: when a stream or an event is waited for, or a kernel needs them. Who reads or overwrites that
// memory before gets wrong numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <cuda.h>

namespace saltus::test {

struct fake_cuda {
  /// Runs a kernel by its name with a number of threads; arguments as cuLaunchKernel takes them.
  std::function<void(std::string_view, int, void**)> run_kernel;
  /// The name of a call that fails, and with what.
  std::string failing = {};
  CUresult failure = CUDA_SUCCESS;
  int fails = -1;                             ///< so many times; -1: always
  std::size_t memory = std::size_t{1} << 30;  ///< bytes that each device has, for blocks and for local memory
  int devices = 1;                            ///< two at most
  int version = 13000;                        ///< of CUDA, that the driver is for
  int capability = 90;
  int local_bytes = 0;            ///< of each kernel but saltus_describe, for a thread
  double seconds_per_launch = 0;  ///< by the device's clock
};

/// What the next calls of the driver do.
inline fake_cuda& the_fake_cuda() {
  static fake_cuda f;
  return f;
}

/// What has been done.
struct fake_cuda_counts {
  std::atomic<int> blocks_held = 0;           ///< of device or pinned memory, that were not freed
  std::atomic<long long> bytes_held = 0;      ///< of device memory, on all devices
  std::atomic<int> ptx_modules = 0;           ///< loaded as text, for the driver to compile
  std::atomic<int> allocations = 0;           ///< of device memory so far
  std::atomic<int> launches[2] = {};          ///< on each device
  std::atomic<long long> pageable_bytes = 0;  ///< copied between device and memory that is not pinned
  std::atomic<long long> pinned_bytes = 0;    ///< and that is
  std::atomic<long long> up_bytes = 0;        ///< copied to a device
};
inline fake_cuda_counts& fake_cuda_done() {
  static fake_cuda_counts c;
  return c;
}

}  // namespace saltus::test
