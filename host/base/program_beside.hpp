// A program that runs beside this one and is useless once this one has finished.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace saltus::host {

/// Starts a program after a delay, silent and in a process group of its own, so that Ctrl-C does not reach it. The
/// destructor ends the program and its process group. A program that cannot be started is ignored.
class program_beside {
 public:
  program_beside(std::vector<std::string> arguments, double after_seconds);
  ~program_beside();
  program_beside(const program_beside&) = delete;
  program_beside& operator=(const program_beside&) = delete;

 private:
  void run(const std::vector<std::string>& arguments, double after_seconds);
  /// Is this destroyed within so many seconds?
  bool is_over_within(double seconds);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watcher_;  ///< lives as long as the program: the end of this thread would signal the program
};

/// The started program calls this first: the kernel then ends it when its parent ends, however that happens.
void end_with_parent();

}  // namespace saltus::host
