#include "structure/stages.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace saltus::host {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Directions for the entries (row, column) of one level: of a column the first that none of its rows has yet.
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

void add_values(model& m) {
  if (m.equations != abi::any_order || !m.record) return;
  const model_structure s = structure_of(m);
  if (!s.analysis.is_sound()) return;
  m.offsets = stages_of(s.sigma, s.analysis.c, s.analysis.d);
  std::vector<quantity> values;
  for (std::size_t j = 0; j < m.states.size(); ++j) {
    const quantity& x = m.states[j];
    values.push_back(x);
    for (int k = 1; k <= m.offsets->d[j]; ++k)
      values.push_back({derivative_name(x.name, k), std::numeric_limits<double>::quiet_NaN(),
                        derivative_unit(x.unit, k), fmt::format("derivative {} of {}", k, x.name)});
  }
  m.states = std::move(values);
}

}  // namespace saltus::host
