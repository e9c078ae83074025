#include "base/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/message.hpp"

namespace saltus::host {

namespace {

// The first byte of the child's answer tells what follows.
constexpr char did_it = 'r', has_error = 'e', has_exception = 'x', has_failed = 'f';

/// Runs in the child, which ends here.
[[noreturn]] void answer(const std::function<std::string()>& task, int to, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  std::string said;
  try {
    said = did_it + task();
  } catch (const child_failure& e) { said = fmt::format("{}{}", has_failed, e.what()); } catch (const error& e) {
    said = fmt::format("{}{} {}", has_error, e.exit_code, e.what());
  } catch (const std::exception& e) { said = fmt::format("{}{}", has_exception, e.what()); } catch (...) {
    said = fmt::format("{}something that is no std::exception", has_exception);
  }
  write_all(to, said);
  ::_exit(0);
}

/// Reads to the end; returns false if the end does not come in time.
bool read_all(int from, std::string& said, double longest, const cancellation& stop) {
  const auto begin = std::chrono::steady_clock::now();
  for (char piece[4096];;) {
    pollfd waiting{from, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, 50);
    if (ready > 0) {
      const ssize_t n = ::read(from, piece, sizeof piece);
      if (n > 0) said.append(piece, static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR) return true;
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (stop || (longest > 0 && passed.count() > longest)) return false;
  }
}

}  // namespace

std::string in_child(const std::function<std::string()>& task, double longest, const cancellation& stop) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw child_failure(fmt::format("no pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);  // or the child would write the buffered output a second time
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) {
    const std::string reason = std::strerror(errno);
    ::close(ends[0]), ::close(ends[1]);
    throw child_failure("no process: " + reason);
  }
  if (child == 0) {
    ::close(ends[0]);
    answer(task, ends[1], parent);
  }
  ::close(ends[1]);
  std::string said;
  const bool in_time = read_all(ends[0], said, longest, stop);
  ::close(ends[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (stop && !in_time) throw error(exit_interrupted, "interrupted");
  if (!in_time) throw child_failure(fmt::format("did not come back in {:g} s", longest));
  if (WIFSIGNALED(status)) throw child_failure(signal_text(WTERMSIG(status)));
  if (said.empty()) throw child_failure(signal_text(0));
  const std::string rest = said.substr(1);
  if (said[0] == has_failed) throw child_failure(rest);
  if (said[0] == has_exception) throw child_failure("threw: " + rest);
  if (said[0] == has_error) {
    const auto blank = rest.find(' ');
    throw error(static_cast<exit_status>(std::stoi(rest.substr(0, blank))), rest.substr(blank + 1));
  }
  return rest;
}

}  // namespace saltus::host
