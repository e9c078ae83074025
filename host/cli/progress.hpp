// How far a run is, on stderr.
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

/// One line of progress: "label   1234/100000   1.2 %   411/s   0:03 elapsed   4:00 left"; times in seconds.
/// A note stands in the place of the speed, which says little then. Of `done`, `before` had ended when the clock began to run.
std::string progress_line(const std::string& label, std::int64_t done, std::int64_t total, double elapsed_s,
                          const std::string& note = {}, std::int64_t before = 0);

/// Shows progress while it lives: on a terminal a bar, drawn again at most ten times a second; elsewhere one line every
/// ten seconds and one at the end. `quiet`: nothing. Colour only on a terminal, and not if NO_COLOR is set.
class progress {
 public:
  /// `note` may have something to add to the line; empty: nothing. `before`: how many of those that are added an earlier run has
  /// integrated.
  progress(std::int64_t total, std::string label, bool quiet, std::FILE* out = stderr,
           std::function<std::string()> note = {}, std::int64_t before = 0);
  ~progress() { finish(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// `finished` more instances have ended (0: only look at the clock). Any thread.
  void add(std::int64_t finished);
  /// Draws the last state and ends the line; what is added later is not shown.
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
