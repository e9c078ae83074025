// Runs a plan: chunks of instances pass through a pipeline of sampler, backend, fallback integrators (rescue.hpp) and
// writer. Only a few chunks are in memory at once, so the number of instances is limited by the disk alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/indices.hpp"
#include "ensemble/kept_chunks.hpp"
#include "ensemble/run_statistics.hpp"
#include "ensemble/tally.hpp"

namespace saltus::host {

/// The work of one of several backends.
struct part_of_run {
  std::string device;
  std::int64_t instances = 0, chunks = 0;
  double chunk_seconds = 0;  ///< during which it had chunks, summed over concurrent chunks
};

struct run_summary {
  std::int64_t instances = 0;  ///< of the plan, or those that this run took
  tally counts;
  std::int64_t not_read = 0;    ///< kept instances that were not read before the run was stopped
  host::statistics statistics;  ///< if the plan asks for them
  sensitivity_indices indices;  ///< likewise
  abi::usage usage{};
  /// wall time of integration, without compilation except that of fallback integrators
  double wall_seconds = 0;
  /// part of wall_seconds, for the stiff method of auto; 0: not needed, or in the cache
  double stiff_compile_seconds = 0;
  double rescue_compile_seconds = 0;  ///< part of wall_seconds, for rescue; likewise
  std::vector<part_of_run> parts;     ///< one, unless several backends share the queue
  bool interrupted = false;
  std::string trouble;  ///< message of an exception that a model threw; empty: none did
  std::string crash;    ///< how the model crashed and ended the run; empty: it did not

  double kernel_seconds = 0;  ///< during which at least one chunk was in the backend
  double chunk_seconds = 0;   ///< in the backend, summed over chunks: more than kernel_seconds if several run at once
  std::int64_t bytes = 0;     ///< of columns moved to the backend and from it
};

/// Adds the summary of a continued run with more instances.
void add(run_summary& sum, const run_summary& more);

/// Functions that a run calls while it goes on, from some thread.
struct ensemble_calls {
  /// Receives each chunk when it has ended, and the counts of its instances; a kept chunk without rows has counts alone.
  /// In any order, one at a time.
  std::function<void(const chunk_data&, const tally&)> write = [](const chunk_data&, const tally&) {};
  /// Receives the number of instances that have ended since its last call.
  std::function<void(std::int64_t)> progress = [](std::int64_t) {};
  /// Instances that it has are not integrated again; if it names a source of instances, only those are integrated; and
  /// chunks that end are given to it before they are written. Null: there is none.
  kept_chunks* kept = nullptr;
  /// Called when all instances have ended; may double the samples of the plan (double_samples), and returns whether it
  /// has: these are then run.
  std::function<bool(const sensitivity_indices&)> grow = {};
};

/// Runs every instance of the plan. Cancelling `stop` ends the run early: chunks that were not begun are not written, and
/// their instances count as not_run. Fallback integrators run beside the backend, on other threads of the host if there
/// are any. Checks that every instance is ok, rescued, failed or not finished.
run_summary run_ensemble(const plan& p, backend& where, const cancellation& stop, const ensemble_calls& calls = {});

}  // namespace saltus::host
