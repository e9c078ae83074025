// saltus bench: how fast a model or a spec runs here, on one backend or several, and how the throughput grows with the
// number of instances. Nothing here writes to stdout: results are data, and text or JSON if asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "base/json.hpp"
#include "bench/compare.hpp"
#include "bench/flops.hpp"
#include "bench/growth.hpp"
#include "bench/options.hpp"
#include "bench/spread.hpp"
#include "ensemble/tally.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// One run of the ensemble.
struct bench_round {
  double end_to_end = 0;  ///< seconds, without compilation
  double kernel = 0;      ///< of them, some chunk was in the backend
  double chunks = 0;      ///< summed over chunks
  std::optional<double> joules;
};

/// What was measured of one backend.
struct bench_result {
  std::string backend, device;
  double compile_seconds = 0;
  int lanes = 1, threads = 1;
  double peak = 0;  ///< operations per second of what was used; 0: not known
  std::vector<bench_round> rounds;
  tally counts;
  abi::usage usage{};
  std::int64_t bytes = 0;
  std::optional<operations> flops;
  std::optional<difference> against_first;

  spread end_to_end() const;
  spread kernel() const;
  /// Part of the peak that was reached while chunks were in the backend.
  std::optional<double> of_peak() const;
  std::optional<double> joules() const;
};

struct bench_report {
  plan measured;  ///< as it ran on the first backend
  std::vector<bench_result> results;
  std::vector<growth_curve> curves;  ///< if asked for
};

/// Measures. What was measured when `stop` is set stays. Throws `error`: exit_usage for options that make no sense,
/// exit_interrupted if no round has ended.
bench_report bench(const bench_options& options, const cancellation& stop);

/// The report as a table, and as one object.
std::string text_of(const bench_report& report);
json json_of(const bench_report& report);

/// Do the inputs of its instances differ?
inline bool has_varied_inputs(const plan& p) { return !p.axes.empty() || !p.random.empty(); }

/// Names of backends, from what was typed. Throws `error` (exit_usage).
std::vector<std::string> backends_of(const std::string& typed);

}  // namespace saltus::host
