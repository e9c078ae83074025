// A CUDA driver for tests on machines without a device: device memory is host memory, and the kernels are those of a module
// that the test has compiled for the CPU (emulated_cuda.hpp). Copies from and to pinned memory happen as late as a driver
// may do them: when a stream or an event is waited for, or a kernel needs them. Code that reads or overwrites that memory
// earlier gets wrong numbers. A kernel whose settings or chunk hold an address of the host fails, as on a device.
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
  using kernel_runner = std::function<void(std::string_view, int, void**)>;
  kernel_runner run_kernel;
  /// If set: runs the kernels of loaded code instead.
  std::function<kernel_runner(std::string_view code)> kernels_of = {};
  /// The name of a call that fails, and its error code.
  std::string failing = {};
  CUresult failure = CUDA_SUCCESS;
  int fails = -1;                             ///< number of failures; -1: always
  std::size_t memory = std::size_t{1} << 30;  ///< bytes of each device, for blocks and for local memory
  int devices = 1;                            ///< at most two
  int version = 13000;                        ///< the CUDA version of the driver
  int capability = 90;
  int multiprocessors = 1, blocks_per_multiprocessor = 1;
  int local_bytes = 0;            ///< local memory per thread of each kernel but saltus_describe
  double seconds_per_launch = 0;  ///< by the device's clock
};

/// Settings of the next calls of the driver.
inline fake_cuda& the_fake_cuda() {
  static fake_cuda f;
  return f;
}

/// Counts of calls so far.
struct fake_cuda_counts {
  std::atomic<int> blocks_held = 0;           ///< blocks of device or pinned memory not yet freed
  std::atomic<long long> bytes_held = 0;      ///< bytes of device memory not yet freed, on all devices
  std::atomic<int> ptx_modules = 0;           ///< modules loaded as text, for the driver to compile
  std::atomic<int> allocations = 0;           ///< allocations of device memory so far
  std::atomic<int> launches[2] = {};          ///< on each device
  std::atomic<long long> pageable_bytes = 0;  ///< copied between device memory and memory that is not pinned
  std::atomic<long long> pinned_bytes = 0;    ///< copied between device memory and pinned memory
  std::atomic<long long> up_bytes = 0;        ///< copied to a device
  std::atomic<long long> nanoseconds = 0;  ///< of processors, for copies, fills and kernels, which a device does itself
};
inline fake_cuda_counts& fake_cuda_done() {
  static fake_cuda_counts c;
  return c;
}

}  // namespace saltus::test
