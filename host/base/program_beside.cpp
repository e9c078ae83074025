#include "base/program_beside.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

extern char** environ;

namespace saltus::host {

namespace {

/// Returns the process id; 0 if the program cannot be started.
pid_t start(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed ? 0 : child;
}

bool has_ended(pid_t child) {
  pid_t r;
  do r = ::waitpid(child, nullptr, WNOHANG);
  while (r < 0 && errno == EINTR);
  return r != 0;
}

}  // namespace

program_beside::program_beside(std::vector<std::string> arguments, double after_seconds)
    : watcher_([this, arguments = std::move(arguments), after_seconds] { run(arguments, after_seconds); }) {}

program_beside::~program_beside() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

bool program_beside::is_over_within(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; });
}

void program_beside::run(const std::vector<std::string>& arguments, double after_seconds) {
  constexpr double look = 0.1, patience = 2;  // seconds
  if (is_over_within(after_seconds)) return;
  const pid_t child = start(arguments);
  if (child == 0) return;
  while (!is_over_within(look))
    if (has_ended(child)) return;
  ::kill(-child, SIGTERM);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  while (!has_ended(child)) {
    if (std::chrono::steady_clock::now() > end) ::kill(-child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGTERM); }

}  // namespace saltus::host
