// Measures calls that several threads make at once.
#pragma once

#include <chrono>
#include <mutex>

#include "base/clock.hpp"

namespace saltus::host {

/// The time during which at least one call was under way, and the sum of the times of all calls.
class stopwatch {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    pass();
    ++under_way_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    pass();
    --under_way_;
  }
  double any() const { return any_; }
  double sum() const { return sum_; }

 private:
  void pass() {
    const auto now = monotonic_clock::now();
    const std::chrono::duration<double> more = now - last_;
    if (under_way_ > 0) any_ += more.count();
    sum_ += under_way_ * more.count();
    last_ = now;
  }

  std::mutex mutex_;
  monotonic_clock::time_point last_ = monotonic_clock::now();
  int under_way_ = 0;
  double any_ = 0, sum_ = 0;
};

/// One call that a stopwatch measures: under way while this lives.
class timed {
 public:
  explicit timed(stopwatch& of) : of_(of) { of_.begin(); }
  ~timed() { of_.end(); }
  timed(const timed&) = delete;
  timed& operator=(const timed&) = delete;
  double seconds() const { return seconds_since(begin_); }

 private:
  stopwatch& of_;
  monotonic_clock::time_point begin_ = monotonic_clock::now();
};

}  // namespace saltus::host
