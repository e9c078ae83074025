#include "result/journal_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "result/journal_records.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

std::string file_of(const ensemble_part& part) {
  if (part.is_all()) return std::string(all_chunks);
  return fmt::format("{}.{}", all_chunks,
                     part.among.empty() ? fmt::format("{}of{}", part.number, part.of) : part.among);
}

json parsed(const fs::path& file) {
  return json::parse(read_plain_file(file, longest_text).value_or(std::string()), nullptr, false);
}

std::optional<std::uint64_t> identity_in(const json& all) {
  if (!all.is_object() || !all.contains("saltus")) return {};
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : all.items()) {
    if (!value.is_string()) return {};
    sorted[name] = value.get<std::string>();
  }
  hash_state hash;
  for (const auto& [name, value] : sorted)
    for (const std::string& text : {name, value}) hash.add(text.c_str(), text.size() + 1);
  return hash.digest();
}

namespace {

constexpr std::string_view texts[] = {"run.json", "spec.json", "complete"};

/// May a journal contain a file of this name? Texts are first written under a name with a suffix.
bool is_name_of_ours(const std::string& name) {
  if (name == all_chunks || name.starts_with(std::string(all_chunks) + ".")) return true;
  return std::any_of(std::begin(texts), std::end(texts),
                     [&](std::string_view text) { return name == text || name.starts_with(std::string(text) + "."); });
}

/// Does a file begin like records? A file that was cut off before its first head was written begins with zeros.
bool begins_as_records(const fs::path& file) {
  const int f = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char begin[sizeof record_magic - 1] = {};
  const ssize_t n = f < 0 ? 0 : ::pread(f, begin, sizeof begin, 0);
  if (f >= 0) ::close(f);
  constexpr std::size_t without_version = sizeof begin - 1;
  return std::all_of(begin, begin + std::max<ssize_t>(n, 0), [](char c) { return c == 0; }) ||
         std::memcmp(begin, record_magic, without_version) == 0;
}

/// Why a folder is not accepted as a journal, and so must not be emptied. Empty: it is a journal, or does not exist.
std::string why_not_ours(const fs::path& folder) {
  struct stat about {};
  if (::lstat(folder.c_str(), &about) != 0) return {};
  if (S_ISLNK(about.st_mode)) return "it is a symbolic link, which is not followed";
  if (!S_ISDIR(about.st_mode)) return "it is no folder";
  std::error_code failure;
  bool has_records = true;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto name = entry.path().filename().string();
    std::error_code gone;
    const auto type = entry.symlink_status(gone).type();
    if (type == fs::file_type::not_found) continue;  // it has just been removed
    const bool is_ours = name == leases_name ? type == fs::file_type::directory
                                             : type == fs::file_type::regular && is_name_of_ours(name);
    if (!is_ours) return fmt::format("there is `{}` in it, which no journal has", printable_line(name));
    if (name.starts_with(all_chunks)) has_records = has_records && begins_as_records(entry.path());
  }
  if (failure == std::errc::no_such_file_or_directory) return {};  // the folder has just been removed
  if (failure) return failure.message();
  return has_records || identity_in(parsed(folder / "run.json")) ? std::string()
                                                                 : "its chunks are no records of saltus";
}

}  // namespace

void check_that_ours(const fs::path& folder) {
  if (const auto why = why_not_ours(folder); !why.empty())
    throw error(exit_usage, fmt::format("{} is no journal of saltus: {}. Move it away, or give the result another name "
                                        "with -o FILE",
                                        folder.string(), why));
}

namespace {

/// Removes the files in a folder whose names are accepted, never through a link. Returns whether all are gone.
template <class Accept>
bool remove_files(int folder, Accept&& accept) {
  const int copy = ::dup(folder);
  DIR* const list = copy < 0 ? nullptr : ::fdopendir(copy);
  if (list == nullptr) {
    if (copy >= 0) ::close(copy);
    return false;
  }
  ::rewinddir(list);
  bool gone = true;
  while (const dirent* entry = ::readdir(list))
    if (accept(std::string(entry->d_name))) gone = ::unlinkat(folder, entry->d_name, 0) == 0 && gone;
  ::closedir(list);
  return gone;
}

int open_folder(int where, const char* name) {
  return ::openat(where, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace

bool empty_journal(const fs::path& folder, const std::string& kept) {
  const int here = open_folder(AT_FDCWD, folder.c_str());
  if (here < 0) return false;
  bool gone = true;
  if (const int leases = open_folder(here, leases_name); leases >= 0) {
    gone = remove_files(leases, [](const std::string& name) { return name != "." && name != ".."; });
    ::close(leases);
    gone = ::unlinkat(here, leases_name, AT_REMOVEDIR) == 0 && gone;
  }
  gone = remove_files(here,
                      [&](const std::string& name) {
                        return is_name_of_ours(name) && name != kept && name != "complete" && name != "run.json";
                      }) &&
         gone;
  gone = gone && (::unlinkat(here, "run.json", 0) == 0 || errno == ENOENT);
  ::close(here);
  return gone;
}

void drop_journal(const fs::path& folder) {
  if (!why_not_ours(folder).empty() || !empty_journal(folder, {})) return;
  ::unlink((folder / "complete").c_str());
  ::rmdir(folder.c_str());
}

}  // namespace saltus::host
