#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/tell.hpp"
#include "structure/analysis.hpp"

namespace saltus::host {

namespace {

constexpr int most_shown = 20;  // rows of a matrix

std::vector<std::string> called(const std::vector<int>& which, const std::vector<std::string>& names) {
  std::vector<std::string> r;
  for (const int i : which) r.push_back(names[static_cast<std::size_t>(i)]);
  return r;
}
std::string names_listed(const std::vector<int>& which, const std::vector<std::string>& names) {
  const auto all = called(which, names);
  if (all.size() <= most_shown) return fmt::format("{}", fmt::join(all, ", "));
  return fmt::format("{}, ... {}", fmt::join(all.begin(), all.begin() + most_shown - 1, ", "), all.back());
}

/// x, x', x'', x^(3).
std::string derivative_text(const std::string& name, int order) {
  return order <= 2 ? name + std::string(static_cast<std::size_t>(order), '\'') : fmt::format("{}^({})", name, order);
}
/// The values that define a point: derivatives of x_j up to order d_j - 1, or d_j if the highest derivatives are not
/// linear.
std::string start_text(const structural_analysis& a, bool quasilinear, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (std::size_t j = 0; j < names.size(); ++j)
    for (int k = 0; k < a.d[j] + (quasilinear ? 0 : 1); ++k) all.push_back(derivative_text(names[j], k));
  return fmt::format("{}", fmt::join(all, " "));
}

/// "taut is off", "below slack".
std::string opposite_of(const std::string& text) {
  if (text.ends_with(" is on")) return text.substr(0, text.size() - 2) + "off";
  if (text.starts_with("above ")) return "below " + text.substr(6);
  return "not " + text;
}
std::string answers_text(const structural_mode& mode, const conditions& known) {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < mode.given.size(); ++k)
    all.push_back(mode.given[k] == 1 ? known.texts[k] : opposite_of(known.texts[k]));
  return fmt::format("{}", fmt::join(all, ", "));
}

void print_singular(const singular_part& part, const equation_record& record) {
  if (!part.surplus_equations.empty())
    tell("  structurally singular: {} in no more than {}: {}{}{}\n", counted(part.surplus_equations.size(), "equation"),
         counted(part.surplus_unknowns.size(), "unknown"), names_listed(part.surplus_equations, record.equation_names),
         part.surplus_unknowns.empty() ? "" : " in ", names_listed(part.surplus_unknowns, record.unknown_names));
  if (!part.lacking_unknowns.empty())
    tell("  structurally singular: {} in no more than {}: {}{}{}\n", counted(part.lacking_unknowns.size(), "unknown"),
         counted(part.lacking_equations.size(), "equation"), names_listed(part.lacking_unknowns, record.unknown_names),
         part.lacking_equations.empty() ? "" : " in ", names_listed(part.lacking_equations, record.equation_names));
}

void print_sigma(const signature& sigma, const structural_analysis& a, const equation_record& record) {
  std::vector<std::size_t> widths;
  std::size_t first = 2;
  for (const auto& name : record.unknown_names) widths.push_back(std::max<std::size_t>(name.size(), 3) + 1);
  for (const auto& name : record.equation_names) first = std::max(first, name.size());
  std::string text = fmt::format("    {:<{}}", "", first);
  for (std::size_t j = 0; j < widths.size(); ++j)
    text += fmt::format(" {:>{}} ", record.unknown_names[j], widths[j] - 1);
  text += a.is_sound() ? "   c\n" : "\n";
  for (std::size_t i = 0; i < sigma.rows.size(); ++i) {
    text += fmt::format("    {:<{}}", record.equation_names[i], first);
    std::size_t j = 0;
    for (const auto& e : sigma.rows[i]) {
      for (; j < static_cast<std::size_t>(e.column); ++j) text += fmt::format(" {:>{}} ", ".", widths[j] - 1);
      const bool is_equal = a.is_sound() && a.d[j] - a.c[i] == e.order;
      text += fmt::format(" {:>{}}{}", e.order, widths[j] - 1, is_equal ? "*" : " ");
      ++j;
    }
    for (; j < widths.size(); ++j) text += fmt::format(" {:>{}} ", ".", widths[j] - 1);
    text += a.is_sound() ? fmt::format(" {:>3}\n", a.c[i]) : "\n";
  }
  if (a.is_sound()) {
    text += fmt::format("    {:<{}}", "d", first);
    for (std::size_t j = 0; j < widths.size(); ++j) text += fmt::format(" {:>{}} ", a.d[j], widths[j] - 1);
    text.back() = '\n';
  }
  tell("{}", text);
}

/// Non-zero offsets of equations or unknowns of a large system: "2: rod_0, rod_1; 1: ...".
std::string offsets_text(const std::vector<int>& offsets, const std::vector<std::string>& names) {
  std::vector<int> values = offsets;
  std::sort(values.rbegin(), values.rend());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<std::string> groups;
  for (const int value : values) {
    std::vector<int> which;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] == value) which.push_back(static_cast<int>(i));
    groups.push_back(fmt::format("{}: {}", value, names_listed(which, names)));
  }
  if (groups.size() > most_shown) groups.resize(most_shown), groups.push_back("...");
  return fmt::format("{}", fmt::join(groups, "; "));
}

void print_blocks(const structural_analysis& a, const equation_record& record) {
  if (a.blocks.size() < 2) return;
  std::size_t largest = 0;
  for (const auto& b : a.blocks) largest = std::max(largest, b.equations.size());
  tell("    {} one after another, the largest of {}", counted(a.blocks.size(), "block"), counted(largest, "equation"));
  if (static_cast<int>(record.equations.size()) <= most_shown) {
    std::vector<std::string> all;
    for (const auto& b : a.blocks) all.push_back(names_listed(b.unknowns, record.unknown_names));
    tell(": {}", fmt::join(all, " | "));
  }
  tell("\n");
}

/// "index 3, 2 degrees of freedom, quasilinear".
std::string result_text(const structural_analysis& a, const std::vector<int>& nonlinear) {
  if (!a.is_sound()) return "structurally singular";
  return fmt::format("index {}, {} of freedom, {}", a.index, counted(static_cast<std::size_t>(a.freedom), "degree"),
                     nonlinear.empty() ? "quasilinear" : "not quasilinear");
}

void print_modes(const model_structure& s) {
  if (s.modes.size() < 2) return;
  const bool all = std::all_of(s.modes.begin(), s.modes.end(), [](const auto& mode) { return mode.is_served; });
  tell(
      "    {} of different structure{}{}:\n", counted(s.modes.size(), "mode"),
      s.all_modes ? "" : fmt::format(" in which no more than one of {} conditions is not as declared", s.known.count()),
      all ? ", which these offsets serve all" : "");
  std::size_t shown = 0;
  for (const auto& mode : s.modes) {
    if (shown++ == most_shown) break;
    const bool own = !all && !mode.is_served && mode.analysis.is_sound();
    tell("      {}{} ({})\n", result_text(mode.analysis, mode.nonlinear),
         own ? ", for which offsets must be its own" : "", answers_text(mode, s.known));
  }
  if (s.modes.size() > most_shown) tell("      ... and {} more\n", s.modes.size() - most_shown);
}

/// "K = 3, rank 7 of 9, 2 degrees of freedom, the same at 4 points".
std::string array_text(const model_array& a) {
  return fmt::format("K = {}, rank {} of {}, {} of freedom, the same at {}", a.times, a.rank, a.rows,
                     counted(static_cast<std::size_t>(a.freedom), "degree"),
                     counted(static_cast<std::size_t>(a.points), "point"));
}

json offsets_json(const std::vector<int>& offsets, const std::vector<std::string>& names) {
  json all = json::object();
  for (std::size_t i = 0; i < offsets.size(); ++i) all[names[i]] = offsets[i];
  return all;
}

json analysis_json(const structural_analysis& a, const std::vector<int>& nonlinear, const signature& sigma,
                   const equation_record& record) {
  json entries = json::array();
  for (std::size_t i = 0; i < sigma.rows.size(); ++i)
    for (const auto& e : sigma.rows[i])
      entries.push_back(
          json::array({record.equation_names[i], record.unknown_names[static_cast<std::size_t>(e.column)], e.order}));
  json all{{"sigma", entries}, {"structurally_singular", !a.is_sound()}};
  if (!a.is_sound()) {
    all["surplus"] = {{"equations", called(a.singular.surplus_equations, record.equation_names)},
                      {"unknowns", called(a.singular.surplus_unknowns, record.unknown_names)}};
    all["lacking"] = {{"equations", called(a.singular.lacking_equations, record.equation_names)},
                      {"unknowns", called(a.singular.lacking_unknowns, record.unknown_names)}};
    return all;
  }
  json blocks = json::array();
  for (const auto& b : a.blocks)
    blocks.push_back({{"equations", called(b.equations, record.equation_names)},
                      {"unknowns", called(b.unknowns, record.unknown_names)}});
  all["index"] = a.index;
  all["degrees_of_freedom"] = a.freedom;
  all["quasilinear"] = nonlinear.empty();
  all["c"] = offsets_json(a.c, record.equation_names);
  all["d"] = offsets_json(a.d, record.unknown_names);
  all["blocks"] = blocks;
  return all;
}

}  // namespace

void print_structure(const model& m) {
  if (!m.record) return;
  const model_structure s = structure_of(m);
  const auto& record = *m.record;
  tell("  structure: {}{}\n", result_text(s.analysis, s.nonlinear),
       m.singular_mass ? ", if M were regular: that it is singular no structure shows" : "");
  print_singular(s.analysis.singular, record);
  if (m.equations != abi::any_order && s.analysis.is_sound() && s.analysis.index == 0) return;
  if (s.sigma.size() <= most_shown) print_sigma(s.sigma, s.analysis, record);
  else if (s.analysis.is_sound())
    tell("    c  {}\n    d  {}\n", offsets_text(s.analysis.c, record.equation_names),
         offsets_text(s.analysis.d, record.unknown_names));
  if (s.analysis.is_sound() && m.equations == abi::any_order && s.sigma.size() <= most_shown)
    tell("    a point is {}\n", start_text(s.analysis, s.nonlinear.empty(), record.unknown_names));
  if (!s.nonlinear.empty())
    tell("    highest derivatives are not linear in {}\n", names_listed(s.nonlinear, record.equation_names));
  print_blocks(s.analysis, record);
  print_modes(s);
  if (m.offsets && m.offsets->array) tell("    by the derivative array: {}\n", array_text(*m.offsets->array));
}

json structure_json(const model& m) {
  if (!m.record) return nullptr;
  const model_structure s = structure_of(m);
  json all = analysis_json(s.analysis, s.nonlinear, s.sigma, *m.record);
  json modes = json::array();
  for (const auto& mode : s.modes) {
    json one = analysis_json(mode.analysis, mode.nonlinear, mode.sigma, *m.record);
    json given = json::object();
    for (std::size_t k = 0; k < mode.given.size(); ++k) given[s.known.texts[k]] = mode.given[k] == 1;
    one["conditions"] = given;
    one["served_by_common_offsets"] = mode.is_served;
    modes.push_back(std::move(one));
  }
  all["modes"] = modes;
  all["all_modes"] = s.all_modes;
  if (m.offsets && m.offsets->array) {
    const auto& a = *m.offsets->array;
    all["array"] = {{"times", a.times},   {"rank", a.rank}, {"rows", a.rows}, {"degrees_of_freedom", a.freedom},
                    {"points", a.points}, {"gap", a.gap}};
  }
  return all;
}

}  // namespace saltus::host
