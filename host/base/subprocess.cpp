#include "base/subprocess.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"

extern char** environ;

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

std::atomic<pid_t> under_way{0};   // the process group of the program that runs
std::atomic<int> asked_to_end{0};  // the signal that came meanwhile

extern "C" void pass_on(int number) {
  asked_to_end = number;
  if (under_way > 0) ::kill(-under_way, number);
}

}  // namespace

signals_passed_on::signals_passed_on() {
  asked_to_end = 0;
  struct sigaction action {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}
signals_passed_on::~signals_passed_on() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
  if (asked_to_end) ::raise(asked_to_end);
}
bool signals_passed_on::came() { return asked_to_end.exchange(0) != 0; }

outcome run_program(const std::vector<std::string>& arguments) {
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
  // A group of its own: a compiler is several processes, and a signal is for all of them.
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
    under_way = child;
    if (asked_to_end) pass_on(asked_to_end);  // it came before there was anyone to pass it on to
    char piece[4096];
    for (ssize_t n; (n = ::read(ends[0], piece, sizeof piece)) != 0;) {
      if (n > 0) result.said.append(piece, static_cast<std::size_t>(n));
      else if (errno != EINTR) break;
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    under_way = 0;
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
