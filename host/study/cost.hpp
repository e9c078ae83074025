// What a run costs before it runs: seconds by a pilot, bytes by counting.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/cancellation.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/tally.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Of one row of the event log: in memory, and in the file.
std::int64_t event_row_bytes(const plan& p);

/// An estimate with what it lies between: two standard errors, and what the clock is good for.
struct estimate {
  double value = 0, low = 0, high = 0;
};

/// What a run will take: the numbers.
struct predicted_numbers {
  std::int64_t pilot_instances = 0;
  double pilot_seconds = 0;
  bool cut_short = false;        ///< the pilot had not ended: seconds are a guess from how far it came
  estimate seconds;              ///< end to end, without compilation
  double write_seconds = 0;      ///< part of the work of one thread, for the result file
  estimate event_rows;           ///< of the event log
  double compression = 1;        ///< of the file: bytes there over bytes of its numbers, as the pilot's were
  std::int64_t pilot_ended = 0;  ///< instances of the last round that ended well
  std::array<std::int64_t, status_count> by_status = {};  ///< of that round: how many ended how
};
struct prediction : predicted_numbers {
  std::vector<guard_tally> guards;  ///< what became of them in the pilot's last round
};

/// Runs a pilot of about `seconds` (more, up to ten, if a single vector of instances takes longer); on CPU lanes in a child
/// process, which a bad model cannot leave. Throws `error`.
prediction predict(const plan& p, backend& where, double seconds, const cancellation& stop);

/// Bytes in memory for the chunks that are there at once and for what the file keeps there; the program itself, its
/// libraries and a device's own memory are not counted.
std::int64_t memory_bytes(const plan& p, std::int64_t chunk_size, int concurrency, double event_rows_per_instance);

/// Bytes of the result file: numbers with what its pieces are padded to, and its head. Without a plan's compression.
std::int64_t file_bytes(const plan& p, std::int64_t event_rows);

}  // namespace saltus::host
