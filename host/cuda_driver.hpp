// The CUDA driver's handles as objects, and its errors as exceptions. For the plug-in alone: it links the driver.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "error.hpp"

namespace saltus::host {

/// Throws unless a call of the driver succeeded; says which call, which error, and what that means.
inline void check_driver(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char *name = nullptr, *meaning = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &meaning);
  throw error(exit_failure,
              fmt::format("CUDA: {}: {} ({})", call, name ? name : fmt::format("error {}", static_cast<int>(result)),
                          meaning ? meaning : "no description"));
}
/// SALTUS_CUDA(cuMemAlloc, &address, bytes): the call, checked.
#define SALTUS_CUDA(call, ...) ::saltus::host::check_driver(call(__VA_ARGS__), #call)

/// A device in use: its primary context is held. Calls of the driver go to it from the thread that made this object,
/// and from threads that called `use`.
class cuda_device {
 public:
  explicit cuda_device(int number) {
    SALTUS_CUDA(cuInit, 0);
    SALTUS_CUDA(cuDeviceGet, &handle_, number);
    SALTUS_CUDA(cuDevicePrimaryCtxRetain, &context_, handle_);
    use();
  }
  ~cuda_device() {
    cuCtxSetCurrent(nullptr);
    cuDevicePrimaryCtxRelease(handle_);
  }
  cuda_device(const cuda_device&)            = delete;
  cuda_device& operator=(const cuda_device&) = delete;

  void use() const { SALTUS_CUDA(cuCtxSetCurrent, context_); }
  int  attribute(CUdevice_attribute which) const {
     int value = 0;
     SALTUS_CUDA(cuDeviceGetAttribute, &value, which, handle_);
     return value;
  }
  int multiprocessors() const { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }
  /// 90 for compute capability 9.0.
  int capability() const {
    return 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }
  std::string name() const {
    char text[256] = {};
    SALTUS_CUDA(cuDeviceGetName, text, sizeof(text), handle_);
    return text;
  }

 private:
  CUdevice  handle_  = 0;
  CUcontext context_ = nullptr;
};

/// A block of device memory.
class cuda_memory {
 public:
  explicit cuda_memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) SALTUS_CUDA(cuMemAlloc, &address_, bytes);
  }
  ~cuda_memory() {
    if (address_ != 0) cuMemFree(address_);
  }
  cuda_memory(cuda_memory&& other) noexcept
      : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  cuda_memory& operator=(cuda_memory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  CUdeviceptr address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_;
};

/// A stream: what is put into it happens in order. Host memory is pageable: a copy has left or reached it on return.
class cuda_stream {
 public:
  cuda_stream() { SALTUS_CUDA(cuStreamCreate, &handle_, CU_STREAM_NON_BLOCKING); }
  ~cuda_stream() { cuStreamDestroy(handle_); }
  cuda_stream(const cuda_stream&)            = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;

  template <class Number>
  void upload(const Number* to, const Number* from, std::size_t count) const {
    if (count > 0) SALTUS_CUDA(cuMemcpyHtoDAsync, address(to), from, count * sizeof(Number), handle_);
  }
  template <class Number>
  void download(Number* to, const Number* from, std::size_t count) const {
    if (count > 0) SALTUS_CUDA(cuMemcpyDtoHAsync, to, address(from), count * sizeof(Number), handle_);
  }
  template <class Number>
  void copy(Number* to, const Number* from, std::size_t count) const {
    if (count > 0) SALTUS_CUDA(cuMemcpyDtoDAsync, address(to), address(from), count * sizeof(Number), handle_);
  }
  void fill(void* to, unsigned char value, std::size_t bytes) const {
    if (bytes > 0) SALTUS_CUDA(cuMemsetD8Async, address(to), value, bytes, handle_);
  }
  void launch(CUfunction kernel, int blocks, int block, void** arguments) const {
    SALTUS_CUDA(cuLaunchKernel, kernel, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(block), 1, 1, 0,
                handle_, arguments, nullptr);
  }
  /// Waits until everything put into the stream has happened; throws what went wrong in a kernel.
  void wait() const { SALTUS_CUDA(cuStreamSynchronize, handle_); }

 private:
  static CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }
  CUstream           handle_ = nullptr;
};

/// Code loaded onto the device in use.
class cuda_module {
 public:
  explicit cuda_module(const std::string& cubin) { SALTUS_CUDA(cuModuleLoadData, &handle_, cubin.data()); }
  ~cuda_module() { cuModuleUnload(handle_); }
  cuda_module(const cuda_module&)            = delete;
  cuda_module& operator=(const cuda_module&) = delete;

  CUfunction kernel(const char* name) const {
    CUfunction f = nullptr;
    SALTUS_CUDA(cuModuleGetFunction, &f, handle_, name);
    return f;
  }

 private:
  CUmodule handle_ = nullptr;
};

}  // namespace saltus::host
