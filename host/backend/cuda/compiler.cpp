// The plug-in library that compiles units for CUDA devices without one: it links NVRTC, but no driver.
#include "backend/cuda/plugin.hpp"
#include "backend/cuda/report.hpp"

#pragma GCC visibility push(default)
extern "C" {

const char* saltus_cuda_version() { return SALTUS_VERSION; }

void saltus_cuda_report(const saltus::host::plan& p, int capability, saltus::host::cuda_report& report) {
  const auto unit = saltus::host::build_cuda_unit(p, capability);
  report = {saltus::host::nvrtc_version(),
            capability,
            unit.seconds,
            unit.sailing_warps,
            unit.candidates,
            unit.sail.ptx_of,
            unit.kernels()};
}

}  // extern "C"
#pragma GCC visibility pop
