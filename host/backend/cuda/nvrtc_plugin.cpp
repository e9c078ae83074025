// The plug-in library that compiles modules for CUDA devices without a device: it links NVRTC, but no driver.
#include "backend/cuda/cuda_report.hpp"
#include "backend/cuda/plugin.hpp"

#pragma GCC visibility push(default)
extern "C" {

const char* saltus_cuda_version() { return SALTUS_VERSION; }

void saltus_cuda_report(const saltus::host::plan& p, int capability, saltus::host::cuda_report& report) {
  const auto module = saltus::host::build_cuda_module(p, capability);
  report = {saltus::host::nvrtc_version(),
            capability,
            module.seconds,
            module.sailing_warps,
            module.candidates,
            module.sail.ptx_of,
            module.kernels()};
}

}  // extern "C"
#pragma GCC visibility pop
