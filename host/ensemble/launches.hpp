// The launches of a device's kernels and their times, for `saltus bench --device-report`.
#pragma once

#include <array>
#include <cstdint>

namespace saltus::host {

/// Sums over all chunks of a device's runs so far.
struct launches {
  static constexpr std::array<const char*, 5> kernels = {"begin", "sail", "land quickly", "land", "turn over"};

  std::array<double, kernels.size()> seconds = {};  ///< by the device's clock; 0 unless they are timed
  std::int64_t rounds = 0;                          ///< launches of each kernel
  std::int64_t worked = 0;                          ///< rounds of these that had anything to do
  std::int64_t looks = 0;                           ///< times that the host has waited for their progress
  double waited = 0;  ///< seconds from the first launch before a look to the last one's end

  void add(const launches& more) { add(more, 1); }
  void subtract(const launches& less) { add(less, -1); }

 private:
  void add(const launches& other, int sign) {
    for (std::size_t k = 0; k < seconds.size(); ++k) seconds[k] += sign * other.seconds[k];
    rounds += sign * other.rounds;
    worked += sign * other.worked;
    looks += sign * other.looks;
    waited += sign * other.waited;
  }
};

}  // namespace saltus::host
