// Predicts the cost of a plan before it runs; looks at the text of its model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "spec/model.hpp"
#include "spec/plan.hpp"
#include "study/cost.hpp"

namespace saltus::host {

/// Findings from compiling the plan and running a pilot of it.
struct pilot_report {
  std::string device, model_hash;
  double compile_seconds = 0;  ///< 0: the module was in the cache
  std::int64_t chunk_size = 0;
  prediction cost;
  std::int64_t memory_bytes = 0;      ///< of chunks
  estimate file_bytes;                ///< of the result file; 0: there is no file
  std::vector<std::string> remarks;   ///< suspicious guards
  std::vector<std::string> failures;  ///< pilot instances that failed: how many, and how
};

struct check_report {
  std::int64_t result_bytes = 0;  ///< size of the result file without compression and event log
  std::int64_t free_bytes = -1;   ///< free space where it will be written; -1: unknown
  bool fits = true;               ///< as far as known
  std::optional<pilot_report> pilot;
};

/// Predicts by a pilot of about `pilot_seconds`; with 0 nothing is compiled or integrated. Throws `error`.
check_report check(const plan& p, double pilot_seconds, const cancellation& stop = {});

/// Finds probable mistakes in a model without running it. Returns one sentence for each, with file and line if it is in the model's text: divided whole numbers (1/2 is 0),
/// units that read like sentences, names that are listed and never used.
std::vector<std::string> lint(const model& m);

}  // namespace saltus::host
