// Shows the progress of a run on stderr.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

namespace saltus::host {

/// A duration for people: "1:20", "2:03:04".
std::string hours(double seconds);

/// One line of progress: "label   1234/100000   1.2 %   411/s   0:03 elapsed   4:00 left"; times in seconds. A note
/// replaces the rate, which would mislead then. `before`: the number of `done` that had ended before the clock started.
std::string progress_line(const std::string& label, std::int64_t done, std::int64_t total, double elapsed_s,
                          const std::string& note = {}, std::int64_t before = 0);

/// Shows progress while it lives: on a terminal a bar, redrawn at most ten times a second; elsewhere one line every ten
/// seconds and one at the end. `quiet`: nothing. Colour only on a terminal, and not if NO_COLOR is set.
class progress {
 public:
  /// `note` returns an addition to the line; empty: none. `before`: the number of added instances that an earlier run
  /// has integrated.
  progress(std::int64_t total, std::string label, bool quiet, std::FILE* out = stderr,
           std::function<std::string()> note = {}, std::int64_t before = 0);
  ~progress() { finish(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Adds `finished` instances that have ended (0: only checks the clock). Any thread.
  void add(std::int64_t finished);
  /// Draws the last state and ends the line; later additions are not shown.
  void finish();

 private:
  using clock = std::chrono::steady_clock;
  clock::duration pause() const;
  void draw(bool last);

  const std::int64_t total_, before_;
  const std::string label_;
  const std::function<std::string()> note_;
  std::FILE* const out_;
  bool terminal_ = false, colour_ = false;
  bool silent_;  ///< guarded by `drawing_`
  const clock::time_point start_ = clock::now();
  std::atomic<std::int64_t> done_{0};
  std::atomic<clock::rep> next_draw_;  ///< earliest time of the next drawing, since `start_`
  std::mutex drawing_;
};

}  // namespace saltus::host
