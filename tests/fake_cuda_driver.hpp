// A CUDA driver for tests on machines without a device: device memory is host memory, streams do everything at once,
// and kernels are those of a unit that the test has compiled for the CPU (emulated_cuda.hpp).
#pragma once

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
  CUresult    failure = CUDA_SUCCESS;
  std::size_t memory  = std::size_t{1} << 30;  ///< bytes that the device claims to have
  /// Blocks of memory that were not freed.
  int blocks_held = 0;
};

/// What the next calls of the driver do.
inline fake_cuda& the_fake_cuda() {
  static fake_cuda f;
  return f;
}

}  // namespace saltus::test
