#include "spec/spec.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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
  root.only(top_keys);
  const auto model = root.need("model", "must be the name of a built-in model, or the path of a header");
  spec.model = model.text();
  spec.model_place = model.what();
  if (is_path(spec.model)) spec.model_header = resolve(spec, model);
}

/// Root table as TOML: values, then one section for each table.
std::string document_text(const field& root) {
  std::string values, sections;
  for (const auto& entry : root.entries()) {
    if (!entry.is_table()) {
      values += fmt::format("{} = {}\n", entry.key(), entry.value());
      continue;
    }
    sections += fmt::format("\n[{}]\n", entry.key());
    for (const auto& inner : entry.entries()) sections += fmt::format("{} = {}\n", inner.key(), inner.value());
  }
  return values + sections;
}

/// A plan by the model's own values.
reading begin(const spec_document& spec, const model& model, const field& root) {
  reading r{spec, model, root};
  r.plan.model = model;
  if (!spec.file.empty()) r.plan.inputs.push_back(spec.file);
  for (const auto& parameter : model.parameters) r.plan.parameters.push_back(parameter.value);
  r.plan.initial.assign(model.states.size(), std::numeric_limits<double>::quiet_NaN());
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

plan validate(const spec_document& spec, const host::model& model) {
  const auto merged = merge(spec, &model);
  const field root(merged);
  root.only(top_keys);
  reading r = begin(spec, model, root);
  read_integration(r);
  read_events(r);
  read_instances(r);
  read_tables(r);
  read_output(r);
  read_sensitivity(r);
  read_run(r);
  r.plan.text = document_text(root);
  return std::move(r.plan);
}

}  // namespace saltus::host
