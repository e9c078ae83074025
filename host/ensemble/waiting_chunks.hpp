// Holds what chunks that have ended before their turn give to a result in the order of instances: rows of its event log,
// lines of a CSV file. One slow instance must not hold up the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace saltus::host {

/// Keeps chunks in memory up to a bound, and tells those beyond it to `spill`. A Chunk has the members `first` and
/// `count`, its instances, and `bytes_in_memory`.
template <class Chunk>
class waiting_chunks {
 public:
  static constexpr std::int64_t usual_bound = std::int64_t{256} << 20;

  explicit waiting_chunks(std::int64_t bound = usual_bound) : bound_(bound) {}

  void put(Chunk chunk) {
    // The next chunk does not wait, so it need not spill.
    if (chunk.first != next_ && in_memory_ + chunk.bytes_in_memory() > bound_) chunk.spill();
    in_memory_ += chunk.bytes_in_memory();
    const auto first = chunk.first;
    waiting_.emplace(first, std::move(chunk));
  }

  /// The next chunk: the one that begins where all before it have been taken. None if it has not arrived.
  std::optional<Chunk> take_next() {
    if (waiting_.empty() || waiting_.begin()->first != next_) return {};
    return take_first();
  }
  /// The first chunk that has arrived, whatever is missing before it; none if there is none.
  std::optional<Chunk> take_first() {
    if (waiting_.empty()) return {};
    Chunk first = std::move(waiting_.extract(waiting_.begin()).mapped());
    next_ = first.first + first.count;
    in_memory_ -= first.bytes_in_memory();
    return first;
  }

  std::int64_t in_memory() const { return in_memory_; }  ///< bytes

 private:
  std::int64_t bound_, in_memory_ = 0, next_ = 0;
  std::map<std::int64_t, Chunk> waiting_;  ///< by first instance
};

}  // namespace saltus::host
