// Peak throughput of devices, from their documents.
#pragma once

#include "spec/spec_choices.hpp"

namespace saltus::host {

/// Multiply-adds that a multiprocessor of a CUDA device can issue per clock (CUDA C++ Programming Guide, table
/// "Throughput of Native Arithmetic Instructions"); 0 for a capability that is not in the table. `capability`: 90 for
/// 9.0.
inline int cuda_fma_per_clock(int capability, precision_kind precision) {
  struct row {
    int capability, fp64, fp32;
  };
  constexpr row table[] = {{50, 4, 128}, {52, 4, 128},  {53, 4, 128},   {60, 32, 64}, {61, 4, 128}, {62, 4, 128},
                           {70, 32, 64}, {72, 32, 64},  {75, 2, 64},    {80, 32, 64}, {86, 2, 128}, {87, 2, 128},
                           {89, 2, 128}, {90, 64, 128}, {100, 64, 128}, {120, 2, 128}};
  for (const row& r : table)
    if (r.capability == capability) return precision == precision_kind::single_precision ? r.fp32 : r.fp64;
  return 0;
}

}  // namespace saltus::host
