#include "base/version.hpp"

#include "commit.hpp"  // made by cmake/commit.cmake

namespace saltus::host {

const std::string& version_with_commit() {
  static const std::string text = std::string(version) + (*SALTUS_COMMIT ? "+" SALTUS_COMMIT : "");
  return text;
}

}  // namespace saltus::host
