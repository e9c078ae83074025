#include "base/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"

extern char** environ;

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// Reads the child's output until it ends. When `stop` is cancelled, the child's group gets SIGTERM, and SIGKILL if it
/// does not end. A process that has left the group and keeps the pipe open is not waited for.
std::string listen_to(pid_t child, int from, const cancellation& stop) {
  constexpr int look = 50, patience = 2000;  // ms
  std::string said;
  int left = patience;
  for (char piece[4096];;) {
    pollfd waiting{from, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, look);
    if (ready > 0) {
      const ssize_t n = ::read(from, piece, sizeof piece);
      if (n > 0) said.append(piece, static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR) break;
    }
    if (!stop) continue;
    if (left == patience) ::kill(-child, SIGTERM);
    if (left <= 0) {
      ::kill(-child, SIGKILL);
      break;
    }
    left -= look;
  }
  return said;
}

}  // namespace

outcome run_program(const std::vector<std::string>& given, const cancellation& stop, std::int64_t most_memory) {
  if (stop) return {128, {}};
  auto arguments = given;
  if (most_memory > 0) {  // the limit must be set before the program begins, which posix_spawn cannot do
    const std::string kilobytes = std::to_string(most_memory / 1024);
    const std::vector<std::string> limited = {"/bin/sh", "-c", "ulimit -v \"$0\" 2>/dev/null; exec \"$@\"", kilobytes};
    arguments.insert(arguments.begin(), limited.begin(), limited.end());
  }
  std::vector<char*> argv, environment;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  for (char** e = environ; *e; ++e)
    if (std::strncmp(*e, "LC_ALL=", 7) != 0) environment.push_back(*e);
  char english[] = "LC_ALL=C";
  environment.insert(environment.end(), {english, nullptr});

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw error(exit_failure, fmt::format("cannot run {}: {}", arguments[0], std::strerror(errno)));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  // The program gets its own process group: a compiler is several processes, and the signal must reach all of them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  pid_t child;
  const int failed = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  outcome result{127, {}};
  if (!failed) {
    result.said = listen_to(child, ends[0], stop);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  ::close(ends[0]);
  return result;
}

fs::path which(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? fs::path(program) : fs::path();
  std::stringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (const fs::path file = fs::path(folder) / program; ::access(file.c_str(), X_OK) == 0) return file;
  return {};
}

}  // namespace saltus::host
