#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/backend.hpp"
#include "backend/cuda/plugin.hpp"
#include "base/error.hpp"

namespace saltus::host {
namespace fs = std::filesystem;

namespace {

/// The loaded plug-in, or the reason why there is none. It stays loaded until the program ends.
struct plugin {
  void* handle = nullptr;
  std::string reason;

  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle, symbol));
  }
};

/// Loads a library that has these symbols. `variable` of the environment may say which.
plugin load(const char* file, const char* variable, std::initializer_list<const char*> symbols) {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  std::vector<fs::path> places = {folder / file, folder.parent_path() / "lib" / file};
  if (const char* own = std::getenv(variable); own && *own) {
    if (!fs::exists(own)) return {nullptr, fmt::format("{} = {}: no such file", variable, own)};
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
    if (!version || !std::all_of(symbols.begin(), symbols.end(), [&](const char* s) { return ::dlsym(p.handle, s); }))
      return {nullptr, fmt::format("{} is not a CUDA plug-in of saltus", place.string())};
    if (version() != std::string(SALTUS_VERSION))
      return {nullptr, fmt::format("{} belongs to saltus {}, this is {}", place.string(), version(), SALTUS_VERSION)};
    return p;
  }
  return {nullptr, fmt::format("this saltus was built without CUDA (there is no {})", places.front().string())};
}

const plugin& the_plugin() {
  static const plugin p = load("libsaltus_cuda.so", "SALTUS_CUDA_PLUGIN", {cuda_absent_symbol, cuda_backend_symbol});
  return p;
}

}  // namespace

cuda_report_function& cuda_compiler() {
  static const plugin p = load("libsaltus_nvrtc.so", "SALTUS_NVRTC_PLUGIN", {cuda_report_symbol});
  if (!p.handle) throw error(exit_device, fmt::format("no kernels for CUDA can be compiled: {}", p.reason));
  return *p.find<cuda_report_function>(cuda_report_symbol);
}

std::vector<std::string> cuda_devices(std::string* reason) {
  std::string why;
  std::vector<std::string> names;
  if (const plugin& p = the_plugin(); !p.handle) why = p.reason;
  else p.find<cuda_absent_function>(cuda_absent_symbol)(why, names);
  if (reason) *reason = why;
  return why.empty() ? names : std::vector<std::string>();
}

std::string cuda_absent(std::string* name) {
  std::string reason;
  const auto names = cuda_devices(&reason);
  if (name) *name = fmt::format("{}", fmt::join(names, ", "));
  return reason;
}

std::unique_ptr<backend> make_cuda_backend(const plan& p) {
  std::string reason;
  const auto names = cuda_devices(&reason);
  if (!reason.empty())
    throw error(exit_device, fmt::format("backend = \"{}\": there is no device to use: {}", p.backend, reason));
  std::vector<int> wanted = p.devices;
  for (int i = 0; p.devices.empty() && i < static_cast<int>(names.size()); ++i) wanted.push_back(i);
  std::vector<std::unique_ptr<backend>> parts;
  for (const int number : wanted) {
    if (number >= static_cast<int>(names.size()))
      throw error(exit_device, fmt::format("run.devices: there is no device {}; there are {} from 0 on: {}", number,
                                           names.size(), fmt::join(names, ", ")));
    parts.emplace_back(the_plugin().find<cuda_backend_function>(cuda_backend_symbol)(p, number));
  }
  return make_shared_backend(std::move(parts));
}

}  // namespace saltus::host
