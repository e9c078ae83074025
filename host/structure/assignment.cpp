#include "structure/assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace saltus::host {

namespace {

constexpr int nothing = -1;

/// Assigns rows one after another at the smallest sum of costs; the cost of an entry is the largest order minus its
/// own. Invariant: prices u of rows and v of columns satisfy cost - u - v >= 0, with equality on assigned entries.
class search {
 public:
  explicit search(const signature& sigma)
      : sigma_(sigma),
        u_(sigma.rows.size()),
        v_(sigma.rows.size()),
        distance_(sigma.rows.size(), infinity),
        reached_from_(sigma.rows.size(), nothing),
        is_settled_(sigma.rows.size()),
        found_{std::vector<int>(sigma.rows.size(), nothing), std::vector<int>(sigma.rows.size(), nothing)} {
    for (const auto& row : sigma.rows)
      for (const auto& e : row) largest_ = std::max(largest_, e.order);
  }

  transversal run() {
    begin();
    for (int i = 0; i < sigma_.size(); ++i)
      if (found_.column_of[at(i)] == nothing) assign(i);
    return std::move(found_);
  }

 private:
  static constexpr int infinity = std::numeric_limits<int>::max();
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int cost(const signature_entry& e) const { return largest_ - e.order; }

  /// Sets prices at which each row has an entry of zero reduced cost, and assigns rows to such entries if their columns
  /// are free.
  void begin() {
    std::fill(v_.begin(), v_.end(), infinity);
    for (const auto& row : sigma_.rows)
      for (const auto& e : row) v_[at(e.column)] = std::min(v_[at(e.column)], cost(e));
    for (int i = 0; i < sigma_.size(); ++i) {
      if (sigma_.rows[at(i)].empty()) continue;
      u_[at(i)] = infinity;
      for (const auto& e : sigma_.rows[at(i)]) u_[at(i)] = std::min(u_[at(i)], cost(e) - v_[at(e.column)]);
      for (const auto& e : sigma_.rows[at(i)])
        if (reduced(i, e) == 0 && found_.row_of[at(e.column)] == nothing) {
          pair(i, e.column);
          break;
        }
    }
  }
  int reduced(int i, const signature_entry& e) const { return cost(e) - u_[at(i)] - v_[at(e.column)]; }
  void pair(int i, int j) {
    found_.column_of[at(i)] = j;
    found_.row_of[at(j)] = i;
  }

  /// Augments along the cheapest path from row `first` to a free column (Dijkstra); does nothing if there is none.
  void assign(int first) {
    open_ = {};
    int row = first, total = 0, end = nothing;
    while (end == nothing) {
      look_from(row, total);
      const int j = next();
      if (j == nothing) break;
      is_settled_[at(j)] = true;
      total = distance_[at(j)];
      row = found_.row_of[at(j)];
      if (row == nothing) end = j;
    }
    if (end != nothing) {
      pay(first, total);
      for (int j = end, i; j != nothing;) {
        i = reached_from_[at(j)];
        const int before = found_.column_of[at(i)];
        pair(i, j);
        j = i == first ? nothing : before;
      }
    }
    for (const int j : touched_) {
      distance_[at(j)] = infinity;
      is_settled_[at(j)] = false;
    }
    touched_.clear();
  }
  void look_from(int row, int total) {
    for (const auto& e : sigma_.rows[at(row)]) {
      const std::size_t j = at(e.column);
      const int distance = total + reduced(row, e);
      if (is_settled_[j] || distance >= distance_[j]) continue;
      if (distance_[j] == infinity) touched_.push_back(e.column);
      distance_[j] = distance;
      reached_from_[j] = row;
      open_.push({distance, e.column});
    }
  }
  /// The nearest column that is not settled; `nothing` if there is none.
  int next() {
    while (!open_.empty()) {
      const auto [distance, j] = open_.top();
      open_.pop();
      if (!is_settled_[at(j)]) return j;
    }
    return nothing;
  }
  void pay(int first, int total) {
    for (const int j : touched_) {
      if (!is_settled_[at(j)]) continue;
      const int less = total - distance_[at(j)];
      v_[at(j)] -= less;
      if (const int i = found_.row_of[at(j)]; i != nothing) u_[at(i)] += less;
    }
    u_[at(first)] += total;
  }

  const signature& sigma_;
  int largest_ = 0;
  std::vector<int> u_, v_, distance_, reached_from_;
  std::vector<char> is_settled_;
  transversal found_;
  std::vector<int> touched_;
  std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> open_;
};

/// Rows and columns reachable from the rows in `begin`: their columns, the rows assigned to those columns, and so on.
struct reached {
  std::vector<int> rows, columns;
};
reached reach(const std::vector<std::vector<int>>& columns_in, const std::vector<int>& row_of,
              const std::vector<int>& begin) {
  reached r{begin, {}};
  std::vector<char> has_row(row_of.size()), has_column(row_of.size());
  for (const int i : begin) has_row[static_cast<std::size_t>(i)] = true;
  for (std::size_t k = 0; k < r.rows.size(); ++k)
    for (const int j : columns_in[static_cast<std::size_t>(r.rows[k])]) {
      const auto column = static_cast<std::size_t>(j);
      if (has_column[column]) continue;
      has_column[column] = true;
      r.columns.push_back(j);
      const int i = row_of[column];
      if (i == nothing || has_row[static_cast<std::size_t>(i)]) continue;
      has_row[static_cast<std::size_t>(i)] = true;
      r.rows.push_back(i);
    }
  std::sort(r.rows.begin(), r.rows.end());
  std::sort(r.columns.begin(), r.columns.end());
  return r;
}

std::vector<int> without_partner(const std::vector<int>& partner) {
  std::vector<int> all;
  for (std::size_t i = 0; i < partner.size(); ++i)
    if (partner[i] == nothing) all.push_back(static_cast<int>(i));
  return all;
}

}  // namespace

bool transversal::is_complete() const {
  return std::find(column_of.begin(), column_of.end(), nothing) == column_of.end();
}

transversal highest_value_transversal(const signature& sigma) { return search(sigma).run(); }

singular_part singular_part_of(const signature& sigma, const transversal& largest) {
  std::vector<std::vector<int>> columns_in(sigma.rows.size()), rows_with(sigma.rows.size());
  for (int i = 0; i < sigma.size(); ++i)
    for (const auto& e : sigma.rows[static_cast<std::size_t>(i)]) {
      columns_in[static_cast<std::size_t>(i)].push_back(e.column);
      rows_with[static_cast<std::size_t>(e.column)].push_back(i);
    }
  reached over = reach(columns_in, largest.row_of, without_partner(largest.column_of));
  reached under = reach(rows_with, largest.column_of, without_partner(largest.row_of));
  return {std::move(over.rows), std::move(over.columns), std::move(under.columns), std::move(under.rows)};
}

}  // namespace saltus::host
