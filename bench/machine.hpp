// The machine of a measurement: its description, its load, and its peak rate of multiply-adds.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "number/pack.hpp"

namespace saltus::bench {

/// Processor time of the whole process, in seconds. Unlike wall time it excludes other programs.
inline double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processors that this process may use.
inline int processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

inline std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

/// Processes that ran or waited for a processor, averaged over the last minute.
inline double load() {
  double averages[1] = {0};
  return ::getloadavg(averages, 1) == 1 ? averages[0] : 0;
}

inline std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

#if defined(__AVX512F__)
inline constexpr int widest = 8;
#elif defined(__AVX2__)
inline constexpr int widest = 4;
#else
inline constexpr int widest = 2;
#endif

/// FP64 operations per second of one thread, by multiply-adds (two operations each) in 16 independent chains, which is more
/// than any processor needs to hide the latency.
inline double peak_flops() {
  constexpr int chains = 16, turns = 4'000'000;
  using Real = pack<double, widest>;
  Real x[chains];
  Real factor(0.999), term(1e-3);
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  static_for<chains>([&](auto i) { x[i] = Real(1.0 + i); });
  const double begin = cpu_seconds();
  for (int turn = 0; turn < turns; ++turn) static_for<chains>([&](auto i) { x[i] = fma(x[i], factor, term); });
  const double seconds = cpu_seconds() - begin;
  Real sum(0.0);  // x itself stays in registers because its address is not taken
  static_for<chains>([&](auto i) { sum = sum + x[i]; });
  benchmark::DoNotOptimize(sum);
  return 2.0 * widest * chains * turns / seconds;
}

}  // namespace saltus::bench
