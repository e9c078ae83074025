// JSON for the program's own output, by the writer that toml++ brings along.
#pragma once

#include <cmath>
#include <sstream>
#include <string>

#include <toml++/toml.h>

namespace saltus::host::json {

using object = toml::table;
using array = toml::array;

/// As indented JSON text. A number that is not finite, which JSON cannot say, is the string "NaN", "Infinity", "-Infinity".
inline std::string text(const object& o) {
  std::ostringstream out;
  out << toml::json_formatter{o};
  return out.str();
}

/// A count, as an integer of the size that JSON writers expect.
template <class Integer>
std::int64_t count(Integer n) {
  return static_cast<std::int64_t>(n);
}

}  // namespace saltus::host::json
