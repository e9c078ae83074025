#include "compile/module_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// Lists remembered for one request: more than a few ways to include the same model are not in use at a time.
constexpr std::size_t max_lists = 8;

/// An open file; the destructor closes it.
class descriptor {
 public:
  descriptor(const fs::path& file, int how) : number_(::open(file.c_str(), how | O_CLOEXEC)) {}
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// The content of an open file; none if it cannot be read.
std::optional<std::string> content_of(const descriptor& file, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t n = ::read(file.number(), text.data() + at, size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    at += static_cast<std::size_t>(n);
  }
  return text;
}

/// The seal after the last byte of a module: a loader of ELF files reads no further than the headers say.
std::string seal_of(const std::string& key, const std::string& content) {
  return fmt::format("\nsaltus module {} {}\n", key, hash_text(key + content));
}

/// Sets the file's time of change to record a use, since file systems seldom record reads.
void note_use(const fs::path& file) { ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0); }

fs::path list_file(const std::string& request) { return cache_folder() / (request + ".deps"); }

/// Files of the cache: REQUEST.deps, KEY.so, KEY.cubin.log, ..., the last failure; with a dot and a further number
/// while one is being written.
bool is_ours(const fs::path& file) {
  static const std::regex names(R"([0-9a-f]{32}\.[a-z.]+(\.\d+)*|last_failure\.log)");
  return std::regex_match(file.filename().string(), names);
}
/// Scratch folders: KEY.XXXXXX
bool is_scratch(const fs::path& folder) {
  static const std::regex names(R"([0-9a-f]{32}\.\w{6})");
  return std::regex_match(folder.filename().string(), names);
}

struct cached_file {
  fs::path file;
  fs::file_time_type used;
  std::int64_t bytes;
};

std::vector<cached_file> cached_files() {
  std::vector<cached_file> all;
  std::error_code gone;  // another saltus may be at work in there
  for (const auto& entry : fs::directory_iterator(cache_folder(), gone)) {
    if (!is_ours(entry.path()) || !entry.is_regular_file(gone)) continue;
    const auto bytes = entry.file_size(gone);
    if (gone) continue;
    const auto used = entry.last_write_time(gone);
    if (!gone) all.push_back({entry.path(), used, static_cast<std::int64_t>(bytes)});
  }
  return all;
}

/// Removes scratch folders that killed processes have left.
void remove_abandoned() {
  std::error_code ignored;
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(cache_folder(), ignored))
    if (entry.is_directory(ignored) && is_scratch(entry.path()) && entry.last_write_time(ignored) < long_ago)
      fs::remove_all(entry.path(), ignored);
}

/// Removes the least recently used files when their sum exceeds the limit, down to 90 % of it, so that not every new
/// module needs a removal.
void keep_within_limit() {
  const std::int64_t limit = module_cache_limit();
  auto all = cached_files();
  std::int64_t bytes = 0;
  for (const auto& f : all) bytes += f.bytes;
  if (bytes <= limit) return;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  std::error_code ignored;
  for (const auto& f : all) {
    if (bytes <= limit - limit / 10) return;
    if (fs::remove(f.file, ignored)) bytes -= f.bytes;
  }
}

}  // namespace

namespace {
std::string text_of(const XXH128_hash_t& h) { return fmt::format("{:016x}{:016x}", h.high64, h.low64); }
}  // namespace

std::string hash_text(const std::string& text) { return text_of(XXH3_128bits(text.data(), text.size())); }

std::string hash_file(const fs::path& file) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(1 << 20);
  while (in) {
    in.read(piece.data(), std::ssize(piece));
    XXH3_128bits_update(state.get(), piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) throw error(exit_failure, fmt::format("{}: cannot be read", file.string()));
  return text_of(XXH3_128bits_digest(state.get()));
}

std::optional<std::string> key_of(const std::string& request, const file_list& files) {
  std::error_code ignored;
  for (const auto& file : files.absent)
    if (fs::exists(file, ignored)) return {};
  std::string all = request;
  for (const auto* part : {&files.own, &files.other})
    for (const auto& file : *part) {
      if (!fs::is_regular_file(file, ignored)) return {};
      try {
        all += fmt::format("\n{} {}", hash_text(read_file(file)), file.string());
      } catch (const error&) { return {}; }
    }
  return hash_text(all);
}

namespace {
/// The mark before a path in a list: one path per line; an empty line ends a list.
constexpr std::pair<char, std::vector<fs::path> file_list::*> marks[] = {
    {'+', &file_list::own}, {'=', &file_list::other}, {'-', &file_list::absent}};

std::string text_of(const file_list& list) {
  std::string text;
  for (const auto& [mark, part] : marks)
    for (const auto& f : list.*part) text += fmt::format("{}{}\n", mark, f.string());
  return text + "\n";
}
}  // namespace

std::vector<file_list> remembered_files(const std::string& request) {
  const fs::path file = list_file(request);
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return {};
  std::vector<file_list> lists(1);
  std::istringstream lines(read_file(file));
  note_use(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) lists.emplace_back();
    else
      for (const auto& [mark, part] : marks)
        if (line[0] == mark) (lists.back().*part).emplace_back(line.substr(1));
  }
  lists.pop_back();  // the text after the last empty line is an incomplete list
  return lists;
}

void remember_files(const std::string& request, const file_list& files) {
  std::vector<std::string> texts = {text_of(files)};
  for (const auto& known : remembered_files(request))
    if (auto text = text_of(known); text != texts.front() && texts.size() < max_lists) texts.push_back(std::move(text));
  std::string all;
  for (const auto& text : texts) all += text;
  write_at_once(list_file(request), all);
}

std::optional<sealed_file> find_module(const std::string& key, const std::string& suffix) {
  const fs::path file = cache_folder() / (key + suffix);
  const descriptor open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat about {};
  if (open.number() < 0 || ::fstat(open.number(), &about) != 0) return {};
  const bool mine = about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!S_ISREG(about.st_mode) || !mine) return {};
  auto content = content_of(open, static_cast<std::size_t>(about.st_size));
  const std::size_t seal = seal_of(key, "").size();
  if (!content || content->size() < seal) return {};
  const std::string found = content->substr(content->size() - seal);
  content->resize(content->size() - seal);
  if (found != seal_of(key, *content)) return {};
  note_use(file);
  return sealed_file{file, std::move(*content)};
}

fs::path keep_module(const fs::path& fresh, const std::string& key, const std::string& suffix) {
  const fs::path file = cache_folder() / (key + suffix);
  const std::string content = read_file(fresh);
  // The seal is appended in place, since the module may be loaded already.
  std::ofstream seal(fresh, std::ios::binary | std::ios::app);
  seal << seal_of(key, content);
  seal.close();
  if (!seal) throw error(exit_failure, fmt::format("{}: cannot be written: {}", fresh.string(), std::strerror(errno)));
  fs::permissions(fresh, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
  fs::rename(fresh, file);
  keep_within_limit();
  return file;
}

std::int64_t module_cache_limit() {
  const char* const given = std::getenv("SALTUS_CACHE_SIZE");
  const std::string text = given ? given : "";
  const char* const end = text.data() + text.size();
  constexpr unsigned usual = 30;  // bits: 1 GiB
  if (text.empty()) return std::int64_t{1} << usual;
  std::int64_t number = 0;
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest)), units = " KMGT";
  const auto power = unit.empty() ? 0 : unit.size() == 1 ? units.find(unit[0], 1) : units.npos;
  if (failed != std::errc() || number < 0 || power == units.npos || number > (INT64_MAX >> (10 * power)))
    throw error(exit_usage,
                fmt::format("SALTUS_CACHE_SIZE = {}: must be a number of bytes, or one of K, M, G or T: 500M", text));
  return number << (10 * power);
}

cache_size module_cache_size() {
  cache_size size;
  for (const auto& f : cached_files()) ++size.files, size.bytes += f.bytes;
  return size;
}

cache_size clear_module_cache() {
  remove_abandoned();
  cache_size removed;
  std::error_code failed;
  for (const auto& f : cached_files())
    if (fs::remove(f.file, failed)) ++removed.files, removed.bytes += f.bytes;
    else if (failed)
      throw error(exit_failure, fmt::format("{}: cannot be removed: {}", f.file.string(), failed.message()));
  return removed;
}

scratch_folder::scratch_folder(const std::string& name) {
  remove_abandoned();
  std::string folder = (cache_folder() / (name + ".XXXXXX")).string();
  if (!::mkdtemp(folder.data()))
    throw error(exit_failure,
                fmt::format("{}: cannot write to the cache folder: {} (set SALTUS_CACHE to a writable one)",
                            cache_folder().string(), std::strerror(errno)));
  folder_ = folder;
}
scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace saltus::host
