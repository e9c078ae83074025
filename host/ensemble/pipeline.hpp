// From a plan to results: chunks of instances go through sampler, backend, fallback integrators (rescue.hpp) and writer as a
// pipeline. At most a few chunks are in memory at once, so the number of instances is bounded by the disk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/kept_chunks.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"

namespace saltus::host {

/// What one of several backends has done.
struct part_of_run {
  std::string device;
  std::int64_t instances = 0, chunks = 0;
  double chunk_seconds = 0;  ///< in which it had chunks, those at once added up
};

struct run_summary {
  std::int64_t instances = 0;  ///< of the plan, or those of them that were taken
  tally counts;
  std::int64_t not_read =
      0;  ///< of the instances, those that are kept and were not read, as the run was stopped before
  host::statistics statistics;  ///< if the plan asks for them
  sensitivity_indices indices;  ///< likewise
  abi::usage usage{};
  double wall_seconds = 0;            ///< of integration, without compilation but for that of fallback integrators
  double stiff_compile_seconds = 0;   ///< part of it, for the stiff method of auto; 0: not needed, or in the cache
  double rescue_compile_seconds = 0;  ///< part of it, for rescue; likewise
  std::vector<part_of_run> parts;     ///< one, but where several share the queue
  bool interrupted = false;
  std::string trouble;  ///< what a model said that threw; empty: none did
  std::string crash;    ///< how the model crashed, which ended the run; empty: it did not

  double kernel_seconds = 0;  ///< during which any chunk was in the backend
  double chunk_seconds = 0;   ///< in the backend, summed over the chunks: of several at once more than that
  std::int64_t bytes = 0;     ///< of the columns that chunks brought to the backend and took from it
};

/// Of a run that has gone on with more instances.
void add(run_summary& sum, const run_summary& more);

/// Receives a chunk, and what there is to count of its instances: without rows, a chunk that was kept has nothing else.
using chunk_writer = std::function<void(const chunk_data&, const tally&)>;

/// Runs every instance of the plan. `write` receives the chunks as they end, in any order, one at a time (from some
/// thread); `progress` is told of instances that have ended; cancelling `stop` ends the run early, whatever is left: chunks that
/// were not begun are not handed to `write`, and their instances are counted as not_run. Fallback integrators run beside the backend, on other threads of the host if there are
/// any. What `kept` has left is not integrated again, where it takes instances from nothing else is integrated, and what ends is
/// given to it before it is written. `grow` is asked when all have ended: it may make more samples of the plan (double_samples), and
/// returns whether it has; these are run then. Asserts that every instance is ok, rescued, failed or not finished.
run_summary run_ensemble(const plan& p, backend& where, const chunk_writer& write,
                         const std::function<void(std::int64_t)>& progress, const cancellation& stop,
                         kept_chunks* kept = nullptr, const std::function<bool(const sensitivity_indices&)>& grow = {});

}  // namespace saltus::host
