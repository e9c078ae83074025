// Sparse factorisations by tables (linear/sparse_ldl.hpp) made from patterns (compile/elimination.hpp): random matrices with random
// patterns against the dense factorisation.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "compile/elimination.hpp"
#include "event_runs.hpp"
#include "linear/ldl.hpp"
#include "linear/sparse_ldl.hpp"

namespace saltus::test {
namespace {

using host::eliminate;
using host::elimination_program;
using host::matrix_entry;

constexpr int n = 40;

/// Tables of n unknowns that the test fills at run time.
struct tables {
  static constexpr int unknowns = n, entries = n * (n - 1) / 2;
  static inline std::vector<int> start, row, target;
  static void are(const elimination_program& p) {
    start = p.start;
    row = p.row;
    target = p.target;
  }
};

/// Random entries below the diagonal without duplicates.
std::vector<matrix_entry> random_pattern(std::mt19937& random, int rows, int columns, bool below, int count) {
  std::set<std::pair<int, int>> chosen;
  for (int i = 0; i < count; ++i) {
    const int r = std::uniform_int_distribution<int>(0, rows - 1)(random);
    const int c = std::uniform_int_distribution<int>(0, columns - 1)(random);
    if (!below || r > c) chosen.insert({r, c});
  }
  std::vector<matrix_entry> all;
  for (const auto& [r, c] : chosen) all.push_back({r, c});
  return all;
}

template <int W>
pack<double, W> random_row(std::mt19937& random) {
  pack<double, W> x(0.0);
  for (int lane = 0; lane < W; ++lane) x.set(lane, std::uniform_real_distribution<double>(-1, 1)(random));
  return x;
}

/// A matrix with these entries and a diagonal of the sizes `diagonal`, and b; solved by tables and as a dense matrix.
template <int W>
void expect_the_solution_of_the_dense(std::mt19937& random, const elimination_program& p,
                                      const std::vector<matrix_entry>& entries, const std::vector<double>& diagonal) {
  using Real = pack<double, W>;
  tables::are(p);
  sparse_ldl<Real, tables> sparse;
  sparse.clear();
  matrix<Real, n> a;
  vec<Real, n> b, x;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[i][j] = Real(0.0);
    a[i][i] = sparse.numbers[p.position[static_cast<std::size_t>(i)]] =
        Real(diagonal[static_cast<std::size_t>(i)]) * (Real(1.5) + random_row<W>(random));
    b[i] = random_row<W>(random);
    x[p.position[static_cast<std::size_t>(i)]] = b[i];
  }
  for (const auto& e : entries)
    a[std::max(e.row, e.column)][std::min(e.row, e.column)] = sparse.numbers[p.number_of(e.row, e.column)] =
        random_row<W>(random);
  sparse.factorise();
  sparse.solve(x);
  const auto expected = ldl<Real, n>(a).solve(b);
  for (int lane = 0; lane < W; ++lane) {
    double size = 0;
    for (int i = 0; i < n; ++i) size = std::max(size, std::fabs(expected[i].get(lane)));
    for (int i = 0; i < n; ++i)
      ASSERT_NEAR(x[p.position[static_cast<std::size_t>(i)]].get(lane), expected[i].get(lane), 1e-11 * size) << i;
  }
}

TEST(Sparse, RandomMatricesHaveTheSolutionsOfDenseOnes) {
  std::mt19937 random(7);
  for (int times = 0; times < 50; ++times) {
    const auto entries = random_pattern(random, n, n, true, 20 + 5 * times);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<double> dominant(n, 60.0);  // positive definite for all entries
    expect_the_solution_of_the_dense<4>(random, eliminate(order, entries), entries, dominant);
  }
}

/// [M J'; J 0] with diagonally dominant M; each constraint has a separate velocity, so all constraints are independent.
TEST(Sparse, OrdersThatKeepPivotsFromZeroHaveTheSolutionsOfDenseOnes) {
  std::mt19937 random(11);
  constexpr int velocities = 25, constraints = n - velocities;
  for (int times = 0; times < 50; ++times) {
    const auto mass = random_pattern(random, velocities, velocities, true, 2 * times);
    auto jacobian = random_pattern(random, constraints, velocities - constraints, false, 15 + times);
    for (int k = 0; k < constraints; ++k) jacobian.push_back({k, velocities - constraints + k});
    auto entries = mass;
    for (const auto& e : jacobian) entries.push_back({velocities + e.row, e.column});
    const auto order = host::order_of_least_degree(velocities, constraints, mass, jacobian);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
    const auto program = eliminate(order, entries);
    for (const auto& e : jacobian)
      ASSERT_GT(program.position[static_cast<std::size_t>(velocities + e.row)],
                program.position[static_cast<std::size_t>(e.column)]);
    std::vector<double> diagonal(n, 0.0);
    std::fill_n(diagonal.begin(), velocities, 60.0);
    expect_the_solution_of_the_dense<4>(random, program, entries, diagonal);
  }
}

TEST(Sparse, LeastDegreeFillsNothingInWhereNothingNeedBe) {
  // A tree: each unknown depends on an earlier one.
  std::mt19937 random(3);
  std::vector<matrix_entry> tree;
  for (int i = 1; i < n; ++i) tree.push_back({i, std::uniform_int_distribution<int>(0, i - 1)(random)});
  const auto program = eliminate(host::order_of_least_degree(n, 0, tree, {}), tree);
  EXPECT_EQ(program.row.size(), tree.size());
  EXPECT_EQ(program.target.size(), tree.size());
}

TEST(Sparse, ColumnsOfOneColourMeetInNoRow) {
  std::mt19937 random(5);
  for (int times = 0; times < 20; ++times) {
    const auto jacobian = random_pattern(random, 30, n, false, 10 * times);
    const auto colour = host::colours_of(n, 30, jacobian);
    for (const auto& e : jacobian)
      for (const auto& f : jacobian) {
        if (e.row != f.row || e.column == f.column) continue;
        ASSERT_NE(colour[static_cast<std::size_t>(e.column)], colour[static_cast<std::size_t>(f.column)]);
      }
  }
}

}  // namespace
}  // namespace saltus::test
