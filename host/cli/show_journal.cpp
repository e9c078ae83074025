// `saltus show FILE.journal`: what a run has finished by now.
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/show.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"

namespace saltus::host {

namespace {

/// A result for as long as it is looked at.
struct passing_result {
  std::filesystem::path file = std::filesystem::temp_directory_path() / fmt::format("saltus-so-far-{}.nc", ::getpid());
  ~passing_result() {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
};

}  // namespace

int show_journal(show_options options, std::FILE* out) {
  std::filesystem::path folder(options.file);
  if (!folder.has_filename()) folder = folder.parent_path();
  const passing_result result;
  run_options gathering;
  gathering.so_far = result.file.string();
  const run_report r = run(plan_of_journal(folder, interrupted), gathering, interrupted);
  say("{}: {} of {} instances have ended\n", folder.string(), r.continued, r.what.count);
  options.file = result.file.string(), options.called = folder.string();
  return show(options, out);
}

}  // namespace saltus::host
