// How bench/stiff asks a program for a measurement, and what it is answered: one line each.
//
//     RTOL SECONDS STATES TABLE
//     {"us": 12.3, "steps": 150.2, "failed": 0, "rescued": 0, "y": [[...], ...]}
//
// RTOL is the relative tolerance; TABLE a CSV file with one instance in each row; the whole table is solved as often as SECONDS
// of processor time allow, once at least. `us` is the processor time per instance in microseconds, `steps` the mean number
// of trial steps. With STATES = 1 the answer has the final states of each instance, null in place of those that failed.
#pragma once

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

/// Time that this process has had a processor for, in seconds.
inline double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct request {
  double      rtol, seconds;
  bool        states;
  std::string table;
};

struct answer {
  double                           us = 0, steps = 0;
  long long                        failed = 0, rescued = 0;
  std::vector<std::vector<double>> y{};  ///< empty: failed
};

/// The numbers of a CSV file, below its header.
inline std::vector<std::vector<double>> read_table(const std::string& path) {
  std::ifstream in(path);
  std::string   line;
  if (!std::getline(in, line)) throw std::runtime_error("cannot read " + path);
  std::vector<std::vector<double>> rows;
  while (std::getline(in, line)) {
    std::vector<double> row;
    std::istringstream  words(line);
    for (std::string word; std::getline(words, word, ',');) row.push_back(std::stod(word));
    rows.push_back(std::move(row));
  }
  return rows;
}

inline void print(const answer& a) {
  std::printf("{\"us\": %.6g, \"steps\": %.6g, \"failed\": %lld, \"rescued\": %lld, \"y\": [", a.us, a.steps, a.failed,
              a.rescued);
  for (std::size_t i = 0; i < a.y.size(); ++i) {
    std::printf(i ? ", " : "");
    if (a.y[i].empty()) std::printf("null");
    for (std::size_t k = 0; k < a.y[i].size(); ++k) std::printf(k ? ", %.17g" : "[%.17g", a.y[i][k]);
    if (!a.y[i].empty()) std::printf("]");
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

/// Answers requests from stdin until it ends.
template <class Measure>
void serve(Measure&& measure) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    request            r;
    if (!(in >> r.rtol >> r.seconds >> r.states >> std::ws) || !std::getline(in, r.table))
      throw std::runtime_error("not a request: " + line);
    print(measure(r));
  }
}

}  // namespace peers
