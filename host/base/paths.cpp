#include "base/paths.hpp"

#include <dlfcn.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_home(const fs::path& folder) {
  return fs::exists(folder / "kernels" / "saltus.hpp") && fs::is_directory(folder / "problems");
}

}  // namespace

fs::path library_folder() {
  Dl_info here{};
  std::error_code none;
  if (::dladdr(reinterpret_cast<const void*>(&library_folder), &here) == 0 || here.dli_fname == nullptr) return {};
  return fs::canonical(here.dli_fname, none).parent_path();
}

fs::path home() {
  if (const auto given = environment("SALTUS_HOME"); !given.empty()) {
    if (is_home(given)) return fs::canonical(given);
    throw error(exit_failure,
                fmt::format("SALTUS_HOME = {}: must be a folder that holds kernels/saltus.hpp and problems/", given));
  }
  for (const fs::path& folder : {library_folder().parent_path() / "share" / "saltus", fs::path(SALTUS_SOURCE_FOLDER)})
    if (is_home(folder)) return fs::canonical(folder);
  throw error(
      exit_failure,
      "the kernel headers of saltus were not found: set SALTUS_HOME to the folder that holds kernels/ and problems/");
}

namespace {

/// Name and home of a user; both empty if the system does not know the user.
struct known_user {
  std::string name, home;
  explicit known_user(uid_t id) {
    std::vector<char> text(1 << 14);
    passwd entry{}, *found = nullptr;
    if (::getpwuid_r(id, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return;
    name = found->pw_name;
    home = found->pw_dir;
  }
};

/// A folder with an unpredictable name for this process alone: without a home there is no lasting cache.
const fs::path& folder_of_this_process() {
  static const struct folder {
    fs::path path;
    pid_t owner = ::getpid();
    folder() {
      std::string name = (fs::temp_directory_path() / "saltus-XXXXXX").string();
      if (!::mkdtemp(name.data()))
        throw error(exit_failure,
                    fmt::format("{}: cannot create a folder there for compiled models: {} (set SALTUS_CACHE "
                                "to a writable one)",
                                fs::temp_directory_path().string(), std::strerror(errno)));
      path = name;
    }
    ~folder() {
      std::error_code ignored;
      if (owner == ::getpid()) fs::remove_all(path, ignored);
    }
  } here;
  return here.path;
}

/// Creates a folder that only its owner may read or write, and its parent folders. Returns the error if the folder is
/// not there afterwards.
std::error_code create_private(const fs::path& folder) {
  std::error_code failed;
  if (fs::is_directory(folder, failed)) return {};
  fs::create_directories(folder.parent_path(), failed);
  if (failed) return failed;
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return {};
  const int why = errno;
  if (fs::is_directory(folder, failed)) return {};  // another saltus was faster
  return {why == EEXIST ? ENOTDIR : why, std::generic_category()};
}

std::string user_name(uid_t id) {
  const auto name = known_user(id).name;
  return name.empty() ? fmt::format("user {}", id) : name;
}

/// saltus runs code from the cache folder as this user, so nobody else may write to it.
void refuse_unless_ours(const fs::path& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0)
    throw error(exit_failure,
                fmt::format("{}: cannot look at the cache folder: {} (set SALTUS_CACHE to one of your own)",
                            folder.string(), std::strerror(errno)));
  if (about.st_uid != ::geteuid())
    throw error(
        exit_failure,
        fmt::format("{}: this cache folder belongs to {}, and what is in it would run as {}: set SALTUS_CACHE to "
                    "a folder of your own",
                    folder.string(), user_name(about.st_uid), user_name(::geteuid())));
  if (about.st_mode & (S_IWGRP | S_IWOTH))
    throw error(
        exit_failure,
        fmt::format("{0}: others may write to this cache folder, and what is in it would run as {1}: chmod go-w "
                    "\"{0}\", then saltus doctor --clear-cache if they may have done so; or set SALTUS_CACHE to "
                    "a folder of your own",
                    folder.string(), user_name(::geteuid())));
}

}  // namespace

fs::path cache_folder() {
  fs::path folder;
  if (const auto own = environment("SALTUS_CACHE"); !own.empty()) folder = own;
  else if (const auto xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) folder = fs::path(xdg) / "saltus";
  else if (const auto user = environment("HOME"); !user.empty()) folder = fs::path(user) / ".cache" / "saltus";
  else if (const fs::path home = known_user(::geteuid()).home;
           home.is_absolute() && !create_private(home / ".cache" / "saltus"))
    folder = home / ".cache" / "saltus";
  else return folder_of_this_process();
  folder = fs::absolute(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (const auto failed = create_private(folder))
    throw error(exit_failure, fmt::format("{}: cannot create the cache folder: {} (set SALTUS_CACHE to a writable one)",
                                          folder.string(), failed.message()));
  refuse_unless_ours(folder);
  return folder;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(home() / "problems"))
    if (entry.path().extension() == ".hpp") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_model(const std::string& name, const std::string& begin) {
  const std::string prefix = begin.empty() ? fmt::format("model {}", name) : begin;
  if (name.find('/') != std::string::npos || fs::path(name).extension() == ".hpp") {
    if (!fs::is_regular_file(name)) throw error(exit_usage, fmt::format("{}: no such file", prefix));
    return fs::canonical(name);
  }
  const fs::path header = home() / "problems" / (name + ".hpp");
  if (fs::is_regular_file(header)) return header;
  const auto names = builtin_names();
  std::vector<std::string_view> allowed(names.begin(), names.end());
  throw error(exit_usage,
              fmt::format("{}: no such built-in model (a model of your own is given as a path, ./{}.hpp); {}", prefix,
                          name, suggest(name, allowed)));
}

}  // namespace saltus::host
