// The event log of one chunk: rows are added as events happen, instances interleaved, and read back instance by
// instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace saltus::host {

class temporary_file;

/// One event when read back; `before` and `after` point to the states, followed by the derivatives of the event time.
struct event_row {
  long long slot;
  double time;
  int guard;
  const double *before, *after;
};

/// The rows of each instance are in time order. Rows beyond a memory bound go to a temporary file, in runs sorted by
/// instance; if the file cannot be written, all rows stay in memory. Not thread-safe, and neither are copies of one
/// log.
class event_log {
 public:
  static constexpr std::size_t max_in_memory = std::size_t{16} << 20;  ///< bytes

  int state_count = 0;                 ///< numbers in `before` and in `after`: states and the numbers kept behind them
  std::filesystem::path folder;        ///< of the temporary file; empty: that of the system
  std::size_t memory = max_in_memory;  ///< bytes of rows that stay in memory

  // The rows in memory, in order of arrival; code that adds to these columns directly calls `spill_if_long`.
  std::vector<long long> slot;  ///< of the instance in its chunk
  std::vector<double> time;
  std::vector<int> guard;
  std::vector<double> before, after;  ///< [row][state_count]

  /// Adds one row; `before` and `after` point to `state_count` numbers.
  void append(long long slot, double t, int guard, const double* before, const double* after);
  void append(const event_log& more);
  void spill_if_long();
  /// Moves the rows in memory to the temporary file; they stay where they are if it cannot be written.
  void spill();
  /// Drops all rows of some instances, [slot].
  void forget(const std::vector<bool>& which);
  void clear();

  std::int64_t row_bytes() const { return 8 + 8 + 4 + 16 * static_cast<std::int64_t>(state_count); }
  std::int64_t rows() const;
  /// Number of rows of each of `count` instances.
  std::vector<long long> rows_by_slot(std::size_t count) const;
  /// Visits all rows in the order of slots, those of one slot in order of arrival. Throws `error` (exit_failure) if the
  /// temporary file cannot be read.
  void for_each(const std::function<void(const event_row&)>& look) const;

 private:
  struct share {  ///< the rows of one instance in a run
    long long slot;
    std::int64_t rows, begin;  ///< the first one's place in the file, in bytes
  };
  struct run {
    std::shared_ptr<temporary_file> file;
    std::vector<share> shares;  ///< by slot, ascending
  };

  std::vector<std::size_t> order() const;

  std::vector<run> runs_;
  std::shared_ptr<temporary_file> file_;  ///< the file to which this log adds its runs
  bool unspillable_ = false;
};

/// The log of one chunk, as it waits for its turn (waiting_chunks.hpp).
struct chunk_log {
  std::int64_t first, count;  ///< the instances
  event_log log;

  std::int64_t bytes_in_memory() const { return static_cast<std::int64_t>(log.slot.size()) * log.row_bytes(); }
  void spill() { log.spill(); }
};

}  // namespace saltus::host
