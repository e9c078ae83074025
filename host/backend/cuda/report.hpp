// What the compiler says of a plan's kernels for a CUDA device, which need not be there.
#pragma once

#include <string>

#include "compile/nvrtc.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

struct cuda_report {
  std::string compiler;                ///< "NVRTC 13.0"
  int capability;                      ///< 90 for 9.0
  double seconds;                      ///< of compilation; 0: it was in the cache
  int sailing_warps;                   ///< for which the registers of sailing were bounded; 0: they were not
  int candidates;                      ///< bounds that were tried for it
  int ptx_of;                          ///< 90: PTX of compute_90, as no code for this is known; 0: code
  std::vector<kernel_report> kernels;  ///< begin, sail and land; none of PTX
};

/// Compiles the plan's kernels, or finds them in the cache, by way of a plug-in library that links NVRTC. `architecture`
/// is such as "sm_90". Throws `error`: exit_usage if it is not, exit_device if there is no such library, else as
/// `build_cuda_module`.
cuda_report report_on_cuda(const plan& p, const std::string& architecture);

}  // namespace saltus::host
