#include "result/attributes.hpp"

#include <cstddef>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "abi/status.hpp"
#include "spec/design.hpp"

namespace saltus::host {

std::vector<attribute> attributes_of(const detail::field& f) {
  std::vector<attribute> all;
  if (!f.unit.empty()) all.push_back({"units", f.unit});
  all.push_back({"long_name", f.about});
  all.push_back({"role", f.role});
  if (f.truth) all.push_back({"dtype", std::string("bool")});  // the convention of xarray
  if (f.name == "event_row_size") all.push_back({"sample_dimension", std::string("event")});
  if (!f.flags.empty()) {
    std::vector<int> values;
    std::string meanings;
    for (const auto& [value, meaning] : f.flags) {
      values.push_back(value);
      meanings += (meanings.empty() ? "" : " ") + meaning;
    }
    all.push_back({"flag_values", std::move(values)});
    all.push_back({"flag_meanings", std::move(meanings)});
  }
  if (!f.bits.empty()) {
    std::vector<long long> masks;
    for (std::size_t k = 0; k < f.bits.size(); ++k) masks.push_back(1ll << k);
    all.push_back({"flag_masks", std::move(masks)});
    all.push_back({"flag_meanings", fmt::format("{}", fmt::join(f.bits, " "))});
  }
  return all;
}

std::vector<attribute> attributes_of(const detail::name_list& names) {
  return {{"long_name", names.about}, {"role", names.role}};
}

namespace {

/// Metadata needed to recompute the indices from the result file. With a sweep, the samples are only one dimension of
/// the instances.
void add_design(std::vector<attribute>& all, const plan& p) {
  std::vector<std::string> inputs;
  for (const auto& column : p.random) inputs.push_back(column.what.name);
  all.push_back({"design", std::string(name_of(p.design.which))});
  all.push_back({"design_count", static_cast<long long>(p.design.count)});
  all.push_back({"design_inputs", fmt::format("{}", fmt::join(inputs, " "))});
  all.push_back({"design_second_order", static_cast<long long>(p.design.second_order)});
  all.push_back({"design_levels", static_cast<long long>(p.design.levels)});
  all.push_back({"design_harmonics", static_cast<long long>(p.design.harmonics)});
  std::vector<std::string> outcomes;
  if (!p.indices.empty())
    for (const auto& one : indices_setup_of(p).outcomes) outcomes.push_back(one.name);
  if (!outcomes.empty()) all.push_back({"sensitivity_outcomes", fmt::format("{}", fmt::join(outcomes, " "))});
}

/// The dimensions of the product of axes, in which instances count with the last one fastest, and the dimension of each
/// input.
void add_product(std::vector<attribute>& all, const plan& p) {
  std::vector<std::string> inputs;
  std::vector<long long> lengths;
  for (const axis& a : p.axes) {
    std::vector<std::string> names;
    for (const auto& column : a.columns) {
      const auto kind = column.what.which;
      const bool is_initial = kind == target::kind::state || kind == target::kind::discrete;
      names.push_back((is_initial ? "initial_" : "") + column.what.name);
    }
    inputs.push_back(fmt::format("{}", fmt::join(names, " ")));
    lengths.push_back(a.count);
  }
  if (p.samples > 1 || !p.random.empty()) inputs.push_back(""), lengths.push_back(p.samples);
  if (lengths.empty()) return;
  all.push_back({"product_inputs", fmt::format("{}", fmt::join(inputs, ";"))});
  all.push_back({"product_lengths", std::move(lengths)});
}

}  // namespace

std::vector<attribute> attributes_of(const sensitivity_indices& indices) {
  std::vector<attribute> all{{"sensitivity_failed", static_cast<long long>(indices.failed)}};
  if (!indices.first_failed.empty())
    all.push_back(
        {"sensitivity_first_failed", std::vector<long long>(indices.first_failed.begin(), indices.first_failed.end())});
  return all;
}

std::vector<attribute> attributes_of(const plan& p, const provenance& origin) {
  const std::string created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  std::vector<attribute> all;
  const auto add = [&](const char* name, std::string text) { all.push_back({name, std::move(text)}); };
  add("Conventions", "CF-1.10");
  add("title", p.title.empty() ? p.model.title : p.title);
  add("model", p.model.name);
  add("model_source", p.model.source);
  add("model_file", told_path(p.model.header, p));
  add("model_text", origin.model_text);
  add("model_hash", origin.model_hash);
  add("module_hash", origin.module_hash);
  add("sources", lines_of(origin.sources, p));
  add("method", method_name(p));
  if (!p.stiff_method.empty()) add("stiff_method", stiff_methods(p));
  add("spec", told_spec(p));
  add("settings", settings_text(p));
  if (p.records) add("records", records_text(p));
  all.push_back({"seed", static_cast<unsigned long long>(p.seed)});
  if (is_for_indices(p.design)) add_design(all, p);
  add_product(all, p);
  add("saltus_version", origin.version);
  add("compiler", origin.compiler);
  add("device", origin.device);
  add("created", created);
  add("history", created + ": " + (p.anonymous ? "saltus" : origin.command));
  return all;
}

std::vector<attribute> attributes_of(const plan& p, const tally& counts) {
  std::vector<attribute> all;
  const auto add = [&](const std::string& name, long long number) { all.push_back({name, number}); };
  for (const status_row& row : status_table)
    if (const std::int64_t count = counts.by_status[static_cast<std::size_t>(row.id)])
      add("count_" + std::string(row.name), count);
  add("count_ok", counts.ok());
  add("count_rescued", counts.rescued());
  add("count_failed", counts.failed());
  add("count_not_finished", counts.not_finished());
  for (const status_row& row : status_table)
    if (const std::int64_t count = counts.by_rescue[static_cast<std::size_t>(row.id)])
      add("count_rescued_from_" + std::string(row.name), count);
  if (counts.switched > 0) add("count_switched", counts.switched);
  if (!counts.not_finite.text.empty()) all.push_back({"first_not_finite", text_of(counts.not_finite)});
  if (const auto sentences = remarks(p.model, counts); !sentences.empty())
    all.push_back({"remarks", fmt::format("{}", fmt::join(sentences, "\n"))});
  return all;
}

}  // namespace saltus::host
