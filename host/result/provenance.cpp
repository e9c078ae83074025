#include "result/provenance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "base/toml.hpp"
#include "base/version.hpp"
#include "compile/compiler.hpp"
#include "compile/loaded_model.hpp"
#include "ensemble/backend.hpp"
#include "spec/csv.hpp"
#include "spec/field.hpp"
#include "spec/statistic_columns.hpp"

namespace saltus::host {

provenance provenance_of(const plan& p, const backend& where, const std::string& command) {
  provenance origin;
  origin.version = version_with_commit();
  origin.compiler = find_compiler().version;
  origin.device = where.device();
  origin.command = command;
  origin.module_hash = where.model_hash();
  std::string model;
  for (const auto& [file, text] : texts_of(p.model)) {
    if (origin.model_text.empty()) origin.model_text = text;
    model += text + '\0';
  }
  origin.model_hash = hash_text(model);
  origin.sources = sources_of(p);
  return origin;
}

std::string told_path(const std::filesystem::path& file, const plan& p) {
  return p.anonymous ? file.filename().string() : file.string();
}

std::string lines_of(const std::vector<source_file>& files, const plan& p) {
  std::string text;
  for (const source_file& f : files) text += fmt::format("{}  {}\n", f.hash, told_path(f.path, p));
  return text;
}

namespace {

/// Texts that are paths from the root or from a home become names.
void drop_folders(toml::node& node) {
  if (auto* const table = node.as_table())
    for (auto&& [key, value] : *table) drop_folders(value);
  else if (auto* const array = node.as_array())
    for (auto&& value : *array) drop_folders(value);
  else if (auto* const text = node.as_string(); text && (text->get().starts_with('/') || text->get().starts_with('~')))
    *text = std::filesystem::path(text->get()).filename().string();
}

}  // namespace

std::string told_spec(const plan& p) {
  if (!p.anonymous) return p.text;
  toml::table spec = toml::parse(p.text);
  drop_folders(spec);
  std::string values, sections;
  for (const auto& [key, value] : spec)
    if (const auto* const table = value.as_table()) {
      sections += fmt::format("\n[{}]\n", key.str());
      for (const auto& [inner, of] : *table)
        sections += fmt::format("{} = {}\n", key_text(inner.str()), inline_text(of));
    } else {
      values += fmt::format("{} = {}\n", key_text(key.str()), inline_text(value));
    }
  return values + sections;
}

std::vector<source_file> sources_of(const plan& p) {
  std::vector<source_file> all;
  for (const auto& [file, text] : texts_of(p.model)) all.push_back({file.string(), hash_text(text)});
  for (const auto& file : p.inputs) all.push_back({file.string(), hash_file(file)});
  if (p.reads_standard_input) all.push_back({standard_input_name, hash_text(standard_input())});
  return all;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

namespace {

/// Lines of TOML.
class lines {
 public:
  template <class Value>
  void add(std::string_view key, const Value& value) {
    text(key, toml_of(value));
  }
  /// Of a key that is off, for which there is no value.
  void none(std::string_view key) { comment(key, "none"); }
  void comment(std::string_view key, std::string_view value) { text_ += fmt::format("# {}: {}\n", key, value); }
  void text(std::string_view key, const std::string& toml) { text_ += fmt::format("{} = {}\n", key, toml); }
  void section(std::string_view name) { text_ += fmt::format("\n[{}]\n", name); }
  std::string take() { return std::move(text_); }

  static std::string toml_of(bool value) { return value ? "true" : "false"; }
  static std::string toml_of(std::int64_t value) { return std::to_string(value); }
  static std::string toml_of(int value) { return std::to_string(value); }
  static std::string toml_of(double value) { return inline_text(toml::value<double>(value)); }
  static std::string toml_of(const std::string& value) { return inline_text(toml::value<std::string>(value)); }
  static std::string toml_of(const char* value) { return toml_of(std::string(value)); }
  static std::string toml_of(const toml::table& value) { return inline_text(value); }
  template <class Item>
  static std::string toml_of(const std::vector<Item>& list) {
    std::vector<std::string> items;
    for (const auto& item : list) items.push_back(toml_of(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }

 private:
  std::string text_;
};

void integration(const plan& p, lines& out) {
  out.add("method", method_name(p));
  out.add("t", std::vector<double>{p.t_begin, p.t_end});
  out.add("rtol", p.rtol);
  // Behind those of the states there may be those of their derivatives, which follow from them.
  const std::vector<double> atol(p.atol.begin(),
                                 p.atol.begin() + std::min(std::ssize(p.atol), std::ssize(p.model.states)));
  const bool one = std::adjacent_find(atol.begin(), atol.end(), std::not_equal_to<>()) == atol.end();
  if (one && !atol.empty()) out.add("atol", atol.front());
  else out.add("atol", atol);
  out.add("norm", p.norm);
  out.add("controller", p.controller);
  out.add("event_tol", p.event_tol);
  out.add("first_step", p.first_step);
  if (std::isfinite(p.max_step)) out.add("max_step", p.max_step);
  else out.none("max_step");
  if (p.fixed_step > 0) out.add("step", p.fixed_step);
  else out.none("step");
  out.add("max_steps", p.max_steps);
  out.add("max_events", p.max_events);
  out.add("precision", p.precision);
  if (has_constraints(p.model)) out.add("consistency", abi::consistency_names[p.consistency]);
  else out.none("consistency");
  if (p.model.equations == abi::any_order) out.add("coordinates", p.coordinates);
  else out.none("coordinates");
  if (p.model.equations == abi::any_order) out.add("structure", p.structure);
  else out.none("structure");
}

void events(const plan& p, lines& out) {
  out.add("detection", p.detection);
  out.add("guards_in_error", p.guards_in_error);
  if (p.concurrency_time > 0)
    out.add("concurrency", toml::table{{"time", p.concurrency_time}, {"value", p.concurrency_value}});
  else out.none("concurrency");
  out.add("zeno", p.zeno);
  out.add("rescue", p.rescue);
  out.add("inject_exceptions", p.inject_exceptions);
}

toml::array list_of(const std::vector<double>& numbers) {
  toml::array list;
  for (const double x : numbers) list.push_back(x);
  return list;
}

toml::table table_of(const event_selection& log, const model& m) {
  toml::table t;
  toml::array guards;
  const auto names = event_names(m);
  for (std::size_t i = 0; i < log.events.size(); ++i)
    if (log.events[i] != 0) guards.push_back(names[i]);
  if (!guards.empty()) t.insert("guards", std::move(guards));
  if (log.first > 0) t.insert("first", log.first);
  if (log.last > 0) t.insert("last", log.last);
  if (log.from) t.insert("from", *log.from);
  if (log.to) t.insert("to", *log.to);
  if (log.outputs) t.insert("outputs", true);
  return t;
}

void output(const plan& p, lines& out) {
  out.section("output");
  if (p.file.empty()) out.none("file");
  else out.add("file", told_path(p.file, p));
  if (!p.sample_times.empty()) out.text("samples", fmt::format("{{ times = {} }}", lines::toml_of(p.sample_times)));
  else if (p.sample_count > 0) out.add("samples", toml::table{{"count", p.sample_count}});
  else out.none("samples");
  if (p.log_events && !p.logged.is_all()) out.add("events", table_of(p.logged, p.model));
  else out.add("events", p.log_events);
  std::vector<std::string> reductions;
  for (const reduction& r : p.reductions) reductions.push_back(r.name);
  out.add("reduce", reductions);
  out.add("compression", p.compression);
  out.add("provenance", p.anonymous ? "anonymous" : "full");
  if (p.store_chunk > 0) out.add("store_chunk", p.store_chunk);
  else out.none("store_chunk");
  out.add("rows", p.rows);
  out.add("statistics", p.statistics);
  if (p.bands) out.add("bands", toml::table{{"quantiles", list_of(p.quantiles)}});
  else out.add("bands", false);
  toml::table histograms;
  for (const histogram_request& h : p.histograms)
    histograms.insert(h.name, toml::table{{"from", h.from}, {"to", h.to}, {"bins", h.bins}});
  if (p.histograms.empty()) out.none("histogram");
  else out.add("histogram", histograms);
  std::vector<std::string> outcomes;
  const auto columns = statistic_columns(p);
  for (const int column : p.indices) outcomes.push_back(columns[static_cast<std::size_t>(column)].name);
  if (outcomes.empty()) out.add("indices", false);
  else out.add("indices", outcomes);
}

/// 32 hex digits.
std::string hash_of(const knots& k) {
  std::string bytes;
  for (const auto* list : {&k.times, &k.values})
    bytes.append(reinterpret_cast<const char*>(list->data()), list->size() * sizeof(double));
  return hash_text(bytes);
}

/// Their values are variables of the file, and are too many for a text.
void tables(const plan& p, lines& out) {
  if (!p.tables) return out.none("tables");
  for (const auto& t : p.tables->all())
    out.comment("tables." + t.name, fmt::format("{} knots, {}", t.knots.times.size(), hash_of(t.knots)));
}

void sensitivity(const plan& p, lines& out) {
  if (p.sensitivities.empty()) return out.none("sensitivity");
  out.section("sensitivity");
  std::vector<std::string> parameters;
  for (const target& of : p.sensitivities) parameters.push_back(of.name);
  out.add("parameters", parameters);
  out.add("error_control", p.sensitivities_in_error);
}

void lyapunov(const plan& p, lines& out) {
  if (p.exponents == 0) return out.none("lyapunov");
  out.section("lyapunov");
  out.add("exponents", p.exponents);
  if (std::isfinite(p.exponents_from)) out.add("from", p.exponents_from);
}

void where_and_how(const plan& p, lines& out) {
  out.section("run");
  out.add("backend", p.backend);
  if (p.devices.empty()) out.add("devices", "all");
  else out.add("devices", p.devices);
  out.add("threads", p.threads);
  out.add("lanes", p.lanes);
  out.add("groups", p.groups);
  out.add("chunk", p.chunk);
  out.add("order", p.by_work ? "work" : "id");
  out.add("allowed_failed", p.allowed_failed);
  if (p.instance_time_limit > 0) out.add("instance_time_limit", p.instance_time_limit);
  else out.none("instance_time_limit");
  out.add("checkpoint", p.checkpoint.value_or(usual_checkpoint));
  out.add("lease", p.lease);
}

}  // namespace

std::string settings_text(const plan& p) {
  lines out;
  integration(p, out);
  events(p, out);
  tables(p, out);
  sensitivity(p, out);
  lyapunov(p, out);
  output(p, out);
  where_and_how(p, out);
  return out.take();
}

}  // namespace saltus::host
