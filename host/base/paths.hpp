// Finds the kernel headers, the built-in problems and the cache of compiled models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// The folder from which libsaltus was loaded; plug-ins are in the same folder.
std::filesystem::path library_folder();

/// The folder that holds `kernels/` and `problems/`: $SALTUS_HOME, else ../share/saltus beside the folder of libsaltus,
/// else the source tree of the build. Throws `error` (failure) if none of them does.
std::filesystem::path home();

/// $SALTUS_CACHE, else $XDG_CACHE_HOME/saltus, else ~/.cache/saltus; without a home, a temporary folder that this
/// process removes when it ends. The call creates the folder, for this user alone, if it is missing. Throws `error`
/// (failure) if that fails, or if another user may write to the folder: saltus runs code from it.
std::filesystem::path cache_folder();

/// Names of the built-in problems, sorted.
std::vector<std::string> builtin_names();

/// The header of a model: a built-in by name, or a path. Throws `error` (usage) with the nearest name if there is none;
/// `begin` begins the message.
std::filesystem::path find_model(const std::string& name, const std::string& begin = {});

}  // namespace saltus::host
