// saltus sensitivity.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "result/reader.hpp"
#include "study/find_indices.hpp"

namespace saltus::host {

namespace {

/// The rows of an index: inputs, or pairs of inputs.
std::vector<std::string> labels(const sensitivity_indices& s, std::size_t index) {
  if (s.names[index] != second_order_name) return s.inputs;
  std::vector<std::string> r;
  for (const auto& [i, j] : s.pairs)
    r.push_back(s.inputs[static_cast<std::size_t>(i)] + " " + s.inputs[static_cast<std::size_t>(j)]);
  return r;
}

std::string text_of(const index_estimate& e) {
  if (std::isnan(e.value)) return "-";
  if (std::isnan(e.low)) return fmt::format("{:.4g}", e.value);
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", e.value, e.low, e.high);
}

/// An outcome that is the same in all instances has no indices.
bool has_indices(const sensitivity_indices::outcome& of) {
  for (const auto& index : of.indices)
    for (const index_estimate& e : index)
      if (!std::isnan(e.value)) return true;
  return false;
}

/// Prints the indices `names[from]`, ..., `names[to - 1]` of an outcome, which have the same labels.
void print_table(const sensitivity_indices& s, const sensitivity_indices::outcome& of, std::size_t from,
                 std::size_t to) {
  const auto rows = labels(s, from);
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  std::string line = fmt::format("    {:<{}}", "", width);
  for (std::size_t index = from; index < to; ++index) line += fmt::format("  {:<32}", s.names[index]);
  tell("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  for (std::size_t j = 0; j < rows.size(); ++j) {
    line = fmt::format("    {:<{}}", rows[j], width);
    for (std::size_t index = from; index < to; ++index) line += fmt::format("  {:<32}", text_of(of.indices[index][j]));
    tell("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

}  // namespace

void print_indices(const sensitivity_indices& s) {
  const bool has_pairs = !s.pairs.empty();
  tell("  sensitivity ({}), with intervals of 95 %:\n", s.design);
  for (const auto& outcome : s.outcomes) {
    double left_out = 0;
    for (const auto& index : outcome.indices)
      for (const index_estimate& e : index) left_out = std::max(left_out, e.left_out);
    tell("  {}{}\n", outcome.what.name,
         left_out > 0 ? fmt::format("   (up to {:.3g} % of the terms of an index left out)", 100 * left_out) : "");
    if (!has_indices(outcome)) {
      tell("    does not vary\n");
      continue;
    }
    print_table(s, outcome, 0, s.names.size() - has_pairs);
    if (has_pairs) print_table(s, outcome, s.names.size() - 1, s.names.size());
  }
  if (s.failed > 0)
    tell("  left out: {} instances that did not end well, the first {}\n", s.failed, fmt::join(s.first_failed, ", "));
}

json indices_json(const sensitivity_indices& s) {
  json outcomes = json::object();
  for (const auto& outcome : s.outcomes) {
    json indices = json::object();
    for (std::size_t index = 0; index < s.names.size(); ++index) {
      const auto of = labels(s, index);
      for (std::size_t j = 0; j < of.size(); ++j) {
        const index_estimate& e = outcome.indices[index][j];
        indices[s.names[index]][of[j]] =
            json{{"value", e.value}, {"low", e.low}, {"high", e.high}, {"left_out", e.left_out}};
      }
    }
    outcomes[outcome.what.name] = std::move(indices);
  }
  return json{{"design", s.design},
              {"inputs", s.inputs},
              {"outcomes", std::move(outcomes)},
              {"failed", s.failed},
              {"first_failed", s.first_failed}};
}

int sensitivity(const std::string& file, const std::vector<std::string>& outcomes, bool as_json) {
  const auto s = indices_of(result_file(file), outcomes);
  if (as_json) tell("{}\n", json_text(indices_json(s)));
  else print_indices(s);
  return exit_ok;
}

}  // namespace saltus::host
