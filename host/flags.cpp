#include "flags.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "error.hpp"
#include "field.hpp"

namespace saltus::host {

const std::vector<std::string_view> top_keys = {"model",       "method",     "t",          "rtol",
                                                "atol",        "event_tol",  "first_step", "max_step",
                                                "step",        "controller", "norm",       "precision",
                                                "max_steps",   "max_events", "detection",  "guards_in_error",
                                                "concurrency", "zeno",       "rescue",     "inject_exceptions",
                                                "consistency", "parameters", "initial",    "sweep",
                                                "sample",      "output",     "run"};

namespace {

/// One `key = value`. A literal value is a string as it stands; any other is TOML if it can be, else a string.
struct assignment {
  std::string key, value;
  bool        literal;
};

std::string typed(const flag& flag) { return flag.name + " " + flag.value; }

assignment read_flag(const flag& flag) {
  static const std::map<std::string_view, std::pair<const char*, bool>> shorthands = {
      {"-n", {"sample.count", false}},   {"--seed", {"sample.seed", false}}, {"--backend", {"run.backend", true}},
      {"-o", {"output.file", true}},     {"--method", {"method", true}},     {"--threads", {"run.threads", false}},
      {"--lanes", {"run.lanes", false}}, {"--chunk", {"run.chunk", false}},

  };
  if (flag.name == "--devices")
    return {"run.devices", flag.value == "all" ? flag.value : "[" + flag.value + "]", false};
  if (const auto found = shorthands.find(flag.name); found != shorthands.end())
    return {found->second.first, flag.value, found->second.second};
  if (flag.name != "--set") throw error(exit_usage, typed(flag) + ": not a flag that changes the spec");

  const auto equals  = flag.value.find('=');
  const auto key     = flag.value.substr(0, equals);
  const bool letters = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
  const bool parts   = !key.empty() && key.front() != '.' && key.back() != '.' && key.find("..") == key.npos;
  if (equals == flag.value.npos || !letters || !parts)
    throw error(exit_usage, typed(flag) + ": must be key=value with a key such as rtol or sweep.flow.count");
  return {key, flag.value.substr(equals + 1), false};
}

/// Does the table hold `key` (dotted) and nothing else?
bool holds_only(const toml::table& table, std::string_view key) {
  if (table.size() != 1) return false;
  const auto  dot   = key.find('.');
  const auto* inner = (*table.begin()).second.as_table();
  return dot == key.npos || (inner && holds_only(*inner, key.substr(dot + 1)));
}

/// Moves the value at `key` of `from`, which holds only that, to the same place in `to`. Moved, not copied: copies of
/// toml++ nodes forget their source.
void graft(toml::table& to, toml::table& from, std::string_view key) {
  const toml::key name  = (*from.begin()).first;
  toml::node&     value = (*from.begin()).second;
  const auto      dot   = key.find('.');
  auto*           inner = to[name.str()].as_table();
  if (dot == key.npos || !inner) to.insert_or_assign(name, std::move(value));
  else graft(*inner, *value.as_table(), key.substr(dot + 1));
}

/// `rank` is that of the flag: the line on which its text is parsed, so that entries from flags keep their order.
void assign(toml::table& root, const assignment& set, const flag& flag, std::size_t rank) {
  const auto parse = [&](const std::string& value) -> toml::table {
    return toml::parse(std::string(rank, '\n') + set.key + " = " + value, typed(flag));
  };
  std::optional<toml::table> parsed;
  if (!set.literal) {
    try {
      parsed = parse(set.value);
    } catch (const toml::parse_error&) {}
  }
  if (!parsed || !holds_only(*parsed, set.key)) parsed = parse(inline_text(toml::value<std::string>(set.value)));
  graft(root, *parsed, set.key);
}

/// The key that -n stands for.
std::string count_key(const toml::table& root) {
  const std::string samples = "sample.count";
  if (const auto* sample = root["sample"].as_table())
    for (auto&& [key, value] : *sample)
      if (key != "seed") return samples;
  std::vector<std::string> ranges;
  if (const auto* sweep = root["sweep"].as_table())
    for (auto&& [key, value] : *sweep)
      if (key != "zip" && value.is_table() && !value.as_table()->contains("csv")) ranges.emplace_back(key.str());
  return ranges.size() == 1 ? "sweep." + ranges[0] + ".count" : samples;
}

bool names_one_of(const std::vector<quantity>& quantities, std::string_view name) {
  return std::any_of(quantities.begin(), quantities.end(), [&](const auto& quantity) { return quantity.name == name; });
}

/// The dotted key that a key of --set stands for; none if that depends on the model and there is none yet.
std::optional<std::string> full_key(const assignment& set, const flag& flag, const model* model) {
  const auto dot = set.key.find('.');
  if (std::find(top_keys.begin(), top_keys.end(), set.key.substr(0, dot)) != top_keys.end()) return set.key;
  if (dot == set.key.npos) {
    if (!model) return {};
    if (names_one_of(model->parameters, set.key)) return "parameters." + set.key;
    if (names_one_of(model->states, set.key)) return "initial." + set.key;
  }
  auto allowed = top_keys;
  if (model) {
    for (const auto& parameter : model->parameters) allowed.push_back(parameter.name);
    for (const auto& state : model->states) allowed.push_back(state.name);
  }
  throw error(exit_usage, fmt::format("{}: {} = {}: unknown key; {}", typed(flag), set.key, set.value,
                                      suggest(set.key.substr(0, dot), allowed)));
}

}  // namespace

toml::table merge(const spec_document& spec, const host::model* model) {
  toml::table root;
  try {
    root = toml::parse(spec.text, spec.file.empty() ? std::string("command line") : spec.file.string());
  } catch (const toml::parse_error& syntax) {
    throw error(exit_usage, fmt::format("{}: {}", place_of(syntax.source()), syntax.description()));
  }
  const auto apply = [&](bool counts) {
    for (std::size_t i = 0; i < spec.flags.size(); ++i) {
      const auto& flag = spec.flags[i];
      if ((flag.name == "-n") != counts) continue;
      auto set = read_flag(flag);
      if (counts) set.key = count_key(root);
      const auto key = full_key(set, flag, model);
      if (!key) continue;
      set.key = *key;
      assign(root, set, flag, i);
    }
  };
  apply(false);
  apply(true);  // -n depends on what the other flags have set
  return root;
}

}  // namespace saltus::host
