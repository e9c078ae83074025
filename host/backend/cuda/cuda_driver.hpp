// Handles of the CUDA driver as objects, and its errors as exceptions. For the plug-in alone, which links the driver.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cuda.h>
#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {

/// A failed call of the driver: the call, the error, and its meaning.
struct cuda_error : error {
  CUresult result;

  cuda_error(CUresult of, const char* call) : error(exit_failure, text(of, call)), result(of) {}
  bool is_out_of_memory() const { return result == CUDA_ERROR_OUT_OF_MEMORY; }

 private:
  static std::string text(CUresult result, const char* call) {
    const char *name = nullptr, *meaning = nullptr;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &meaning);
    return fmt::format("CUDA: {}: {} ({})", call, name ? name : fmt::format("error {}", static_cast<int>(result)),
                       meaning ? meaning : "no description");
  }
};

/// Throws `cuda_error` if a call of the driver failed.
inline void check_driver(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) throw cuda_error(result, call);
}
/// SALTUS_CUDA(cuMemAlloc, &address, bytes) calls the driver and checks the result.
#define SALTUS_CUDA(call, ...) ::saltus::host::check_driver(call(__VA_ARGS__), #call)

/// A device in use, by its primary context. Calls of the driver go to it from the thread that made this object, and from
/// threads that called `use`.
class cuda_device {
 public:
  explicit cuda_device(int number) {
    SALTUS_CUDA(cuInit, 0);
    SALTUS_CUDA(cuDeviceGet, &handle_, number);
    context_ = context_of(handle_);
    use();
  }
  ~cuda_device() { cuCtxSetCurrent(nullptr); }
  cuda_device(const cuda_device&) = delete;
  cuda_device& operator=(const cuda_device&) = delete;

  void use() const { SALTUS_CUDA(cuCtxSetCurrent, context_); }
  int attribute(CUdevice_attribute which) const {
    int value = 0;
    SALTUS_CUDA(cuDeviceGetAttribute, &value, which, handle_);
    return value;
  }
  int multiprocessors() const { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }
  /// Bytes of free device memory according to the driver.
  static std::size_t memory_left() {
    std::size_t left = 0, all = 0;
    SALTUS_CUDA(cuMemGetInfo, &left, &all);
    return left;
  }
  int threads_per_multiprocessor() const { return attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR); }
  /// 90 for compute capability 9.0.
  int capability() const {
    return 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }
  std::string name() const { return name_of(handle_); }
  /// The name of a device, which need not be in use.
  static std::string name_of(int number) {
    char text[256] = {};
    CUdevice device = 0;
    SALTUS_CUDA(cuDeviceGet, &device, number);
    SALTUS_CUDA(cuDeviceGetName, text, sizeof(text), device);
    return text;
  }

 private:
  /// The primary context of a device, held until the process ends: making one takes longer than a short run.
  static CUcontext context_of(CUdevice device) {
    static std::mutex one_at_a_time;
    static std::map<CUdevice, CUcontext> all;
    const std::lock_guard lock(one_at_a_time);
    CUcontext& context = all[device];
    if (context != nullptr) return context;
    // Threads ask again and again, and let others go first; events for long waits let them sleep. If other code has set the flags
    // before, they stay.
    cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_YIELD);
    CUcontext retained = nullptr;
    SALTUS_CUDA(cuDevicePrimaryCtxRetain, &retained, device);
    return context = retained;
  }

  CUdevice handle_ = 0;
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

/// A block of host memory that the device can access while the host goes on.
class pinned_memory {
 public:
  explicit pinned_memory(std::size_t bytes) { SALTUS_CUDA(cuMemHostAlloc, &address_, bytes, CU_MEMHOSTALLOC_PORTABLE); }
  ~pinned_memory() { cuMemFreeHost(address_); }
  pinned_memory(const pinned_memory&) = delete;
  pinned_memory& operator=(const pinned_memory&) = delete;
  unsigned char* address() const { return static_cast<unsigned char*>(address_); }

 private:
  void* address_ = nullptr;
};

/// A stream executes operations in order. Where kernels of several streams wait for room on the device, those of the lowest rank go
/// first, as far as the device knows so many ranks. A copy from or to pageable host memory has left or reached that memory on
/// return. A copy from or to pinned memory may happen at any time until the stream, or an event put into it later, has
/// been waited for.
class cuda_stream {
 public:
  explicit cuda_stream(int rank = 0) {
    int least = 0, greatest = 0;  // the greatest priority is the smallest number
    SALTUS_CUDA(cuCtxGetStreamPriorityRange, &least, &greatest);
    SALTUS_CUDA(cuStreamCreateWithPriority, &handle_, CU_STREAM_NON_BLOCKING, std::min(greatest + rank, least));
  }
  ~cuda_stream() { cuStreamDestroy(handle_); }
  cuda_stream(const cuda_stream&) = delete;
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
  /// Waits until all operations in the stream have finished; throws errors of kernels.
  void wait() const { SALTUS_CUDA(cuStreamSynchronize, handle_); }

  CUstream handle() const { return handle_; }

 private:
  static CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }
  CUstream handle_ = nullptr;
};

/// Kernels that follow each other, launched by one call. The driver makes one launch at a time, whichever thread asks, and takes a tenth
/// of the time for a chain that it takes for its kernels one by one.
class cuda_chain {
 public:
  struct link {
    CUfunction kernel;
    int blocks, block;
  };
  cuda_chain() = default;
  ~cuda_chain() { forget(); }
  cuda_chain(const cuda_chain&) = delete;
  cuda_chain& operator=(const cuda_chain&) = delete;

  /// Sets the kernels and their arguments, which are copied. Chains that are in a stream already keep theirs.
  void set(const std::vector<link>& links, void** arguments) {
    if (links.size() != nodes_.size()) return make(links, arguments);
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto node = node_of(links[i], arguments);
      SALTUS_CUDA(cuGraphExecKernelNodeSetParams, chain_, nodes_[i], &node);
    }
  }
  void launch(const cuda_stream& stream) const { SALTUS_CUDA(cuGraphLaunch, chain_, stream.handle()); }

 private:
  static CUDA_KERNEL_NODE_PARAMS node_of(const link& l, void** arguments) {
    CUDA_KERNEL_NODE_PARAMS r{};
    r.func = l.kernel;
    r.gridDimX = static_cast<unsigned>(l.blocks), r.blockDimX = static_cast<unsigned>(l.block);
    r.gridDimY = r.gridDimZ = r.blockDimY = r.blockDimZ = 1;
    r.kernelParams = arguments;
    return r;
  }
  void make(const std::vector<link>& links, void** arguments) {
    forget();
    SALTUS_CUDA(cuGraphCreate, &graph_, 0);
    for (const link& l : links) {
      const auto node = node_of(l, arguments);
      const CUgraphNode* const before = nodes_.empty() ? nullptr : &nodes_.back();
      CUgraphNode made = nullptr;
      SALTUS_CUDA(cuGraphAddKernelNode, &made, graph_, before, nodes_.empty() ? 0 : 1, &node);
      nodes_.push_back(made);
    }
    SALTUS_CUDA(cuGraphInstantiate, &chain_, graph_, 0);
  }
  void forget() {
    if (chain_ != nullptr) cuGraphExecDestroy(std::exchange(chain_, nullptr));
    if (graph_ != nullptr) cuGraphDestroy(std::exchange(graph_, nullptr));
    nodes_.clear();
  }

  CUgraph graph_ = nullptr;
  CUgraphExec chain_ = nullptr;
  std::vector<CUgraphNode> nodes_;
};

/// A mark in a stream; kind::time also records the device's time at the mark. A thread that sleeps while it waits frees its core, and
/// takes some tens of microseconds to wake up.
class cuda_event {
 public:
  enum class kind { mark, time };
  enum class waiting { awake, asleep };
  cuda_event(kind what, waiting how) {
    SALTUS_CUDA(cuEventCreate, &handle_,
                (what == kind::mark ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT) |
                    (how == waiting::asleep ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT));
  }
  ~cuda_event() {
    if (handle_ != nullptr) cuEventDestroy(handle_);
  }
  cuda_event(cuda_event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  cuda_event& operator=(cuda_event&&) = delete;

  void put_into(const cuda_stream& stream) const { SALTUS_CUDA(cuEventRecord, handle_, stream.handle()); }
  /// Waits until all earlier operations of the stream have finished; does nothing if the event was never put into a
  /// stream.
  void wait() const { SALTUS_CUDA(cuEventSynchronize, handle_); }
  /// Seconds by the device's clock; both events must be of kind::time and have been waited for.
  double seconds_since(const cuda_event& earlier) const {
    float milliseconds = 0;
    SALTUS_CUDA(cuEventElapsedTime, &milliseconds, earlier.handle_, handle_);
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  CUevent handle_ = nullptr;
};

/// Code loaded onto the device in use: a cubin, or PTX, which the driver compiles.
class cuda_module {
 public:
  explicit cuda_module(const std::string& code) { SALTUS_CUDA(cuModuleLoadData, &handle_, code.c_str()); }
  ~cuda_module() { cuModuleUnload(handle_); }
  cuda_module(const cuda_module&) = delete;
  cuda_module& operator=(const cuda_module&) = delete;

  CUfunction kernel(const char* name) const {
    CUfunction f = nullptr;
    SALTUS_CUDA(cuModuleGetFunction, &f, handle_, name);
    return f;
  }
  /// Local memory of a kernel, bytes per thread.
  static std::size_t local_bytes(CUfunction kernel) {
    int bytes = 0;
    SALTUS_CUDA(cuFuncGetAttribute, &bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel);
    return static_cast<std::size_t>(bytes);
  }
  /// Blocks of so many threads that a multiprocessor holds at once.
  static int blocks_at_once(CUfunction kernel, int block) {
    int blocks = 0;
    SALTUS_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, kernel, block, 0);
    return blocks;
  }

 private:
  CUmodule handle_ = nullptr;
};

}  // namespace saltus::host
