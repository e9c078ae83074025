#include "compile/elimination.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace saltus::host {

namespace {

using neighbours = std::vector<std::set<int>>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

neighbours graph_of(int unknowns, const std::vector<matrix_entry>& entries) {
  neighbours g(at(unknowns));
  for (const auto& e : entries)
    if (e.row != e.column) {
      g[at(e.row)].insert(e.column);
      g[at(e.column)].insert(e.row);
    }
  return g;
}

/// Removes an unknown from the graph and connects its neighbours with each other.
void take_out(neighbours& g, int i) {
  for (const int a : g[at(i)]) {
    g[at(a)].erase(i);
    for (const int b : g[at(i)])
      if (a != b) g[at(a)].insert(b);
  }
}

/// [M J'; J 0] without its diagonal.
std::vector<matrix_entry> entries_of_both(int velocities, const std::vector<matrix_entry>& mass,
                                          const std::vector<matrix_entry>& jacobian) {
  std::vector<matrix_entry> all;
  for (const auto& e : mass)
    if (e.row != e.column) all.push_back(e);
  for (const auto& e : jacobian) all.push_back({velocities + e.row, e.column});
  return all;
}

}  // namespace

int elimination_program::number_of(int i, int j) const {
  const auto [first, last] = std::minmax(position[at(i)], position[at(j)]);
  if (first == last) return first;
  const auto begin = row.begin() + start[at(first)], end = row.begin() + start[at(first) + 1];
  return unknowns() + static_cast<int>(std::lower_bound(begin, end, last) - row.begin());
}

elimination_program eliminate(const std::vector<int>& order, const std::vector<matrix_entry>& entries) {
  const int n = static_cast<int>(order.size());
  elimination_program p;
  p.position.resize(order.size());
  for (int i = 0; i < n; ++i) p.position[at(order[at(i)])] = i;
  auto g = graph_of(n, entries);
  p.start.push_back(0);
  for (const int unknown : order) {
    std::vector<int> rows;
    for (const int other : g[at(unknown)]) rows.push_back(p.position[at(other)]);
    std::sort(rows.begin(), rows.end());
    p.row.insert(p.row.end(), rows.begin(), rows.end());
    p.start.push_back(static_cast<int>(p.row.size()));
    take_out(g, unknown);
  }
  for (int j = 0; j < n; ++j)
    for (int i = p.start[at(j)]; i < p.start[at(j) + 1]; ++i)
      for (int k = p.start[at(j)]; k <= i; ++k)
        p.target.push_back(p.number_of(order[at(p.row[at(i)])], order[at(p.row[at(k)])]));
  return p;
}

std::vector<int> order_of_least_degree(int velocities, int constraints, const std::vector<matrix_entry>& mass,
                                       const std::vector<matrix_entry>& jacobian) {
  const int n = velocities + constraints;
  auto g = graph_of(n, entries_of_both(velocities, mass, jacobian));
  std::vector<int> waits_for(at(n), 0), order;
  std::vector<std::vector<int>> waiting(at(n));  // the multipliers of each velocity
  for (const auto& e : jacobian) {
    ++waits_for[at(velocities + e.row)];
    waiting[at(e.column)].push_back(velocities + e.row);
  }
  std::set<std::pair<std::size_t, int>> ready;  // by degree, then by number
  for (int i = 0; i < n; ++i)
    if (waits_for[at(i)] == 0) ready.insert({g[at(i)].size(), i});
  while (!ready.empty()) {
    const int i = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(i);
    const auto touched = g[at(i)];
    for (const int a : touched) ready.erase({g[at(a)].size(), a});
    take_out(g, i);
    waits_for[at(i)] = -1;
    for (const int k : waiting[at(i)])
      if (--waits_for[at(k)] == 0) ready.insert({g[at(k)].size(), k});
    for (const int a : touched)
      if (waits_for[at(a)] == 0) ready.insert({g[at(a)].size(), a});
  }
  return order;
}

std::vector<int> colours_of(int velocities, int constraints, const std::vector<matrix_entry>& jacobian) {
  std::vector<std::vector<int>> columns(at(constraints)), rows(at(velocities));
  for (const auto& e : jacobian) {
    columns[at(e.row)].push_back(e.column);
    rows[at(e.column)].push_back(e.row);
  }
  std::vector<int> colour(at(velocities), -1);
  for (int j = 0; j < velocities; ++j) {
    std::set<int> taken;
    for (const int k : rows[at(j)])
      for (const int other : columns[at(k)]) taken.insert(colour[at(other)]);
    colour[at(j)] = 0;
    while (taken.count(colour[at(j)]) != 0) ++colour[at(j)];
  }
  return colour;
}

long long mechanical_elimination::dense_updates() const {
  // L of M, L^-1 J', J M^-1 J' and the factor of the latter.
  const long long k = velocities, m = constraints;
  return k * k * k / 6 + m * k * k / 2 + m * m * k / 2 + m * m * m / 6;
}

std::optional<mechanical_elimination> elimination_of(const model& m) {
  if (!m.structure) return {};
  mechanical_elimination e;
  e.velocities = static_cast<int>(m.states.size()) - m.coordinates;
  e.constraints = static_cast<int>(
      std::count_if(m.constraints.begin(), m.constraints.end(), [](const constraint& c) { return !c.quaternion; }));
  const auto& s = *m.structure;
  const auto entries = entries_of_both(e.velocities, s.mass, s.jacobian);
  e.program = eliminate(order_of_least_degree(e.velocities, e.constraints, s.mass, s.jacobian), entries);
  e.entries = entries.size();
  e.filled_in = e.program.row.size() - entries.size();
  e.colour = colours_of(e.velocities, e.constraints, s.jacobian);
  e.colours = 1 + *std::max_element(e.colour.begin(), e.colour.end());
  constexpr int smallest = 12;                 // velocities
  constexpr std::size_t most_numbers = 65535;  // the tables use 16-bit numbers
  const bool fits = e.program.position.size() + e.program.row.size() <= most_numbers;
  const bool pays =
      e.velocities >= smallest && 4 * static_cast<long long>(e.program.target.size()) <= e.dense_updates();
  e.chosen = fits && (m.elimination == abi::elimination::sparse || (m.elimination != abi::elimination::dense && pays));
  return e;
}

namespace {

std::string table(const char* name, const std::vector<int>& of) {
  return fmt::format("  static constexpr unsigned short {}[] = {{{}}};\n", name,
                     of.empty() ? "0" : fmt::format("{}", fmt::join(of, ",")));
}

/// The entries of J, sorted by colour.
std::string jacobian_tables(const mechanical_elimination& e, std::vector<matrix_entry> jacobian) {
  const auto colour_of = [&](const matrix_entry& entry) { return e.colour[at(entry.column)]; };
  std::stable_sort(jacobian.begin(), jacobian.end(),
                   [&](const auto& a, const auto& b) { return colour_of(a) < colour_of(b); });
  std::vector<int> start(at(e.colours) + 1, 0), row, column, number;
  for (const auto& entry : jacobian) {
    row.push_back(entry.row);
    column.push_back(entry.column);
    number.push_back(e.program.number_of(e.velocities + entry.row, entry.column));
    for (int c = colour_of(entry); c < e.colours; ++c) ++start[at(c) + 1];
  }
  return table("colour_start", start) + table("jacobian_row", row) + table("jacobian_column", column) +
         table("jacobian_number", number);
}

/// The entries of M by rows, in the order of the record.
std::string mass_tables(const mechanical_elimination& e, const std::vector<matrix_entry>& mass) {
  std::vector<int> start(at(e.velocities) + 1, 0), column, number;
  for (const auto& entry : mass) {
    column.push_back(entry.column);
    number.push_back(e.program.number_of(entry.row, entry.column));
    for (int i = entry.row; i < e.velocities; ++i) ++start[at(i) + 1];
  }
  return table("mass_start", start) + table("mass_column", column) + table("mass_number", number);
}

}  // namespace

std::string elimination_text(const model& m) {
  const auto e = elimination_of(m);
  if (!e || !e->chosen) return {};
  const auto& program = e->program;
  return fmt::format(
             "template <>\n"
             "struct saltus::elimination_tables<::{}> {{\n"
             "  static constexpr int unknowns = {}, entries = {}, colours = {};\n",
             m.name, program.unknowns(), program.row.size(), e->colours) +
         table("position", program.position) + table("start", program.start) + table("row", program.row) +
         table("target", program.target) + table("colour_of", e->colour) + jacobian_tables(*e, m.structure->jacobian) +
         mass_tables(*e, m.structure->mass) + "};\n";
}

}  // namespace saltus::host
