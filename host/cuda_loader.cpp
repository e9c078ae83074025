#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backend.hpp"
#include "cuda_plugin.hpp"
#include "error.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// The loaded plug-in, or the reason why there is none. It stays loaded until the program ends.
struct plugin {
  void*       handle = nullptr;
  std::string reason;

  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle, symbol));
  }
};

plugin load() {
  constexpr const char* file = "libsaltus_cuda.so";
  std::error_code       none;
  const fs::path        folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  std::vector<fs::path> places = {folder / file, folder.parent_path() / "lib" / file};
  if (const char* own = std::getenv("SALTUS_CUDA_PLUGIN"); own && *own) {
    if (!fs::exists(own)) return {nullptr, fmt::format("SALTUS_CUDA_PLUGIN = {}: no such file", own)};
    places = {own};
  }
  for (const auto& place : places) {
    if (!fs::exists(place)) continue;
    plugin p;
    p.handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!p.handle) {
      const std::string why = ::dlerror();
      if (why.find("libcuda.so") != why.npos) return {nullptr, fmt::format("no NVIDIA driver is installed ({})", why)};
      return {nullptr, fmt::format("the CUDA plug-in cannot be loaded ({})", why)};
    }
    auto* const version = p.find<cuda_version_function>(cuda_version_symbol);
    if (!version || !p.find<cuda_absent_function>(cuda_absent_symbol) ||
        !p.find<cuda_backend_function>(cuda_backend_symbol))
      return {nullptr, fmt::format("{} is not a CUDA plug-in of saltus", place.string())};
    if (version() != std::string(SALTUS_VERSION))
      return {nullptr, fmt::format("{} belongs to saltus {}, this is {}", place.string(), version(), SALTUS_VERSION)};
    return p;
  }
  return {nullptr, fmt::format("this saltus was built without CUDA (there is no {})", places.front().string())};
}

const plugin& the_plugin() {
  static const plugin p = load();
  return p;
}

}  // namespace

std::string cuda_absent(std::string* name) {
  const plugin& p = the_plugin();
  if (!p.handle) return p.reason;
  std::string reason, device;
  p.find<cuda_absent_function>(cuda_absent_symbol)(reason, device);
  if (name) *name = device;
  return reason;
}

std::unique_ptr<backend> make_cuda_backend(const plan& p) {
  if (const std::string reason = cuda_absent(); !reason.empty())
    throw error(exit_device, fmt::format("backend = \"cuda\": there is no device to use: {}", reason));
  return std::unique_ptr<backend>(the_plugin().find<cuda_backend_function>(cuda_backend_symbol)(p));
}

}  // namespace saltus::host
