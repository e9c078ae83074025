// The coefficients of the explicit methods: order conditions by the compiler and at run time, and that the check sees
// what it is there for - a coefficient off by 1e-10, a claim too high, a claim too low.
#include "method/order_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace methods = saltus::methods;
using methods::defect;
using methods::tableau;

namespace {

static_assert(methods::order_conditions<methods::kutta_3>());
static_assert(methods::order_conditions<methods::bogacki_shampine_3>());
static_assert(methods::order_conditions<methods::runge_kutta_4>());
static_assert(methods::order_conditions<methods::fehlberg_5>());
static_assert(methods::order_conditions<methods::fehlberg_8>());
static_assert(methods::order_conditions<methods::dormand_prince_5>());
static_assert(methods::order_conditions<methods::tsitouras_5>());
static_assert(methods::order_conditions<methods::dormand_prince_8>());
static_assert(methods::order_conditions(methods::all{}));

void print_row(const char* name, const double* residual, int order) {
  std::printf("  %-10s", name);
  for (int n = 1; n <= order + 1; ++n) std::printf(" %7.1e", residual[n]);
  std::printf("\n");
}

TEST(tableaus, residuals_of_every_method) {
  methods::for_each(methods::all{}, [](auto method) {
    using M = decltype(method);
    SCOPED_TRACE(M::name);
    const methods::residuals r = residuals_of(tableau<M>());
    std::printf("%s: row sums %.1e; residuals of the trees with 1, 2, ... nodes, the last not to be fulfilled\n",
                M::title, r.row_sum);
    print_row("advancing", r.advancing, M::order);
    if (M::embedded_order > 0) print_row("embedded", r.embedded, M::embedded_order);
    if (M::two_errors) print_row("embedded3", r.embedded3, M::embedded3_order);
    print_row("dense", r.dense, M::dense_order);
    EXPECT_EQ(defect_of(tableau<M>()), defect::none);
  });
}

TEST(tableaus, keys) {
  std::vector<std::string> keys;
  methods::for_each(methods::all{}, [&](auto method) { keys.push_back(decltype(method)::name); });
  const std::vector<std::string> expected = {"kutta3", "bs3", "rk4", "rkf45", "rkf78", "dp5", "tsit5", "dop853"};
  EXPECT_EQ(keys, expected);
}

// Hairer, Norsett, Wanner, Solving ODEs I, Table II.2.1 and II.2.2: gamma of the trees with 4 and 5 nodes.
TEST(rooted_trees, density) {
  const auto gammas = [](int nodes) {
    std::vector<double> r;
    for (int t = methods::trees_up_to[nodes - 1]; t < methods::trees_up_to[nodes]; ++t)
      r.push_back(methods::rooted_trees.tree[t].gamma);
    std::sort(r.begin(), r.end());
    return r;
  };
  EXPECT_EQ(gammas(4), (std::vector<double>{4, 8, 12, 24}));
  EXPECT_EQ(gammas(5), (std::vector<double>{5, 10, 15, 20, 20, 30, 40, 60, 120}));
  for (int n = 1; n <= methods::largest_tree; ++n) {
    EXPECT_EQ(gammas(n).front(), n) << "the bush";
    EXPECT_EQ(gammas(n).back(), std::tgamma(n + 1.0)) << "the tall tree";
  }
}

/// change(entry) for one coefficient after another, each time on a fresh copy; counts the copies not rejected.
template <class M>
struct perturbation {
  int tried    = 0;
  int accepted = 0;

  template <class Change>
  void operator()(const std::string& what, Change change) {
    tableau<M> m;
    change(m);
    ++tried;
    if (defect_of(m) != defect::none) return;
    ++accepted;
    ADD_FAILURE() << M::name << ": not seen: " << what;
  }
};

constexpr double nudge = 1e-10;

TEST(order_conditions, reject_every_coefficient_off_by_1e_10) {
  methods::for_each(methods::all{}, [](auto method) {
    using M = decltype(method);
    perturbation<M> nudged;
    for (int i = 0; i < tableau<M>::own; ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      nudged("c" + at, [&](auto& m) { m.c[i] += nudge; });
      for (int j = 0; j < i; ++j)
        nudged("a" + at + "[" + std::to_string(j) + "]", [&](auto& m) { m.a[i][j] += nudge; });
      for (int r = 0; r < M::dense_rows; ++r)
        nudged("d[" + std::to_string(r) + "]" + at, [&](auto& m) { m.d[r][i] += nudge; });
    }
    for (int i = 0; i < M::stages; ++i) {
      const std::string at = "[" + std::to_string(i) + "]";
      nudged("b" + at, [&](auto& m) { m.b[i] += nudge; });
      nudged("b and the row of f1 at " + at, [&](auto& m) {
        m.b[i] += nudge;
        m.a[m.f1][i] += nudge;
        m.c[m.f1] += nudge;
      });
      if (M::embedded_order > 0) nudged("e" + at, [&](auto& m) { m.e[i] += nudge; });
      if (M::two_errors) nudged("e3" + at, [&](auto& m) { m.e3[i] += nudge; });
    }
    std::printf("%s: %d coefficients, %d not seen\n", M::title, nudged.tried, nudged.accepted);
  });
}

// Row sums stay as they are: only the conditions of trees that are not bushes can see these.
TEST(order_conditions, reject_pairs_in_a_row_off_by_1e_10) {
  methods::for_each(methods::all{}, [](auto method) {
    using M = decltype(method);
    perturbation<M> nudged;
    for (int i = 2; i < tableau<M>::own; ++i) {
      for (int j = 1; j < i; ++j) {
        nudged("a[" + std::to_string(i) + "][" + std::to_string(j - 1) + " and " + std::to_string(j) + "]",
               [&](auto& m) {
                 m.a[i][j - 1] += nudge;
                 m.a[i][j] -= nudge;
               });
      }
    }
    std::printf("%s: %d pairs, %d not seen\n", M::title, nudged.tried, nudged.accepted);
  });
}

}  // namespace
