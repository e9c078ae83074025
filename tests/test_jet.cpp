// Truncated power series: every function against external coefficients (tests/reference/jets.py), the same bits at every width, over
// duals, and the derivatives that a model requests.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "number/dual.hpp"
#include "number/interval.hpp"
#include "number/jet.hpp"

#include "jet_reference.hpp"

namespace {

using namespace saltus;

constexpr int orders = 21;
constexpr series_room room = {64, 64};

/// A function of two series, selected by its name in the reference.
template <class Jet>
Jet function_called(const std::string& name, const Jet& u, const Jet& w) {
  if (name == "product") return u * w;
  if (name == "quotient") return u / w;
  if (name == "square") return u * u;
  if (name == "sqrt") return sqrt(u);
  if (name == "cbrt") return cbrt(u);
  if (name == "exp") return exp(u);
  if (name == "expm1") return expm1(u);
  if (name == "log") return log(u);
  if (name == "log2") return log2(u);
  if (name == "log10") return log10(u);
  if (name == "sin") return sin(u);
  if (name == "cos") return cos(u);
  if (name == "tan") return tan(u);
  if (name == "asin") return asin(u);
  if (name == "acos") return acos(u);
  if (name == "atan") return atan(u);
  if (name == "sinh") return sinh(u);
  if (name == "cosh") return cosh(u);
  if (name == "tanh") return tanh(u);
  if (name == "atan2") return atan2(u, w);
  if (name == "hypot") return hypot(u, w);
  if (name == "pow_number") return pow(u, -1.5);
  if (name == "pow_of_number") return pow(3.0, u);
  if (name == "pow") return pow(u, w);
  if (name == "cube") return pow(u, 3.0);
  ADD_FAILURE() << "no function " << name;
  return u;
}

/// All coefficients of a function of u and w, whose coefficients are `cu` and `cw`.
template <class Base, class F>
struct series {
  Base numbers[jet_table<Base>::size(orders, room)];
  Base of[orders];

  series(const F& function, const Base (&cu)[4], const Base (&cw)[3]) {
    jet_table<Base> table(numbers, orders, room);
    for (int k = 0; k < orders; ++k) {
      table.row(0)[k] = k < 4 ? cu[k] : Base(0.0);
      table.row(1)[k] = k < 3 ? cw[k] : Base(0.0);
    }
    for (int k = 0; k < orders; ++k) {
      table.begin(k, 2);
      const jet<Base> u(table.row(0), &table), w(table.row(1), &table);
      of[k] = function(u, w).coefficient(k);
    }
    EXPECT_FALSE(table.overflowed());
  }
};

template <class Base, class F>
series<Base, F> series_of(const F& function, double first = 0.6) {
  const Base u[4] = {Base(first), Base(0.25), Base(-0.125), Base(0.0625)};
  const Base w[3] = {Base(1.5), Base(-0.5), Base(0.25)};
  return {function, u, w};
}

TEST(jet, has_the_coefficients_of_every_function) {
  for (const auto& expected : test::jet_references) {
    const auto found =
        series_of<pack<double, 1>>([&](auto u, auto w) { return function_called(expected.function, u, w); });
    double largest = 0.0;
    for (const double c : expected.of) largest = std::max(largest, std::abs(c));
    // Each sum has as many terms as its order; the largest coefficients determine the rounding of the others.
    for (int k = 0; k < orders; ++k)
      EXPECT_NEAR(found.of[k].get(0), expected.of[k], 40.0 * 0x1p-52 * largest) << expected.function << ", order " << k;
  }
}

TEST(jet, has_the_same_bits_at_every_width) {
  for (const auto& expected : test::jet_references) {
    const auto function = [&](auto u, auto w) { return function_called(expected.function, u, w); };
    const auto alone = series_of<pack<double, 1>>(function);
    const auto wide = series_of<pack<double, 8>>(function);
    for (int k = 0; k < orders; ++k)
      for (int lane = 0; lane < 8; ++lane) {
        const double a = alone.of[k].get(0), b = wide.of[k].get(lane);
        EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << expected.function << ", order " << k;
      }
  }
}

/// The exponent of one lane does not change the bits of another.
TEST(jet, powers_know_nothing_of_their_neighbours) {
  using four = pack<double, 4>;
  using one = pack<double, 1>;
  const double exponents[4] = {2.0, 2.5, 3.0, -1.0};
  four e;
  for (int lane = 0; lane < 4; ++lane) e.set(lane, exponents[lane]);
  const auto together = series_of<four>([&](auto u, auto) { return pow(u, e); });
  for (int lane = 0; lane < 4; ++lane) {
    const auto alone = series_of<one>([&](auto u, auto) { return pow(u, one(exponents[lane])); });
    for (int k = 0; k < orders; ++k) EXPECT_EQ(together.of[k].get(lane), alone.of[k].get(0)) << lane << " " << k;
  }
}

TEST(jet, whole_powers_of_what_begins_at_zero_are_finite) {
  // (t/4 - t^2/8 + t^3/16)^3 = t^3/64 + ...
  const auto cube = series_of<pack<double, 1>>([](auto u, auto) { return pow(u, pack<double, 1>(3.0)); }, 0.0);
  EXPECT_EQ(cube.of[2].get(0), 0.0);
  EXPECT_EQ(cube.of[3].get(0), 0x1p-6);
  EXPECT_NEAR(cube.of[4].get(0), -3.0 / 128, 1e-17);
  for (int k = 0; k < orders; ++k) EXPECT_TRUE(std::isfinite(cube.of[k].get(0)));
}

/// Narrow intervals around the coefficients of the reference, which come from a more accurate arithmetic.
TEST(jet, of_intervals_holds_the_coefficients) {
  using real = interval<pack<double, 1>>;
  for (const auto& expected : test::jet_references) {
    const auto s = series_of<real>([&](auto u, auto w) { return function_called(expected.function, u, w); });
    double largest = 0.0;
    for (const double c : expected.of) largest = std::max(largest, std::abs(c));
    for (int k = 0; k < orders; ++k) {
      const double lo = s.of[k].lo.get(0), hi = s.of[k].hi.get(0), c = expected.of[k];
      const double rounded = 0x1p-53 * std::abs(c) + 1e-50;  // and the remainders of zeros in 60 digits
      EXPECT_LE(lo, c + rounded) << expected.function << ", order " << k;
      EXPECT_GE(hi, c - rounded) << expected.function << ", order " << k;
      EXPECT_LT(hi - lo, 1e-10 * largest) << expected.function << ", order " << k;
    }
  }
}

/// Intervals of an inexact argument contain the coefficients for every value in it.
TEST(jet, of_wide_intervals_holds_those_of_all_arguments) {
  using real = interval<pack<double, 1>>;
  using point = pack<double, 1>;
  for (const auto& expected : test::jet_references) {
    const auto function = [&](auto u, auto w) { return function_called(expected.function, u, w); };
    const real u[4] = {real(point(0.58), point(0.62)), 0.25, -0.125, 0.0625};
    const real w[3] = {1.5, -0.5, 0.25};
    const series<real, decltype(function)> s(function, u, w);
    for (const double first : {0.58, 0.59, 0.6, 0.62}) {
      const auto one = series_of<point>(function, first);
      for (int k = 0; k < orders; ++k) {
        const double c = one.of[k].get(0), lo = s.of[k].lo.get(0), hi = s.of[k].hi.get(0), ulps = 1e-12 * std::abs(c);
        EXPECT_LE(lo, c + ulps) << expected.function << ", order " << k << " at " << first;
        EXPECT_GE(hi, c - ulps) << expected.function << ", order " << k << " at " << first;
      }
    }
    EXPECT_LT(s.of[3].hi.get(0) - s.of[3].lo.get(0), 1.0 + std::abs(expected.of[3])) << expected.function;
  }
}

/// Polynomials: the time and expressions of it have no terms beyond their degree, and functions of these have the same coefficients as
/// those of a series that is not known to be a polynomial.
TEST(jet, polynomials_of_time_leave_out_what_is_zero) {
  using real = pack<double, 1>;
  const auto coefficients = [](int degree, real(&of)[orders]) {
    real numbers[jet_table<real>::size(orders, room)];
    jet_table<real> table(numbers, orders, room);
    for (int k = 0; k < orders; ++k) table.row(0)[k] = real(k == 0 ? 0.75 : k == 1 ? 1.0 : 0.0);
    for (int k = 0; k < orders; ++k) {
      table.begin(k, 1);
      const jet<real> t(table.row(0), &table, degree);
      const auto square = 2.0 * (t * t) - t, wave = sin(3.0 * t) * cos(3.0 * t) + sqrt(square);
      of[k] =
          (wave + exp(square) / (1.0 + square) + pow(1.0 + square, -1.5) + log(t + 1.0) + tan(0.5 * t)).coefficient(k);
      if (degree == 1) { EXPECT_EQ(square.degree, 2); }
    }
  };
  real known[orders], unknown[orders];
  coefficients(1, known);
  coefficients(jet<real>::any_degree, unknown);
  for (int k = 0; k < orders; ++k)
    EXPECT_NEAR(known[k].get(0), unknown[k].get(0), 1e-13 * (1.0 + std::abs(unknown[k].get(0)))) << k;
}

/// The second coefficient of f(u(t)) is half of the second derivative, which a dual of duals computes by other rules.
TEST(jet, agrees_with_duals_of_duals) {
  using real = pack<double, 1>;
  using twice = dual<dual<real>>;
  for (const auto& expected : test::jet_references) {
    const auto function = [&](auto u, auto w) { return function_called(expected.function, u, w); };
    const auto s = series_of<real>(function);
    const auto along = [](double value, double first, double second) {
      return twice(dual<real>(real(value), real(first)), dual<real>(real(first), real(2.0 * second)));
    };
    const auto d = function(along(0.6, 0.25, -0.125), along(1.5, -0.5, 0.25));
    EXPECT_NEAR(s.of[1].get(0), d.d[0].value.get(0), 1e-14 * std::abs(s.of[1].get(0))) << expected.function;
    EXPECT_NEAR(s.of[2].get(0), 0.5 * d.d[0].d[0].get(0), 1e-13) << expected.function;
  }
}

/// A series of duals: derivatives of the coefficients by the first coefficient of the argument.
TEST(jet, of_duals_has_the_derivatives_of_its_coefficients) {
  using real = pack<double, 1>;
  for (const auto& expected : test::jet_references) {
    const auto function = [&](auto u, auto w) { return function_called(expected.function, u, w); };
    const dual<real> u[4] = {dual<real>(real(0.6), real(1.0)), 0.25, -0.125, 0.0625};
    const dual<real> w[3] = {1.5, -0.5, 0.25};
    const series<dual<real>, decltype(function)> s(function, u, w);
    constexpr double step = 1e-5;
    const auto above = series_of<real>(function, 0.6 + step), below = series_of<real>(function, 0.6 - step);
    for (int k = 0; k < 6; ++k) {
      const double difference = (above.of[k].get(0) - below.of[k].get(0)) / (2.0 * step);
      EXPECT_NEAR(s.of[k].d[0].get(0), difference, 1e-7 * (1.0 + std::abs(difference))) << expected.function << k;
    }
  }
}

TEST(jet, is_shifted_by_derivatives) {
  using real = pack<double, 1>;
  // u'' = -1/4 + 3 t/8
  const auto second = series_of<real>([](auto u, auto) { return derivative(u, 2); });
  EXPECT_EQ(second.of[0].get(0), -0.25);
  EXPECT_EQ(second.of[1].get(0), 0.375);
  EXPECT_EQ(second.of[2].get(0), 0.0);
}

TEST(jet, of_a_constant_is_a_constant) {
  using real = pack<double, 1>;
  const auto s = series_of<real>([](auto u, auto) { return jet<real>(2.0) * sqrt(jet<real>(9.0)) + 0.0 * u; });
  EXPECT_EQ(s.of[0].get(0), 6.0);
  EXPECT_EQ(s.of[1].get(0), 0.0);
  const auto floors = series_of<real>([](auto u, auto) { return floor(4.0 * u); });
  EXPECT_EQ(floors.of[0].get(0), 2.0);
  EXPECT_EQ(floors.of[1].get(0), 0.0);
}

/// A table that is too small is detected.
TEST(jet, a_table_that_is_too_small_tells_so) {
  using real = pack<double, 1>;
  constexpr series_room two = {2, 1};
  real numbers[jet_table<real>::size(orders, two)];
  jet_table<real> table(numbers, orders, two);
  for (int k = 0; k < orders; ++k) table.row(0)[k] = real(k == 0 ? 1.0 : 0.0);
  table.begin(0, 1);
  const jet<real> u(table.row(0), &table);
  const auto one = (u + u) * u;  // a factor is stored, and half a sum of the next order
  EXPECT_FALSE(table.overflowed());
  const auto another = one * one;
  EXPECT_TRUE(table.overflowed());
  EXPECT_TRUE(another.varies());
}

/// A number that is only added and scaled takes no place; a factor takes one place for all its uses, and its copies share it.
TEST(jet, keeps_what_becomes_a_factor_once) {
  using real = pack<double, 1>;
  const auto s = series_of<real>([](auto u, auto w) {
    const auto& table = *u.table;
    const auto kept = [&] { return (table.next - table.row(2)) / table.length; };
    const auto sum = 2.0 * (u + w) - u / 3.0;
    EXPECT_EQ(kept(), 0);
    const auto square = sum * sum, product = sum * u;
    EXPECT_EQ(kept(), 1);
    const auto copy = sum;
    const auto r = square + product * 2.0 + copy * w;
    EXPECT_EQ(kept(), 1);
    return r;
  });
  // u = 0.6 + t/4 .., w = 1.5 - t/2 ..: sum = 4 - 7t/12 ..
  EXPECT_NEAR(s.of[0].get(0), 16.0 + 2.0 * 4.0 * 0.6 + 4.0 * 1.5, 1e-14);
  EXPECT_NEAR(s.of[1].get(0), -8.0 * 7 / 12 + 2.0 * (4.0 * 0.25 - 0.6 * 7 / 12) - 4.0 * 0.5 - 1.5 * 7 / 12, 1e-14);
}

}  // namespace
