// For what is much code and is called in many places: on a device it is compiled once, and its loops stay loops. NVRTC would inline all
// of it and unroll every loop whose ends it knows, which takes it minutes. Elsewhere compilers decide.
#pragma once

#include "number/base.hpp"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SALTUS_FN_CALLED __host__ __device__ __noinline__
#define SALTUS_ROLLED _Pragma("unroll 1")
#else
#define SALTUS_FN_CALLED SALTUS_FN_COLD
#define SALTUS_ROLLED
#endif
