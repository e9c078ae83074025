#include "base/json.hpp"

#include <nlohmann/json.hpp>

namespace saltus::host {

std::string json_text(const json& value) { return value.dump(4, ' ', false, json::error_handler_t::replace); }

std::string quoted(const std::string& text) { return json_text(json(text)); }

}  // namespace saltus::host
