// Where things are: kernel headers, built-in problems, the cache of compiled models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saltus::host {

/// The folder that libsaltus was loaded from: plug-ins stand beside it.
std::filesystem::path library_folder();

/// The folder that holds `kernels/` and `problems/`: $SALTUS_HOME, else ../share/saltus beside the folder of libsaltus, else the source
/// tree it was built from. Throws `error` (failure) if none of them does.
std::filesystem::path home();

/// $SALTUS_CACHE, else $XDG_CACHE_HOME/saltus, else ~/.cache/saltus; without a home one in the folder of temporary files
/// that goes with this process. Created, for this user alone, if it is not there. Throws `error` (failure) if that fails,
/// or if somebody else may write to it: what is in it is run.
std::filesystem::path cache_folder();

/// Names of the built-in problems, sorted.
std::vector<std::string> builtin_names();

/// The header of a model: a built-in by name, or a path. Throws `error` (usage) with the nearest name if there is none;
/// `place` begins the complaint.
std::filesystem::path find_model(const std::string& name, const std::string& place = {});

}  // namespace saltus::host
