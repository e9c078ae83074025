#include "spec/flags.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "spec/field.hpp"
#include "spec/keys.hpp"

namespace saltus::host {

namespace {

/// Limits the depth of keys: the code here and the parser recurse into tables.
void check_depth(std::string_view text, const std::string& where) {
  constexpr int max_parts = 16;
  int dots = 0, line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (c == '#') at = std::min(text.find('\n', at), text.size()) - 1;
    if (c == '"' || c == '\'') {
      // Skips a string in three quotation marks or one; the parser reports unclosed ones.
      const std::string_view mark = text.substr(at, 3) == std::string(3, c) ? text.substr(at, 3) : text.substr(at, 1);
      for (at += mark.size(); at < text.size() && text.substr(at, mark.size()) != mark; ++at) {
        if (text[at] == '\n') ++line;
        if (c == '"' && text[at] == '\\') ++at;
      }
      at += mark.size() - 1;
    }
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
    else if (c == '.' && ++dots >= max_parts)
      throw error(exit_usage,
                  fmt::format("{}: a key has more than {} parts",
                              where.starts_with('-') ? where : fmt::format("{}:{}", where, line), max_parts));
  }
}

/// The beginning of a text that may be long.
std::string shortened(const std::string& text) {
  constexpr std::size_t shown = 60;
  return text.size() > shown ? text.substr(0, shown) + "..." : text;
}

/// One `key = value`. A literal value is a string; any other value is TOML if it parses, else a string.
struct assignment {
  std::string key, value;
  bool literal;
};

std::string typed(const flag& flag) { return flag.name + " " + flag.value; }

assignment read_flag(const flag& flag) {
  static const std::map<std::string_view, std::pair<const char*, bool>> shorthands = {
      {"--seed", {"sample.seed", false}}, {"--backend", {"run.backend", true}},  {"-o", {"output.file", true}},
      {"--method", {"method", true}},     {"--threads", {"run.threads", false}}, {"--lanes", {"run.lanes", false}},
      {"--chunk", {"run.chunk", false}},
  };
  if (flag.name == "--devices")
    return {"run.devices", flag.value == "all" ? flag.value : "[" + flag.value + "]", false};
  if (const auto found = shorthands.find(flag.name); found != shorthands.end())
    return {found->second.first, flag.value, found->second.second};
  if (flag.name != "--set") throw error(exit_usage, typed(flag) + ": not a flag that changes the spec");

  const auto equals = flag.value.find('=');
  const auto key = flag.value.substr(0, equals);
  const bool letters = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
  const bool parts = !key.empty() && key.front() != '.' && key.back() != '.' && key.find("..") == key.npos;
  if (equals == flag.value.npos || !letters || !parts)
    throw error(exit_usage, typed(flag) + ": must be key=value with a key such as rtol or sweep.flow.count");
  return {key, flag.value.substr(equals + 1), false};
}

/// Does the table hold `key` (dotted) and nothing else?
bool holds_only(const toml::table& table, std::string_view key) {
  if (table.size() != 1) return false;
  const auto dot = key.find('.');
  const auto* inner = (*table.begin()).second.as_table();
  return dot == key.npos || (inner && holds_only(*inner, key.substr(dot + 1)));
}

/// Moves the value at `key` of `from`, which holds only that, to the same key in `to`. It is moved because copies of
/// toml++ nodes lose their source.
void graft(toml::table& to, toml::table& from, std::string_view key) {
  const toml::key name = (*from.begin()).first;
  toml::node& value = (*from.begin()).second;
  const auto dot = key.find('.');
  auto* inner = to[name.str()].as_table();
  if (dot == key.npos || !inner) to.insert_or_assign(name, std::move(value));
  else graft(*inner, *value.as_table(), key.substr(dot + 1));
}

/// `rank` of the flag is the line on which its text is parsed, so that entries from flags keep their order.
void assign(toml::table& root, const assignment& set, const flag& flag, std::size_t rank) {
  const auto parse = [&](const std::string& value) -> toml::table {
    check_depth(set.key + " = " + value, shortened(typed(flag)));
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

bool is_table_with(const toml::node& node, std::string_view key) {
  return node.is_table() && node.as_table()->contains(key);
}
bool is_csv(const toml::node& node) { return is_table_with(node, "csv"); }
bool is_range(const toml::node& node) { return node.is_table() && !is_csv(node); }

/// The values of one axis of the product: a single one, or those of a zip.
using axis_nodes = std::vector<std::pair<std::string, toml::node*>>;

axis_nodes columns_of(toml::table& zip, const std::string& name) {
  axis_nodes columns;
  for (auto&& [key, value] : zip) columns.emplace_back(fmt::format("{}.{}", name, key.str()), &value);
  return columns;
}

std::vector<axis_nodes> axes_of(toml::table& root) {
  std::vector<axis_nodes> axes;
  auto* const sweep = root["sweep"].as_table();
  if (!sweep) return axes;
  for (auto&& [key, value] : *sweep) {
    if (auto* quantities = key == "parameters" || key == "initial" ? value.as_table() : nullptr)
      for (auto& one : columns_of(*quantities, fmt::format("sweep.{}", key.str()))) axes.push_back({one});
    else if (key != "zip") axes.push_back({{fmt::format("sweep.{}", key.str()), &value}});
    else if (auto* group = value.as_table()) axes.push_back(columns_of(*group, "sweep.zip"));
    else if (auto* groups = value.as_array())
      for (auto& one : *groups)
        if (auto* columns = one.as_table()) axes.push_back(columns_of(*columns, "sweep.zip"));
  }
  return axes;
}

/// Returns the entry `key` of a table as a table; if it is a path, converts it to a table with that path under the name
/// `path`.
toml::node* as_table_with(toml::table& of, const char* key, const char* path) {
  if (auto* text = of.get(key)->as_string()) {
    toml::table as_table;
    as_table.insert(path, std::move(*text));  // a copy would lose its source
    of.insert_or_assign(key, std::move(as_table));
  }
  return of.get(key);
}

/// [sweep] table as a table that can take a count; null if there is none.
toml::node* table_of_sweep(toml::table& root) {
  auto* const sweep = root["sweep"].as_table();
  return sweep && sweep->contains("table") ? as_table_with(*sweep, "table", "csv") : nullptr;
}

/// The file from which [initial] continues, as a table that can take a count; null if there is none.
toml::node* table_of_initial(toml::table& root) {
  auto* const initial = root["initial"].as_table();
  auto* const from = initial ? initial->get("from") : nullptr;
  if (!from || from->is_number()) return nullptr;
  return as_table_with(*initial, "from", "file");
}

/// The tables whose count -n sets, with their names.
axis_nodes counted_by_n(toml::table& root, const flag& flag) {
  const auto samples = [&]() -> axis_nodes {
    const auto at = root.insert("sample", toml::table{}).first;  // an existing table stays
    return {{"sample", &(*at).second}};
  };
  if (auto* sample = root["sample"].as_table())
    for (auto&& [key, value] : *sample)
      if (key != "seed") return samples();
  if (auto* const table = table_of_sweep(root)) return {{"sweep.table", table}};
  const auto axes = axes_of(root);
  if (auto* const from = table_of_initial(root); from && axes.empty()) return {{"initial.from", from}};
  if (axes.empty()) return samples();
  std::vector<axis_nodes> ranges;
  for (const auto& axis : axes)
    if (axis.size() == 1 && is_range(*axis[0].second)) ranges.push_back(axis);
  if (ranges.size() == 1) return ranges[0];
  const auto has_count = [](const auto& column) { return column.second->is_table(); };
  if (axes.size() == 1 && std::all_of(axes[0].begin(), axes[0].end(), has_count)) return axes[0];
  if (flag.wins) return samples();
  throw error(exit_usage,
              fmt::format("{}: must stand for one count, but [sweep] has {}: set the count that is meant, as "
                          "in --set sweep.NAME.count={}, or sample.count for that many samples at every point",
                          typed(flag), axes.size() > 1 ? "several axes" : "a list of values", flag.value));
}

/// Sets the counts that -n stands for.
void assign_counts(toml::table& root, const flag& flag, std::size_t rank) {
  for (const auto& [name, node] : counted_by_n(root, flag)) {
    auto* const table = node->as_table();
    if (!table) continue;  // [sample] is no table: its reader reports that
    const auto* const before = table->get("count");
    if (!flag.wins && before && from_flag(before->source()) && !before->source().path->starts_with("-n "))
      throw error(exit_usage, fmt::format("{}: {}.count has a value from {} already: leave one of the two out",
                                          typed(flag), name, *before->source().path));
    assign(*table, {"count", flag.value, false}, flag, rank);
  }
}

/// True for a quantity, or a family of them.
bool names_one_of(const std::vector<quantity>& quantities, std::string_view name) {
  return index_of(quantities, name) >= 0 || !members_of(quantities, name).empty();
}

/// "parameters.zeno" or "initial.zeno" for a quantity of the model; empty for any other name.
std::string key_of_quantity(const std::string& name, const model& model) {
  if (names_one_of(model.parameters, name)) return "parameters." + name;
  if (names_one_of(model.states, name) || names_one_of(model.discretes, name)) return "initial." + name;
  return {};
}

const char* kind_of_quantity(const std::string& name, const model& model) {
  if (names_one_of(model.parameters, name)) return "parameter";
  return names_one_of(model.states, name) ? "state" : "discrete variable";
}

bool is_top_key(std::string_view name) { return contains(keys_of(""), name); }

/// The section of a key that Python accepts without it: "output" for samples; empty: none has the key.
std::string_view section_of(std::string_view name) {
  for (const auto& key : spec_keys())
    if (key.name == name && (key.table == "output" || key.table == "sample" || key.table == "run")) return key.table;
  return {};
}

/// The full dotted key of a flag; none if it depends on the model and there is no model yet.
std::optional<std::string> full_key(const assignment& set, const flag& flag, const model* model) {
  constexpr std::string_view of_spec = "spec.";
  const auto first_part = [](const std::string& key) { return key.substr(0, key.find('.')); };
  if (set.key.starts_with(of_spec)) {
    const auto key = set.key.substr(of_spec.size());
    if (is_top_key(first_part(key))) return key;
  }
  const auto dot = set.key.find('.');
  const bool is_key = is_top_key(first_part(set.key));
  const auto quantity = model && dot == set.key.npos ? key_of_quantity(set.key, *model) : std::string();
  if (is_key && !quantity.empty() && flag.name == "--set")
    throw error(exit_usage,
                fmt::format("{0}: {1} is a key of the spec and a {2} of {3}: write --set {4}={5} for the "
                            "{2}, or --set spec.{1}={5} for the key",
                            typed(flag), set.key, kind_of_quantity(set.key, *model), model->name, quantity, set.value));
  if (is_key) return set.key;
  if (!quantity.empty()) return quantity;
  if (dot == set.key.npos && !model) return {};
  if (const auto section = section_of(set.key); !section.empty())
    throw error(exit_usage, fmt::format("{}: {} = {}: unknown key; did you mean {}.{}?", typed(flag), set.key,
                                        set.value, section, set.key));
  auto allowed = keys_of("");
  if (model)
    for (const auto& more :
         {names_of(model->parameters), names_of(model->states), names_of(declared_discretes(*model))})
      allowed = joined(allowed, more);
  throw error(exit_usage, fmt::format("{}: {} = {}: unknown key; {}", typed(flag), set.key, set.value,
                                      suggest(first_part(set.key), allowed)));
}

/// A hint for numbers such as .5 or 5., which TOML does not have.
std::string advice_on(const toml::source_position& at, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (toml::source_index n = 0; n < at.line && std::getline(lines, line);) ++n;
  static const std::regex number(R"((?:^|[=,\[{\s])([-+]?)(?:\.(\d+)|(\d+)\.)((?:[eE][-+]?\d+)?)(?![\w.]))");
  std::smatch m;
  if (!std::regex_search(line, m, number)) return {};
  const std::string whole = m[3].matched ? m[3].str() : "0", part = m[2].matched ? m[2].str() : "0";
  return fmt::format("; write {}{}.{}{}", m[1].str(), whole, part, m[4].str());
}

}  // namespace

toml::table merge(const spec_document& spec, const host::model* model) {
  toml::table root;
  const std::string source = spec.file.empty() ? std::string("command line") : spec.file.string();
  check_depth(spec.text, source);
  try {
    root = toml::parse(spec.text, source);
  } catch (const toml::parse_error& syntax) {
    throw error(exit_usage, fmt::format("{}: {}{}", location_of(syntax.source()), syntax.description(),
                                        advice_on(syntax.source().begin, spec.text)));
  }
  std::vector<std::string> complaints;
  for (std::size_t i = 0; i < spec.flags.size(); ++i) {
    const auto& flag = spec.flags[i];
    if (flag.name == "-n") continue;
    try {
      auto set = read_flag(flag);
      const auto key = full_key(set, flag, model);
      if (!key) continue;
      set.key = *key;
      assign(root, set, flag, i);
    } catch (const error& e) { complaints.emplace_back(e.what()); }
  }
  if (!complaints.empty()) throw error(exit_usage, fmt::format("{}", fmt::join(complaints, "\n")));
  for (std::size_t i = 0; i < spec.flags.size(); ++i)  // -n depends on the keys that other flags set
    if (spec.flags[i].name == "-n") assign_counts(root, spec.flags[i], i);
  return root;
}

}  // namespace saltus::host
