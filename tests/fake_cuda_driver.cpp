#include "fake_cuda_driver.hpp"

#include <cstdlib>
#include <cstring>

namespace {

using saltus::test::the_fake_cuda;

CUresult answer(const char* call) { return the_fake_cuda().failing == call ? the_fake_cuda().failure : CUDA_SUCCESS; }
void*    at(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return answer("cuInit"); }
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
  *count = 1;
  return answer("cuDeviceGetCount");
}
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return answer("cuDeviceGet");
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "fake device", static_cast<std::size_t>(size));
  return answer("cuDeviceGetName");
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT   ? 1
                                                                 : 0;
  return answer("cuDeviceGetAttribute");
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = nullptr;
  return answer("cuDevicePrimaryCtxRetain");
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return answer("cuCtxSetCurrent"); }

CUresult cuMemGetInfo(std::size_t* left, std::size_t* all) {
  *left = *all = the_fake_cuda().memory;
  return answer("cuMemGetInfo");
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (const CUresult r = answer("cuMemAlloc"); r != CUDA_SUCCESS) return r;
  void* block = std::malloc(bytes);
  std::memset(block, 0x5a, bytes);  // as good as any: a device presets nothing
  *address = reinterpret_cast<CUdeviceptr>(block);
  ++the_fake_cuda().blocks_held;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  std::free(at(address));
  --the_fake_cuda().blocks_held;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = nullptr;
  return answer("cuStreamCreate");
}
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { return answer("cuStreamSynchronize"); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  std::memcpy(at(to), from, bytes);
  return answer("cuMemcpyHtoDAsync");
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::memcpy(to, at(from), bytes);
  return answer("cuMemcpyDtoHAsync");
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  std::memcpy(at(to), at(from), bytes);
  return answer("cuMemcpyDtoDAsync");
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  std::memset(at(to), value, bytes);
  return answer("cuMemsetD8Async");
}

CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = nullptr;
  return answer("cuModuleLoadData");
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = reinterpret_cast<CUfunction>(const_cast<char*>(name));  // names are literals
  return answer("cuModuleGetFunction");
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
  *blocks = 1;
  return answer("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
CUresult cuLaunchKernel(CUfunction kernel, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                        unsigned, CUstream, void** arguments, void**) {
  if (const CUresult r = answer("cuLaunchKernel"); r != CUDA_SUCCESS) return r;
  the_fake_cuda().run_kernel(reinterpret_cast<const char*>(kernel), static_cast<int>(blocks * threads), arguments);
  return CUDA_SUCCESS;
}

}  // extern "C"
