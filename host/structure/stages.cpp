#include "structure/stages.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace saltus::host {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Directions for the entries (row, column) of one level: a column takes the first direction that none of its rows uses
/// yet.
void find_directions(std::vector<stage_entry> entries, int level, stage_offsets& r) {
  std::sort(entries.begin(), entries.end(), [](auto a, auto b) { return a.column < b.column; });
  const int first = static_cast<int>(r.levels.size());
  std::vector<std::vector<int>> rows_of;  // of each direction
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end = std::find_if(begin, entries.end(), [&](const auto& e) { return e.column != begin->column; });
    const auto is_free = [&](const std::vector<int>& taken) {
      return std::none_of(begin, end, [&](const auto& e) { return std::count(taken.begin(), taken.end(), e.row) > 0; });
    };
    const auto found = std::find_if(rows_of.begin(), rows_of.end(), is_free);
    const auto number = found - rows_of.begin();
    if (found == rows_of.end()) rows_of.emplace_back();
    for (; begin != end; ++begin) {
      begin->direction = first + static_cast<int>(number);
      rows_of[static_cast<std::size_t>(number)].push_back(begin->row);
    }
  }
  r.levels.insert(r.levels.end(), rows_of.size(), level);
  r.entries.insert(r.entries.end(), entries.begin(), entries.end());
}

/// The name of a derivative: x_d1, as at.d(x, 1).
std::string derivative_name(const std::string& unknown, int order) { return fmt::format("{}_d{}", unknown, order); }

std::string derivative_unit(const std::string& unit, int order) {
  const std::string seconds = order == 1 ? "s" : fmt::format("s{}", order);
  if (unit.empty()) return unit;
  return fmt::format("{}/{}", unit.find_first_of("/ ") == std::string::npos ? unit : "(" + unit + ")", seconds);
}
}  // namespace

stage_offsets stages_of(const signature& sigma, const std::vector<int>& c, const std::vector<int>& d) {
  stage_offsets r{c, d, {}, {}};
  const int most = *std::max_element(c.begin(), c.end());
  for (int level = 0; level <= most; ++level) {
    std::vector<stage_entry> entries;
    for (int i = 0; i < sigma.size(); ++i)
      if (c[at(i)] == level)
        for (const auto& e : sigma.rows[at(i)])
          if (d[at(e.column)] - level == e.order) entries.push_back({i, e.column, 0});
    find_directions(std::move(entries), level, r);
  }
  std::stable_sort(r.entries.begin(), r.entries.end(), [](auto a, auto b) { return a.direction < b.direction; });
  return r;
}

mode_condition answerable(const model& m, const conditions& known, int number) {
  const auto& nodes = m.record->nodes;
  const auto node = std::find(known.number_of.begin(), known.number_of.end(), number) - known.number_of.begin();
  const expression& e = nodes[static_cast<std::size_t>(node)];
  const auto of = static_cast<operation>(nodes[at(std::max(e.a, 0))].operation);
  if (e.b != 0 || (of != operation::discrete && of != operation::guard))
    throw std::invalid_argument(
        fmt::format("offsets must be those of each mode, and which mode it is depends on {}: let a discrete variable, "
                    "or the sign of a guard, say it",
                    known.texts[at(number)]));
  return {of == operation::guard, nodes[at(e.a)].a, e.operation - static_cast<int>(operation::less), e.value};
}

std::vector<int> observed_orders(const model& m, const conditions& known) {
  equation_record observed = *m.record;
  observed.equations = m.record->observed;
  std::vector<int> r(m.record->equations.size());
  for (const auto& row : signature_of(observed, known).rows)
    for (const auto& e : row) r[at(e.column)] = std::max(r[at(e.column)], e.order);
  return r;
}

namespace {
/// One set of offsets for each mode.
model_offsets offsets_by_modes(const model& m, const model_structure& s) {
  if (!s.all_modes)
    throw std::invalid_argument(
        fmt::format("offsets must be those of each mode, and {} conditions have too many modes", s.known.count()));
  model_offsets r;
  r.observed = observed_orders(m, s.known);
  for (int k = 0; k < s.known.count(); ++k) r.conditions.push_back(answerable(m, s.known, k));
  for (int which = 0; which < 1 << s.known.count(); ++which) {
    answers given(at(s.known.count()));
    for (int k = 0; k < s.known.count(); ++k) given[at(k)] = static_cast<signed char>(which >> k & 1);
    const signature sigma = signature_of(*m.record, s.known, given);
    const bool is_served = s.analysis.is_sound() && serves(s.analysis.c, s.analysis.d, sigma);
    const structural_analysis own = is_served ? s.analysis : analyse(sigma);
    if (!own.is_sound()) throw std::invalid_argument("its equations are structurally singular in one of its modes");
    auto set = stages_of(is_served ? s.sigma : sigma, own.c, own.d);
    const auto same = std::find_if(r.sets.begin(), r.sets.end(), [&](const auto& other) {
      return other.c == set.c && other.d == set.d && other.entries == set.entries;
    });
    r.set_of.push_back(static_cast<int>(same - r.sets.begin()));
    if (same == r.sets.end()) r.sets.push_back(std::move(set));
  }
  return r;
}
}  // namespace

model_offsets offsets_of(const model& m) {
  const auto& nodes = m.record->nodes;
  for (const expression& e : nodes)
    if (static_cast<operation>(e.operation) == operation::derivative &&
        static_cast<operation>(nodes[at(e.a)].operation) != operation::unknown)
      throw std::invalid_argument(
          "its equations differentiate an expression: let an unknown be what is differentiated, with an equation of "
          "its own");
  const model_structure s = structure_of(m);
  const bool serve_all = std::all_of(s.modes.begin(), s.modes.end(), [](const auto& mode) { return mode.is_served; });
  if (!serve_all) return offsets_by_modes(m, s);
  if (!s.analysis.is_sound()) throw std::invalid_argument("its equations are structurally singular");
  return {{stages_of(s.sigma, s.analysis.c, s.analysis.d)}, {}, {0}, observed_orders(m, s.known), {}};
}

namespace {
/// States and outputs appear side by side in results, so their names must differ.
void check_names(const std::vector<quantity>& values, const std::vector<quantity>& outputs) {
  std::set<std::string> names;
  for (const auto* list : {&values, &outputs})
    for (const quantity& q : *list)
      if (!names.insert(q.name).second)
        throw std::invalid_argument(
            fmt::format("{} is the name of a derivative and of something else: call the other otherwise", q.name));
}

/// Unknowns with their derivatives, one unknown after another.
std::vector<quantity> values_of(const model& m) {
  std::vector<quantity> values;
  for (std::size_t j = 0; j < m.states.size(); ++j) {
    const quantity& x = m.states[j];
    values.push_back(x);
    int highest = m.offsets->observed[j];
    for (const auto& set : m.offsets->sets) highest = std::max(highest, set.d[j]);
    if (m.offsets->array) highest = std::max(highest, m.offsets->array->order[j]);
    for (int k = 1; k <= highest; ++k)
      values.push_back({derivative_name(x.name, k), std::numeric_limits<double>::quiet_NaN(),
                        derivative_unit(x.unit, k), fmt::format("derivative {} of {}", k, x.name)});
  }
  return values;
}
}  // namespace

void add_derivatives(model& m) {
  auto values = values_of(m);
  check_names(values, m.outputs);
  m.states = std::move(values);
}

void add_values(model& m) {
  if (m.equations != abi::any_order || !m.record) return;
  try {
    m.offsets = offsets_of(m);
    add_derivatives(m);
  } catch (const std::invalid_argument& e) {
    m.offsets.reset();
    m.why_unsolved = e.what();
  }
}

}  // namespace saltus::host
