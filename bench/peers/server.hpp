// Protocol between bench/beside and a program that measures: one line for a request, one line for the answer.
//
//     RTOL SECONDS STATES TABLE
//     {"us": 12.3, "wall": 12.4, "steps": 150.2, "failed": 0, "rescued": 0, "flops": 0, "events": [3, ...],
//      "y": [[...], ...]}
//
// RTOL is the relative tolerance; TABLE is a CSV file with one instance per row. The whole table is solved as often as
// SECONDS of processor time allow, but at least once. `us` is the processor time per instance in microseconds, `wall` the
// wall time, `steps` the mean number of trial steps, `flops` the mean number of floating-point operations if counted.
// With STATES = 1 the answer has the number of events and the final states of each instance; failed instances have null
// instead.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

/// Processor time of this process, in seconds.
inline double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct request {
  double rtol, seconds;
  bool states;
  std::string table;
};

struct answer {
  double us = 0, wall = 0, steps = 0, flops = 0;
  long long failed = 0, rescued = 0;
  std::vector<long> events{};
  std::vector<std::vector<double>> y{};  ///< empty: the instance failed
};

/// Processor time and wall time since construction.
class stopwatch {
 public:
  double cpu() const { return cpu_seconds() - cpu_; }
  double wall() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(); }

 private:
  double cpu_ = cpu_seconds();
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
};

/// The numbers of a CSV file, below its header.
inline std::vector<std::vector<double>> read_table(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error("cannot read " + path);
  std::vector<std::vector<double>> rows;
  while (std::getline(in, line)) {
    std::vector<double> row;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');) row.push_back(std::stod(word));
    rows.push_back(std::move(row));
  }
  return rows;
}

inline void print(const answer& a) {
  std::printf("{\"us\": %.6g, \"wall\": %.6g, \"steps\": %.6g, \"failed\": %lld, \"rescued\": %lld, \"flops\": %.6g, ",
              a.us, a.wall, a.steps, a.failed, a.rescued, a.flops);
  std::printf("\"events\": [");
  for (std::size_t i = 0; i < a.events.size(); ++i) std::printf(i ? ", %ld" : "%ld", a.events[i]);
  std::printf("], \"y\": [");
  for (std::size_t i = 0; i < a.y.size(); ++i) {
    std::printf(i ? ", " : "");
    if (a.y[i].empty()) std::printf("null");
    for (std::size_t k = 0; k < a.y[i].size(); ++k) std::printf(k ? ", %.17g" : "[%.17g", a.y[i][k]);
    if (!a.y[i].empty()) std::printf("]");
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

/// Answers requests from stdin until end of file.
template <class Measure>
void serve(Measure&& measure) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    request r;
    if (!(in >> r.rtol >> r.seconds >> r.states >> std::ws) || !std::getline(in, r.table))
      throw std::runtime_error("not a request: " + line);
    print(measure(r));
  }
}

/// Answers requests about a problem with a solver that integrates one instance at a time:
///     solver.set_tolerance(rtol)
///     steps = solver.solve(parameters, final states, number of events)    -1 for a failure
template <class Problem, class Solver>
void serve_instances(Solver& solver) {
  serve([&](const request& r) {
    const auto rows = read_table(r.table);
    std::vector<double> y(rows.size() * Problem::outputs);
    std::vector<long> steps(rows.size()), events(rows.size());
    for (const auto& row : rows)
      if (row.size() != Problem::parameters) throw std::runtime_error(r.table + ": another number of columns");
    solver.set_tolerance(r.rtol);
    const stopwatch time;
    int passes = 0;
    do {
      for (std::size_t i = 0; i < rows.size(); ++i)
        steps[i] = solver.solve(rows[i].data(), &y[i * Problem::outputs], events[i]);
      ++passes;
    } while (time.cpu() < r.seconds);
    const auto n = static_cast<double>(rows.size());
    answer a;
    a.us = 1e6 * time.cpu() / passes / n;
    a.wall = 1e6 * time.wall() / passes / n;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* first = &y[i * Problem::outputs];
      const bool ok =
          steps[i] >= 0 && std::all_of(first, first + Problem::outputs, [](double v) { return std::isfinite(v); });
      a.failed += !ok;
      a.steps += static_cast<double>(std::max(steps[i], 0L)) / n;
      if (r.states) a.y.emplace_back(first, ok ? first + Problem::outputs : first);
    }
    if (r.states) a.events = std::move(events);
    return a;
  });
}

/// The numbers of a list like "1e-3,1e-7".
inline std::vector<double> numbers(const std::string& list) {
  std::vector<double> all;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) all.push_back(std::stod(word));
  return all;
}

#if defined(__clang__)
inline constexpr const char* compiler = "clang " __clang_version__;
#else
inline constexpr const char* compiler = "GCC " __VERSION__;
#endif

/// Body of a program's main; exceptions become error messages.
template <class Run>
int guarded(const char* name, Run&& run) {
  try {
    run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return 1;
  }
}

}  // namespace peers
