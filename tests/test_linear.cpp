// Building blocks of implicit methods: LU factorisations of small matrices, one per lane, real and complex; derivatives of a
// system's equations; packs wider than a register. References: elimination in long double, derivatives by hand, and packs of
// one.
#include <cfloat>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "linear/factorised.hpp"
#include "linear/jacobian.hpp"
#include "number/math.hpp"
#include "number/rough.hpp"

namespace {

using saltus::complex;
using saltus::equations;
using saltus::linear_system;
using saltus::lu;
using saltus::mask_of;
using saltus::matrix;
using saltus::pack;
using saltus::vec;
using exact = long double;

static_assert(LDBL_MANT_DIG >= 64, "these tests need a long double with more bits than double");

constexpr double unit = std::numeric_limits<double>::epsilon() / 2;  // rounding unit

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// ---- LU -------------------------------------------------------------------------------------------------------------

/// Element type of a test matrix: real or complex.
template <bool IsComplex>
struct field_of {
  using number = double;
  using wide = exact;
  static double draw(std::mt19937_64& random) { return std::uniform_real_distribution<double>(-1, 1)(random); }
  template <int W>
  using lanes = pack<double, W>;
  template <int W>
  static void put(pack<double, W>& to, int lane, double x) {
    to.set(lane, x);
  }
  template <int W>
  static double get(const pack<double, W>& from, int lane) {
    return from.get(lane);
  }
};
template <>
struct field_of<true> {
  using number = std::complex<double>;
  using wide = std::complex<exact>;
  static number draw(std::mt19937_64& random) {
    const double re = field_of<false>::draw(random);
    return {re, field_of<false>::draw(random)};
  }
  template <int W>
  using lanes = complex<pack<double, W>>;
  template <int W>
  static void put(complex<pack<double, W>>& to, int lane, number x) {
    to.re.set(lane, x.real());
    to.im.set(lane, x.imag());
  }
  template <int W>
  static number get(const complex<pack<double, W>>& from, int lane) {
    return {from.re.get(lane), from.im.get(lane)};
  }
};

/// One linear system A x = b of a lane.
template <class F>
struct one_system {
  std::vector<std::vector<typename F::number>> a;
  std::vector<typename F::number> b;
};

/// Solves A x = b in long double with column pivoting; empty if no solution exists.
template <class F>
std::vector<typename F::wide> solve(const one_system<F>& s) {
  using wide = typename F::wide;
  const auto n = s.b.size();
  std::vector<std::vector<wide>> a(n, std::vector<wide>(n));
  std::vector<wide> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = s.b[i];
    for (std::size_t j = 0; j < n; ++j) a[i][j] = s.a[i][j];
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[best][k])) best = i;
    if (a[best][k] == wide(0)) return {};
    std::swap(a[k], a[best]), std::swap(x[k], x[best]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const wide factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) x[k] -= a[k][j] * x[j];
    x[k] /= a[k][k];
  }
  return x;
}

/// Condition number |A^-1| |A| of A in the row-sum norm.
template <class F>
double condition(const one_system<F>& s) {
  const auto n = s.b.size();
  std::vector<double> row(n, 0.0);
  double norm = 0;
  for (std::size_t j = 0; j < n; ++j) {
    auto one = s;
    for (std::size_t i = 0; i < n; ++i) one.b[i] = i == j ? 1.0 : 0.0;
    const auto column = solve(one);
    for (std::size_t i = 0; i < n; ++i) row[i] += static_cast<double>(std::abs(column[i]));
  }
  for (const auto& r : s.a) {
    double sum = 0;
    for (const auto& x : r) sum += std::abs(x);
    norm = std::max(norm, sum);
  }
  return norm * *std::max_element(row.begin(), row.end());
}

/// Factorises and solves W systems at once, lane by lane.
template <class F, int W, int n>
struct solved {
  lu<typename F::template lanes<W>, n> factors;
  vec<typename F::template lanes<W>, n> x;

  explicit solved(const std::vector<one_system<F>>& of) : factors(matrix_of(of)) {
    vec<typename F::template lanes<W>, n> b;
    for (int lane = 0; lane < W; ++lane)
      for (int i = 0; i < n; ++i) F::put(b[i], lane, of[static_cast<std::size_t>(lane)].b[static_cast<std::size_t>(i)]);
    x = solve_for(b);
  }
  [[gnu::noinline]] vec<typename F::template lanes<W>, n> solve_for(const vec<typename F::template lanes<W>, n>& b) {
    return factors.solve(b);
  }
  [[gnu::noinline]] static lu<typename F::template lanes<W>, n> matrix_of(const std::vector<one_system<F>>& of) {
    matrix<typename F::template lanes<W>, n> a;
    for (int lane = 0; lane < W; ++lane)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          F::put(a[i][j], lane,
                 of[static_cast<std::size_t>(lane)].a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
    return lu<typename F::template lanes<W>, n>(a);
  }
  typename F::number at(int lane, int i) const { return F::get(x[i], lane); }
  bool singular(int lane) const { return factors.singular[lane]; }
};

/// |P^T L| |U| |x| of a lane by components: (3 n + 3) roundings of it bound the residual (Higham, Accuracy and Stability of
/// Numerical Algorithms, theorem 9.4; reciprocals of pivots cost three more, complex products a factor of four).
template <class F, int W, int n>
std::vector<double> size_of_terms(const solved<F, W, n>& s, int lane) {
  std::vector<double> ux(n, 0.0), lux(n, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      const double u = std::abs(F::get(s.factors.a[i][j], lane));
      ux[static_cast<std::size_t>(i)] += (i == j ? 1 / u : u) * std::abs(s.at(lane, j));
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      lux[static_cast<std::size_t>(i)] +=
          (i == j ? 1.0 : std::abs(F::get(s.factors.a[i][j], lane))) * ux[static_cast<std::size_t>(j)];
  for (int k = n - 1; k >= 0; --k) {  // undoes the exchanges
    const auto other = static_cast<std::size_t>(s.factors.row[k].get(lane));
    std::swap(lux[static_cast<std::size_t>(k)], lux[other]);
  }
  return lux;
}

/// Random systems of a kind that depends on the lane: the diagonal is large, absent, or like the other entries.
template <class F>
one_system<F> draw_system(int n, int kind, std::mt19937_64& random) {
  const auto size = static_cast<std::size_t>(n);
  one_system<F> s;
  s.a.assign(size, std::vector<typename F::number>(size));
  s.b.resize(size);
  for (auto& row : s.a)
    for (auto& x : row) x = F::draw(random);
  for (auto& x : s.b) x = F::draw(random);
  for (std::size_t i = 0; i < size; ++i) {
    if (kind == 0) s.a[i][i] += 2.0 * n;
    if (kind == 1 && n > 1) s.a[i][i] = 0.0;
    if (kind == 2) s.a[i][i] *= 1e-9;
  }
  return s;
}

template <bool IsComplex, int W, int n>
void expect_small_residuals(double& worst_residual, double& worst_error) {
  using F = field_of<IsComplex>;
  std::mt19937_64 random(static_cast<std::uint64_t>(100 * n + W));
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<one_system<F>> systems;
    // In the first trials no lane exchanges rows, then all lanes do, then some.
    for (int lane = 0; lane < W; ++lane)
      systems.push_back(draw_system<F>(n, trial < 4 ? trial : (lane + trial) % 4, random));
    const solved<F, W, n> s(systems);
    for (int lane = 0; lane < W; ++lane) {
      const auto& one = systems[static_cast<std::size_t>(lane)];
      ASSERT_FALSE(s.singular(lane));
      const auto wanted = solve(one);
      const auto terms = size_of_terms(s, lane);
      double off = 0, size = 0;
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        typename F::wide r = one.b[at];
        for (int j = 0; j < n; ++j)
          r -= typename F::wide(one.a[at][static_cast<std::size_t>(j)]) * typename F::wide(s.at(lane, j));
        const double roundings = static_cast<double>(std::abs(r)) / (terms[at] * unit);
        EXPECT_LE(roundings, (3 * n + 3) * (IsComplex ? 4 : 1)) << "n = " << n << ", lane " << lane;
        worst_residual = std::max(worst_residual, roundings);
        off = std::max(off, static_cast<double>(std::abs(wanted[at] - typename F::wide(s.at(lane, i)))));
        size = std::max(size, static_cast<double>(std::abs(wanted[at])));
      }
      const double error = off / (size * condition(one) * unit);
      worst_error = std::max(worst_error, error);
      // Threshold pivoting: elements may grow more than with partial pivoting, but not so much that the error shows it.
      EXPECT_LE(error, 40.0 * n) << "n = " << n << ", lane " << lane;
    }
  }
}

template <bool IsComplex, int W, int... n>
void expect_small_residuals_of(std::integer_sequence<int, n...>) {
  double residual = 0, error = 0;
  (expect_small_residuals<IsComplex, W, n>(residual, error), ...);
  std::printf(
      "%s, %2d lanes: residual at most %.1f roundings of its terms, error at most %.1f roundings by condition\n",
      IsComplex ? "complex" : "real", W, residual, error);
}

TEST(Lu, ResidualsAreAFewRoundings) {
  expect_small_residuals_of<false, 1>(std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 20>{});
  expect_small_residuals_of<false, 8>(std::integer_sequence<int, 1, 2, 3, 8, 9>{});
  expect_small_residuals_of<false, 16>(std::integer_sequence<int, 3, 9>{});
  expect_small_residuals_of<true, 1>(std::integer_sequence<int, 1, 2, 3, 8, 9>{});
  expect_small_residuals_of<true, 8>(std::integer_sequence<int, 3, 9>{});
}

TEST(Lu, PermutationsAreExact) {
  constexpr int n = 7, W = 8;
  std::mt19937_64 random(5);
  using F = field_of<false>;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<one_system<F>> systems(W);
    std::vector<std::vector<int>> to(W);
    for (int lane = 0; lane < W; ++lane) {
      auto& one = systems[static_cast<std::size_t>(lane)];
      auto& p = to[static_cast<std::size_t>(lane)];
      for (int i = 0; i < n; ++i) p.push_back(i);
      if (lane > 0) std::shuffle(p.begin(), p.end(), random);
      one.a.assign(n, std::vector<double>(n, 0.0));
      for (std::size_t i = 0; i < n; ++i) {
        one.a[i][static_cast<std::size_t>(p[i])] = 1.0;
        one.b.push_back(F::draw(random));
      }
    }
    const solved<F, W, n> s(systems);
    for (int lane = 0; lane < W; ++lane) {
      EXPECT_FALSE(s.singular(lane));
      for (std::size_t i = 0; i < n; ++i) {
        const auto& one = systems[static_cast<std::size_t>(lane)];
        EXPECT_EQ(s.at(lane, to[static_cast<std::size_t>(lane)][i]), one.b[i]) << lane;
      }
    }
  }
}

/// Makes a matrix exactly singular in one of several ways, or replaces an entry by NaN.
template <class F>
void spoil(one_system<F>& s, int how) {
  const auto n = s.b.size();
  for (std::size_t j = 0; j < n; ++j) {
    if (how == 0) s.a[j][n / 2] = 0.0;                       // a zero column
    if (how == 1) s.a[n / 2][j] = 0.0;                       // a zero row
    if (how == 2) s.a[n - 1][j] = j == 0 ? 0.0 : s.a[0][j];  // eliminated to exactly zero
    if (how == 2 && j < n - 1) s.a[j][0] = j == 0 ? 1.0 : 0.0;
    if (how == 2 && j > 0) s.a[n - 1][j] = 0.0;
  }
  if (how == 3) s.a[0][0] = std::numeric_limits<double>::quiet_NaN();
  if (how == 4) s.a[n - 1][n - 1] = std::numeric_limits<double>::infinity();
}

template <bool IsComplex, int n>
void expect_singular_lanes() {
  using F = field_of<IsComplex>;
  constexpr int W = 8;
  std::mt19937_64 random(11 + n);
  for (int how = 0; how < 5; ++how)
    for (int bad = 0; bad < W; ++bad) {
      std::vector<one_system<F>> systems;
      for (int lane = 0; lane < W; ++lane) systems.push_back(draw_system<F>(n, lane % 4, random));
      spoil(systems[static_cast<std::size_t>(bad)], how);
      const solved<F, W, n> s(systems);
      for (int lane = 0; lane < W; ++lane) {
        EXPECT_EQ(s.singular(lane), lane == bad) << "n = " << n << ", spoilt " << how << ", lane " << lane;
        if (lane == bad) continue;
        const solved<F, 1, n> alone({systems[static_cast<std::size_t>(lane)]});
        for (int i = 0; i < n; ++i)
          ASSERT_TRUE(same_bits(s.at(lane, i), alone.at(0, i))) << "n = " << n << ", lane " << lane;
      }
    }
}

TEST(Lu, ASingularMatrixIsSeenInItsLaneAndHarmsNoOther) {
  expect_singular_lanes<false, 1>();
  expect_singular_lanes<false, 3>();
  expect_singular_lanes<false, 9>();
  expect_singular_lanes<true, 3>();
}

TEST(Complex, Arithmetic) {
  using real = pack<double, 1>;
  const complex<real> a(real(1.25), real(-0.75)), b(real(-2.5), real(0.5)), c(real(3.0), real(7.0));
  const std::complex<double> as(1.25, -0.75), bs(-2.5, 0.5), cs(3, 7);
  const auto expect = [](const complex<real>& got, std::complex<double> wanted) {
    EXPECT_DOUBLE_EQ(got.re.v, wanted.real());
    EXPECT_DOUBLE_EQ(got.im.v, wanted.imag());
  };
  expect(a + b, as + bs), expect(a - b, as - bs), expect(a * b, as * bs);
  expect(less_product(c, a, b), cs - as * bs);
  expect(reciprocal(a), 1.0 / as);
  expect(select(mask_of<real>::all(true), a, b), as), expect(select(mask_of<real>::all(false), a, b), bs);
  EXPECT_DOUBLE_EQ(magnitude(a).v, 2.0);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

/// f_i = t y_i^2 - y_i y_{i+1} + sin(t + y_{i-1}) / (1 + y_i^2), neighbours in a ring.
template <int n>
struct ring {
  template <class Value>
  static vec<Value, n> f(Value t, const vec<Value, n>& y) {
    vec<Value, n> r;
    for (int i = 0; i < n; ++i)
      r[i] = t * y[i] * y[i] - y[i] * y[(i + 1) % n] + sin(t + y[(i + n - 1) % n]) / (1.0 + y[i] * y[i]);
    return r;
  }
  static exact by_y(exact t, const exact* y, int i, int j) {
    const int next = (i + 1) % n, last = (i + n - 1) % n;
    const exact d = 1 + y[i] * y[i], s = std::sin(t + y[last]);
    exact r = 0;
    if (j == i) r += 2 * t * y[i] - y[next] - 2 * y[i] * s / (d * d);
    if (j == next) r += -y[i];
    if (j == last) r += std::cos(t + y[last]) / d;
    return r;
  }
  static exact by_t(exact t, const exact* y, int i) {
    return y[i] * y[i] + std::cos(t + y[(i + n - 1) % n]) / (1 + y[i] * y[i]);
  }
};

/// A system of one of the kinds, from f and a mass matrix M with 2 on the diagonal and 1/2 beside it; with `implicit` the
/// elements beside it are y_i / 2. The last state is algebraic if `Algebraic`.
template <equations Kind, int n, bool Algebraic>
struct ring_system {
  static constexpr auto kind = Kind;
  static constexpr int index(int i) { return Algebraic && i == n - 1 ? 1 : 0; }

  template <class Value>
  vec<Value, n> rhs(Value t, const vec<Value, n>& y) const {
    return ring<n>::f(t, y);
  }
  static double mass_at(int i, int j) {
    if (index(i) > 0 || index(j) > 0) return 0.0;
    return i == j ? 2.0 : j == (i + 1) % n ? 0.5 : 0.0;
  }
  auto mass() const {
    matrix<pack<double, 1>, n> m;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) m[i][j] = pack<double, 1>(mass_at(i, j));
    return m;
  }
  template <class Value>
  vec<Value, n> residual(Value t, const vec<Value, n>& y, const vec<Value, n>& dy) const {
    const auto f = rhs(t, y);
    vec<Value, n> r;
    for (int i = 0; i < n; ++i) {
      r[i] = -f[i];
      for (int j = 0; j < n; ++j) r[i] += Value(mass_at(i, j)) * (i == j ? Value(1.0) : y[i]) * dy[j];
    }
    return r;
  }
};

template <equations Kind, int n, bool Algebraic>
void expect_derivatives() {
  using real = pack<double, 1>;
  using System = ring_system<Kind, n, Algebraic>;
  std::mt19937_64 random(n);
  vec<real, n> y, rate;
  exact at[n];
  for (int i = 0; i < n; ++i) {
    at[i] = std::uniform_real_distribution<double>(-2, 2)(random);
    y[i] = real(static_cast<double>(at[i]));
    rate[i] = real(0.1 * i - 0.3);
  }
  const double t = 0.7, shift = 37.5;
  const System system;
  const linear_system<System, real, n> l(system, real(t), y, rate);
  const complex<real> mu(real(3.0), real(-5.0));
  const auto w = l.shifted(real(shift));
  const auto wc = l.shifted(mu);
  const auto mv = l.times_mass(rate);
  const auto f = system.rhs(real(t), y);
  const auto near_to = [](real got, exact wanted) {
    EXPECT_NEAR(got.v, static_cast<double>(wanted), 2e-14) << "n = " << n;
  };
  for (int i = 0; i < n; ++i) {
    exact product = 0;
    for (int j = 0; j < n; ++j) {
      exact m = System::mass_at(i, j);
      if (Kind == equations::plain || Kind == equations::semi_explicit) m = i == j && System::index(i) == 0 ? 1 : 0;
      exact minus_j = -ring<n>::by_y(t, at, i, j);
      if (Kind == equations::implicit && i != j) m *= at[i];
      if (Kind == equations::implicit && i == j)  // M depends on y_i
        for (int k = 0; k < n; ++k)
          if (k != i) minus_j += System::mass_at(i, k) * exact(rate[k].v);
      near_to(l.minus_j[i][j], minus_j);
      near_to(w[i][j], minus_j + shift * m);
      near_to(wc[i][j].re, minus_j + 3 * m), near_to(wc[i][j].im, -5 * m);
      product += m * exact(rate[j].v);
    }
    near_to(mv[i], product);
    near_to(l.dt[i], Kind == equations::implicit ? 0 : ring<n>::by_t(t, at, i));
    near_to(l.f[i], Kind == equations::implicit ? product : exact(f[i].v));
  }
}

TEST(Derivatives, OfEveryKindOfEquations) {
  expect_derivatives<equations::plain, 1, false>();
  expect_derivatives<equations::plain, 3, false>();
  expect_derivatives<equations::plain, 5, false>();
  expect_derivatives<equations::plain, 8, false>();
  expect_derivatives<equations::plain, 20, false>();
  expect_derivatives<equations::with_mass, 3, false>();
  expect_derivatives<equations::with_mass, 8, true>();
  expect_derivatives<equations::semi_explicit, 5, true>();
  expect_derivatives<equations::implicit, 1, false>();
  expect_derivatives<equations::implicit, 3, true>();
  expect_derivatives<equations::implicit, 8, false>();
  expect_derivatives<equations::implicit, 20, true>();
}

/// The ring cut open, with y_0 and y_n = 0 at its ends, which declares the entries of its Jacobian.
struct chain_system {
  static constexpr int n = 9, colours = 3;
  static constexpr auto kind = equations::plain;
  static constexpr int index(int) { return 0; }
  static constexpr int colour(int j) { return j % 3; }
  static constexpr bool entry(int i, int j) { return i - j <= 1 && j - i <= 1; }
  template <class Value>
  vec<Value, n> rhs(Value t, const vec<Value, n>& y) const {
    vec<Value, n> r;
    for (int i = 0; i < n; ++i) {
      r[i] = t * y[i] * y[i];
      if (i < n - 1) r[i] -= y[i] * y[i + 1];
      if (i > 0) r[i] += sin(t + y[i - 1]) / (1.0 + y[i] * y[i]);
    }
    return r;
  }
};
/// The same system without that declaration.
struct dense_chain_system : chain_system {
  static constexpr int colours = n;
  static constexpr int colour(int j) { return j; }
  static constexpr bool entry(int, int) { return true; }
};

TEST(Derivatives, OfColumnsTakenTogetherAreTheSame) {
  using real = pack<double, 1>;
  constexpr int n = chain_system::n;
  vec<real, n> y;
  for (int i = 0; i < n; ++i) y[i] = real(0.3 * i - 1.1);
  const auto together = linearise(chain_system{}, real(0.7), y), each = linearise(dense_chain_system{}, real(0.7), y);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(together.f[i].v, each.f[i].v);
    EXPECT_EQ(together.dt[i].v, each.dt[i].v);
    for (int j = 0; j < n; ++j) EXPECT_EQ(together.dy[i][j].v, each.dy[i][j].v) << i << ", " << j;
  }
}

// ---- packs beyond a register ----------------------------------------------------------------------------------------

/// Numbers on which operations differ, and random ones.
template <class T>
std::vector<T> arguments(int n, std::mt19937_64& random) {
  using of = std::numeric_limits<T>;
  const T special[] = {0,
                       -T(0),
                       1,
                       -1,
                       T(0.5),
                       of::min(),
                       of::denorm_min(),
                       -of::max(),
                       of::infinity(),
                       -of::infinity(),
                       of::quiet_NaN(),
                       T(1) + of::epsilon()};
  std::vector<T> r;
  for (int i = 0; i < n; ++i)
    r.push_back(random() % 4 == 0 ? special[random() % 12]
                                  : static_cast<T>(std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                                                              static_cast<int>(random() % 9) - 4)));
  return r;
}

/// op(a, b, c) of packs of W agrees with that of packs of one in every bit; all NaNs count as equal.
template <class T, int W, class Op>
void expect_equal_lanes(const char* name, Op op) {
  using wide = pack<T, W>;
  using one = pack<T, 1>;
  std::mt19937_64 random(17);
  for (int trial = 0; trial < 200; ++trial) {
    const auto a = arguments<T>(W, random), b = arguments<T>(W, random), c = arguments<T>(W, random);
    wide wa, wb, wc;
    for (int lane = 0; lane < W; ++lane) {
      const auto j = static_cast<std::size_t>(lane);
      wa.set(lane, a[j]), wb.set(lane, b[j]), wc.set(lane, c[j]);
    }
    const auto got = op(wa, wb, wc);
    for (int lane = 0; lane < W; ++lane) {
      const auto j = static_cast<std::size_t>(lane);
      const auto wanted = op(one::from(a[j]), one::from(b[j]), one::from(c[j]));
      const auto x = got.get(lane), y = wanted.get(0);
      const bool both_none = x != x && y != y;
      ASSERT_TRUE(both_none || same_bits(x, y))
          << name << " of " << a[j] << ", " << b[j] << ", " << c[j] << " in lane " << lane << " of " << W;
    }
  }
}

/// Converts the mask to numbers.
template <class Mask, class Real>
Real as_number(Mask m, Real) {
  return select(m, Real(1.0), Real(2.0));
}

template <class T, int W>
void expect_equal_operations() {
#define SALTUS_OPERATION(expression)                                                         \
  expect_equal_lanes<T, W>(#expression, []([[maybe_unused]] auto a, [[maybe_unused]] auto b, \
                                           [[maybe_unused]] auto c) { return expression; })
  SALTUS_OPERATION(a + b);
  SALTUS_OPERATION(a - b);
  SALTUS_OPERATION(a * b);
  SALTUS_OPERATION(a / b);
  SALTUS_OPERATION(-a);
  SALTUS_OPERATION(+a);
  SALTUS_OPERATION(a += b);
  SALTUS_OPERATION(a -= b);
  SALTUS_OPERATION(a *= b);
  SALTUS_OPERATION(a /= b);
  SALTUS_OPERATION(fma(a, b, c));
  SALTUS_OPERATION(sqrt(a));
  SALTUS_OPERATION(abs(a));
  SALTUS_OPERATION(copysign(a, b));
  SALTUS_OPERATION(min(a, b));
  SALTUS_OPERATION(max(a, b));
  SALTUS_OPERATION(sign(a));
  SALTUS_OPERATION(select(a < b, a, c));
  SALTUS_OPERATION(select(a <= b, a, c));
  SALTUS_OPERATION(select(a > b, a, c));
  SALTUS_OPERATION(select(a >= b, a, c));
  SALTUS_OPERATION(select(a == b, a, c));
  SALTUS_OPERATION(select(a != b, a, c));
  SALTUS_OPERATION(as_number((a < b) & (b < c), a));
  SALTUS_OPERATION(as_number((a < b) | (b < c), a));
  SALTUS_OPERATION(as_number((a < b) ^ (b < c), a));
  SALTUS_OPERATION(as_number((a < b) && !(b < c), a));
  SALTUS_OPERATION(as_number((a < b) || !(b < c), a));
  SALTUS_OPERATION(bits(a) & bits(b));
  SALTUS_OPERATION(bits(a) | bits(b));
  SALTUS_OPERATION(bits(a) ^ bits(b));
  SALTUS_OPERATION(bits(a).shift_left(3));
  SALTUS_OPERATION(bits(a).shift_right(5));
  SALTUS_OPERATION(bits(a) + bits(b));
  SALTUS_OPERATION(decltype(a)::from_bits(bits(a)));
  SALTUS_OPERATION(decltype(a)::from_integer(bits(a)));
  SALTUS_OPERATION(to_integer(select(abs(a) < 1e6, a, 7.0)));
  SALTUS_OPERATION(select(bits(a) < bits(b), bits(a), bits(c)));
  SALTUS_OPERATION(not_finite(a));
  SALTUS_OPERATION((saltus::rough_quotient(a, abs(b))));
  SALTUS_OPERATION((saltus::from_rough<decltype(a)>(saltus::to_rough(a))));
  SALTUS_OPERATION(as_number(saltus::from_rough<decltype(a)>(saltus::to_rough(a) < saltus::to_rough(b)), a));
  SALTUS_OPERATION(as_number(saltus::from_rough<decltype(a)>(saltus::to_rough(a < b)), a));
  SALTUS_OPERATION((saltus::rough_log2(abs(a))));
  SALTUS_OPERATION((saltus::rough_exp2(select(abs(a) < 90.0, a, 0.5))));
  SALTUS_OPERATION(floor(a));
  SALTUS_OPERATION(exp(a));
  SALTUS_OPERATION(log(a));
  SALTUS_OPERATION(pow(a, b));
  SALTUS_OPERATION(sin(a));
  SALTUS_OPERATION(atan2(a, b));
  SALTUS_OPERATION(tanh(a));
  SALTUS_OPERATION(cbrt(a));
#undef SALTUS_OPERATION

  // literals, lanes, masks
  using real = pack<T, W>;
  using mask = mask_of<real>;
  const real zero(-0.0);
  real counted(3.5);
  for (int lane = 0; lane < W; ++lane) counted.set(lane, static_cast<T>(lane));
  for (int lane = 0; lane < W; ++lane) {
    EXPECT_TRUE(std::signbit(zero.get(lane)));
    EXPECT_EQ(counted.get(lane), lane);
    const auto one = counted == real(static_cast<double>(lane));
    EXPECT_EQ(one.bits(), 1u << lane);
    EXPECT_TRUE(one[lane] && !one[(lane + 1) % W]);
    EXPECT_TRUE(any(one) && !none(one) && !all(one));
    EXPECT_TRUE(all(one | !one) && none(one & !one));
    EXPECT_EQ(mask::from_bits(1u << lane).bits(), 1u << lane);
  }
  const unsigned full = W == 32 ? ~0u : (1u << W) - 1u;
  EXPECT_EQ(mask::all(true).bits(), full);
  EXPECT_EQ(mask::all(false).bits(), 0u);
  EXPECT_EQ((counted < real(3.0)).bits(), 7u);
}

TEST(WidePacks, AreManyPacksOfOne) {
  expect_equal_operations<double, 16>();
  expect_equal_operations<double, 32>();
  expect_equal_operations<float, 32>();
}

}  // namespace
