// saltus bench: how fast a model or a spec runs here, on one backend or several; throughput against the number of instances;
// and which method reaches an accuracy fastest.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/energy.hpp"
#include "bench/flops.hpp"
#include "ensemble/pilot.hpp"
#include "ensemble/pipeline.hpp"
#include "ensemble/tally.hpp"
#include "spec/plan.hpp"
#include "spec/spec.hpp"

namespace saltus::host {

struct bench_options {
  std::string backends;  ///< as typed: "cpu,cuda"; empty: the CPU, and a CUDA device if there is one
  int rounds = 5;
  double limit = 60;  ///< seconds after which nothing new is begun
  std::string plot;   ///< file for the chart; empty: none
  bool advise = false;
  std::string methods;  ///< advice is about these alone: "dp5,dop853"; empty: about all there is
  bool json = false, quiet = false;
  std::vector<flag> flags;  ///< of the command line, for the plan
  /// Clocks, for tests that must not depend on the machine: the seconds that a round of a pilot is taken to last, by which
  /// advice is given, and the time of day in seconds. Empty: those of the machine.
  std::function<double(const pilot_round&)> seconds_of_round;
  std::function<double()> now;
  /// The plan of the command line with more flags.
  std::function<plan(const std::vector<flag>&)> make_plan;
};

/// The command. Returns the exit code; throws `error`.
int bench(const bench_options& options, const std::atomic<bool>& stop);

// ------------------------------------------------------------------------------------------------------- its parts

/// The median of some numbers with the lowest and the highest.
struct spread {
  double median = 0, low = 0, high = 0;
};
spread spread_of(std::vector<double> values);

/// How the results of two runs differ; two NaNs do not.
struct difference {
  std::int64_t compared = 0,
               instances = 0;  ///< looked at; with other bits in final states, end, status, steps or events
  double largest = 0;          ///< of final states, |a - b| / max(1, |a|); infinity: only one is finite
};

/// Results of a run, kept to be held against those of others; the first of them if memory would not do.
class kept_results {
 public:
  explicit kept_results(const plan& p);
  void keep(const chunk_data& chunk);
  difference compare(const chunk_data& chunk) const;

 private:
  std::int64_t kept_;
  std::vector<double> final_state_, t_final_;
  std::vector<unsigned char> status_;
  std::vector<long long> steps_, events_;
};

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

/// Names of backends, from what was typed. Throws `error` (exit_usage).
std::vector<std::string> backends_of(const std::string& typed);

/// Throughput against the number of instances.
struct curve_point {
  std::int64_t instances;
  spread rate;  ///< instances per second, end to end
};
struct curve {
  std::string backend, device;
  std::vector<curve_point> points;
};
/// Where the second becomes faster than the first and stays so, by straight lines between the points (in logarithms).
std::optional<double> overtakes(const curve& first, const curve& second);
std::vector<curve> measure_curves(const bench_options& options, const std::vector<std::string>& backends,
                                  const std::atomic<bool>& stop);
/// The curves as an SVG chart.
std::string chart_of(const plan& p, const std::vector<curve>& curves);

int advise(const bench_options& options, const std::atomic<bool>& stop);

}  // namespace saltus::host
