// What a plan will do and what it will cost, before it is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "spec/plan.hpp"
#include "study/cost.hpp"

namespace saltus::host {

/// What was found by compiling the plan and running a pilot of it.
struct pilot_report {
  std::string device, model_hash;
  double compile_seconds = 0;  ///< 0: it was in the cache
  std::int64_t chunk_size = 0;
  prediction cost;
  std::int64_t memory_bytes = 0;      ///< of chunks
  estimate file_bytes;                ///< of the result file; 0: there is none
  std::vector<std::string> remarks;   ///< what was odd about guards
  std::vector<std::string> failures;  ///< how many of those tried ended badly, and how
};

struct check_report {
  std::int64_t result_bytes = 0;  ///< of the result file without compression and event log
  std::int64_t free_bytes = -1;   ///< where that is to be written; -1: not known
  bool fits = true;               ///< as far as is known
  std::optional<pilot_report> pilot;
};

/// Predicts by a pilot of about `pilot_seconds`; 0: compiles nothing, integrates nothing. Throws `error`.
check_report check(const plan& p, double pilot_seconds, const cancellation& stop = {});

}  // namespace saltus::host
