#include "testing/fake_cuda_driver.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "abi/device.hpp"

namespace {

using saltus::test::fake_cuda_done;
using saltus::test::the_fake_cuda;

CUresult answer(const char* call) {
  auto& fake = the_fake_cuda();
  if (fake.failing != call || fake.fails == 0) return CUDA_SUCCESS;
  if (fake.fails > 0) --fake.fails;
  return fake.failure;
}
/// Counts the processor time of its scope as the device's.
class device_time {
 public:
  ~device_time() { fake_cuda_done().nanoseconds += now() - begin_; }

 private:
  static long long now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1'000'000'000LL * t.tv_sec + t.tv_nsec;
  }
  long long begin_ = now();
};

void* at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// A copy that has not been done yet.
struct copy {
  void* to;
  const void* from;
  std::size_t bytes;
};
/// Copies put into a stream; `done` of them have been done.
struct stream {
  std::deque<copy> waiting;
  long put = 0, done = 0;

  void happen(long until) {
    if (done >= until || waiting.empty()) return;
    const device_time here;
    for (; done < until && !waiting.empty(); ++done) {
      std::memcpy(waiting.front().to, waiting.front().from, waiting.front().bytes);
      waiting.pop_front();
    }
  }
  void happen() { happen(put); }
};
/// A position behind the copies of a stream.
struct event {
  stream* where = nullptr;
  long behind = 0;
  bool is_time = false;
  double seconds = 0;
};
stream& of(CUstream handle) { return *reinterpret_cast<stream*>(handle); }
event& of(CUevent handle) { return *reinterpret_cast<event*>(handle); }

/// Pinned memory: the end of each block.
std::mutex pinned_mutex;
std::map<const char*, const char*> pinned;
bool is_pinned(const void* address) {
  const std::lock_guard lock(pinned_mutex);
  const auto* p = static_cast<const char*>(address);
  auto i = pinned.upper_bound(p);
  return i != pinned.begin() && p < std::prev(i)->second;
}

void put(stream& s, void* to, const void* from, std::size_t bytes, bool later) {
  (later ? fake_cuda_done().pinned_bytes : fake_cuda_done().pageable_bytes) += static_cast<long long>(bytes);
  s.waiting.push_back({to, from, bytes});
  s.put += 1;
  if (!later) s.happen();
}

/// The device whose context the thread uses.
thread_local int device_in_use = 0;

/// Device memory: the bytes of each block and its device, and the local memory taken at the first launch.
constexpr int threads_per_multiprocessor = 2048;
struct block {
  std::size_t bytes;
  int device;
};
std::mutex memory_mutex;
std::map<CUdeviceptr, block> blocks;
std::size_t local_memory[2] = {};
int contexts[2] = {};  ///< number of retains of each
std::size_t held(int device) {
  std::size_t sum = local_memory[device];
  for (const auto& [address, b] : blocks) sum += b.device == device ? b.bytes : 0;
  return sum;
}
/// True if there is room for that many more bytes.
bool has_room(std::size_t bytes) {
  const std::size_t used = held(device_in_use);
  return used <= the_fake_cuda().memory && bytes <= the_fake_cuda().memory - used;
}

bool is_device_memory(std::uint64_t address) {
  const std::lock_guard lock(memory_mutex);
  const auto i = blocks.upper_bound(address);
  return i != blocks.begin() && address < std::prev(i)->first + std::max<std::size_t>(std::prev(i)->second.bytes, 1);
}
/// True if an address belongs to this process, but not to a device: a kernel that reads there ends a real run.
bool is_host_memory(std::uint64_t address) {
  constexpr std::uint64_t page = 4096, end = std::uint64_t{1} << 47;
  unsigned char resident = 0;
  return address >= page && address < end && !is_device_memory(address) &&
         mincore(reinterpret_cast<void*>(address / page * page), page, &resident) == 0;
}
/// The first word of a kernel's argument that is an address of the host; -1: none is.
template <class Argument>
std::ptrdiff_t word_of_host(const void* argument) {
  std::uint64_t words[sizeof(Argument) / sizeof(std::uint64_t)];
  std::memcpy(words, argument, sizeof words);
  const auto* const found = std::find_if(std::begin(words), std::end(words), is_host_memory);
  return found == std::end(words) ? -1 : found - words;
}
std::ptrdiff_t word_of_host(std::string_view kernel, void** arguments) {
  if (kernel == "saltus_tolerances") return word_of_host<saltus::abi::settings>(arguments[0]);
  for (const char* name : {"saltus_begin", "saltus_sail", "saltus_land_quickly", "saltus_land", "saltus_turn_over"})
    if (kernel == name) return word_of_host<saltus::abi::device_chunk>(arguments[0]);
  return -1;
}

/// A kernel of a graph and its arguments, of which the chunk is copied: the code under test may change its own.
struct node_of_chain {
  CUDA_KERNEL_NODE_PARAMS what;
  saltus::abi::device_chunk chunk;
  void* tolerances;

  explicit node_of_chain(const CUDA_KERNEL_NODE_PARAMS& of)
      : what(of), chunk(*static_cast<saltus::abi::device_chunk*>(of.kernelParams[0])), tolerances(of.kernelParams[1]) {}
};
/// A graph whose kernels follow each other, before and after it is made executable.
struct chain {
  std::vector<node_of_chain> nodes;
};
CUgraphNode handle_of(std::size_t node) { return reinterpret_cast<CUgraphNode>(node); }

/// Loaded code, and its kernels.
struct module {
  struct kernel {
    std::string name;
    const module* from;
    kernel(const char* called, const module* of) : name(called), from(of) {}
    void run(int threads, void** arguments) const {
      (from->runner ? from->runner : the_fake_cuda().run_kernel)(name, threads, arguments);
    }
  };
  saltus::test::fake_cuda::kernel_runner runner;
  std::deque<kernel> kernels;
};
const module::kernel& of(CUfunction handle) { return *reinterpret_cast<const module::kernel*>(handle); }

/// Computing time of the streams of a device so far.
std::mutex clock_mutex;
double device_seconds = 0;

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return answer("cuInit"); }
CUresult cuDriverGetVersion(int* version) {
  *version = the_fake_cuda().version;
  return answer("cuDriverGetVersion");
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == CUDA_ERROR_NO_DEVICE   ? "CUDA_ERROR_NO_DEVICE"
                                            : nullptr;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "as the test wants";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = the_fake_cuda().devices;
  return answer("cuDeviceGetCount");
}
CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return number < the_fake_cuda().devices ? answer("cuDeviceGet") : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  std::strncpy(name, device == 0 ? "fake device" : "other fake device", static_cast<std::size_t>(size));
  return answer("cuDeviceGetName");
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR         ? the_fake_cuda().capability / 10
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR       ? the_fake_cuda().capability % 10
           : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT           ? the_fake_cuda().multiprocessors
           : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? threads_per_multiprocessor
                                                                         : 0;
  return answer("cuDeviceGetAttribute");
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned) { return answer("cuDevicePrimaryCtxSetFlags"); }
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::intptr_t>(device + 1));
  const std::lock_guard lock(memory_mutex);
  ++contexts[device];
  return answer("cuDevicePrimaryCtxRetain");
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  const std::lock_guard lock(memory_mutex);
  if (--contexts[device] == 0) local_memory[device] = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (context != nullptr) device_in_use = static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1;
  return answer("cuCtxSetCurrent");
}

CUresult cuMemGetInfo(std::size_t* left, std::size_t* all) {
  const std::lock_guard lock(memory_mutex);
  *all = the_fake_cuda().memory;
  *left = *all - std::min(*all, held(device_in_use));
  return answer("cuMemGetInfo");
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (const CUresult r = answer("cuMemAlloc"); r != CUDA_SUCCESS) return r;
  const std::lock_guard lock(memory_mutex);
  if (!has_room(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  void* start = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(start, 0x5a, bytes);  // an arbitrary value: a device initialises nothing
  *address = reinterpret_cast<CUdeviceptr>(start);
  blocks[*address] = {bytes, device_in_use};
  ++fake_cuda_done().blocks_held;
  fake_cuda_done().bytes_held += static_cast<long long>(bytes);
  ++fake_cuda_done().allocations;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  const std::lock_guard lock(memory_mutex);
  fake_cuda_done().bytes_held -= static_cast<long long>(blocks.at(address).bytes);
  blocks.erase(address);
  std::free(at(address));
  --fake_cuda_done().blocks_held;
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  if (const CUresult r = answer("cuMemHostAlloc"); r != CUDA_SUCCESS) return r;
  *address = std::malloc(bytes);
  const std::lock_guard lock(pinned_mutex);
  pinned[static_cast<char*>(*address)] = static_cast<char*>(*address) + bytes;
  ++fake_cuda_done().blocks_held;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* address) {
  const std::lock_guard lock(pinned_mutex);
  pinned.erase(static_cast<char*>(address));
  std::free(address);
  --fake_cuda_done().blocks_held;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return answer("cuCtxGetStreamPriorityRange");
}
CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned, int priority) {
  *handle = reinterpret_cast<CUstream>(new stream);
  return priority <= 0 && priority >= -5 ? answer("cuStreamCreateWithPriority") : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuStreamDestroy(CUstream handle) {
  delete &of(handle);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream handle) {
  of(handle).happen();
  return answer("cuStreamSynchronize");
}
CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  *handle = reinterpret_cast<CUevent>(new event{.is_time = (flags & CU_EVENT_DISABLE_TIMING) == 0});
  return answer("cuEventCreate");
}
CUresult cuEventDestroy(CUevent handle) {
  delete &of(handle);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent handle, CUstream where) {
  const std::lock_guard lock(clock_mutex);
  event& e = of(handle);
  e.where = &of(where), e.behind = of(where).put, e.seconds = device_seconds;
  return answer("cuEventRecord");
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  if (!of(begin).is_time || !of(end).is_time) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = static_cast<float>(1e3 * (of(end).seconds - of(begin).seconds));
  return answer("cuEventElapsedTime");
}
CUresult cuEventSynchronize(CUevent handle) {
  if (event& e = of(handle); e.where) e.where->happen(e.behind);
  return answer("cuEventSynchronize");
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream where) {
  fake_cuda_done().up_bytes += static_cast<long long>(bytes);
  put(of(where), at(to), from, bytes, is_pinned(from));
  return answer("cuMemcpyHtoDAsync");
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream where) {
  put(of(where), to, at(from), bytes, is_pinned(to));
  return answer("cuMemcpyDtoHAsync");
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream where) {
  of(where).happen();
  std::memcpy(at(to), at(from), bytes);
  return answer("cuMemcpyDtoDAsync");
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream where) {
  of(where).happen();
  const device_time here;
  std::memset(at(to), value, bytes);
  return answer("cuMemsetD8Async");
}

CUresult cuModuleLoadData(CUmodule* handle, const void* code) {
  const auto* const text = static_cast<const char*>(code);
  const auto& kernels_of = the_fake_cuda().kernels_of;
  *handle = reinterpret_cast<CUmodule>(new module{kernels_of ? kernels_of(text) : nullptr, {}});
  if (std::strncmp(text, "\177ELF", 4) != 0) ++fake_cuda_done().ptx_modules;
  return answer("cuModuleLoadData");
}
CUresult cuModuleUnload(CUmodule handle) {
  delete reinterpret_cast<module*>(handle);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  auto& from = *reinterpret_cast<module*>(handle);
  *function = reinterpret_cast<CUfunction>(&from.kernels.emplace_back(name, &from));
  return answer("cuModuleGetFunction");
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction) {
  *value = which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? the_fake_cuda().local_bytes : 0;
  return answer("cuFuncGetAttribute");
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
  *blocks = the_fake_cuda().blocks_per_multiprocessor;
  return answer("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
CUresult cuLaunchKernel(CUfunction kernel, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                        unsigned, CUstream where, void** arguments, void**) {
  if (const CUresult r = answer("cuLaunchKernel"); r != CUDA_SUCCESS) return r;
  {
    // The driver reserves local memory for all threads that the device can hold, and never releases it.
    const std::lock_guard lock(memory_mutex);
    std::size_t& local = local_memory[device_in_use];
    const std::string& name = of(kernel).name;
    const bool is_used = name != "saltus_describe" && name != "saltus_tolerances";
    const std::size_t wanted =
        is_used ? static_cast<std::size_t>(the_fake_cuda().local_bytes) * threads_per_multiprocessor : 0;
    if (wanted > local && !has_room(wanted - local)) return CUDA_ERROR_OUT_OF_MEMORY;
    local = std::max(local, wanted);
  }
  of(where).happen();
  {
    const std::lock_guard lock(clock_mutex);
    device_seconds += the_fake_cuda().seconds_per_launch;
  }
  ++fake_cuda_done().launches[device_in_use];
  if (const auto word = word_of_host(of(kernel).name, arguments); word >= 0) {
    std::fprintf(stderr, "%s: word %td of its first argument is an address of the host\n", of(kernel).name.c_str(),
                 word);
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  const device_time here;
  of(kernel).run(static_cast<int>(blocks * threads), arguments);
  return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  *graph = reinterpret_cast<CUgraph>(new chain);
  return answer("cuGraphCreate");
}
CUresult cuGraphAddKernelNode(CUgraphNode* made, CUgraph graph, const CUgraphNode* before, std::size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* what) {
  auto& nodes = reinterpret_cast<chain*>(graph)->nodes;
  if (count != (nodes.empty() ? 0 : 1) || (count == 1 && *before != handle_of(nodes.size())))
    return CUDA_ERROR_INVALID_VALUE;  // no chain
  nodes.emplace_back(*what);
  *made = handle_of(nodes.size());
  return answer("cuGraphAddKernelNode");
}
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  *executable = reinterpret_cast<CUgraphExec>(new chain(*reinterpret_cast<chain*>(graph)));
  return answer("cuGraphInstantiate");
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* what) {
  reinterpret_cast<chain*>(executable)->nodes.at(reinterpret_cast<std::size_t>(node) - 1) = node_of_chain(*what);
  return answer("cuGraphExecKernelNodeSetParams");
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream where) {
  if (const CUresult r = answer("cuGraphLaunch"); r != CUDA_SUCCESS) return r;
  for (node_of_chain& n : reinterpret_cast<chain*>(executable)->nodes) {
    void* arguments[] = {&n.chunk, n.tolerances};
    if (const CUresult r =
            cuLaunchKernel(n.what.func, n.what.gridDimX, 1, 1, n.what.blockDimX, 1, 1, 0, where, arguments, nullptr);
        r != CUDA_SUCCESS)
      return r;
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  delete reinterpret_cast<chain*>(executable);
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<chain*>(graph);
  return CUDA_SUCCESS;
}

}  // extern "C"
