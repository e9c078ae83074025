// Small things about text: lists, and counts, sizes and durations for people.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// "1 state", "3 states".
std::string counted(std::size_t n, const char* noun);
/// "1.5 MB"; of the largest number there is, more than that.
std::string bytes_text(std::int64_t n);
/// "3.2 s", "4 min", "1.5 h": as well as it is known.
std::string duration_text(double seconds);

}  // namespace saltus::host
