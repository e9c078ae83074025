#include "compile/kept_headers.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "compile/module_cache.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// An empty file for each text.
fs::path mark_of(const std::string& text) { return cache_folder() / "run" / hash_text(text); }

}  // namespace

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), may_follow);
}

fs::path keep_header(const std::string& name, const std::string& text) {
  if (!is_identifier(name)) throw error(exit_failure, fmt::format("`{}` is no name of a model", printable_line(name)));
  const fs::path kept = cache_folder() / "headers" / hash_text(text).substr(0, 16) / (name + ".hpp");
  std::error_code failure;
  fs::create_directories(kept.parent_path(), failure);
  if (failure) throw error(exit_failure, fmt::format("{}: {}", kept.parent_path().string(), failure.message()));
  if (read_plain_file(kept, text.size()) != text) write_at_once(kept, text);
  return kept;
}

void note_run(const std::string& text) {
  const fs::path mark = mark_of(text);
  std::error_code failure;
  if (fs::exists(mark, failure)) return;
  fs::create_directories(mark.parent_path(), failure);
  if (!failure) write_at_once(mark, "");
}

bool has_been_run(const std::string& text) {
  std::error_code failure;
  return fs::is_regular_file(mark_of(text), failure);
}

}  // namespace saltus::host
