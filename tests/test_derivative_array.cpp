// Solvable models whose structural analysis fails (det J = 0 identically), by the rank of their derivative array: ranks of linear systems
// known from their canonical form, and runs against closed forms and against the structural analysis of the same equations in another
// form.
#include <cmath>
#include <complex>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "linear/ranked_qr.hpp"
#include "structure/rank_of_array.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

using settings = std::vector<std::string>;
using numbers = std::vector<double>;
using dense = std::vector<numbers>;  // by rows

const char* status_of(const outcome& r, std::size_t i = 0) { return status_table[r.status[i]].name; }
std::string own(const std::string& name) { return saltus::test::in_source("tests/models/" + name + ".hpp"); }
settings more(settings a, const settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

dense random_matrix(std::size_t m, std::size_t n, std::mt19937_64& random) {
  dense a(m, numbers(n));
  for (auto& row : a)
    for (double& entry : row) entry = std::uniform_real_distribution<double>(-1, 1)(random);
  return a;
}
dense product(const dense& a, const dense& b) {
  dense r(a.size(), numbers(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) r[i][j] += a[i][k] * b[k][j];
  return r;
}
/// Rank of a small matrix, by elimination with pivots.
template <class Number>
std::vector<Number> solved(std::vector<std::vector<Number>> a, std::vector<Number> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[p][k])) p = i;
    std::swap(a[k], a[p]), std::swap(b[k], b[p]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Number factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

// ---- the factorisation -----------------------------------------------------------------------------------------------

constexpr int rows = 7, columns = 6, true_rank = 4;

/// A random matrix of rank 4 in each of 8 lanes, with different pivots.
vec<vec<pack<double, 8>, columns>, rows> random_of_rank_4() {
  std::mt19937_64 random(3);
  vec<vec<pack<double, 8>, columns>, rows> a;
  for (int lane = 0; lane < 8; ++lane) {
    const dense left = random_matrix(rows, true_rank, random), right = random_matrix(true_rank, columns, random),
                whole = product(left, right);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        a[i][j].set(lane, whole[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
  }
  return a;
}

/// Distance of the unit vector e_k from the range of A, by Gram-Schmidt on its first columns.
double distance_of_unit(const vec<vec<pack<double, 8>, columns>, rows>& a, int lane, int k) {
  std::vector<std::vector<long double>> q;
  std::vector<long double> rest(rows, 0.0L);
  const auto less = [&](std::vector<long double>& from) {
    for (const auto& along : q) {
      long double part = 0;
      for (std::size_t i = 0; i < rows; ++i) part += along[i] * from[i];
      for (std::size_t i = 0; i < rows; ++i) from[i] -= part * along[i];
    }
    long double length = 0;
    for (const long double x : from) length += x * x;
    return std::sqrt(length);
  };
  for (int j = 0; j < true_rank; ++j) {
    std::vector<long double> column(rows);
    for (int i = 0; i < rows; ++i) column[static_cast<std::size_t>(i)] = a[i][j].get(lane);
    less(column);
    const auto length = less(column);
    for (auto& x : column) x /= length;
    q.push_back(column);
  }
  rest[static_cast<std::size_t>(k)] = 1.0L;
  less(rest);
  return static_cast<double>(less(rest));
}

TEST(RankedQr, SolvesWhatIsInTheRangeAndLeavesTheRest) {
  const auto a = random_of_rank_4();
  const ranked_qr<pack<double, 8>, rows, columns, true_rank> qr(a);
  vec<pack<double, 8>, rows> b, beyond;
  for (int i = 0; i < rows; ++i) {
    b[i] = pack<double, 8>(0.0);
    beyond[i] = pack<double, 8>(i == 2 ? 1.0 : 0.0);
    for (int j = 0; j < columns; ++j) b[i] = b[i] + a[i][j] * pack<double, 8>(1.0 + j);
  }
  const auto asked = b;
  qr.turn(b);
  qr.turn(beyond);
  const auto x = qr.solve(b);
  for (int lane = 0; lane < 8; ++lane) {
    int zeros = 0;
    for (int j = 0; j < columns; ++j) zeros += x[j].get(lane) == 0.0;
    EXPECT_EQ(zeros, columns - true_rank);
    for (int i = 0; i < rows; ++i) {
      double sum = 0;
      for (int j = 0; j < columns; ++j) sum += a[i][j].get(lane) * x[j].get(lane);
      EXPECT_NEAR(sum, asked[i].get(lane), 1e-13);
      if (i >= true_rank) { EXPECT_NEAR(b[i].get(lane), 0.0, 1e-13); }
    }
    double length = 0;
    for (int i = true_rank; i < rows; ++i) length += beyond[i].get(lane) * beyond[i].get(lane);
    EXPECT_NEAR(std::sqrt(length), distance_of_unit(a, lane, 2), 1e-12);
    EXPECT_GT(qr.least().get(lane), 1e-3);
  }
}

TEST(RankedQr, HasTheSameBitsInALaneAlone) {
  const auto a = random_of_rank_4();
  const ranked_qr<pack<double, 8>, rows, columns, true_rank> all(a);
  for (int lane = 0; lane < 8; ++lane) {
    vec<vec<pack<double, 1>, columns>, rows> one;
    vec<pack<double, 1>, rows> b;
    vec<pack<double, 8>, rows> b_of_all;
    for (int i = 0; i < rows; ++i) {
      b[i] = pack<double, 1>(1.0 / (i + 1));
      b_of_all[i] = pack<double, 8>(1.0 / (i + 1));
      for (int j = 0; j < columns; ++j) one[i][j] = pack<double, 1>(a[i][j].get(lane));
    }
    const ranked_qr<pack<double, 1>, rows, columns, true_rank> alone(one);
    alone.turn(b);
    all.turn(b_of_all);
    const auto x = alone.solve(b);
    const auto x_of_all = all.solve(b_of_all);
    for (int j = 0; j < columns; ++j) EXPECT_EQ(x[j].get(0), x_of_all[j].get(lane)) << lane << j;
  }
}

// ---- ranks -----------------------------------------------------------------------------------------------------------

/// E x' + A x - sin(t) q over series; the highest derivative is x'.
host::array_function linear_array(const dense& e, const dense& a, const dense& q, int most) {
  return [=](const numbers& x, numbers& f, numbers& by) {
    const auto n = e.size(), terms = static_cast<std::size_t>(most + 2);
    double sine = 0;  // coefficient of the sine of order k
    std::fill(by.begin(), by.end(), 0.0);
    for (std::size_t k = 0; k <= static_cast<std::size_t>(most); ++k) {
      sine = k % 2 == 0 ? 0.0 : (k % 4 == 1 ? 1.0 : -1.0) / std::tgamma(static_cast<double>(k) + 1);
      for (std::size_t i = 0; i < n; ++i) {
        double sum = -sine * q[i][0];
        for (std::size_t j = 0; j < n; ++j) {
          const double of_rate = e[i][j] * static_cast<double>(k + 1), of_value = a[i][j];
          sum += of_rate * x[j * terms + k + 1] + of_value * x[j * terms + k];
          by[(k * n + i) * n * terms + j * terms + k + 1] += of_rate;
          by[(k * n + i) * n * terms + j * terms + k] += of_value;
        }
        f[k * n + i] = sum;
      }
    }
  };
}

/// Rank for E x' + A x = sin(t) q with dense matrices: an ODE of `free` states beside one nilpotent block, mixed by random matrices.
host::array_rank rank_of_linear(int free, int nilpotent, unsigned seed, bool singular = false) {
  constexpr int most = 6;
  const auto f = static_cast<std::size_t>(free), n = static_cast<std::size_t>(free + nilpotent);
  std::mt19937_64 random(seed);
  dense e(n, numbers(n)), a = e, right(n, numbers(1, 1.0));
  for (std::size_t i = 0; i < n; ++i) a[i][i] = 1.0;
  for (std::size_t i = 0; i < f; ++i) e[i][i] = 1.0;
  for (std::size_t i = f; i + 1 < n; ++i) e[i][i + 1] = 1.0;
  if (singular) a[n - 1][n - 1] = right[n - 1][0] = 0.0;  // then that row of both matrices is zero
  const dense p = random_matrix(n, n, random), q = random_matrix(n, n, random);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < n; ++j) names.push_back(fmt::format("x{}", j + 1));
  const host::array_shape shape{std::vector<int>(n, 1), std::vector<int>(n, 1), most};
  return host::rank_of_array(
      shape, {linear_array(product(product(p, e), q), product(product(p, a), q), product(p, right), most)},
      numbers(n, 0.5), names);
}

// The index of nilpotency is that of the system, and all other states are free (Weierstrass). x' is among the values, x'' is required.
TEST(RankOfArray, IsThatOfTheWeierstrassFormHoweverItIsMixed) {
  for (const unsigned seed : {1u, 2u, 3u})
    for (int free = 0; free <= 2; ++free)
      for (int nilpotent = 1; nilpotent <= 4; ++nilpotent) {
        const auto r = rank_of_linear(free, nilpotent, seed);
        EXPECT_EQ(r.why, "") << free << nilpotent;
        EXPECT_EQ(r.freedom, free) << nilpotent;
        EXPECT_EQ(r.times, nilpotent + 1) << free;
        EXPECT_EQ(r.points, 4);
        EXPECT_LT(r.gap, 1e-10);
      }
}

TEST(RankOfArray, OfASingularPencilNamesWhatIsNotDetermined) {
  const auto r = rank_of_linear(1, 2, 1, true);
  EXPECT_NE(r.why.find("do not determine x1, x2, x3"), std::string::npos) << r.why;
}

// ---- runs ------------------------------------------------------------------------------------------------------------

const settings by_array = {"structure=array", "rtol=1e-10"};

/// Closed form of tests/models/floating_loop.hpp: with u = (v1 - v3, v2 - v3), u' = P u + q sin t has two equations, and v3 follows from
/// the sum of the laws. u = exp(P t) z + Im(w exp(i t)), w = (i - P)^-1 q.
struct floating_loop {
  using complex = std::complex<double>;
  double g1 = 1.0, g2 = 0.7, g3 = 1.3, g = g1 + g2 + g3;
  dense p;
  std::vector<complex> w;
  numbers z;

  explicit floating_loop(double v1, double v2) {
    const double c12 = 1.0, c23 = 0.5, c31 = 2.0;
    const dense s = {{c12 + c31, -c12}, {-c12, c12 + c23}};
    const auto over_s = [&](double a, double b) { return solved<double>(s, {a, b}); };
    const auto first = over_s(-(g1 - g1 * g1 / g), g1 * g2 / g), second = over_s(g1 * g2 / g, -(g2 - g2 * g2 / g)),
               q = over_s(1.0 - g1 / g, -g2 / g);
    p = {{first[0], second[0]}, {first[1], second[1]}};
    const complex i(0, 1);
    w = solved<complex>({{i - p[0][0], -p[0][1]}, {-p[1][0], i - p[1][1]}}, {q[0], q[1]});
    const double v3 = -(g1 * v1 + g2 * v2) / g3;
    z = {v1 - v3 - w[0].imag(), v2 - v3 - w[1].imag()};
  }
  numbers at(double t) const {
    // exp(P t) by the eigenvalues of P, which are real and distinct.
    const double half = 0.5 * (p[0][0] + p[1][1]), det = p[0][0] * p[1][1] - p[0][1] * p[1][0],
                 root = std::sqrt(half * half - det), a = std::exp((half + root) * t), b = std::exp((half - root) * t);
    numbers u(2);
    for (std::size_t i = 0; i < 2; ++i) {
      const double pz = p[i][0] * z[0] + p[i][1] * z[1];
      u[i] = (a * (pz - (half - root) * z[i]) - b * (pz - (half + root) * z[i])) / (2 * root) +
             (w[i] * complex(std::cos(t), std::sin(t))).imag();
    }
    const double v3 = (std::sin(t) - g1 * u[0] - g2 * u[1]) / g;
    return {u[0] + v3, u[1] + v3, v3};
  }
};

TEST(DerivativeArray, CapacitorsInALoopMeetTheirClosedFormWithEvents) {
  const settings start = {"initial.v1=0.1", "initial.v2=-0.2", "output.events=true", "t=[0.0, 6.0]"};
  const floating_loop exact(0.1, -0.2);
  const auto r = run(own("floating_loop"), more(by_array, start));
  ASSERT_STREQ(status_of(r), "finished");
  EXPECT_EQ(r.plan.method, "dop853");
  const auto end = exact.at(6.0);
  EXPECT_NEAR(r.final("v1"), end[0], 1e-8);
  EXPECT_NEAR(r.final("v2"), end[1], 1e-8);
  EXPECT_NEAR(r.final("v3"), end[2], 1e-8);
  EXPECT_LT(std::fabs(r.final("v1") + 0.7 * r.final("v2") + 1.3 * r.final("v3") - std::sin(6.0)), 1e-14);
  EXPECT_LT(r.residual[0], 1e-14);
  ASSERT_EQ(r.log.size(), 2u);
  EXPECT_EQ(r.log[0].guard, "above");
  EXPECT_EQ(r.log[1].guard, "below");
  for (const auto& e : r.log) {
    const double h = 1e-6, slope = (exact.at(e.time + h)[0] - exact.at(e.time - h)[0]) / (2 * h);
    EXPECT_LT(std::fabs((exact.at(e.time)[0] - 0.3) / slope), 1e-8) << e.time;
  }
}

// A capacitance to ground makes the equations regular: they have a third degree of freedom, which the array lacks.
TEST(DerivativeArray, AnInstanceOfAnotherRankIsNotStarted) {
  const auto r =
      run(own("floating_loop"),
          more(by_array, {"sweep.stray=[0.0, 1e-3, 0.0]", "rescue=false", "output.events=true", "t=[0.0, 6.0]"}));
  EXPECT_STREQ(status_of(r, 0), "finished");
  EXPECT_STREQ(status_of(r, 1), "inconsistent");
  EXPECT_STREQ(status_of(r, 2), "finished");
}

TEST(DerivativeArray, WithoutItNoStartIsFound) {
  EXPECT_STREQ(status_of(run(own("floating_loop"), {"rescue=false"})), "inconsistent");
}

/// tests/models/hidden_chain.hpp: M^-1 (sin t, cos t, -sin t, z4).
numbers hidden_chain_at(double t, double z4_at_0) {
  const double z4 = 0.5 * (std::cos(t) + std::sin(t)) + (z4_at_0 - 0.5) * std::exp(-t);
  return solved<double>({{1, 1, 1, 0}, {0, 1, -1, 1}, {1, 0, 0, 2}, {1, -1, 0, 1}},
                        {std::sin(t), std::cos(t), -std::sin(t), z4});
}

void expect_hidden_chain(const settings& s, double allowed) {
  const auto r = run(own("hidden_chain"), more(s, {"initial.a=0.25"}));
  ASSERT_STREQ(status_of(r), "finished");
  // a(0) = 0.25 determines z4(0), since a is affine in it.
  const double a0 = hidden_chain_at(0.0, 0.0)[0], a1 = hidden_chain_at(0.0, 1.0)[0];
  const auto end = hidden_chain_at(2.0, (0.25 - a0) / (a1 - a0));
  for (int j = 0; j < 4; ++j)
    EXPECT_NEAR(r.final(std::string(1, static_cast<char>('a' + j))), end[static_cast<std::size_t>(j)], allowed) << j;
  EXPECT_LT(r.residual[0], 1e-13);
  EXPECT_NEAR(r.final("a") + r.final("b") + r.final("c"), std::sin(2.0), 1e-14);
  EXPECT_NEAR(r.final("b") - r.final("c") + r.final("d"), std::cos(2.0), 1e-13);
  EXPECT_NEAR(r.final("a") + 2 * r.final("d"), -std::sin(2.0), 1e-12);
}

TEST(DerivativeArray, AHiddenChainOfIndexThreeMeetsItsClosedForm) { expect_hidden_chain(by_array, 1e-8); }
TEST(DerivativeArray, TheSameInLocalCoordinates) {
  expect_hidden_chain(more(by_array, {"coordinates=unitary", "method=dp5"}), 1e-8);
}

TEST(DerivativeArray, CoupledRatesMeetTheirClosedForm) {
  const auto r = run(own("coupled_rates"), by_array);
  ASSERT_STREQ(status_of(r), "finished");
  // x1 + x2 = c2 - c1 with c1 = exp(-t), c2 = t^2; so x3 + x4 = s = c2' - c1' - sin t - cos t, and the two laws give the rest.
  const double t = 2.0, s = 2 * t + std::exp(-t) - std::sin(t) - std::cos(t),
               ds = 2 - std::exp(-t) - std::cos(t) + std::sin(t);
  EXPECT_NEAR(r.final("x1"), s + t * t, 1e-12);
  EXPECT_NEAR(r.final("x2"), -s - std::exp(-t), 1e-12);
  EXPECT_NEAR(r.final("x3"), ds + 2 * t - std::sin(t), 1e-12);
  EXPECT_NEAR(r.final("x4"), -ds + std::exp(-t) - std::cos(t), 1e-12);
}

nlohmann::json known_of(const std::string& model) {
  std::ifstream file(saltus::test::in_source("tests/reference/any_order.json"));
  return nlohmann::json::parse(file).at(model);
}

/// Compares a model's final values with the known ones, by its array or by the array of the same model in mixed form.
void expect_known(const std::string& known, const std::string& model, const settings& s, double allowed) {
  const auto of = known_of(known).at(0);
  settings all = more(s, {fmt::format("t=[0.0, {:#.17g}]", of.at("t_end").get<double>())});
  if (of.contains("parameters"))
    for (const auto& [name, value] : of.at("parameters").items())
      all.push_back(fmt::format("parameters.{}={:#.17g}", name, value.get<double>()));
  const auto r = run(model, all);
  ASSERT_STREQ(status_of(r), "finished");
  for (const auto& [name, value] : of.at("values").items())
    EXPECT_NEAR(r.final(name), value.get<double>(), allowed * std::max(1.0, std::fabs(value.get<double>()))) << name;
  EXPECT_LT(r.residual[0], 1e-12);
}

TEST(DerivativeArray, AMixedPendulumIsAPendulum) {
  expect_known("rod_pendulum", own("mixed_pendulum"), by_array, 1e-8);
}
TEST(DerivativeArray, APendulumIsThatOfTheAnalysis) { expect_known("rod_pendulum", "rod_pendulum", by_array, 1e-8); }
TEST(DerivativeArray, AChainOfIndexSevenIsThatOfTheAnalysis) {
  expect_known("index_chain_7", "index_chain_7", by_array, 1e-8);
}
TEST(DerivativeArray, ACarAxisIsThatOfTheAnalysis) {
  expect_known("car_axis_any_order", "car_axis_any_order", by_array, 1e-7);
}

TEST(DerivativeArray, HasTheFreedomThatTheAnalysisFinds) {
  for (const char* name : {"rod_pendulum", "car_axis_any_order", "tight_orbits", "index_chain_7", "pendulum_chain_7"}) {
    const auto m = host::describe_model(host::find_model(name));
    int freedom = 0;
    for (const auto& set : m.offsets->sets) {
      for (const int d : set.d) freedom += d;
      for (const int c : set.c) freedom -= c;
    }
    EXPECT_EQ(host::by_derivative_array(m).offsets->array->freedom, freedom) << name;
  }
}

TEST(DerivativeArray, HasTheSameBitsOnOneLaneAndOnEight) {
  for (const char* coordinates : {"coordinates=all", "coordinates=unitary"}) {
    const settings s = more(by_array, {"sweep.length={from=0.5, to=2.0, count=11}", "initial.x=0.3", coordinates});
    const auto wide = run(own("mixed_pendulum"), more(s, {"run.lanes=8"}));
    const auto other = run(own("mixed_pendulum"), more(s, {"run.lanes=1", "run.threads=2", "run.chunk=3"}));
    EXPECT_EQ(wide.final_state, other.final_state);
    EXPECT_EQ(wide.steps, other.steps);
    EXPECT_EQ(wide.status, other.status);
    for (std::size_t i = 0; i < 11; ++i) EXPECT_STREQ(status_of(wide, i), "finished");
  }
}

std::string complaint_about(const std::string& model, const settings& s) {
  try {
    plan_of(model, s);
  } catch (const host::error& e) { return e.what(); }
  return "none";
}

TEST(DerivativeArray, WhatIsNotDeterminedIsRefusedByName) {
  const auto why = complaint_about(own("singular_pencil"), {"structure=array"});
  EXPECT_NE(why.find("do not determine x, y"), std::string::npos) << why;
}

TEST(DerivativeArray, AnotherRankInAnotherModeIsRefused) {
  const auto why = complaint_about("hydraulic_check_valve", {"structure=array"});
  EXPECT_NE(why.find("in another of its modes"), std::string::npos) << why;
}

TEST(DerivativeArray, MethodsThatNeedTheAnalysisAreRefused) {
  for (const char* method : {"taylor", "rodas5p", "auto"}) {
    const auto why = complaint_about(own("floating_loop"), {"structure=array", fmt::format("method={}", method)});
    EXPECT_NE(why.find("must be an explicit method, as structure = \"array\""), std::string::npos) << why;
  }
  EXPECT_NE(complaint_about("van_der_pol", {"structure=array"}).find("has no equations of any order"),
            std::string::npos);
}

}  // namespace
}  // namespace saltus::test
