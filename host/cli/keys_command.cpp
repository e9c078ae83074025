// saltus keys: the keys of a spec.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/commands.hpp"
#include "spec/keys.hpp"

namespace saltus::host {

namespace {

json json_of(const spec_key& key) {
  return json{{"key", key.path()},      {"table", key.table},           {"topic", key.topic},
              {"name", key.name},       {"default", default_of(key)},   {"allowed", allowed_of(key)},
              {"meaning", key.meaning}, {"python", python_type_of(key)}};
}

}  // namespace

int list_keys(const std::string& wanted, bool as_json) {
  names known;
  json all = json::array();
  for (const spec_key& key : spec_keys()) {
    if (!contains(known, key.name)) known.push_back(key.name);
    if (!wanted.empty() && wanted != key.name && wanted != key.table && wanted != key.path()) continue;
    all.push_back(json_of(key));
    if (!as_json)
      tell("{}\n  default: {}\n  allowed: {}\n  {}\n", key.path(), default_of(key), allowed_of(key), key.meaning);
  }
  if (all.empty())
    throw error(exit_usage, fmt::format("{}: no key and no table of a spec; {}", wanted, suggest(wanted, known)));
  if (as_json) tell("{}\n", json_text(json{{"keys", all}}));
  return exit_ok;
}

}  // namespace saltus::host
