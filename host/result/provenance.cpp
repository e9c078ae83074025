#include "result/provenance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

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
#include "spec/keys.hpp"
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

/// Replaces texts that are absolute paths, or paths from a home, by the file name.
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

std::string toml_of(int value) { return std::to_string(value); }
std::string toml_of(double value) { return inline_text(toml::value<double>(value)); }
std::string toml_of(const std::string& value) { return inline_text(toml::value<std::string>(value)); }
template <class Item>
std::string toml_of(const std::vector<Item>& list) {
  std::vector<std::string> items;
  for (const auto& item : list) items.push_back(toml_of(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
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

/// A hash of the knots, 32 hex digits.
std::string hash_of(const knots& k) {
  std::string bytes;
  for (const auto* list : {&k.times, &k.values})
    bytes.append(reinterpret_cast<const char*>(list->data()), list->size() * sizeof(double));
  return hash_text(bytes);
}

/// Writers for keys that have readers of their own, as TOML; empty: the setting is off.
using value_writer = std::string (*)(const plan&);
const std::map<std::string_view, value_writer> value_writers = {
    {"method", [](const plan& p) { return toml_of(method_name(p)); }},
    {"t",
     [](const plan& p) {
       return toml_of(std::vector<double>{p.t_begin, p.t_end});
     }},
    {"atol",
     [](const plan& p) {
       // Derivatives have tolerances behind those of the states; they follow from these.
       const std::vector<double> atol(p.atol.begin(),
                                      p.atol.begin() + std::min(std::ssize(p.atol), std::ssize(p.model.states)));
       const bool one = std::adjacent_find(atol.begin(), atol.end(), std::not_equal_to<>()) == atol.end();
       return one && !atol.empty() ? toml_of(atol.front()) : toml_of(atol);
     }},
    {"concurrency",
     [](const plan& p) {
       if (!(p.concurrency_time > 0)) return std::string();
       return inline_text(toml::table{{"time", p.concurrency_time}, {"value", p.concurrency_value}});
     }},
    {"consistency",
     [](const plan& p) { return has_constraints(p.model) ? toml_of(word_of(p.consistency)) : std::string(); }},
    {"coordinates",
     [](const plan& p) {
       return p.model.equations == abi::any_order ? toml_of(word_of(p.coordinates)) : std::string();
     }},
    {"structure",
     [](const plan& p) { return p.model.equations == abi::any_order ? toml_of(word_of(p.structure)) : std::string(); }},
    {"sensitivity.parameters",
     [](const plan& p) {
       std::vector<std::string> parameters;
       for (const target& of : p.sensitivities) parameters.push_back(of.name);
       return toml_of(parameters);
     }},
    {"gradient.of",
     [](const plan& p) {
       toml::table weights;
       const auto outcomes = gradient_outcomes(p);
       for (std::size_t k = 0; k < outcomes.size(); ++k)
         if (const double weight = p.gradient_weights[k]; weight != 0) weights.insert(outcomes[k], weight);
       return inline_text(weights);
     }},
    {"gradient.data",
     [](const plan& p) {
       toml::table all;
       for (const measured& one : p.gradient_data)
         all.insert(one.name,
                    toml::table{
                        {"times", list_of(one.times)}, {"values", list_of(one.values)}, {"sigma", list_of(one.sigma)}});
       return all.empty() ? std::string() : inline_text(all);
     }},
    {"gradient.parameters",
     [](const plan& p) {
       std::vector<std::string> parameters;
       for (const target& of : p.gradient) parameters.push_back(of.name);
       return toml_of(parameters);
     }},
    {"lyapunov.exponents", [](const plan& p) { return toml_of(p.exponents); }},
    {"lyapunov.from",
     [](const plan& p) { return std::isfinite(p.exponents_from) ? toml_of(p.exponents_from) : std::string(); }},
    {"output.file", [](const plan& p) { return p.file.empty() ? std::string() : toml_of(told_path(p.file, p)); }},
    {"output.title", [](const plan& p) { return p.title.empty() ? std::string() : toml_of(p.title); }},
    {"output.samples",
     [](const plan& p) {
       if (!p.sample_times.empty()) return fmt::format("{{ times = {} }}", toml_of(p.sample_times));
       return p.sample_count > 0 ? inline_text(toml::table{{"count", p.sample_count}}) : std::string();
     }},
    {"output.events",
     [](const plan& p) {
       if (p.log_events && !p.logged.is_all()) return inline_text(table_of(p.logged, p.model));
       return std::string(p.log_events ? "true" : "false");
     }},
    {"output.reduce",
     [](const plan& p) {
       std::vector<std::string> reductions;
       for (const reduction& r : p.reductions) reductions.push_back(r.name);
       return toml_of(reductions);
     }},
    {"output.provenance", [](const plan& p) { return toml_of(std::string(p.anonymous ? "anonymous" : "full")); }},
    {"output.statistics", [](const plan& p) { return std::string(p.statistics ? "true" : "false"); }},
    {"output.bands",
     [](const plan& p) {
       return p.bands ? inline_text(toml::table{{"quantiles", list_of(p.quantiles)}}) : std::string("false");
     }},
    {"output.histogram",
     [](const plan& p) {
       toml::table histograms;
       for (const histogram_request& h : p.histograms)
         histograms.insert(h.name, toml::table{{"from", h.from}, {"to", h.to}, {"bins", h.bins}});
       return histograms.empty() ? std::string() : inline_text(histograms);
     }},
    {"output.indices",
     [](const plan& p) {
       std::vector<std::string> outcomes;
       const auto columns = statistic_columns(p);
       for (const int column : p.indices) outcomes.push_back(columns[static_cast<std::size_t>(column)].name);
       return outcomes.empty() ? std::string("false") : toml_of(outcomes);
     }},
    {"run.backend", [](const plan& p) { return toml_of(word_of(p.backend)); }},
    {"run.devices", [](const plan& p) { return p.devices.empty() ? std::string("\"all\"") : toml_of(p.devices); }},
    {"run.threads", [](const plan& p) { return toml_of(p.threads); }},
    {"run.lanes", [](const plan& p) { return toml_of(p.lanes); }},
    {"run.order", [](const plan& p) { return toml_of(std::string(p.by_work ? "work" : "id")); }},
    {"run.checkpoint", [](const plan& p) { return toml_of(p.checkpoint.value_or(usual_checkpoint)); }},
};

/// The other sections appear in the spec and as columns of the result.
bool is_told(std::string_view table, const plan& p) {
  if (table == "sensitivity") return !p.sensitivities.empty();
  if (table == "lyapunov") return p.exponents > 0;
  if (table == "gradient") return has_gradient(p);
  return table.empty() || table == "output" || table == "run";
}

std::string none(std::string_view key) { return fmt::format("# {}: none\n", key); }

/// Values of tables are variables of the file and too many for a text.
std::string text_of_tables(const plan& p) {
  if (!p.tables) return none("tables");
  std::string text;
  for (const auto& t : p.tables->all())
    text += fmt::format("# tables.{}: {} knots{}, {}\n", t.name, t.knots.times.size(),
                        t.knots.curves() > 1 ? fmt::format(" of {} curves", t.knots.curves()) : "", hash_of(t.knots));
  return text;
}

/// Files are among the sources, with their hashes; arrays are variables of the file.
std::string text_of_records(const plan& p) {
  if (!p.records) return none("records");
  std::string text;
  for (const record& r : p.records->all()) {
    std::string bytes;
    for (const auto& [name, numbers] : r.arrays)
      bytes.append(name).append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    text += fmt::format("# rows of records.{}: {}{}\n", r.name, r.rows.count(),
                        bytes.empty() ? "" : ", " + hash_text(bytes));
  }
  return text;
}

}  // namespace

std::string records_text(const plan& p) {
  if (!p.records) return {};
  auto text =
      fmt::format("\n[records]\npast = {}\n", toml_of(std::string(p.records->are_past() ? "given" : "refused")));
  for (const record& r : p.records->all()) {
    toml::table source{{"others", "ignored"}};
    if (r.arrays.empty()) source.insert("csv", told_path(r.file, p));
    toml::table columns;
    for (const auto& [name, numbers] : r.arrays) columns.insert(name, toml::table{{"array", array_of_record(r, name)}});
    if (!r.arrays.empty()) source.insert("columns", std::move(columns));
    text += fmt::format("{} = {}\n", key_text(r.name), inline_text(source));
  }
  return text;
}

std::string settings_text(const plan& p) {
  std::string text;
  std::string_view table;
  for (const spec_key& key : spec_keys()) {
    if (key.path() == "tables") text += text_of_tables(p);
    if (key.path() == "records") text += text_of_records(p);
    if (contains(names{"sensitivity", "lyapunov", "gradient"}, key.path()) && !is_told(key.name, p))
      text += none(key.name);
    if (key.is_section() || key.path() == "model" || !is_told(key.table, p)) continue;
    if (table != key.table) text += fmt::format("\n[{}]\n", table = key.table);
    const auto value = key.is_plain() ? plain_text(key, p) : value_writers.at(key.path())(p);
    text += value.empty() ? none(key.name) : fmt::format("{} = {}\n", key.name, value);
  }
  return text;
}

}  // namespace saltus::host
