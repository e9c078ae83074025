// Measures durations.
#pragma once

#include <chrono>

namespace saltus::host {

/// This clock is never set back, unlike the time of day.
using monotonic_clock = std::chrono::steady_clock;

inline double seconds_since(monotonic_clock::time_point begin) {
  return std::chrono::duration<double>(monotonic_clock::now() - begin).count();
}

}  // namespace saltus::host
