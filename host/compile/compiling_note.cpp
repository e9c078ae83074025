#include "compile/compiling_note.hpp"

#include <chrono>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace saltus::host {

namespace {
struct {
  std::mutex mutex;
  std::string what;
  std::chrono::steady_clock::time_point begin;
} under_way;
}  // namespace

compiling_note::compiling_note(std::string what) {
  const std::lock_guard lock(under_way.mutex);
  is_told_ = under_way.what.empty();
  if (!is_told_) return;
  under_way.what = std::move(what);
  under_way.begin = std::chrono::steady_clock::now();
}
compiling_note::~compiling_note() {
  if (!is_told_) return;
  const std::lock_guard lock(under_way.mutex);
  under_way.what.clear();
}
std::string compiling_now() {
  const std::lock_guard lock(under_way.mutex);
  if (under_way.what.empty()) return {};
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - under_way.begin;
  return fmt::format("compiling {}, {:.0f} s", under_way.what, seconds.count());
}

}  // namespace saltus::host
