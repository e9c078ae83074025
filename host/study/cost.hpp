// Predicts the cost of a run: seconds by a pilot, bytes by counting.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/tally.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Bytes of one row of the event log, in memory and in the file.
std::int64_t event_row_bytes(const plan& p);

/// An estimate with its range: two standard errors, and the accuracy of the clock.
struct estimate {
  double value = 0, low = 0, high = 0;
};

/// The numbers of a prediction.
struct predicted_numbers {
  std::int64_t pilot_instances = 0;
  double pilot_seconds = 0;
  bool cut_short = false;        ///< the pilot did not end; seconds are extrapolated from its progress
  estimate seconds;              ///< end to end, without compilation
  double write_seconds = 0;      ///< of one thread, for the result file
  estimate event_rows;           ///< of the event log
  double compression = 1;        ///< of the file: its bytes over the bytes of its numbers, as for the pilot
  std::int64_t pilot_ended = 0;  ///< instances of the last round that ended well
  std::array<std::int64_t, status_count> by_status = {};  ///< of that round: number of instances by status
};
struct prediction : predicted_numbers {
  std::vector<guard_tally> guards;  ///< their history in the pilot's last round
};

/// Runs a pilot of about `seconds` (more, up to ten, if a single vector of instances takes longer). On CPU lanes it
/// runs in a child process, which confines crashes of a model. Throws `error`.
prediction predict(const plan& p, backend& where, double seconds, const cancellation& stop);

/// Bytes of memory for the chunks that exist at once and the buffers of the file; the program, its libraries and a
/// device's own memory are not counted.
std::int64_t memory_bytes(const plan& p, std::int64_t chunk_size, int concurrency, double event_rows_per_instance);

/// Bytes of the result file: numbers, padding of chunks, and header. The plan's compression is ignored.
std::int64_t file_bytes(const plan& p, std::int64_t event_rows);

}  // namespace saltus::host
