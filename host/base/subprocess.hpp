// Runs other programs without a shell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/cancellation.hpp"

namespace saltus::host {

/// How a program ended: its exit status (127: it could not be run; 128: a signal ended it), and all its output.
struct outcome {
  int status;
  std::string said;
};

/// Runs a program with English messages and empty input. When `stop` is cancelled, the call ends the program's process
/// group and returns status 128. The program gets at most `most_memory` bytes; 0: no limit.
outcome run_program(const std::vector<std::string>& arguments, const cancellation& stop, std::int64_t most_memory = 0);

/// The path of a program: `program` itself if it contains a '/', else the first match in the PATH; empty if there is
/// none.
std::filesystem::path which(const std::string& program);

}  // namespace saltus::host
