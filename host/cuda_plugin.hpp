// What the CUDA plug-in exports, as the program looks it up after dlopen. Only the plug-in links CUDA; what both use is
// in the program, which exports its symbols.
#pragma once

#include <string>

#include "backend.hpp"

namespace saltus::host {

/// Version of saltus that a plug-in was built from: it must be the program's own.
using cuda_version_function = const char*();
/// As `cuda_absent`, when the plug-in could be loaded.
using cuda_absent_function = void(std::string& reason, std::string& name);
/// A new backend, owned by the caller. Throws `error`.
using cuda_backend_function = backend*(const plan& p);

inline constexpr const char* cuda_version_symbol = "saltus_cuda_version";
inline constexpr const char* cuda_absent_symbol  = "saltus_cuda_absent";
inline constexpr const char* cuda_backend_symbol = "saltus_cuda_backend";

}  // namespace saltus::host
