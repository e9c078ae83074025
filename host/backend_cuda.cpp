// The CUDA backend: chunks in device memory, kernels launched round after round (run_cuda.cuh) in a stream per chunk.
// Built into the plug-in library; nothing else links CUDA.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "abi_cuda.hpp"
#include "backend.hpp"
#include "cuda_plugin.hpp"
#include "error.hpp"
#include "nvrtc.hpp"

namespace saltus::host {

namespace {

/// Throws unless the call succeeded: names the call, the error and what it means.
void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr, *meaning = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &meaning);
  throw error(exit_failure, fmt::format("CUDA: {}: {} ({})", call, name ? name : "an unknown error",
                                        meaning ? meaning : fmt::format("code {}", static_cast<int>(result))));
}
#define SALTUS_CUDA(call, ...) check(call(__VA_ARGS__), #call)

/// A block of device memory. An empty one is a null pointer.
class device_memory {
 public:
  device_memory() = default;
  explicit device_memory(std::size_t bytes) {
    if (bytes > 0) SALTUS_CUDA(cuMemAlloc, &address_, bytes);
  }
  ~device_memory() {
    if (address_ != 0) cuMemFree(address_);
  }
  device_memory(device_memory&& other) noexcept : address_(std::exchange(other.address_, 0)) {}
  device_memory& operator=(device_memory&& other) noexcept {
    std::swap(address_, other.address_);
    return *this;
  }

  CUdeviceptr address() const { return address_; }
  template <class Number>
  Number* as() const {
    return reinterpret_cast<Number*>(address_);
  }

 private:
  CUdeviceptr address_ = 0;
};

