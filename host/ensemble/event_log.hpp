// The event log of one chunk: rows come as events happen, instances interleaved, and are read instance by instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace saltus::host {

/// One event as it is read back; `before` and `after` point to the states, behind which the derivatives of its time stand.
struct event_row {
  long long slot;
  double time;
  int guard;
  const double *before, *after;
};

/// Each instance's own rows come in time order. What goes beyond a bound of memory goes to a temporary file, in runs that
/// are sorted by instance; if that cannot be written, all stays in memory. Not thread-safe, nor are copies of one log.
class event_log {
 public:
  static constexpr std::size_t max_in_memory = std::size_t{16} << 20;  ///< bytes

  int state_count = 0;                 ///< of `before`, and of `after`: states, and what is kept behind them
  std::filesystem::path folder;        ///< of the temporary file; empty: that of the system
  std::size_t memory = max_in_memory;  ///< bytes of rows that stay in memory

  // The rows in memory, as they came; whoever adds to them by hand calls `spill_if_long`.
  std::vector<long long> slot;  ///< place of the instance in its chunk
  std::vector<double> time;
  std::vector<int> guard;
  std::vector<double> before, after;  ///< [row][state_count]

  /// Adds one row; `before` and `after` point to `state_count` numbers.
  void append(long long slot, double t, int guard, const double* before, const double* after);
  void append(const event_log& more);
  void spill_if_long();
  /// Moves the rows in memory to the temporary file; they stay where they are if it cannot be written.
  void spill();
  /// Drops all rows of some instances: [slot].
  void forget(const std::vector<bool>& which);
  void clear();

  std::int64_t row_bytes() const { return 8 + 8 + 4 + 16 * static_cast<std::int64_t>(state_count); }
  std::int64_t rows() const;
  /// How many rows each of `count` instances has.
  std::vector<long long> rows_by_slot(std::size_t count) const;
  /// All rows in the order of the slots, those of one slot as they came. Throws `error` (exit_failure) if the temporary
  /// file cannot be read.
  void for_each(const std::function<void(const event_row&)>& look) const;

 private:
  struct spool;   ///< the temporary file
  struct share {  ///< the rows of one instance in a run
    long long slot;
    std::int64_t rows, first;  ///< number of its first row in the file
  };
  struct run {
    std::shared_ptr<spool> file;
    std::vector<share> shares;  ///< by slot, ascending
  };

  std::vector<std::size_t> order() const;

  std::vector<run> runs_;
  std::shared_ptr<spool> file_;  ///< where this log adds its runs
  bool unspillable_ = false;
};

}  // namespace saltus::host
