#include "structure/signature.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace saltus::host {

namespace {

operation what(const expression& e) { return static_cast<operation>(e.operation); }
bool is_comparison(const expression& e) { return what(e) >= operation::less && what(e) <= operation::unequal; }
bool is_leaf(operation o) { return o == operation::discrete || o == operation::guard; }

/// Three-valued logic: -1 is unknown.
signed char both(signed char a, signed char b) {
  if (a == 0 || b == 0) return 0;
  return a == 1 && b == 1 ? 1 : -1;
}
signed char opposite(signed char a) { return a < 0 ? a : static_cast<signed char>(1 - a); }

/// The truth of each condition of a record, as far as the answers determine it.
std::vector<signed char> truths(const equation_record& record, const conditions& known, const answers& given) {
  std::vector<signed char> is(record.nodes.size(), -1);
  for (std::size_t i = 0; i < is.size(); ++i) {
    const expression& e = record.nodes[i];
    const auto a = static_cast<std::size_t>(e.a), b = static_cast<std::size_t>(e.b);
    if (is_comparison(e)) {
      const int k = known.number_of.empty() ? -1 : known.number_of[i];
      if (k >= 0 && !given.empty()) is[i] = given[static_cast<std::size_t>(k)];
      continue;
    }
    switch (what(e)) {
      case operation::always: is[i] = static_cast<signed char>(e.a); break;
      case operation::all_of: is[i] = both(is[a], is[b]); break;
      case operation::any_of: is[i] = opposite(both(opposite(is[a]), opposite(is[b]))); break;
      case operation::one_of:
        if (is[a] >= 0 && is[b] >= 0) is[i] = is[a] != is[b];
        break;
      case operation::negation: is[i] = opposite(is[a]); break;
      default: break;
    }
  }
  return is;
}

/// Walks from a node to the unknowns that occur in it.
class walk {
 public:
  walk(const equation_record& record, const std::vector<signed char>& truth)
      : nodes_(record.nodes), truth_(truth), deepest_(nodes_.size(), -1) {}

  /// The unknowns in `root`, with the orders of their highest derivatives, in ascending order of columns.
  std::vector<signature_entry> orders_in(int root, int times = 0) {
    visit(root, times);
    std::vector<signature_entry> found;
    for (const int i : seen_) {
      auto& deepest = deepest_[static_cast<std::size_t>(i)];
      const expression& e = nodes_[static_cast<std::size_t>(i)];
      if (what(e) == operation::unknown) found.push_back({e.a, deepest});
      deepest = -1;
    }
    seen_.clear();
    std::sort(found.begin(), found.end(), [](auto a, auto b) { return a.column < b.column; });  // one node each
    return found;
  }

 private:
  /// Visits each node, with the number of differentiations on the way to it.
  void visit(int root, int times) {
    open_.assign(1, {root, times});
    while (!open_.empty()) {
      const auto [i, k] = open_.back();
      open_.pop_back();
      if (i <= 0) continue;
      auto& deepest = deepest_[static_cast<std::size_t>(i)];
      if (deepest >= k) continue;
      if (deepest < 0) seen_.push_back(i);
      deepest = k;
      const expression& e = nodes_[static_cast<std::size_t>(i)];
      switch (what(e)) {
        case operation::sum:
        case operation::product:
        case operation::quotient:
        case operation::function:
          open_.push_back({e.a, k});
          open_.push_back({e.b, k});
          break;
        case operation::derivative: open_.push_back({e.a, k + e.b}); break;
        case operation::choice: {
          const auto is = truth_[static_cast<std::size_t>(e.a)];
          if (is != 0) open_.push_back({e.b, k});
          if (is != 1) open_.push_back({e.c, k});
          break;
        }
        default: break;
      }
    }
  }

  struct step {
    int node, times;
  };
  const std::vector<expression>& nodes_;
  const std::vector<signed char>& truth_;
  std::vector<int> deepest_, seen_;
  std::vector<step> open_;
};

/// The comparisons that occur in a condition.
void collect(const equation_record& record, int condition, std::vector<int>& found) {
  const expression& e = record.nodes[static_cast<std::size_t>(condition)];
  if (is_comparison(e)) found.push_back(condition);
  else if (what(e) == operation::negation) collect(record, e.a, found);
  else if (what(e) != operation::always) {
    collect(record, e.a, found);
    collect(record, e.b, found);
  }
}

/// The name of the first equation that contains a node.
std::string equation_with(const equation_record& record, int node) {
  std::vector<int> open;
  std::vector<bool> seen(record.nodes.size());
  for (std::size_t i = 0; i < record.equations.size(); ++i) {
    open.assign(1, record.equations[i]);
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (at <= 0 || seen[static_cast<std::size_t>(at)]) continue;
      seen[static_cast<std::size_t>(at)] = true;
      if (at == node) return record.equation_names[i];
      const expression& e = record.nodes[static_cast<std::size_t>(at)];
      if (what(e) == operation::unknown || what(e) == operation::always || is_leaf(what(e))) continue;
      open.push_back(e.a);
      if (what(e) != operation::derivative) open.push_back(e.b);
      if (what(e) == operation::choice) open.push_back(e.c);
    }
  }
  return {};
}

std::string text_of(const model& m, int comparison) {
  const auto& nodes = m.record->nodes;
  const expression& e = nodes[static_cast<std::size_t>(comparison)];
  const expression& a = nodes[static_cast<std::size_t>(std::max(e.a, 0))];
  constexpr const char* signs[] = {"<", "<=", ">", ">=", "==", "!="};
  const auto* const sign = signs[e.operation - static_cast<int>(operation::less)];
  if (e.b == 0 && what(a) == operation::discrete) {
    const auto& name = m.discretes[static_cast<std::size_t>(a.a)].name;
    if (what(e) == operation::greater && e.value == 0.5) return name + " is on";
    return fmt::format("{} {} {:g}", name, sign, e.value);
  }
  if (e.b == 0 && what(a) == operation::guard) return "above " + m.guards[static_cast<std::size_t>(a.a)].name;
  if (e.b == 0 && what(a) == operation::unknown)
    return fmt::format("{} {} {:g}", m.record->unknown_names[static_cast<std::size_t>(a.a)], sign, e.value);
  return "a condition in " + equation_with(*m.record, comparison);
}

/// Is operand i a node of the record? Then equal numbers mean equal values.
bool is_known(const equation_record& record, int i) { return i > 0 && i < static_cast<int>(record.nodes.size()); }

}  // namespace

conditions conditions_of(const model& m) {
  const equation_record& record = *m.record;
  const std::vector<signed char> any(record.nodes.size(), -1);
  walk to(record, any);
  std::vector<int> relevant;
  std::vector<char> varies(record.nodes.size());  // whose orders depend on the answers to conditions
  const auto vary = [&](int i) { return i > 0 && varies[static_cast<std::size_t>(i)]; };
  // Nodes of guards and outputs come after those of equations.
  const int last = record.equations.empty() ? -1 : *std::max_element(record.equations.begin(), record.equations.end());
  for (std::size_t i = 0; i < static_cast<std::size_t>(last + 1); ++i) {
    const expression& e = record.nodes[i];
    switch (what(e)) {
      case operation::sum:
      case operation::product:
      case operation::quotient:
      case operation::function: varies[i] = vary(e.a) || vary(e.b); break;
      case operation::derivative: varies[i] = vary(e.a); break;
      case operation::choice:
        varies[i] = vary(e.b) || vary(e.c) || to.orders_in(e.b) != to.orders_in(e.c);
        if (varies[i]) collect(record, e.a, relevant);
        break;
      default: break;
    }
  }
  conditions r;
  r.number_of.assign(record.nodes.size(), -1);
  std::map<std::tuple<int, int, int, double>, int> first;
  std::sort(relevant.begin(), relevant.end());
  relevant.erase(std::unique(relevant.begin(), relevant.end()), relevant.end());
  for (const int i : relevant) {
    const expression& e = record.nodes[static_cast<std::size_t>(i)];
    auto& number = r.number_of[static_cast<std::size_t>(i)];
    const std::tuple key(e.operation, e.a, e.b, e.value);
    const auto same = is_known(record, e.a) || is_known(record, e.b) ? first.find(key) : first.end();
    if (same != first.end()) {
      number = same->second;
      continue;
    }
    number = r.count();
    first.emplace(key, number);
    const auto text = text_of(m, i);
    const auto alike =
        std::count_if(r.texts.begin(), r.texts.end(), [&](const auto& other) { return other.starts_with(text); });
    r.texts.push_back(alike == 0 ? text : fmt::format("{} ({})", text, alike + 1));
    r.declared.push_back(static_cast<signed char>(e.c));
  }
  return r;
}

signature signature_of(const equation_record& record, const conditions& known, const answers& given) {
  const auto truth = truths(record, known, given);
  walk to(record, truth);
  signature r;
  for (const int equation : record.equations) r.rows.push_back(to.orders_in(equation));
  return r;
}

std::vector<int> nonlinear_equations(const equation_record& record, const std::vector<int>& c,
                                     const std::vector<int>& d, const conditions& known, const answers& given) {
  const auto truth = truths(record, known, given);
  walk to(record, truth);
  // The joint degree of each node in the highest derivatives: 0, 1, or 2 for anything higher.
  std::vector<signed char> degree(record.nodes.size(), 0);
  const auto of = [&](int i) { return i < 0 ? static_cast<signed char>(0) : degree[static_cast<std::size_t>(i)]; };
  const auto is_highest = [&](signature_entry e) { return e.order == d[static_cast<std::size_t>(e.column)]; };
  for (std::size_t i = 0; i < degree.size(); ++i) {
    const expression& e = record.nodes[i];
    int r = 0;
    switch (what(e)) {
      case operation::unknown: r = d[static_cast<std::size_t>(e.a)] == 0; break;
      case operation::sum: r = std::max(of(e.a), of(e.b)); break;
      case operation::product: r = of(e.a) + of(e.b); break;
      case operation::quotient: r = of(e.a) + 2 * of(e.b); break;
      case operation::function: r = 2 * (of(e.a) + of(e.b)); break;
      case operation::derivative: {  // linear if the derivative of the expression contains a highest derivative
        const auto found = to.orders_in(e.a, e.b);
        r = std::any_of(found.begin(), found.end(), is_highest);
        break;
      }
      case operation::choice: {
        const auto is = truth[static_cast<std::size_t>(e.a)];
        r = std::max(is == 0 ? 0 : static_cast<int>(of(e.b)), is == 1 ? 0 : static_cast<int>(of(e.c)));
        break;
      }
      default: break;
    }
    degree[i] = static_cast<signed char>(std::min(r, 2));
  }
  std::vector<int> all;
  for (std::size_t i = 0; i < record.equations.size(); ++i)
    if (c[i] == 0 && of(record.equations[i]) > 1) all.push_back(static_cast<int>(i));
  return all;
}

}  // namespace saltus::host
