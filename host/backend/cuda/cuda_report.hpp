// The compiler's report on a plan's kernels for a CUDA device, which need not be present.
#pragma once

#include <string>

#include "compile/nvrtc.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

struct cuda_report {
  std::string compiler;                ///< "NVRTC 13.0"
  int capability;                      ///< 90 for 9.0
  double seconds;                      ///< of compilation; 0: it was in the cache
  int sailing_warps;                   ///< number of warps for which the registers of sailing were bounded; 0: no bound
  int candidates;                      ///< number of bounds that were tried
  int ptx_of;                          ///< 90: PTX of compute_90, since NVRTC does not know the device; 0: code
  std::vector<kernel_report> kernels;  ///< begin, sail and land; none for PTX
};

/// Compiles the plan's kernels, or finds them in the cache, with a plug-in library that links NVRTC. `architecture` has
/// the form "sm_90". Throws `error`: exit_usage if it has not, exit_device if there is no such library, else like
/// `build_cuda_module`.
cuda_report report_on_cuda(const plan& p, const std::string& architecture);

}  // namespace saltus::host
