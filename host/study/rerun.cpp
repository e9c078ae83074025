#include "study/rerun.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "base/version.hpp"
#include "compile/compiler.hpp"
#include "compile/derivative_arrays.hpp"
#include "compile/kept_headers.hpp"
#include "compile/module_cache.hpp"
#include "ensemble/sampler.hpp"
#include "result/format.hpp"
#include "result/reader.hpp"
#include "spec/field.hpp"
#include "spec/keys.hpp"

namespace saltus::host {

namespace {

namespace fs = std::filesystem;

std::string toml_of(double value) { return inline_text(toml::value<double>(value)); }
std::string toml_of(const std::string& text) { return inline_text(toml::value<std::string>(text)); }

std::string text_in(const fs::path& file) {
  std::error_code none;
  return fs::is_regular_file(file, none) ? read_file(file) : std::string();
}

/// Source files that have changed since the run, by the hashes in the file.
std::vector<std::string> changed_sources(const result_file& f, const model& m, bool inputs_too) {
  std::vector<std::string> changed;
  std::istringstream lines(f.text("sources"));
  for (std::string hash, path; lines >> hash && std::getline(lines >> std::ws, path);) {
    const auto of_model = files_of_model(m);
    const bool is_of_model = std::find(of_model.begin(), of_model.end(), fs::path(path)) != of_model.end();
    std::error_code none;
    if ((is_of_model || inputs_too) && (!fs::is_regular_file(path, none) || hash_file(path) != hash))
      changed.push_back(path);
  }
  return changed;
}

/// The inputs of an instance as TOML: the span, and two tables.
struct inputs {
  std::string span, tables;
  double record_id = 0;
};

inputs inputs_in_rows(const result_file& f, std::size_t i) {
  inputs in;
  in.span = fmt::format("t = [{}, {}]\n", toml_of(f.value(f.at("t_begin"), i)), toml_of(f.value(f.at("t_end"), i)));
  in.tables = "\n[parameters]\n";
  for (const auto* v : f.with_role("parameter"))
    in.tables += fmt::format("{} = {}\n", key_text(v->name), toml_of(f.value(*v, i)));
  in.tables += "\n[initial]\n";
  constexpr std::string_view prefix = "initial_";
  for (const char* role : {"initial", "kept"})
    for (const auto* v : f.with_role(role))
      if (v->name.starts_with(prefix))
        in.tables += fmt::format("{} = {}\n", key_text(v->name.substr(prefix.size())), toml_of(f.value(*v, i)));
  if (const auto* v = f.find("record_id")) in.record_id = f.value(*v, i);
  return in;
}

/// For a file without rows: samples the inputs again as the run did.
inputs inputs_of_spec(const result_file& f, std::size_t i, const model& m) {
  spec_document whole = from_text(f.text("spec"));
  std::istringstream lines(f.text("sources"));
  for (std::string hash, path; lines >> hash && std::getline(lines >> std::ws, path);)
    if (fs::path(path).extension() == ".toml") whole.file = path;  // start of its relative paths
  const plan p = validate(whole, model_for(whole, m));
  columns one;
  sampler(p).fill(static_cast<std::int64_t>(i), 1, one);
  inputs in;
  in.span = fmt::format("t = [{}, {}]\n", toml_of(one.t_begin[0]), toml_of(one.t_end[0]));
  const auto add = [&](const std::vector<quantity>& list, const std::vector<double>& values) {
    for (std::size_t j = 0; j < values.size(); ++j)
      if (values[j] == values[j]) in.tables += fmt::format("{} = {}\n", list[j].name, toml_of(values[j]));
  };
  if (!one.record_id.empty()) in.record_id = one.record_id[0];
  in.tables = "\n[parameters]\n";
  add(m.parameters, one.parameters);
  in.tables += "\n[initial]\n";
  add(m.states, one.initial);
  add(m.discretes, one.discrete);
  return in;
}

/// Tables of functions of time are too long for a text, so they are passed as arrays beside it.
std::string tables_of(const result_file& f, const model& m, given_arrays& arrays) {
  std::string text;
  for (const tabulated& t : m.tables) {
    const auto *times = f.find("knot_" + t.name), *values = f.find("table_" + t.name);
    if (!times || !values) continue;
    arrays[times->name] = f.column(*times);
    arrays[values->name] = f.numbers(*values);  // a row for each curve
    text += fmt::format("{} = {{ times = {{ array = {} }}, values = {{ array = {} }} }}\n", t.name,
                        toml_of(times->name), toml_of(values->name));
  }
  return text.empty() ? text : "\n[tables]\n" + text;
}

/// [records] for one instance. Arrays that a program has passed are passed again.
std::string records_of(const result_file& f, double id, given_arrays& arrays) {
  const auto text = records_of_instance(f.text("records"), f.text("sources"), f.path());
  if (text.empty()) return text;
  for (const auto* v : f.with_role("rows")) arrays[v->name] = f.column(*v);
  return fmt::format("{}id = [{}]\n", text, toml_of(id));
}

std::vector<std::string> warnings_of(const result_file& f, const model& m) {
  std::vector<std::string> all;
  if (const auto was = f.text("saltus_version"); was != version_with_commit())
    all.push_back(fmt::format("{} was made by saltus {}: this is {}, and last bits may differ", f.path(), was,
                              version_with_commit()));
  if (const auto was = f.text("compiler"); was != find_compiler().version)
    all.push_back(fmt::format("{} was made with {}: this is {}, and last bits may differ", f.path(), was,
                              find_compiler().version));
  for (const auto& path : changed_sources(f, m, !f.has_rows()))
    all.push_back(fmt::format("{} has changed since {} was made, or is gone", path, f.path()));
  return all;
}

/// The first number of an array, and whether it equals that of the file to the bit.
std::pair<double, bool> compared(const result_array& a, double was) {
  const auto first = [&]<class Number>(Number number) {
    std::memcpy(&number, a.numbers.data(), sizeof number);
    return static_cast<double>(number);
  };
  using number = result_array::number;
  const double is = a.type == number::real    ? first(0.0)
                    : a.type == number::int64 ? first(std::int64_t{0})
                    : a.type == number::int32 ? first(std::int32_t{0})
                                              : first(static_cast<unsigned char>(0));
  const bool same = std::bit_cast<std::uint64_t>(is) == std::bit_cast<std::uint64_t>(was) || (is != is && was != was);
  return {is, same};
}

}  // namespace

std::string records_of_instance(const std::string& records, const std::string& sources, const std::string& file) {
  if (records.empty()) return {};
  std::istringstream lines(sources);
  std::vector<std::string> unchanged;
  for (std::string hash, path; lines >> hash && std::getline(lines >> std::ws, path);) {
    std::error_code none;
    if (records.find(toml_of(path)) == records.npos) continue;
    if (!fs::is_regular_file(path, none) || hash_file(path) != hash)
      throw error(exit_usage,
                  fmt::format("{}: the rows of its records are in {}, which has changed since the run, or is gone",
                              file, path));
    unchanged.push_back(path);
  }
  try {
    const toml::table all = toml::parse(records);
    std::string text = "\n[records]\n";
    if (const auto* const entries = all["records"].as_table())
      for (const auto& [key, value] : *entries) {
        // A result of a stranger might name any file.
        const toml::table* const source = value.as_table();
        const auto csv = source ? (*source)["csv"].value<std::string>() : std::nullopt;
        if (csv && !contains(unchanged, *csv))
          throw error(exit_usage, fmt::format("{}: its records are in {}, which is not among its sources", file, *csv));
        text += fmt::format("{} = {}\n", key_text(key.str()), inline_text(value));
      }
    return text;
  } catch (const toml::parse_error& e) {
    throw error(exit_failure, fmt::format("{}: its records are no TOML: {}", file, e.description()));
  }
}

std::string settings_of_instance(const std::string& settings, const std::string& file) {
  const names left_out = {"t",         "file",    "rows",       "statistics",    "model",
                          "histogram", "indices", "checkpoint", "allowed_failed"};
  try {
    const toml::table all = toml::parse(settings);
    std::string kept;
    std::string_view section;
    for (const spec_key& key : spec_keys()) {
      const auto value = key.table.empty() ? all[key.name] : all[key.table][key.name];
      if (!value || key.is_section() || key.table == "sample" || contains(left_out, key.name)) continue;
      if (section != key.table) kept += fmt::format("\n[{}]\n", section = key.table);
      kept += fmt::format("{} = {}\n", key.name, inline_text(*value.node()));
    }
    return kept;
  } catch (const toml::parse_error& e) {
    throw error(exit_failure, fmt::format("{}: its settings are no TOML: {}", file, e.description()));
  }
}

fs::path header_of(const model_of_result& m, bool trusted) {
  if (!is_identifier(m.name))
    throw error(exit_usage, fmt::format("{}: its model is called `{}`, which is no name of a model", m.result,
                                        printable_line(m.name)));
  if (const fs::path builtin = home() / "problems" / (m.name + ".hpp"); text_in(builtin) == m.text) return builtin;
  const fs::path kept = keep_header(m.name, m.text);
  if (!trusted && !has_been_run(m.text))
    throw error(
        exit_usage,
        fmt::format("{}: its model `{}` is a text in the file, {} bytes of C++ that this user has not run before. "
                    "Read it, {}, and then let it be compiled and run here: --trust (in Python trust=True)",
                    m.result, m.name, m.text.size(), kept.string()));
  if (m.file.is_absolute() && text_in(m.file) == m.text) return m.file;
  return kept;
}

plan plan_of_instance(const std::string& file, std::int64_t id, std::vector<flag> flags, bool trusted,
                      const cancellation& stop) {
  const result_file f(file);
  if (id < 0 || id >= static_cast<std::int64_t>(f.instances()))
    throw error(exit_usage, fmt::format("--instance {}: {} has {} instances, from 0 on", id, file, f.instances()));
  const fs::path header = header_of({file, f.text("model"), f.text("model_text"), f.text("model_file")}, trusted);
  const model m = describe_model(header, stop);
  const auto i = static_cast<std::size_t>(id);
  const inputs in = f.has_rows() ? inputs_in_rows(f, i) : inputs_of_spec(f, i, m);
  given_arrays arrays;
  const std::string tables = tables_of(f, m, arrays) + records_of(f, in.record_id, arrays);
  const std::string text = fmt::format("model = {}\n{}{}{}{}", toml_of(header.string()), in.span,
                                       settings_of_instance(f.text("settings"), f.path()), in.tables, tables);
  const spec_document spec = from_text(text, std::move(flags), std::move(arrays));
  plan p = validate(spec, model_for(spec, m, stop));
  check_names(p);
  for (auto& warning : warnings_of(f, m)) p.warnings.push_back(std::move(warning));
  p.inputs.push_back(file);
  return p;
}

/// Roles of variables with results of an instance.
static constexpr std::string_view roles_of_results[] = {"final",     "kept",        "status",  "counter",
                                                        "reduction", "sensitivity", "lyapunov"};

std::vector<std::string> differences(const result_arrays& made, const std::string& file, std::int64_t id) {
  const result_file f(file);
  std::vector<std::string> all;
  for (const result_array& a : made.variables()) {
    const bool is_result =
        std::find(std::begin(roles_of_results), std::end(roles_of_results), a.what.role) != std::end(roles_of_results);
    const auto* const v = f.find(a.what.name);
    if (!is_result || !v || !v->per_instance() || a.numbers.empty()) continue;
    const double was = f.value(*v, static_cast<std::size_t>(id));
    if (const auto [is, same] = compared(a, was); !same)
      all.push_back(fmt::format("{} is {} and was {}", v->name, is, was));
  }
  return all;
}

}  // namespace saltus::host
