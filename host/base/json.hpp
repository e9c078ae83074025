// JSON for the program's own output; objects keep their order of insertion. Code that builds or reads a value includes
// <nlohmann/json.hpp>, which is large.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace saltus::host {

using json = nlohmann::ordered_json;

/// Indented JSON text. A number that is not finite becomes null, since JSON has no such number; bytes that are not
/// UTF-8 become U+FFFD.
std::string json_text(const json& value);
/// A text as a JSON literal, which Python reads as well.
std::string quoted(const std::string& text);

}  // namespace saltus::host
