// State that the backends of this process share for a device: the memory that the others leave to each, and the time
// during which any stream of a backend computed. Part of the plug-in library.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>

#include "ensemble/launches.hpp"

namespace saltus::host {

/// A backend's share of a device's memory. Memory that a backend plans to allocate still counts as free for the driver,
/// but is not free for another backend.
class memory_share {
 public:
  explicit memory_share(int device) : device_(device) {
    const std::lock_guard lock(mutex());
    all()[device].push_back(this);
  }
  ~memory_share() {
    const std::lock_guard lock(mutex());
    all()[device_].remove(this);
  }
  memory_share(const memory_share&) = delete;
  memory_share& operator=(const memory_share&) = delete;

  /// The part of `left`, the driver's free memory, that the other backends leave to this one.
  std::size_t of(std::size_t left) const {
    const std::lock_guard lock(mutex());
    std::size_t to_come = 0;
    for (const memory_share* other : all()[device_])
      if (other != this) to_come += other->planned_ - std::min(other->planned_, other->held_);
    return left - std::min(left, to_come);
  }
  /// Sets the number of bytes that this backend will have allocated in the end.
  void plan(std::size_t bytes) {
    const std::lock_guard lock(mutex());
    planned_ = bytes;
  }
  /// Notes that a block of `before` bytes has become one of `now` bytes.
  void hold(std::size_t before, std::size_t now) {
    const std::lock_guard lock(mutex());
    held_ += now - before;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::map<int, std::list<memory_share*>>& all() {
    static std::map<int, std::list<memory_share*>> parts;
    return parts;
  }

  int device_;
  std::size_t planned_ = 0, held_ = 0;
};

/// The launches of all streams of a backend.
class launch_sum {
 public:
  void add(const launches& more) {
    const std::lock_guard lock(mutex_);
    sum_.add(more);
  }
  launches so_far() const {
    const std::lock_guard lock(mutex_);
    return sum_;
  }
  bool is_timed() const { return is_timed_; }
  void time() { is_timed_ = true; }

 private:
  mutable std::mutex mutex_;
  launches sum_;
  std::atomic<bool> is_timed_ = false;
};

/// Total time covered by intervals that may overlap; they are added roughly in the order of their ends.
class busy_time {
 public:
  /// Seconds on any clock that is the same for all intervals.
  void add(double begin, double end) {
    const std::lock_guard lock(mutex_);
    auto i = parts_.upper_bound(begin);
    if (i != parts_.begin() && std::prev(i)->second >= begin) --i;
    while (i != parts_.end() && i->first <= end) {
      begin = std::min(begin, i->first), end = std::max(end, i->second);
      i = parts_.erase(i);
    }
    parts_[begin] = end;
    // The oldest intervals can overlap with no further ones.
    for (; parts_.size() > max_parts; parts_.erase(parts_.begin()))
      settled_ += parts_.begin()->second - parts_.begin()->first;
  }
  double seconds() const {
    const std::lock_guard lock(mutex_);
    double sum = settled_;
    for (const auto& [begin, end] : parts_) sum += end - begin;
    return sum;
  }

 private:
  static constexpr std::size_t max_parts = 1000;

  mutable std::mutex mutex_;
  std::map<double, double> parts_;  ///< disjoint: begin, end
  double settled_ = 0;
};

}  // namespace saltus::host
