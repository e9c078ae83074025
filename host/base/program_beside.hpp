// A program that runs beside this one and is of no use once this one has nothing more to do.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace saltus::host {

/// Starts a program after some seconds, silent and in a process group of its own, so that Ctrl-C is not for it. Ends it,
/// with all that it has started and not put into another group, when this is destroyed; what cannot be started is not
/// missed.
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
  std::thread watcher_;  ///< lives as long as the program: the system tells that of this thread's end
};

/// What such a program does first: it is to end with the one that has started it, however that ends.
void end_with_parent();

}  // namespace saltus::host
