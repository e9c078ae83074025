// Other programs, run without a shell and ended by Ctrl-C.
#pragma once

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// While it lives, Ctrl-C ends the program under way rather than this one, which has something to tidy up first. A signal
/// that nobody has asked for by then comes again.
class signals_passed_on {
 public:
  signals_passed_on();
  ~signals_passed_on();
  signals_passed_on(const signals_passed_on&) = delete;
  signals_passed_on& operator=(const signals_passed_on&) = delete;

  /// Has one come since the last question?
  static bool came();

 private:
  struct sigaction interrupt_, terminate_;
};

/// How a program ended: its exit status, 127 if it cannot be run, 128 if a signal ended it; and all that it said.
struct outcome {
  int status;
  std::string said;
};

/// Runs a program in English; its input is empty.
outcome run_program(const std::vector<std::string>& arguments);

/// Where a program is: `program` itself if it has a '/', else the first in the PATH; empty if there is none.
std::filesystem::path which(const std::string& program);

}  // namespace saltus::host
