#include "structure/analysis.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace saltus::host {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The smallest offsets: iterates d_j = max_i(s_ij + c_i), c_i = d_j - s_ij on the transversal, until nothing changes.
void find_offsets(const signature& sigma, const transversal& values, std::vector<int>& c, std::vector<int>& d) {
  c.assign(sigma.rows.size(), 0);
  d.assign(sigma.rows.size(), 0);
  std::vector<int> own(sigma.rows.size());  // s_ij on the transversal
  std::deque<int> open;
  std::vector<char> is_open(sigma.rows.size(), true);
  for (int i = 0; i < sigma.size(); ++i) {
    open.push_back(i);
    for (const auto& e : sigma.rows[at(i)]) {
      d[at(e.column)] = std::max(d[at(e.column)], e.order);
      if (e.column == values.column_of[at(i)]) own[at(i)] = e.order;
    }
  }
  while (!open.empty()) {
    const int i = open.front();
    open.pop_front();
    is_open[at(i)] = false;
    c[at(i)] = d[at(values.column_of[at(i)])] - own[at(i)];
    for (const auto& e : sigma.rows[at(i)]) {
      if (e.order + c[at(i)] <= d[at(e.column)]) continue;
      d[at(e.column)] = e.order + c[at(i)];
      const int row = values.row_of[at(e.column)];
      if (!is_open[at(row)]) open.push_back(row);
      is_open[at(row)] = true;
    }
  }
}

/// Strongly connected components of the equations (R. Tarjan, SIAM J. Comput. 1 (1972) 146); an edge leads from an
/// equation to the equations that determine its unknowns. Components come in the order of solution: those with no
/// outgoing edges first.
class components {
 public:
  components(const signature& sigma, const structural_analysis& of)
      : sigma_(sigma),
        of_(of),
        number_(sigma.rows.size(), 0),
        low_(sigma.rows.size(), 0),
        is_open_(sigma.rows.size()) {}
  std::vector<block> run() {
    for (int i = 0; i < sigma_.size(); ++i)
      if (number_[at(i)] == 0) visit(i);
    return std::move(found_);
  }

 private:
  struct visit_of_row {
    int row;
    std::size_t next;  ///< entry
  };
  void enter(int i) {
    number_[at(i)] = low_[at(i)] = ++count_;
    open_.push_back(i);
    is_open_[at(i)] = true;
    path_.push_back({i, 0});
  }
  void visit(int first) {
    enter(first);
    while (!path_.empty()) {
      const int i = path_.back().row;
      if (path_.back().next < sigma_.rows[at(i)].size()) {
        const auto& e = sigma_.rows[at(i)][path_.back().next++];
        if (of_.d[at(e.column)] - of_.c[at(i)] != e.order) continue;
        const int to = of_.values.row_of[at(e.column)];
        if (number_[at(to)] == 0) enter(to);
        else if (is_open_[at(to)]) low_[at(i)] = std::min(low_[at(i)], number_[at(to)]);
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[at(path_.back().row)] = std::min(low_[at(path_.back().row)], low_[at(i)]);
      if (low_[at(i)] == number_[at(i)]) leave(i);
    }
  }
  void leave(int first) {
    block b;
    for (int i = -1; i != first;) {
      i = open_.back();
      open_.pop_back();
      is_open_[at(i)] = false;
      b.equations.push_back(i);
      b.unknowns.push_back(of_.values.column_of[at(i)]);
    }
    std::sort(b.equations.begin(), b.equations.end());
    std::sort(b.unknowns.begin(), b.unknowns.end());
    found_.push_back(std::move(b));
  }

  const signature& sigma_;
  const structural_analysis& of_;
  int count_ = 0;
  std::vector<int> number_, low_, open_;
  std::vector<char> is_open_;
  std::vector<visit_of_row> path_;
  std::vector<block> found_;
};

structural_mode mode_of(const model& m, const model_structure& whole, answers given) {
  structural_mode r;
  r.sigma = signature_of(*m.record, whole.known, given);
  r.analysis = analyse(r.sigma);
  if (r.analysis.is_sound())
    r.nonlinear = nonlinear_equations(*m.record, r.analysis.c, r.analysis.d, whole.known, given);
  r.is_served = whole.analysis.is_sound() && serves(whole.analysis.c, whole.analysis.d, r.sigma);
  r.given = std::move(given);
  return r;
}

}  // namespace

structural_analysis analyse(const signature& sigma) {
  structural_analysis r;
  r.values = highest_value_transversal(sigma);
  if (!r.is_sound()) {
    r.singular = singular_part_of(sigma, r.values);
    return r;
  }
  find_offsets(sigma, r.values, r.c, r.d);
  for (const int offset : r.c) r.index = std::max(r.index, offset);
  if (std::find(r.d.begin(), r.d.end(), 0) != r.d.end()) ++r.index;
  r.freedom = std::accumulate(r.d.begin(), r.d.end(), 0) - std::accumulate(r.c.begin(), r.c.end(), 0);
  r.blocks = components(sigma, r).run();
  return r;
}

bool serves(const std::vector<int>& c, const std::vector<int>& d, const signature& sigma) {
  signature equal;
  for (int i = 0; i < sigma.size(); ++i) {
    auto& row = equal.rows.emplace_back();
    for (const auto& e : sigma.rows[at(i)]) {
      if (d[at(e.column)] - c[at(i)] < e.order) return false;
      if (d[at(e.column)] - c[at(i)] == e.order) row.push_back(e);
    }
  }
  return highest_value_transversal(equal).is_complete();
}

model_structure structure_of(const model& m) {
  constexpr int most = 10;  // up to so many conditions, all answers are tried: 1024 modes
  model_structure r;
  r.known = conditions_of(m);
  r.sigma = signature_of(*m.record, r.known);
  r.analysis = analyse(r.sigma);
  if (r.analysis.is_sound()) r.nonlinear = nonlinear_equations(*m.record, r.analysis.c, r.analysis.d, r.known);
  const int count = r.known.count();
  if (count == 0) return r;
  r.all_modes = count <= most;
  const auto add = [&](answers given) {
    auto mode = mode_of(m, r, std::move(given));
    for (const auto& other : r.modes)
      if (other.sigma == mode.sigma && other.nonlinear == mode.nonlinear) return;
    r.modes.push_back(std::move(mode));
  };
  add(r.known.declared);
  if (r.all_modes) {
    for (int which = 0; which < 1 << count; ++which) {
      answers given(at(count));
      for (int k = 0; k < count; ++k) given[at(k)] = static_cast<signed char>(which >> k & 1);
      add(std::move(given));
    }
  } else {
    for (int k = 0; k < count; ++k) {
      answers given = r.known.declared;
      given[at(k)] = static_cast<signed char>(1 - given[at(k)]);
      add(std::move(given));
    }
  }
  return r;
}

}  // namespace saltus::host
