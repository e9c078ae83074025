// Modules for CUDA devices: compiled on first use by NVRTC, which needs no device, and kept in the cache beside those
// for CPUs.
#pragma once

#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

/// What the assembler reports of a kernel: numbers per thread.
struct kernel_report {
  std::string name;
  int registers = 0;
  int local_bytes = 0;  ///< stack in local memory, spills included
  int spill_store_bytes = 0, spill_load_bytes = 0;
  int instructions = 0;  ///< in its code, each once
  int warps = 0;         ///< resident_warps(registers)
};

/// One text compiled: some kernels.
struct built_cuda {
  std::string code;                    ///< a cubin, or PTX
  std::string key;                     ///< hex digits: also the name in the cache
  int ptx_of;                          ///< 90: it is PTX of compute_90, for the driver to compile; 0: a cubin
  bool compiled;                       ///< false: it was in the cache
  double seconds;                      ///< of compilation
  std::vector<kernel_report> kernels;  ///< none of PTX
};

/// The kernels of a module (run/cuda.cuh), each text by itself.
struct cuda_module_code {
  built_cuda begin, sail, land;  ///< `begin` has those for single threads, too
  int sailing_warps = 0;         ///< for which the registers of sailing were bounded; 0: they were not
  int candidates = 1;            ///< bounds of sailing that were tried
  double seconds = 0;            ///< until all was compiled; 0: it was in the cache

  const std::string& key() const { return sail.key; }
  std::vector<kernel_report> kernels() const;  ///< begin, sail and land
};

/// Warps that each of the four schedulers of a multiprocessor holds, if nothing but registers limits them.
int resident_warps(int registers);

/// An estimate of what a turn costs, to compare different bounds of one kernel by (docs/cuda.md).
double estimated_cost(const kernel_report& k);

/// The module for a plan on devices of a compute capability (90 for 9.0), compiled on first use; may be called from
/// several threads at once. The registers of sailing are chosen by `estimated_cost` among a few bounds. For devices newer
/// than all that this NVRTC knows it is PTX. Throws `error`: exit_model with the compiler's first complaint if it does not
/// compile, exit_device if the device is older than all that this NVRTC knows.
cuda_module_code build_cuda_module(const plan& p, int capability);

/// Its sailing kernel alone, its registers chosen.
cuda_module_code build_sailing(const plan& p, int capability);

/// The module of statistics (statistics/cuda.cuh), the same for all models; likewise.
built_cuda build_statistics_module(int capability);

/// "NVRTC 13.0", and 13000.
std::string nvrtc_version();
int nvrtc_cuda_version();
/// "12.8" of 12080.
std::string cuda_version_text(int version);

}  // namespace saltus::host
