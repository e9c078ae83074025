
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "backend/cuda/plugin.hpp"
#include "base/paths.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

loaded_plugin load_plugin(const char* file, const char* variable, std::initializer_list<const char*> symbols) {
  std::vector<fs::path> candidates = {library_folder() / file};
  if (const char* own = std::getenv(variable); own && *own) {
    if (!fs::exists(own)) return {nullptr, fmt::format("{} = {}: no such file", variable, own)};
    candidates = {own};
  }
  for (const auto& candidate : candidates) {
    if (!fs::exists(candidate)) continue;
    loaded_plugin p;
    p.handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!p.handle) {
      const std::string why = ::dlerror();
      if (why.find("libcuda.so") != why.npos) return {nullptr, fmt::format("no NVIDIA driver is installed ({})", why)};
      return {nullptr, fmt::format("the CUDA plug-in cannot be loaded ({})", why)};
    }
    auto* const version = p.find<cuda_version_function>(cuda_version_symbol);
    if (!version || !std::all_of(symbols.begin(), symbols.end(), [&](const char* s) { return ::dlsym(p.handle, s); }))
      return {nullptr, fmt::format("{} is not a CUDA plug-in of saltus", candidate.string())};
    if (version() != std::string(SALTUS_VERSION))
      return {nullptr,
              fmt::format("{} belongs to saltus {}, this is {}", candidate.string(), version(), SALTUS_VERSION)};
    return p;
  }
  return {nullptr, fmt::format("this saltus was built without CUDA (there is no {})", candidates.front().string())};
}

}  // namespace saltus::host
