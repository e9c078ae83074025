#include "result/format.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "result/schema.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

const output_format& format_of(const std::filesystem::path& result) {
  const auto ending = result.extension().string();
  for (const output_format* f : formats())
    if (!f->ending.empty() && f->ending == ending) return *f;
  return *formats()[0];
}

const shared_format* shared_format_of(const plan& p) { return p.rows ? format_of(p.file).shared : nullptr; }

std::string formats_text() {
  std::string text;
  for (const output_format* f : formats())
    text += f->ending.empty() ? fmt::format("a {}", f->name) : fmt::format(", or FILE{}, a {}", f->ending, f->name);
  return text;
}

void check_output_options(const plan& p) {
  const output_format& f = format_of(p.file);
  if (f.check) f.check(p);
  if (p.compression > 0 && !f.is_compressed)
    throw error(exit_usage,
                fmt::format("output.compression = {}: must be 0: a {} is not compressed", p.compression, f.name));
  if (p.store_chunk == 0 || p.file.empty() || f.has_store_chunk) return;
  for (const output_format* other : formats())
    if (other->has_store_chunk)
      throw error(exit_usage, fmt::format("output.store_chunk = {}: is for {}s alone, output.file = \"FILE{}\"",
                                          p.store_chunk, other->name, other->ending));
}

void check_names(const plan& p) {
  std::vector<std::pair<std::string, std::string>> taken = {{"instance", "the dimension of instances"}};
  if (p.sample_count > 0) taken.emplace_back("time", "the dimension of samples");
  if (p.log_events) taken.emplace_back("event", "the dimension of events");
  if (const std::string group(format_of(p.file).event_group); p.log_events && !group.empty())
    taken.emplace_back(group, "the groups of the event log");
  if (p.statistics) taken.emplace_back("statistic", "the names of statistics");
  for (const detail::field& f : detail::fields_of(p)) {
    if (f.axes.size() == 1 && f.is_along(detail::dimension::kind::time)) continue;  // it has the name of its dimension
    const std::string what = f.role + ", " + f.about;
    for (const auto& [name, other] : taken)
      if (name == f.name)
        throw error(exit_model, fmt::format("model {}: two variables of the result file would be called `{}` ({}; {}); "
                                            "rename the state, parameter, output or discrete variable",
                                            p.model.name, name, other, what));
    taken.emplace_back(f.name, what);
  }
}

bool is_result(const fs::path& file) { return format_of(file).is_result(file); }

void check_result_path(const fs::path& file, existing older, const std::vector<fs::path>& inputs) {
  const auto refuse = [&](const std::string& why) {
    throw error(exit_usage, fmt::format("output.file = \"{}\": {}", file.string(), why));
  };
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(file, ignored)))
    refuse(fmt::format("is a symbolic link to {}: name the file itself", fs::read_symlink(file, ignored).string()));
  const auto there = fs::status(file, ignored);
  if (!fs::exists(there)) return;
  const bool is_folder = format_of(file).is_folder;
  if (is_folder ? !fs::is_directory(there) : !fs::is_regular_file(there))
    refuse(fmt::format("it exists and is not a {}: give another name", is_folder ? "folder" : "regular file"));
  for (const fs::path& input : inputs)
    if (fs::equivalent(file, input, ignored)) refuse("this run reads it: give another name");
  if (!fs::is_empty(file, ignored) && !is_result(file))
    refuse("it exists and is not a result of saltus: give another name, or remove it");
  if (older == existing::refused) refuse("it exists: --force replaces it, -o FILE gives another name");
}

std::string name_beside(const std::string& result, std::string_view purpose) {
  return fmt::format("{}.{}.{}{}", result, purpose, ::getpid(), format_of(result).ending);
}

}  // namespace saltus::host
