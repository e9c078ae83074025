// The exports of the CUDA plug-in, which libsaltus looks up after dlopen, and how it is loaded. Only the plug-in links CUDA; code that both
// use is in libsaltus.
#pragma once

#include <dlfcn.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "ensemble/backend.hpp"

namespace saltus::host {

/// Version of saltus from which the plug-in was built; it must equal the program's.
using cuda_version_function = const char*();
/// The names of all devices, or the reason why there is none.
using cuda_absent_function = void(std::string& reason, std::vector<std::string>& names);
/// A new backend for a device by number, owned by the caller. Throws `error`.
using cuda_backend_function = backend*(const plan& p, int device);

/// For the library that links NVRTC alone: compiles a plan's kernels and reports. Throws `error`.
struct cuda_report;
using cuda_report_function = void(const plan& p, int capability, cuda_report& report);

inline constexpr const char* cuda_report_symbol = "saltus_cuda_report";
inline constexpr const char* cuda_version_symbol = "saltus_cuda_version";
inline constexpr const char* cuda_absent_symbol = "saltus_cuda_absent";
inline constexpr const char* cuda_backend_symbol = "saltus_cuda_backend";

/// The loaded plug-in, or the reason for its absence. It stays loaded until the program ends.
struct loaded_plugin {
  void* handle = nullptr;
  std::string reason;

  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle, symbol));
  }
};

/// Loads a library that exports these symbols. The environment variable `variable` may name the library.
loaded_plugin load_plugin(const char* file, const char* variable, std::initializer_list<const char*> symbols);

}  // namespace saltus::host
