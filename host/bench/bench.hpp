// saltus bench: the speed of a model or a spec on one backend or several, and the growth of throughput with the number
// of instances. Nothing here writes to stdout: results are data, and text or JSON on request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "base/json.hpp"
#include "bench/compare.hpp"
#include "bench/flops.hpp"
#include "bench/growth_with_n.hpp"
#include "bench/options.hpp"
#include "bench/spread.hpp"
#include "ensemble/launches.hpp"
#include "ensemble/tally.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// One run of the ensemble.
struct bench_round {
  double end_to_end = 0;  ///< seconds, without compilation
  double kernel = 0;      ///< seconds of these with a chunk in the backend
  double chunks = 0;      ///< summed over chunks
  std::optional<double> joules;
};

/// The measurements of one backend.
struct bench_result {
  std::string backend, device;
  double compile_seconds = 0;
  int lanes = 1, threads = 1;
  double peak = 0;  ///< peak operations per second of the hardware used; 0: unknown
  std::vector<bench_round> rounds;
  tally counts;
  abi::usage usage{};
  std::int64_t bytes = 0;
  std::optional<operations> flops;
  std::optional<launches> launched;  ///< of one more run, if asked for
  std::optional<difference> against_first;

  spread end_to_end() const;
  spread kernel() const;
  /// Fraction of the peak reached while chunks were in the backend.
  std::optional<double> of_peak() const;
  std::optional<double> joules() const;
};

struct bench_report {
  plan measured;  ///< as it ran on the first backend
  std::vector<bench_result> results;
  std::vector<growth_curve> curves;  ///< if asked for
};

/// Measures. If `stop` is set, finished measurements stay. Throws `error`: exit_usage for invalid options,
/// exit_interrupted if no round has ended.
bench_report bench(const bench_options& options, const cancellation& stop);

/// The report as a table, and as one object.
std::string text_of(const bench_report& report);
json json_of(const bench_report& report);

/// Do the inputs of the plan's instances differ?
inline bool has_varied_inputs(const plan& p) { return !p.axes.empty() || !p.random.empty(); }

/// Names of backends from the user's text. Throws `error` (exit_usage).
std::vector<std::string> backends_of(const std::string& typed);

}  // namespace saltus::host
