#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace saltus::host {

namespace {

double share(std::int64_t done, std::int64_t total) {
  return total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
}

int columns_of(std::FILE* terminal) {
  winsize size{};
  return ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

}  // namespace

std::string hours(double seconds) {
  const auto s = static_cast<std::int64_t>(std::llround(seconds));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string progress_line(const std::string& label, std::int64_t done, std::int64_t total, double elapsed_s,
                          const std::string& note, std::int64_t before) {
  const std::int64_t now = std::max<std::int64_t>(done - before, 0);
  std::string line = fmt::format("{}  {}/{}  {:.1f} %", label, done, total, 100 * share(done, total));
  if (!note.empty()) line += "  " + note;
  else if (now > 0 && elapsed_s > 0) line += fmt::format("  {:.4g}/s", static_cast<double>(now) / elapsed_s);
  line += fmt::format("  {} elapsed", hours(elapsed_s));
  if (now > 0 && done < total)
    line += fmt::format("  {} left", hours(elapsed_s * static_cast<double>(total - done) / static_cast<double>(now)));
  return line;
}

progress::progress(std::int64_t total, std::string label, bool quiet, std::FILE* out, std::function<std::string()> note,
                   std::int64_t before)
    : total_(total), before_(before), label_(std::move(label)), note_(std::move(note)), out_(out), silent_(quiet) {
  const char* kind = std::getenv("TERM");
  terminal_ = isatty(fileno(out_)) && !(kind && std::string_view(kind) == "dumb");
  colour_ = terminal_ && !is_set("NO_COLOR");
  next_draw_ = silent_ ? std::numeric_limits<clock::rep>::max() : terminal_ ? 0 : pause().count();
}

void progress::add(std::int64_t finished) {
  done_ += finished;
  const clock::rep now = (clock::now() - start_).count();
  clock::rep due = next_draw_;
  // If several threads find the drawing due, one draws and the others go on computing.
  if (now >= due && next_draw_.compare_exchange_strong(due, now + pause().count())) draw(false);
}

progress::clock::duration progress::pause() const {
  return terminal_ ? clock::duration(std::chrono::milliseconds(100)) : clock::duration(std::chrono::seconds(10));
}

void progress::finish() { draw(true); }

void progress::draw(bool last) {
  std::lock_guard lock(drawing_);
  if (silent_) return;
  silent_ = last;
  const std::int64_t done = done_;
  const double elapsed = std::chrono::duration<double>(clock::now() - start_).count();
  std::string line = progress_line(label_, done, total_, elapsed, note_ && !last ? note_() : std::string(), before_);
  if (terminal_) {
    const int columns = columns_of(out_);
    const int bar = std::min(columns - static_cast<int>(line.size()) - 4, 40);
    line = line.substr(0, static_cast<std::size_t>(columns));  // a wrapped line could not be redrawn
    if (bar >= 10) {
      const auto full = static_cast<std::size_t>(std::clamp(share(done, total_), 0.0, 1.0) * bar);
      line += fmt::format("  {}{}{}{}", colour_ ? "\033[32m" : "", std::string(full, '='), colour_ ? "\033[0m" : "",
                          std::string(static_cast<std::size_t>(bar) - full, '-'));
    }
    line = "\r" + line + "\033[K";
  }
  if (last || !terminal_) line += "\n";
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
}

}  // namespace saltus::host
