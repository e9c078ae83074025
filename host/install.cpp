#include "install.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "error.hpp"

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

fs::path home() {
  if (const auto given = environment("SALTUS_HOME"); !given.empty()) {
    if (is_home(given)) return fs::canonical(given);
    throw error(exit_failure,
                fmt::format("SALTUS_HOME = {}: must be a folder that holds kernels/saltus.hpp and problems/", given));
  }
  std::error_code none;
  const fs::path  program = fs::read_symlink("/proc/self/exe", none);
  for (const fs::path& folder :
       {program.parent_path().parent_path() / "share" / "saltus", fs::path(SALTUS_SOURCE_FOLDER)})
    if (is_home(folder)) return fs::canonical(folder);
  throw error(
      exit_failure,
      "the kernel headers of saltus were not found: set SALTUS_HOME to the folder that holds kernels/ and problems/");
}

fs::path cache_folder() {
  fs::path folder;
  if (const auto own = environment("SALTUS_CACHE"); !own.empty()) folder = own;
  else if (const auto xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) folder = fs::path(xdg) / "saltus";
  else if (const auto user = environment("HOME"); !user.empty()) folder = fs::path(user) / ".cache" / "saltus";
  else folder = fs::temp_directory_path() / "saltus-cache";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw error(exit_failure, fmt::format("{}: cannot create the cache folder: {} (set SALTUS_CACHE to a writable one)",
                                          folder.string(), failed.message()));
  return folder;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(home() / "problems"))
    if (entry.path().extension() == ".hpp") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_model(const std::string& name, const std::string& place) {
  const std::string prefix = place.empty() ? fmt::format("model {}", name) : place;
  if (name.find('/') != std::string::npos || fs::path(name).extension() == ".hpp") {
    if (!fs::is_regular_file(name)) throw error(exit_usage, fmt::format("{}: no such file", prefix));
    return fs::canonical(name);
  }
  const fs::path header = home() / "problems" / (name + ".hpp");
  if (fs::is_regular_file(header)) return header;
  const auto                    names = builtin_names();
  std::vector<std::string_view> allowed(names.begin(), names.end());
  throw error(exit_usage,
              fmt::format("{}: no such built-in model (a model of your own is given as a path, ./{}.hpp); {}", prefix,
                          name, suggest(name, allowed)));
}

}  // namespace saltus::host
