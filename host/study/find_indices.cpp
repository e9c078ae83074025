#include "study/find_indices.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "result/schema.hpp"

namespace saltus::host {

namespace {

std::int64_t whole(const result_file& f, const char* attribute) {
  const auto values = f.whole_numbers(attribute);
  return values.size() == 1 ? values[0] : 0;
}

/// The setup without outcomes, from the attributes of the file.
indices_setup setup_of(const result_file& f) {
  indices_setup r;
  for (const auto& form : design_forms)
    if (form.name == f.text("design")) r.design.which = form.which;
  if (!is_for_indices(r.design))
    throw error(exit_usage, fmt::format("{}: its samples have none of the designs that indices are computed from: "
                                        "saltelli, morris, fast (sample.design)",
                                        f.path()));
  r.design.count = whole(f, "design_count");
  r.design.second_order = whole(f, "design_second_order") != 0;
  r.design.levels = static_cast<int>(whole(f, "design_levels"));
  r.design.harmonics = static_cast<int>(whole(f, "design_harmonics"));
  r.seed = f.seed();
  r.inputs = words(f.text("design_inputs"));
  if (r.inputs.empty() || r.design.count < 1 || r.design.levels < 2 || r.design.harmonics < 1)
    throw error(exit_failure, f.path() + ": the description of its design is damaged");
  if (r.instances() != static_cast<std::int64_t>(f.instances()))
    throw error(exit_usage, fmt::format("{}: its {} instances are more than the {} of one design: indices are of one "
                                        "ensemble of samples, without a sweep",
                                        f.path(), f.instances(), r.instances()));
  return r;
}

bool is_outcome(const result_variable& v) {
  return v.per_instance() && (v.role == "final" || v.role == "reduction" || v.role == "counter");
}

void check_names(const result_file& f, const std::vector<std::string>& wanted, const std::vector<std::string>& known) {
  for (const auto& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw error(exit_usage,
                  fmt::format("{}: no outcome {}; {}", f.path(), name, suggest(name, {known.begin(), known.end()})));
}

/// The variables of the file whose indices are asked for.
std::vector<const result_variable*> outcomes_of(const result_file& f, const std::vector<std::string>& wanted) {
  std::vector<std::string> known;
  for (const auto& v : f.variables())
    if (is_outcome(v)) known.push_back(v.name);
  check_names(f, wanted, known);
  std::vector<const result_variable*> r;
  for (const auto& name : wanted) r.push_back(f.find(name));
  if (wanted.empty())
    for (const auto& v : f.variables())
      if (is_outcome(v) && (v.role != "counter" || v.name == "events")) r.push_back(&v);
  return r;
}

sensitivity_indices from_rows(const result_file& f, indices_setup setup, const std::vector<std::string>& wanted) {
  constexpr std::size_t rows_at_once = 1 << 16;
  const auto outcomes = outcomes_of(f, wanted);
  for (const auto* v : outcomes) setup.outcomes.push_back({v->name, v->unit, v->about});
  indices_sum sum(std::move(setup));
  const result_variable& status = f.at("status");
  for (std::size_t first = 0; first < f.instances(); first += rows_at_once) {
    const std::size_t n = std::min(rows_at_once, f.instances() - first);
    const auto ended = f.integers(status, first, n);
    const std::vector<unsigned char> statuses(ended.begin(), ended.end());
    std::vector<std::vector<double>> values;
    std::vector<number_column> columns;
    for (const auto* v : outcomes) values.push_back(f.reals(*v, {first, 0}, {n, 1}));
    for (const auto& column : values) columns.push_back({column.data(), nullptr});
    const auto id = static_cast<std::int64_t>(first), count = static_cast<std::int64_t>(n);
    sum.add(id, count, columns, statuses.data(), sum.make(id, count, columns, statuses.data()));
  }
  return sum.finish();
}

/// The indices that the run has computed.
sensitivity_indices from_indices(const result_file& f, const indices_setup& setup, std::vector<std::string> wanted) {
  const auto known = words(f.text("sensitivity_outcomes"));
  if (known.empty())
    throw error(exit_usage, f.path() +
                                ": has neither results of single instances nor indices: run it with output.rows = "
                                "true or output.indices = true");
  check_names(f, wanted, known);
  if (wanted.empty()) wanted = known;
  sensitivity_indices r;
  r.design = name_of(setup.design.which);
  r.inputs = setup.inputs;
  r.names = index_names(setup.design);
  r.pairs = input_pairs(setup.design, static_cast<int>(setup.inputs.size()));
  r.failed = whole(f, "sensitivity_failed");
  r.first_failed = [&] {
    const auto ids = f.whole_numbers("sensitivity_first_failed");
    return std::vector<std::int64_t>(ids.begin(), ids.end());
  }();
  for (const auto& name : wanted) {
    const auto row = static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin());
    r.outcomes.push_back({{name, "", name}, {}});
    for (const auto& index : r.names) {
      const std::size_t width = index == second_order_name ? r.pairs.size() : r.inputs.size();
      std::vector<std::vector<double>> parts;
      for (const auto& part : sensitivity_parts)
        parts.push_back(f.reals(f.at("sensitivity_" + index + part.first), {row, 0}, {1, width}));
      r.outcomes.back().indices.emplace_back();
      for (std::size_t j = 0; j < width; ++j)
        r.outcomes.back().indices.back().push_back({parts[0][j], parts[1][j], parts[2][j], parts[3][j]});
    }
  }
  return r;
}

}  // namespace

sensitivity_indices indices_of(const result_file& f, const std::vector<std::string>& outcomes) {
  auto setup = setup_of(f);
  return f.has_rows() ? from_rows(f, std::move(setup), outcomes) : from_indices(f, setup, outcomes);
}

}  // namespace saltus::host
