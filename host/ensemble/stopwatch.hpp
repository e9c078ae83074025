// How long calls take that several threads make at once.
#pragma once

#include <chrono>
#include <mutex>

#include "base/clock.hpp"

namespace saltus::host {

/// How long anything was under way, and how long all that was took together.
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

/// One of the things that a stopwatch watches: under way while this lives.
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
