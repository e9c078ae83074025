// Units for CUDA devices: compiled on first use by NVRTC, which needs no device, and kept in the cache beside those for
// CPUs.
#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace saltus::host {

/// What the assembler reports of a kernel: numbers per thread.
struct kernel_report {
  std::string name;
  int         registers         = 0;
  int         local_bytes       = 0;  ///< stack in local memory, spills included
  int         spill_store_bytes = 0, spill_load_bytes = 0;
};

struct built_cuda {
  std::string                cubin;
  std::string                key;       ///< hex digits: also the name in the cache
  bool                       compiled;  ///< false: it was in the cache
  double                     seconds;   ///< of compilation
  std::vector<kernel_report> kernels;
};

/// The unit for a plan on devices of a compute capability (90 for 9.0), compiled on first use; may be called from
/// several threads at once. Throws `error`: exit_model with the compiler's first complaint if it does not compile,
/// exit_device if this NVRTC knows no such device.
built_cuda build_cuda_unit(const plan& p, int capability);

/// "NVRTC 13.0".
std::string nvrtc_version();

}  // namespace saltus::host
