#pragma once

namespace saltus::host {

inline constexpr const char* version = SALTUS_VERSION;

}  // namespace saltus::host
