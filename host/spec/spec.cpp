#include "spec/spec.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "spec/flags.hpp"
#include "spec/reading.hpp"

namespace saltus::host {
namespace {

std::string read_text(const std::filesystem::path& file) {
  if (const auto what = not_a_file(file); !what.empty())
    throw error(exit_usage, fmt::format("{}: {}, not a spec", file.string(), what));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw error(exit_usage, fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool is_path(std::string_view model) { return model.find('/') != model.npos || model.ends_with(".hpp"); }

void read_model(spec_document& spec) {
  const auto merged = merge(spec, nullptr);
  const field root(merged);
  if (!root.find("model")) root.only(keys_of(""));  // the key may be misspelt; validate reports other keys
  const auto model = root.need("model", "must be the name of a built-in model, or the path of a header");
  spec.model = model.text();
  spec.model_location = model.what();
  if (is_path(spec.model)) spec.model_header = resolve(spec, model);
}

/// The root table as TOML: values, then one section for each table.
std::string document_text(const field& root) {
  std::string values, sections;
  for (const auto& entry : root.entries()) {
    if (!entry.is_table()) {
      values += fmt::format("{} = {}\n", key_text(entry.key()), entry.value());
      continue;
    }
    sections += fmt::format("\n[{}]\n", entry.key());
    for (const auto& inner : entry.entries())
      sections += fmt::format("{} = {}\n", key_text(inner.key()), inner.value());
  }
  return values + sections;
}

/// A plan with the model's own values.
reading begin(const spec_document& spec, const model& model, const field& root) {
  reading r{spec, model, root};
  r.plan.model = model;
  if (!spec.file.empty()) r.plan.inputs.push_back(spec.file);
  for (const auto& parameter : model.parameters) r.plan.parameters.push_back(parameter.value);
  r.plan.initial.assign(model.states.size(), std::numeric_limits<double>::quiet_NaN());
  r.plan.discrete.assign(model.discretes.size(), std::numeric_limits<double>::quiet_NaN());
  r.plan.t_begin = model.t_begin;
  r.plan.t_end = model.t_end;
  return r;
}

}  // namespace

spec_document read_spec(const std::filesystem::path& file, std::vector<flag> flags) {
  spec_document spec{file, read_text(file), std::move(flags), {}, {}, {}};
  read_model(spec);
  return spec;
}

spec_document from_model(const std::string& name, std::vector<flag> flags) {
  const auto text = fmt::format("model = {}\n", inline_text(toml::value<std::string>(name)));
  spec_document spec{{}, text, std::move(flags), {}, {}, {}};
  read_model(spec);
  return spec;
}

spec_document from_text(const std::string& text, std::vector<flag> flags, given_arrays arrays,
                        const std::filesystem::path& folder) {
  spec_document spec{{}, text, std::move(flags), {}, {}, {}, std::move(arrays), folder};
  read_model(spec);
  return spec;
}

bool asks_for_array(const spec_document& spec) {
  return merge(spec, nullptr)["structure"].value<std::string>() == word_of(structure_kind::array);
}

void read_plain_values(reading& r, const field& table) {
  table.only(keys_of(table.name()));
  for (const auto& key : spec_keys())
    if (key.table == table.name())
      if (const auto entry = table.find(key.name)) read_plain(key, *entry, r.plan);
}

namespace {

plan read_plan(const spec_document& spec, const host::model& model, const toml::table& merged) {
  const field root(merged);
  reading r = begin(spec, model, root);
  read_integration(r);
  read_events(r);
  read_instances(r);
  read_tables(r);
  read_output(r);
  read_records(r);
  read_sensitivity(r);
  read_lyapunov(r);
  read_run(r);
  choose_auto(r);
  read_gradient(r);
  check_delays(r);
  r.plan.text = document_text(root);
  return std::move(r.plan);
}

/// The table that contains the entry of that name; empty: the top of the spec.
std::string_view table_of(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == name.npos ? std::string_view() : name.substr(0, dot);
}

/// Removes the entry of that name; for an element of a list, the whole list. Returns false if there is none.
bool remove_entry(toml::table& from, std::string_view name) {
  const auto end = name.find_first_of(".[");
  const auto key = name.substr(0, end);
  auto* const inner = end == name.npos || name[end] == '[' ? nullptr : from[key].as_table();
  if (inner) return remove_entry(*inner, name.substr(end + 1));
  return from.erase(key) > 0;
}

}  // namespace

// Removes each wrong entry and reads the rest again, so that all errors are reported at once. Without an entry, an
// error may arise that a correct entry would prevent; so later errors count only if they stand alone.
plan validate(const spec_document& spec, const host::model& model) {
  constexpr std::size_t most = 20;
  auto merged = merge(spec, &model);
  std::vector<std::string> complaints, removed;
  while (complaints.size() < most) {
    try {
      plan p = read_plan(spec, model, merged);
      if (complaints.empty()) return p;
      break;
    } catch (const spec_error& e) {
      const bool follows = !e.missing.empty() && std::any_of(removed.begin(), removed.end(), [&](const auto& gone) {
        return table_of(gone) == e.about;  // the missing key may be the misspelt one
      });
      if (complaints.empty() || (e.stands_alone && !follows)) complaints.emplace_back(e.what());
      if (e.about.empty() || !remove_entry(merged, e.about)) break;
      removed.push_back(e.about);
    } catch (const error&) {  // about a file
      if (complaints.empty()) throw;
      break;
    }
  }
  throw error(exit_usage, fmt::format("{}", fmt::join(complaints, "\n")));
}

}  // namespace saltus::host
