// Which saltus this is.
#pragma once

#include <string>

namespace saltus::host {

inline constexpr const char* version = SALTUS_VERSION;

/// The version with the commit that was built: "0.1.0+2d9cb53", with ".modified" if files differed from it; without a
/// commit if it was built from no repository.
const std::string& version_with_commit();

}  // namespace saltus::host
