// Holds event logs of chunks that have ended before their turn: the log of a result is in the order of instances, and
// one slow instance must not hold up the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ensemble/event_log.hpp"

namespace saltus::host {

/// Keeps logs in memory up to a bound, and beyond it in their temporary files (event_log).
class waiting_logs {
 public:
  static constexpr std::int64_t usual_bound = std::int64_t{256} << 20;

  struct chunk_log {
    std::int64_t first, count;  ///< the instances
    event_log log;
  };

  explicit waiting_logs(std::int64_t bound = usual_bound) : bound_(bound) {}

  void put(chunk_log chunk);
  /// The next log: the one that begins where all before it have been taken. None if it has not arrived.
  std::optional<chunk_log> take_next();
  /// The first log that has arrived, whatever is missing before it; none if there is none.
  std::optional<chunk_log> take_first();

  std::int64_t rows() const { return rows_; }
  std::int64_t in_memory() const { return in_memory_; }  ///< bytes

 private:
  std::int64_t bound_, in_memory_ = 0, rows_ = 0, next_ = 0;
  std::map<std::int64_t, chunk_log> waiting_;  ///< by first instance
};

}  // namespace saltus::host
