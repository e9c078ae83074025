// The memory that computations over truncated series need (number/jet.hpp). This header is apart, because a module states the numbers for
// its model.
#pragma once

namespace saltus {

/// Numbers kept from one order to the next: series with all their coefficients, and single numbers.
struct series_room {
  int series, numbers;
};

/// Up to this many of both, beside a model's arguments, the orders are unrolled: sums then have a fixed number of terms and need no loop.
/// On a device the numbers lie in local memory either way.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
inline constexpr int max_unrolled_series = 0;
#else
inline constexpr int max_unrolled_series = 64;
#endif

}  // namespace saltus
