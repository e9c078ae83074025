// `saltus show FILE.journal`: shows the instances that a run has finished so far.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/interrupt.hpp"
#include "cli/show_command.hpp"
#include "cli/tell.hpp"
#include "result/journal.hpp"
#include "study/run.hpp"

namespace saltus::host {

namespace {

/// A temporary result file.
struct passing_result {
  std::string folder = (std::filesystem::temp_directory_path() / "saltus-so-far-XXXXXX").string();
  passing_result() {
    if (::mkdtemp(folder.data()) == nullptr)
      throw error(exit_failure, fmt::format("{}: cannot be made: {}", folder, std::strerror(errno)));
  }
  ~passing_result() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  passing_result(const passing_result&) = delete;
  passing_result& operator=(const passing_result&) = delete;
  std::string file() const { return folder + "/so_far.nc"; }
};

}  // namespace

int show_journal(show_options options, std::FILE* out) {
  const std::filesystem::path folder = journal::named(options.file);
  const passing_result result;
  const run_report r = so_far(folder, result.file(), interrupted);
  say("{}: {} of {} instances have ended\n", folder.string(), r.continued, r.what.count);
  options.file = result.file(), options.called = folder.string();
  return show(options, out);
}

}  // namespace saltus::host
