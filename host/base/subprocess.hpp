// Other programs, run without a shell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cancellation.hpp"

namespace saltus::host {

/// How a program ended: its exit status, 127 if it cannot be run, 128 if a signal ended it; and all that it said.
struct outcome {
  int status;
  std::string said;
};

/// Runs a program in English; its input is empty. When `stop` is cancelled it is ended, with all that it has started, and
/// its status is 128. It gets no more than so many bytes of memory; 0: as many as it likes.
outcome run_program(const std::vector<std::string>& arguments, const cancellation& stop, std::int64_t most_memory = 0);

/// Where a program is: `program` itself if it has a '/', else the first in the PATH; empty if there is none.
std::filesystem::path which(const std::string& program);

}  // namespace saltus::host
