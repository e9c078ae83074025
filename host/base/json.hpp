// JSON for the program's own output: objects keep the order in which they were made. Who makes or takes apart a value
// includes <nlohmann/json.hpp>, which is large.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace saltus::host {

using json = nlohmann::ordered_json;

/// As indented JSON text. A number that is not finite, which JSON cannot say, is null; bytes that are not UTF-8 become
/// U+FFFD.
std::string json_text(const json& value);
/// A text as a literal of JSON, which Python reads as well.
std::string quoted(const std::string& text);

}  // namespace saltus::host
