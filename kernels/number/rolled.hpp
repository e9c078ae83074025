// Attributes for large functions with many callers. On a device such a function is compiled once and its loops stay loops: NVRTC would
// inline it everywhere and unroll every loop of known length, which takes minutes. Other compilers decide for themselves.
#pragma once

#include "number/base.hpp"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SALTUS_FN_CALLED __host__ __device__ __noinline__
#define SALTUS_ROLLED _Pragma("unroll 1")
#else
#define SALTUS_FN_CALLED SALTUS_FN_COLD
#define SALTUS_ROLLED
#endif
