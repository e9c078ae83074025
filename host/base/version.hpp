// The version of saltus.
#pragma once

#include <string>

namespace saltus::host {

inline constexpr const char* version = SALTUS_VERSION;

/// The version with the commit of the build: "0.1.0+2d9cb53", and ".modified" if files differed from it; without a
/// commit if the build was not in a repository.
const std::string& version_with_commit();

}  // namespace saltus::host
