#include "backend/cuda/loader.hpp"

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
  std::vector<fs::path> places = {library_folder() / file};
  if (const char* own = std::getenv(variable); own && *own) {
    if (!fs::exists(own)) return {nullptr, fmt::format("{} = {}: no such file", variable, own)};
    places = {own};
  }
  for (const auto& place : places) {
    if (!fs::exists(place)) continue;
    loaded_plugin p;
    p.handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!p.handle) {
      const std::string why = ::dlerror();
      if (why.find("libcuda.so") != why.npos) return {nullptr, fmt::format("no NVIDIA driver is installed ({})", why)};
      return {nullptr, fmt::format("the CUDA plug-in cannot be loaded ({})", why)};
    }
    auto* const version = p.find<cuda_version_function>(cuda_version_symbol);
    if (!version || !std::all_of(symbols.begin(), symbols.end(), [&](const char* s) { return ::dlsym(p.handle, s); }))
      return {nullptr, fmt::format("{} is not a CUDA plug-in of saltus", place.string())};
    if (version() != std::string(SALTUS_VERSION))
      return {nullptr, fmt::format("{} belongs to saltus {}, this is {}", place.string(), version(), SALTUS_VERSION)};
    return p;
  }
  return {nullptr, fmt::format("this saltus was built without CUDA (there is no {})", places.front().string())};
}

}  // namespace saltus::host
