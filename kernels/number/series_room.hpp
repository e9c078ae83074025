// What computations over truncated series keep (number/jet.hpp), apart from them: a module states it of its model.
#pragma once

namespace saltus {

/// What is kept from one order to the next: series with all their coefficients, and single numbers.
struct series_room {
  int series, numbers;
};

/// Up to so much of both that a model keeps beside its arguments, the orders are unrolled: sums have as many terms as the order, and
/// need no loop. On a device what is kept lies in local memory either way.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
inline constexpr int max_unrolled_series = 0;
#else
inline constexpr int max_unrolled_series = 64;
#endif

}  // namespace saltus
