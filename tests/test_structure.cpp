// Structural analysis: assignments and offsets against exhaustive search, block triangular form, and models with known offsets, index
// and degrees of freedom: J. D. Pryce, BIT 41 (2001) 364, and another program's analysis of the papers' models.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "../problems/campbell_orbits.hpp"
#include "../problems/free_body.hpp"
#include "../problems/index_3_pendulum.hpp"
#include "../problems/knife_edge.hpp"
#include "../problems/lorenz.hpp"
#include "../problems/parallel_robot.hpp"
#include "../problems/parts/index_chain.hpp"
#include "../problems/parts/pendula.hpp"
#include "../problems/rod_pendulum.hpp"
#include "../problems/shuttle_reentry.hpp"
#include "../problems/slack_pendulum.hpp"
#include "../problems/tight_orbits.hpp"
#include "compile/compiler.hpp"
#include "model/describe.hpp"
#include "models/check_valve.hpp"
#include "models/overdetermined.hpp"
#include "structure/analysis.hpp"

namespace {

using namespace saltus::host;
using list = std::vector<int>;

template <class Model>
model model_of() {
  return model_from(saltus::describe<Model>::get("model"), {}, {});
}
template <class Model>
model_structure structure() {
  return structure_of(model_of<Model>());
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Order of unknown j in equation i; -1 if absent.
int order(const signature& s, int i, int j) {
  for (const auto& e : s.rows[at(i)])
    if (e.column == j) return e.order;
  return -1;
}

signature random_signature(std::mt19937& random, int n, int highest, double filled) {
  signature s;
  for (int i = 0; i < n; ++i) {
    auto& row = s.rows.emplace_back();
    for (int j = 0; j < n; ++j)
      if (std::uniform_real_distribution<double>()(random) < filled)
        row.push_back({j, std::uniform_int_distribution<int>(0, highest)(random)});
  }
  return s;
}

/// Over all permutations: the largest sum of a complete transversal (-1: there is none), and the most entries of any transversal.
struct exhaustive {
  int sum = -1, most = 0;
  explicit exhaustive(const signature& s) {
    list columns(s.rows.size());
    std::iota(columns.begin(), columns.end(), 0);
    do {
      int total = 0, count = 0;
      for (int i = 0; i < s.size(); ++i)
        if (const int o = order(s, i, columns[at(i)]); o >= 0) total += o, ++count;
      most = std::max(most, count);
      if (count == s.size()) sum = std::max(sum, total);
    } while (std::next_permutation(columns.begin(), columns.end()));
  }
};

void expect_valid(const signature& s, const structural_analysis& a) {
  for (int i = 0; i < s.size(); ++i) {
    EXPECT_GE(a.c[at(i)], 0);
    EXPECT_GE(a.d[at(i)], 0);
    for (const auto& e : s.rows[at(i)]) EXPECT_GE(a.d[at(e.column)] - a.c[at(i)], e.order);
    const int j = a.values.column_of[at(i)];
    EXPECT_EQ(a.values.row_of[at(j)], i);
    EXPECT_EQ(a.d[at(j)] - a.c[at(i)], order(s, i, j));
  }
}

/// Each equation and unknown is in one block, and no equation of J has unknowns of later blocks.
void expect_block_triangular(const signature& s, const structural_analysis& a) {
  list of_equation(s.rows.size(), -1), of_unknown(s.rows.size(), -1);
  for (std::size_t b = 0; b < a.blocks.size(); ++b) {
    ASSERT_EQ(a.blocks[b].equations.size(), a.blocks[b].unknowns.size());
    for (const int i : a.blocks[b].equations) of_equation[at(i)] = static_cast<int>(b);
    for (const int j : a.blocks[b].unknowns) of_unknown[at(j)] = static_cast<int>(b);
  }
  EXPECT_EQ(std::count(of_equation.begin(), of_equation.end(), -1), 0);
  EXPECT_EQ(std::count(of_unknown.begin(), of_unknown.end(), -1), 0);
  for (int i = 0; i < s.size(); ++i)
    for (const auto& e : s.rows[at(i)])
      if (a.d[at(e.column)] - a.c[at(i)] == e.order) { EXPECT_LE(of_unknown[at(e.column)], of_equation[at(i)]); }
}

TEST(assignment, is_the_best_of_all_permutations) {
  std::mt19937 random(1);
  int complete = 0, singular = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const int n = 1 + trial % 6;
    const signature s = random_signature(random, n, 1 + trial % 5, 0.2 + 0.1 * (trial % 7));
    const exhaustive best(s);
    const transversal t = highest_value_transversal(s);
    int sum = 0, count = 0;
    for (int i = 0; i < n; ++i) {
      const int j = t.column_of[at(i)];
      if (j < 0) continue;
      ASSERT_EQ(t.row_of[at(j)], i);
      ASSERT_GE(order(s, i, j), 0);
      sum += order(s, i, j), ++count;
    }
    ASSERT_EQ(count, best.most);
    ASSERT_EQ(t.is_complete(), best.sum >= 0);
    if (t.is_complete()) { EXPECT_EQ(sum, best.sum); }
    ++(t.is_complete() ? complete : singular);
  }
  EXPECT_GT(complete, 150);
  EXPECT_GT(singular, 150);
}

// d follows from c, and no valid c is smaller in any component: the test tries all c up to those found.
TEST(offsets, are_the_smallest) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 1 + trial % 4;
    const signature s = random_signature(random, n, 3, 0.7);
    const structural_analysis a = analyse(s);
    if (!a.is_sound()) continue;
    expect_valid(s, a);
    expect_block_triangular(s, a);
    EXPECT_EQ(a.freedom, exhaustive(s).sum);
    // The c with the smallest sum, and the smallest value of each component among the valid c, are the result.
    list c(s.rows.size(), 0), smallest(s.rows.size(), 1 << 20);
    const int top = *std::max_element(a.c.begin(), a.c.end());
    for (;;) {
      list d(s.rows.size(), 0);
      for (int i = 0; i < n; ++i)
        for (const auto& e : s.rows[at(i)]) d[at(e.column)] = std::max(d[at(e.column)], e.order + c[at(i)]);
      const int sum = std::accumulate(d.begin(), d.end(), 0) - std::accumulate(c.begin(), c.end(), 0);
      if (sum == a.freedom)  // duality: equality on a transversal
        for (int i = 0; i < n; ++i) smallest[at(i)] = std::min(smallest[at(i)], c[at(i)]);
      int k = 0;
      while (k < n && c[at(k)] == top) c[at(k++)] = 0;
      if (k == n) break;
      ++c[at(k)];
    }
    EXPECT_EQ(smallest, a.c);
  }
}

TEST(offsets, do_not_depend_on_the_order_of_equations_and_unknowns) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 40;
    const signature s = random_signature(random, n, 4, 0.1);
    const structural_analysis a = analyse(s);
    list rows(n), columns(n);
    std::iota(rows.begin(), rows.end(), 0);
    std::iota(columns.begin(), columns.end(), 0);
    std::shuffle(rows.begin(), rows.end(), random);
    std::shuffle(columns.begin(), columns.end(), random);
    signature mixed;
    mixed.rows.resize(n);
    for (int i = 0; i < n; ++i)
      for (const auto& e : s.rows[at(i)]) mixed.rows[at(rows[at(i)])].push_back({columns[at(e.column)], e.order});
    const structural_analysis b = analyse(mixed);
    ASSERT_EQ(a.is_sound(), b.is_sound());
    if (!a.is_sound()) {
      EXPECT_EQ(a.singular.surplus_equations.size(), b.singular.surplus_equations.size());
      EXPECT_EQ(a.singular.lacking_unknowns.size(), b.singular.lacking_unknowns.size());
      continue;
    }
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(a.c[at(i)], b.c[at(rows[at(i)])]);
      EXPECT_EQ(a.d[at(i)], b.d[at(columns[at(i)])]);
    }
    EXPECT_EQ(a.blocks.size(), b.blocks.size());
    expect_block_triangular(s, a);
  }
}

// Each function makes a node unless its argument is constant, and has the value of its number.
TEST(orders, have_every_function_of_models) {
  using saltus::orders;
  using row = saltus::pack<double, 1>;
  saltus::expression_record record;
  saltus::recording = &record;
  const orders x = orders::input(0, 0.5), y = orders::input(1, 0.25), constant(0.75);
#define SALTUS_OF_ONE(name)                             \
  EXPECT_GT(name(x).trace.node, y.trace.node) << #name; \
  EXPECT_EQ(name(constant).trace.node, 0) << #name;     \
  EXPECT_EQ(name(x).value.v, name(row(0.5)).v) << #name;
#define SALTUS_OF_TWO(name)                                       \
  EXPECT_GT(name(x, y).trace.node, y.trace.node) << #name;        \
  EXPECT_GT(name(constant, y).trace.node, y.trace.node) << #name; \
  EXPECT_GT(name(x, 2.0).trace.node, y.trace.node) << #name;      \
  EXPECT_EQ(name(constant, constant).trace.node, 0) << #name;     \
  EXPECT_EQ(name(x, y).value.v, name(row(0.5), row(0.25)).v) << #name;
#include "number/functions.def"
  EXPECT_GT(abs(x).trace.node, y.trace.node);
  EXPECT_GT(min(x, 1.0).trace.node, y.trace.node);
  EXPECT_GT(max(constant, y).trace.node, y.trace.node);
  EXPECT_EQ(fma(constant, x, constant).trace.node, x.trace.node);  // multiplication by and addition of a constant
  EXPECT_GT(fma(y, x, constant).trace.node, y.trace.node);
  EXPECT_EQ((2.0 * -x / constant - 1.0).trace.node, x.trace.node);
  EXPECT_EQ(derivative(x, 0).trace.node, x.trace.node);
  EXPECT_EQ(derivative(constant, 1).trace.node, 0);
  EXPECT_GT((1.0 / x).trace.node, y.trace.node);
  saltus::recording = nullptr;
}

// Numbers that cannot be differentiated by time have no member d.
TEST(orders, are_needed_for_derivatives) {
  using row = saltus::pack<double, 1>;
  constexpr auto has_d = []<class Value>(Value) {
    return requires(const saltus::point<rod_pendulum, Value, Value>& at) { at.d(rod_pendulum::x, 2); };
  };
  EXPECT_TRUE(has_d(saltus::orders()));
  EXPECT_FALSE(has_d(row(0.0)));
  EXPECT_FALSE(has_d(saltus::dual<row>(row(0.0))));
}

/// Two unknowns, and equations that the test writes.
struct two_unknowns {
  enum state { x, y };
  static constexpr saltus::variable<state> state_list[] = {{x, 1.0, "1", ""}, {y, 2.0, "1", ""}};
  enum discrete { on };
  static constexpr saltus::variable<discrete> discrete_list[] = {{on, 0.0, "1", ""}};
};
#define SALTUS_PAIR(name, first, second)            \
  struct name : two_unknowns {                      \
    static void residual(const auto& at, auto& r) { \
      r[x] = first;                                 \
      r[y] = second;                                \
    }                                               \
  };
SALTUS_PAIR(of_sums, 2.0 * at.d(x, 2) - at.d(x, 3) / 4.0 + sin(at[y]), -at.d(y, 1) + at[x])
SALTUS_PAIR(of_constants, at.d(x, 0) * at.t + 1.0, at[y] * at[on])
SALTUS_PAIR(of_lower, at[x] * at.d(y, 2) + at.d(x, 2), at.d(x, 1) * at.d(x, 2) + at.d(y, 2) / at.d(y, 1))
SALTUS_PAIR(of_products, at.d(x, 2) * at.d(y, 2), at.d(y, 2))
SALTUS_PAIR(of_powers, at.d(x, 1) * at.d(x, 1) + at.d(y, 1), at.d(y, 1) - at.d(x, 1))
SALTUS_PAIR(of_functions, at.d(x, 1), min(at.d(y, 1), at[x]))
SALTUS_PAIR(of_quotients, at.d(x, 1) / at[y], at[x] / at.d(y, 1))
SALTUS_PAIR(of_an_expression, derivative(at[x] * at[x] * at.d(y, 1), 2), at.d(x, 2) + derivative(sin(at[y]), 1))
SALTUS_PAIR(of_conditions, select(at.d(y, 7) > 0.0, at.d(x, 1), at[y]), at.d(y, 1))
SALTUS_PAIR(of_answers, select(!at.is_on(on) && at[x] > 1.0, at.d(x, 1), at.d(x, 2)),
            select(at.is_on(on) || at[x] < 5.0, at[y], select(at.is_on(on), at.d(y, 9), at.d(y, 1))))
SALTUS_PAIR(of_nested,
            select(at[x] > 3.0, select(at.is_on(on), at.d(x, 2), at[x]), select(at.is_on(on), at[x], at.d(x, 2))),
            at.d(y, 1))
SALTUS_PAIR(of_nothing, at[x] + at[y], at[x] - at[x] + 0.0 * at[y])

/// s_xx, s_xy, s_yx, s_yy.
template <class Model>
list sigma_of() {
  const auto s = structure<Model>().sigma;
  return {order(s, 0, 0), order(s, 0, 1), order(s, 1, 0), order(s, 1, 1)};
}

TEST(signature, has_the_highest_orders) {
  EXPECT_EQ(sigma_of<of_sums>(), (list{3, 0, 0, 1}));
  EXPECT_EQ(sigma_of<of_constants>(), (list{0, -1, -1, 0}));
  EXPECT_EQ(sigma_of<of_lower>(), (list{2, 2, 2, 2}));
  EXPECT_EQ(sigma_of<of_functions>(), (list{1, -1, 0, 1}));
  EXPECT_EQ(sigma_of<of_an_expression>(), (list{2, 3, 2, 1}));
  EXPECT_EQ(sigma_of<of_nothing>(), (list{0, 0, 0, 0}));  // plain values carry no information
}

TEST(signature, of_selections_is_the_union_but_conditions_do_not_count) {
  EXPECT_EQ(sigma_of<of_conditions>(), (list{1, 0, -1, 1}));
  EXPECT_EQ(sigma_of<of_answers>(), (list{2, -1, -1, 9}));
}

TEST(signature, of_answers_to_conditions_is_that_of_their_branches) {
  const model m = model_of<of_answers>();
  const conditions known = conditions_of(m);
  ASSERT_EQ(known.count(), 3);
  const auto number = [&](const char* text) {
    return at(static_cast<int>(std::find(known.texts.begin(), known.texts.end(), text) - known.texts.begin()));
  };
  const std::size_t on = number("on is on"), above = number("x > 1"), below = number("x < 5");
  ASSERT_LT(std::max({on, above, below}), 3u);
  EXPECT_EQ(known.declared[on], 0);
  EXPECT_EQ(known.declared[above], 0);
  EXPECT_EQ(known.declared[below], 1);
  for (int which = 0; which < 27; ++which) {
    answers given(3);
    const int is_on = which % 3 - 1, is_above = which / 3 % 3 - 1, is_below = which / 9 - 1;
    given[on] = static_cast<signed char>(is_on);
    given[above] = static_cast<signed char>(is_above);
    given[below] = static_cast<signed char>(is_below);
    const signature s = signature_of(*m.record, known, given);
    EXPECT_EQ(order(s, 0, 0), is_on == 0 && is_above == 1 ? 1 : 2);
    const bool first = is_on == 1 || is_below == 1, may_be_later = is_on < 0 && is_below < 1;
    EXPECT_EQ(order(s, 1, 1), first ? 0 : may_be_later ? 9 : 1) << which;
  }
}

// Both branches of the outer selection have the same union of orders.
TEST(signature, of_nested_selections_has_all_modes) {
  const auto s = structure<of_nested>();
  EXPECT_EQ(s.known.count(), 2);
  ASSERT_EQ(s.modes.size(), 2u);
  EXPECT_EQ(order(s.modes[0].sigma, 0, 0) + order(s.modes[1].sigma, 0, 0), 2);
}

/// Equations that are nonlinear in highest derivatives.
template <class Model>
list nonlinear_in() {
  return structure<Model>().nonlinear;
}
TEST(quasilinear, is_a_matter_of_highest_derivatives_jointly) {
  EXPECT_EQ(nonlinear_in<of_sums>(), list{});
  EXPECT_EQ(nonlinear_in<of_lower>(), list{});
  EXPECT_EQ(nonlinear_in<of_products>(), list{0});
  EXPECT_EQ(nonlinear_in<of_powers>(), list{0});
  EXPECT_EQ(nonlinear_in<of_functions>(), list{1});
  EXPECT_EQ(nonlinear_in<of_quotients>(), list{1});
}

// By Hall's theorem, a set of equations has too few unknowns, and a set of unknowns too few equations; the difference is the number of
// entries that a complete transversal lacks.
TEST(assignment, that_is_not_complete_has_a_part_that_shows_why) {
  std::mt19937 random(5);
  int singular = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 2 + trial % 20;
    const signature s = random_signature(random, n, 2, 2.0 / n);
    const transversal t = highest_value_transversal(s);
    const singular_part part = singular_part_of(s, t);
    const auto has = [](const list& all, int i) { return std::find(all.begin(), all.end(), i) != all.end(); };
    const auto missing = std::count(t.column_of.begin(), t.column_of.end(), -1);
    EXPECT_EQ(static_cast<long>(part.surplus_equations.size() - part.surplus_unknowns.size()), missing);
    EXPECT_EQ(static_cast<long>(part.lacking_unknowns.size() - part.lacking_equations.size()), missing);
    for (int i = 0; i < n; ++i)
      for (const auto& e : s.rows[at(i)]) {
        EXPECT_TRUE(!has(part.surplus_equations, i) || has(part.surplus_unknowns, e.column));
        EXPECT_TRUE(!has(part.lacking_unknowns, e.column) || has(part.lacking_equations, i));
      }
    singular += missing > 0;
  }
  EXPECT_GT(singular, 100);
}

// The offsets of a union are valid for one of its modes if equality holds along a permutation.
TEST(offsets, of_a_union_serve_a_mode_with_an_equality_on_a_transversal) {
  std::mt19937 random(6);
  int yes = 0, no = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 2 + trial % 4;
    const signature mode = random_signature(random, n, 2, 0.8), other = random_signature(random, n, 2, 0.3);
    signature both;
    for (int i = 0; i < n; ++i) {
      auto& row = both.rows.emplace_back();
      for (int j = 0; j < n; ++j)
        if (const int o = std::max(order(mode, i, j), order(other, i, j)); o >= 0) row.push_back({j, o});
    }
    const structural_analysis a = analyse(both);
    if (!a.is_sound()) continue;
    list columns(both.rows.size());
    std::iota(columns.begin(), columns.end(), 0);
    bool found = false;
    do {
      bool equal = true;
      for (int i = 0; i < n; ++i) {
        const int j = columns[at(i)], o = order(mode, i, j);
        equal = equal && o >= 0 && a.d[at(j)] - a.c[at(i)] == o;
      }
      found = found || equal;
    } while (std::next_permutation(columns.begin(), columns.end()));
    EXPECT_EQ(serves(a.c, a.d, mode), found);
    ++(found ? yes : no);
  }
  EXPECT_GT(yes, 30);
  EXPECT_GT(no, 30);
}

TEST(structure, of_the_pendulum) {
  const auto s = structure<rod_pendulum>();
  EXPECT_EQ(s.analysis.c, (list{0, 0, 2}));
  EXPECT_EQ(s.analysis.d, (list{2, 2, 0}));
  EXPECT_EQ(s.analysis.index, 3);
  EXPECT_EQ(s.analysis.freedom, 2);
  EXPECT_TRUE(s.nonlinear.empty());
  EXPECT_EQ(s.analysis.blocks.size(), 1u);
  EXPECT_EQ(order(s.sigma, 0, 0), 2);
  EXPECT_EQ(order(s.sigma, 0, 1), -1);
  EXPECT_EQ(order(s.sigma, 0, 2), 0);
}

TEST(structure, of_tight_orbits_however_they_are_written) {
  for (const auto& s : {structure<tight_orbits>(), structure<campbell_orbits>()}) {
    EXPECT_EQ(s.analysis.c, (list{0, 0, 1}));
    EXPECT_EQ(s.analysis.d, (list{1, 1, 0}));
    EXPECT_EQ(s.analysis.index, 2);
    EXPECT_EQ(s.analysis.freedom, 1);
    EXPECT_TRUE(s.nonlinear.empty());
  }
}

TEST(structure, of_the_shuttle) {
  const auto s = structure<shuttle_reentry>();
  EXPECT_EQ(s.analysis.c, (list{1, 0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(s.analysis.d, (list{2, 1, 1, 2, 1, 1, 0}));
  EXPECT_EQ(s.analysis.index, 3);
  EXPECT_EQ(s.analysis.freedom, 4);
  EXPECT_EQ(s.nonlinear, (list{shuttle_reentry::path, shuttle_reentry::azimuth}));  // cos and sin of the bank angle
}

TEST(structure, of_the_robot_in_all_modes) {
  const auto s = structure<parallel_robot>();
  const list c = {2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, d = {2, 2, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(s.analysis.c, c);
  EXPECT_EQ(s.analysis.d, d);
  EXPECT_EQ(s.analysis.index, 3);
  EXPECT_EQ(s.analysis.freedom, 6);
  EXPECT_TRUE(s.nonlinear.empty());
  // Friction changes no orders, only saturation does.
  const auto number = [&](const std::string& text) {
    return at(static_cast<int>(std::find(s.known.texts.begin(), s.known.texts.end(), text) - s.known.texts.begin()));
  };
  ASSERT_EQ(s.known.count(), 4);
  for (const auto* text : {"above over_0", "above under_0", "above over_1", "above under_1"})
    ASSERT_LT(number(text), 4u);
  ASSERT_EQ(s.modes.size(), 4u);
  int found[2][2] = {};
  for (const auto& mode : s.modes) {
    EXPECT_TRUE(mode.is_served);
    EXPECT_EQ(mode.analysis.index, 3);
    EXPECT_EQ(mode.analysis.freedom, 6);
    list own_c = c, own_d = d;
    bool saturated[2];
    for (int i = 0; i < 2; ++i) {
      const std::string which = i == 0 ? "_0" : "_1";
      saturated[i] = mode.given[number("above over" + which)] == 1 || mode.given[number("above under" + which)] == 0;
      if (!saturated[i]) continue;
      own_c[at(2 + i)] = 0;
      own_d[at(4 + i)] = 0;
    }
    ++found[saturated[0]][saturated[1]];
    EXPECT_EQ(mode.analysis.c, own_c);
    EXPECT_EQ(mode.analysis.d, own_d);
    EXPECT_EQ(mode.nonlinear.empty(), !saturated[0] && !saturated[1]);
    for (const int i : mode.nonlinear) EXPECT_TRUE(i == 2 || i == 3);  // cosine of the wanted angle
  }
  for (const auto& row : found)
    for (const int n : row) EXPECT_EQ(n, 1);
}

template <int N>
void expect_chain() {
  const auto s = structure<index_chain_of<N>>();
  EXPECT_EQ(s.analysis.index, N);
  EXPECT_EQ(s.analysis.freedom, 0);
  for (int k = 0; k < N; ++k) EXPECT_EQ(s.analysis.d[at(k)], N - 1 - k);
  EXPECT_EQ(s.analysis.blocks.size(), std::size_t(N));
}
TEST(structure, of_chains_of_index_2_to_7) {
  expect_chain<2>();
  expect_chain<3>();
  expect_chain<4>();
  expect_chain<5>();
  expect_chain<6>();
  expect_chain<7>();
}

template <int P>
void expect_pendula() {
  const auto s = structure<pendula_of<P>>();
  EXPECT_EQ(s.analysis.index, 2 * P + 1);
  EXPECT_EQ(s.analysis.freedom, 2 * P);
  EXPECT_TRUE(s.nonlinear.empty());
  EXPECT_EQ(s.analysis.blocks.size(), std::size_t(P));
}
TEST(structure, of_chains_of_pendula_to_index_47) {
  expect_pendula<1>();
  expect_pendula<7>();
  expect_pendula<23>();
}

// A model with 6000 equations, and the same in random order; a chain whose depth equals its length.
TEST(structure, of_6000_equations_takes_no_10_seconds) {
  constexpr int P = 2000, n = 3 * P;
  const model whole = model_of<pendula_of<P>>();
  const auto start = std::chrono::steady_clock::now();
  const auto described = structure_of(whole);
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("a model of %d equations and index %d: %.3f s\n", n, described.analysis.index, all);
  EXPECT_EQ(described.analysis.index, 2 * P + 1);
  EXPECT_EQ(described.analysis.freedom, 2 * P);
  EXPECT_TRUE(described.nonlinear.empty());
  EXPECT_LE(all, 10.0);

  std::mt19937 random(4);
  list rows(n), columns(n);
  std::iota(rows.begin(), rows.end(), 0);
  std::iota(columns.begin(), columns.end(), 0);
  for (const bool mixed : {false, true}) {
    if (mixed) {
      std::shuffle(rows.begin(), rows.end(), random);
      std::shuffle(columns.begin(), columns.end(), random);
    }
    signature s;
    s.rows.resize(n);
    const auto add = [&](int i, int j, int derivatives) {
      s.rows[at(rows[at(i)])].push_back({columns[at(j)], derivatives});
    };
    for (int p = 0; p < P; ++p) {
      const int x = p, y = P + p, tension = 2 * P + p;
      add(x, x, 2), add(x, tension, 0);
      add(y, y, 2), add(y, tension, 0);
      add(tension, x, 0), add(tension, y, 0);
      if (p > 0) add(tension, tension - 1, 0);
    }
    const auto begin = std::chrono::steady_clock::now();
    const structural_analysis a = analyse(s);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%d equations of index %d: %.3f s\n", n, a.index, seconds);
    EXPECT_EQ(a.index, 2 * P + 1);
    EXPECT_EQ(a.freedom, 2 * P);
    EXPECT_EQ(a.blocks.size(), std::size_t(P));
    EXPECT_LE(seconds, 10.0);
  }
  signature chain;
  for (int k = 0; k + 1 < n; ++k) chain.rows.push_back({{k, 1}, {k + 1, 0}});
  chain.rows.push_back({{0, 0}});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(analyse(chain).index, n);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%d equations of index %d: %.3f s\n", n, n, seconds);
  EXPECT_LE(seconds, 10.0);
}

TEST(structure, that_is_singular_names_its_part) {
  using m = overdetermined;
  const auto s = structure<m>();
  EXPECT_FALSE(s.analysis.is_sound());
  EXPECT_EQ(s.analysis.singular.surplus_equations, (list{m::source, m::divider, m::ground}));
  EXPECT_EQ(s.analysis.singular.surplus_unknowns, (list{m::u, m::v}));
  EXPECT_EQ(s.analysis.singular.lacking_equations, (list{m::node, m::capacitor}));
  EXPECT_EQ(s.analysis.singular.lacking_unknowns, (list{m::i, m::j, m::charge}));
}

TEST(structure, of_a_valve_that_common_offsets_do_not_serve) {
  const auto s = structure<check_valve>();
  EXPECT_EQ(s.analysis.index, 1);
  EXPECT_EQ(s.known.texts, std::vector<std::string>{"open is on"});
  EXPECT_EQ(s.known.declared, answers{0});
  ASSERT_EQ(s.modes.size(), 2u);
  for (const auto& mode : s.modes) {
    const bool open = mode.given[0] == 1;
    EXPECT_EQ(mode.is_served, !open);
    EXPECT_EQ(mode.analysis.index, open ? 2 : 1);
    EXPECT_EQ(mode.analysis.freedom, open ? 0 : 1);
    EXPECT_EQ(mode.analysis.c, (open ? list{0, 1} : list{0, 0}));
    EXPECT_EQ(mode.analysis.d, (list{1, 0}));
  }
}

TEST(structure, of_other_kinds_of_equations) {
  const auto ode = structure<lorenz>();
  EXPECT_EQ(ode.analysis.c, (list{0, 0, 0}));
  EXPECT_EQ(ode.analysis.d, (list{1, 1, 1}));
  EXPECT_EQ(ode.analysis.index, 0);
  const auto pendulum = structure<index_3_pendulum>();  // x y vx vy, multiplier
  EXPECT_EQ(pendulum.analysis.c, (list{1, 1, 0, 0, 2}));
  EXPECT_EQ(pendulum.analysis.d, (list{2, 2, 1, 1, 0}));
  EXPECT_EQ(pendulum.analysis.index, 3);
  EXPECT_EQ(pendulum.analysis.freedom, 2);
  EXPECT_EQ(structure<knife_edge>().analysis.index, 2);  // a constraint on velocities
  const auto free = structure<free_body>();
  EXPECT_EQ(free.analysis.index, 0);
  EXPECT_EQ(free.analysis.freedom, static_cast<int>(model_of<free_body>().states.size()));
}

// If slack, the multiplier is zero: index 1, four degrees of freedom.
TEST(structure, of_a_constraint_that_is_switched) {
  const auto s = structure<slack_pendulum>();
  ASSERT_EQ(s.modes.size(), 2u);
  for (const auto& mode : s.modes) {
    const bool taut = mode.given[0] == 1;
    EXPECT_EQ(mode.analysis.index, taut ? 3 : 1);
    EXPECT_EQ(mode.analysis.freedom, taut ? 2 : 4);
  }
}

}  // namespace
