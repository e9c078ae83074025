// Modules for CUDA devices: NVRTC, which needs no device, compiles them on first use; the cache keeps them beside those
// for CPUs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

/// The assembler's report on a kernel: numbers per thread.
struct kernel_report {
  std::string name;
  int registers = 0;
  int local_bytes = 0;  ///< stack in local memory, spills included
  int spill_store_bytes = 0, spill_load_bytes = 0;
  int instructions = 0;  ///< static count in its code
  int warps = 0;         ///< resident_warps(registers)
};

/// The result of compiling one text with some kernels.
struct built_cuda {
  std::string code;                    ///< a cubin, or PTX
  std::string key;                     ///< hex digits: also the name in the cache
  int ptx_of;                          ///< 90: PTX of compute_90, which the driver compiles; 0: a cubin
  bool compiled;                       ///< false: it was in the cache
  double seconds;                      ///< of compilation
  std::vector<kernel_report> kernels;  ///< empty for PTX
};

/// The kernels of a module (run/on_cuda.cuh), compiled in three or four texts.
struct cuda_module_code {
  built_cuda begin, sail, land;     ///< `begin` also has those for single threads
  std::optional<built_cuda> quick;  ///< quick landings, if they pay
  int sailing_warps = 0;  ///< the number of warps for which the registers of sailing were bounded; 0: no bound
  int candidates = 1;     ///< number of register bounds of sailing that were compiled
  double seconds = 0;     ///< until all was compiled; 0: all was in the cache

  const std::string& key() const { return sail.key; }
  std::vector<kernel_report> kernels() const;  ///< begin, sail, quick landings if there are any, and land
};

/// Warps that each of the four schedulers of a multiprocessor holds if registers are the only limit.
int resident_warps(int registers);

/// An estimated cost of one turn, to compare different register bounds of one kernel (docs/cuda.md).
double estimated_cost(const kernel_report& k);

/// The module for a plan on devices of a compute capability (90 for 9.0), compiled on first use; may be called from
/// several threads at once. `estimated_cost` chooses the register bound of sailing among a few. A device newer than any
/// this NVRTC knows gets PTX. Throws `error`: exit_model with the compiler's first complaint if the module does not
/// compile, exit_device if the device is older than any this NVRTC knows.
cuda_module_code build_cuda_module(const plan& p, int capability);

/// The sailing kernel alone, with its register bound chosen.
cuda_module_code build_sailing(const plan& p, int capability);

/// The module of statistics (statistics/cuda_statistics.cuh), the same for all models; compiled and cached in the same way.
built_cuda build_statistics_module(int capability);

/// "NVRTC 13.0", and 13000.
std::string nvrtc_version();
int nvrtc_cuda_version();
/// "12.8" for 12080.
std::string cuda_version_text(int version);

}  // namespace saltus::host
