#include "base/json.hpp"

#include <nlohmann/json.hpp>

namespace saltus::host {

std::string json_text(const json& value) { return value.dump(4, ' ', false, json::error_handler_t::replace); }

}  // namespace saltus::host
