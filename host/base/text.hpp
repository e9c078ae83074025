// Small things about text.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace saltus::host {

/// "a,b" -> a, b. Nothing of an empty text.
inline std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace saltus::host
