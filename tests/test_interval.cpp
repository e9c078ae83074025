// Intervals: values inside stay inside through every operation and function, for values and derivatives; undecided
// comparisons and selections; unknown intervals. Also the certified search for roots of guards, which uses intervals.
//
// The references are the C library's long double functions, whose own error (a few units of their last place) is far
// below the smallest outward rounding of bounds; derivatives are written out by calculus.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event/certify.hpp"
#include "form/of_model.hpp"
#include "method/list.hpp"
#include "number/interval.hpp"
#include "sail.hpp"

static_assert(LDBL_MANT_DIG >= 64, "these tests need a long double with more bits than double");

namespace {

using saltus::dual;
using saltus::interval;
using saltus::interval_mask;
using saltus::pack;
using exact = long double;

constexpr double infinite = std::numeric_limits<double>::infinity();

// ---- enclosures -----------------------------------------------------------------------------------------------------

/// Arguments between two numbers, or +-2^u with u between two numbers.
struct range {
  double from, to;
  bool powers = false;

  double draw(std::mt19937_64& random) const {
    const double u = std::uniform_real_distribution<double>(from, to)(random);
    if (!powers) return u;
    return random() & 1 ? std::exp2(u) : -std::exp2(u);
  }
};

/// A function of x and y over duals of intervals, its reference value, and its derivatives by x and y; outside its domain the
/// reference is NaN, which no interval must contain.
template <class R>
struct function {
  using number = dual<interval<R>, 2>;
  using reference = exact (*)(exact, exact);
  std::string name;
  number (*evaluate)(number, number);
  reference value, along_x, along_y;
  range x, y;
};

exact zero(exact, exact) { return 0; }
exact sgn(exact x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

constexpr exact ln2 = std::numbers::ln2_v<exact>, ln10 = std::numbers::ln10_v<exact>;

template <class R>
std::vector<function<R>> functions() {
  using N = typename function<R>::number;
  constexpr bool d = sizeof(typename R::scalar) == 8;
  const range unit{-1, 1}, wide{-30, 30}, positive{0, 10}, turns{-20, 20}, powers{-20, 20, true};
  std::vector<function<R>> all;
#define ONE(call, value, derivative, domain)                                                                      \
  all.push_back({#call, [](N x, N) -> N { return call; }, [](exact x, exact) -> exact { return (void)x, value; }, \
                 [](exact x, exact) -> exact { return (void)x, derivative; }, zero, domain, unit})
#define TWO(call, value, derivative_x, derivative_y, domain_x, domain_y)                                     \
  all.push_back({#call, [](N x, N y) -> N { return call; }, [](exact x, exact y) -> exact { return value; }, \
                 [](exact x, exact y) -> exact { return (void)x, (void)y, derivative_x; },                   \
                 [](exact x, exact y) -> exact { return (void)x, (void)y, derivative_y; }, domain_x, domain_y})

  TWO(x + y, x + y, 1, 1, wide, powers);
  TWO(x - y, x - y, 1, -1, wide, powers);
  TWO(x * y, x * y, y, x, wide, powers);
  TWO(x / y, x / y, 1 / y, -x / (y * y), wide, powers);
  TWO(fma(x, y, x), x * y + x, y + 1, x, wide, powers);
  TWO(min(x, y), std::min(x, y), x < y, y < x, unit, unit);
  TWO(max(x, y), std::max(x, y), x > y, y > x, unit, unit);
  ONE(-x, -x, -1, wide);
  ONE(x * x, x * x, 2 * x, wide);
  ONE(fma(x, x, 1.0), x * x + 1, 2 * x, wide);
  ONE(x + 0.5, x + 0.5L, 1, wide);
  ONE(3.0 * x - 1, 3 * x - 1, 3, wide);
  ONE(2.0 / x, 2 / x, -2 / (x * x), powers);
  ONE(x *= x + 1.0, x * (x + 1), 2 * x + 1, wide);
  ONE(abs(x), std::fabs(x), sgn(x), unit);
  ONE(sign(x), sgn(x), 0, unit);
  ONE(sqrt(x), std::sqrt(x), 0.5L / std::sqrt(x), positive);
  ONE(floor(x), std::floor(x), 0, wide);
  ONE(ceil(x), std::ceil(x), 0, wide);
  ONE(round(x), std::nearbyint(x), 0, wide);
  ONE(exp(x), std::exp(x), std::exp(x), wide);
  ONE(expm1(x), std::expm1(x), std::exp(x), unit);
  ONE(sinh(x), std::sinh(x), std::cosh(x), wide);
  ONE(cosh(x), std::cosh(x), std::sinh(x), unit);
  ONE(tanh(x), std::tanh(x), 1 / (std::cosh(x) * std::cosh(x)), wide);
  ONE(log(x), std::log(x), 1 / x, positive);
  ONE(log2(x), std::log2(x), 1 / (x * ln2), positive);
  ONE(log10(x), std::log10(x), 1 / (x * ln10), positive);
  ONE(sin(x), std::sin(x), std::cos(x), turns);
  ONE(cos(x), std::cos(x), -std::sin(x), turns);
  ONE(tan(x), std::tan(x), 1 / (std::cos(x) * std::cos(x)), turns);
  ONE(asin(x), std::asin(x), 1 / std::sqrt(1 - x * x), unit);
  ONE(acos(x), std::acos(x), -1 / std::sqrt(1 - x * x), unit);
  ONE(atan(x), std::atan(x), 1 / (1 + x * x), powers);
  ONE(cbrt(x), std::cbrt(x), 1 / (3 * std::cbrt(x) * std::cbrt(x)), powers);
  const range huge{d ? 20. : 10., d ? 39. : 16., true};
  ONE(sin(x), std::sin(x), std::cos(x), huge);
  ONE(cos(x), std::cos(x), -std::sin(x), huge);
  ONE(pow(x, 0), 1, 0, wide);
  ONE(pow(x, 1), x, 1, wide);
  ONE(pow(x, 2), x * x, 2 * x, wide);
  ONE(pow(x, 3), x * x * x, 3 * x * x, wide);
  ONE(pow(x, 4), x * x * x * x, 4 * x * x * x, wide);
  ONE(pow(x, 6), std::pow(x, 6), 6 * std::pow(x, 5), wide);
  ONE(pow(x, -1), 1 / x, -1 / (x * x), wide);
  ONE(pow(x, -2), 1 / (x * x), -2 / (x * x * x), wide);
  ONE(pow(x, -3), 1 / (x * x * x), -3 / (x * x * x * x), wide);
  ONE(pow(x, 0.5), std::sqrt(x), 0.5L / std::sqrt(x), positive);
  ONE(pow(x, -1.75), std::pow(x, -1.75L), -1.75L * std::pow(x, -2.75L), positive);
  ONE(pow(x, R(3.0)), x * x * x, 3 * x * x, wide);
  ONE(pow(x, R(-4.0)), 1 / (x * x * x * x), -4 / (x * x * x * x * x), wide);
  ONE(pow(x, R(2.5)), std::pow(x, 2.5L), 2.5L * std::pow(x, 1.5L), positive);
  ONE(pow(x, interval<R>(5.0)), std::pow(x, 5), 5 * std::pow(x, 4), wide);
  ONE(pow(1.5, x), std::pow(1.5L, x), std::pow(1.5L, x) * std::log(1.5L), wide);
  ONE(pow(R(0.25), x), std::pow(0.25L, x), std::pow(0.25L, x) * std::log(0.25L), unit);
  TWO(pow(x, y), std::pow(x, y), y * std::pow(x, y - 1), std::pow(x, y) * std::log(x), positive, unit);
  TWO(hypot(x, y), std::hypot(x, y), x / std::hypot(x, y), y / std::hypot(x, y), unit, powers);
  TWO(atan2(y, x), std::atan2(y, x), -y / (x * x + y * y), x / (x * x + y * y), unit, unit);
  TWO(copysign(x, y), std::copysign(x, y), sgn(x) * sgn(y), 0, unit, unit);
  ONE(hypot(x, 0.5), std::hypot(x, 0.5L), x / std::hypot(x, 0.5L), unit);
  ONE(atan2(R(2.0), x), std::atan2(2.0L, x), -2 / (x * x + 4), unit);
  // parameters combined with states
  ONE(R(2.0) * x - R(0.5), 2 * x - 0.5L, 2, wide);
  ONE(R(2.0) / x + x / R(4.0), 2 / x + x / 4, -2 / (x * x) + 0.25L, powers);
  ONE(min(x, R(0.25)) + max(R(0.5), x), std::min(x, 0.25L) + std::max(x, 0.5L), (x < 0.25) + (x > 0.5), unit);
  ONE(fma(x, R(2.0), 1.0), 2 * x + 1, 2, wide);
  // selections, continuous where they switch
  ONE(select(x < 0.25, x, 0.5 - x), x < 0.25 ? x : 0.5L - x, x < 0.25 ? 1 : -1, unit);
  ONE(select(x > R(0.0), sqrt(abs(x)), R(0.0)), x > 0 ? std::sqrt(x) : 0, x > 0 ? 0.5L / std::sqrt(x) : 0, unit);
  TWO(select((x > y) && !(x > 0.5), x - y, 0.0 * x), x > y && !(x > 0.5) ? x - y : 0, x > y && !(x > 0.5),
      x > y && !(x > 0.5) ? -1 : 0, unit, unit);
  ONE(select((x > 0.5) | (x < R(-0.5)), abs(x), R(0.5)), std::max(0.5L, std::fabs(x)), std::fabs(x) > 0.5 ? sgn(x) : 0,
      unit);
#undef ONE
#undef TWO
  return all;
}

/// True if a number is in lane j of an interval; an unknown interval contains everything.
template <class R>
bool holds(const interval<R>& a, int lane, exact x) {
  return !(x < a.lo.get(lane)) && !(x > a.hi.get(lane));
}

template <class R>
class intervals : public testing::Test {};
using packs = testing::Types<pack<double, 1>, pack<double, 4>, pack<float, 4>>;
TYPED_TEST_SUITE(intervals, packs);

/// Bounds around a point: neighbouring numbers, or as far as the point is from 0 and further.
template <class T>
void draw_bounds(const range& in, std::mt19937_64& random, T& lo, T& hi) {
  const auto middle = static_cast<T>(in.draw(random));
  const double width = std::exp2(std::uniform_real_distribution<double>(-60, 3)(random)) * std::fabs(middle);
  const double part = std::uniform_real_distribution<double>(0, 1)(random);
  lo = std::min(middle, static_cast<T>(middle - part * width)),
  hi = std::max(middle, static_cast<T>(middle + (1 - part) * width));
}

TYPED_TEST(intervals, hold_values_and_derivatives) {
  using R = TypeParam;
  using T = typename R::scalar;
  for (const function<R>& f : functions<R>()) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 4000 / R::lanes; ++trial) {
      interval<R> x, y;
      for (int j = 0; j < R::lanes; ++j) {
        T lo, hi;
        draw_bounds(f.x, random, lo, hi), x.lo.set(j, lo), x.hi.set(j, hi);
        draw_bounds(f.y, random, lo, hi), y.lo.set(j, lo), y.hi.set(j, hi);
      }
      dual<interval<R>, 2> u(x), v(y);
      u.d[0] = v.d[1] = interval<R>(1.0);
      const auto r = f.evaluate(u, v);
      for (int j = 0; j < R::lanes; ++j)
        for (int k = 0; k < 12; ++k) {
          const auto inside = [&](const interval<R>& a) {
            if (k == 0) return a.lo.get(j);
            if (k == 1) return a.hi.get(j);
            const double part = std::uniform_real_distribution<double>(0, 1)(random);
            return std::clamp(static_cast<T>(a.lo.get(j) + part * (exact(a.hi.get(j)) - a.lo.get(j))), a.lo.get(j),
                              a.hi.get(j));
          };
          const T px = inside(x), py = inside(y);
          const auto explain = [&]() {
            return f.name + " at x = " + std::to_string(px) + " in [" + std::to_string(x.lo.get(j)) + ", " +
                   std::to_string(x.hi.get(j)) + "], y = " + std::to_string(py) + " in [" +
                   std::to_string(y.lo.get(j)) + ", " + std::to_string(y.hi.get(j)) + "]";
          };
          ASSERT_TRUE(holds(r.value, j, f.value(px, py))) << explain();
          ASSERT_TRUE(holds(r.d[0], j, f.along_x(px, py))) << explain() << " derivative along x";
          ASSERT_TRUE(holds(r.d[1], j, f.along_y(px, py))) << explain() << " derivative along y";
        }
    }
  }
}

// Bounds move outward only by roundings.
TYPED_TEST(intervals, are_tight_around_a_point) {
  using R = TypeParam;
  using T = typename R::scalar;
  for (const function<R>& f : functions<R>()) {
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 200; ++trial) {
      const T px = static_cast<T>(f.x.draw(random)), py = static_cast<T>(f.y.draw(random));
      const auto r = f.evaluate(interval<R>(R(px)), interval<R>(R(py))).value;
      const exact v = f.value(px, py);
      const exact size = std::max({exact(1), exact(std::fabs(px)), exact(std::fabs(py)), std::fabs(v)});
      if (!std::isfinite(static_cast<T>(v))) continue;
      EXPECT_LE(r.hi.get(0) - r.lo.get(0), 64 * exact(std::numeric_limits<T>::epsilon()) * size)
          << f.name << " at " << px << ", " << py;
    }
  }
}

template <class R>
bool is_unknown(const interval<R>& a) {
  return std::isnan(a.lo.get(0)) && std::isnan(a.hi.get(0));
}

TYPED_TEST(intervals, unknown_remains_unknown) {
  using R = TypeParam;
  const interval<R> unknown(std::numeric_limits<double>::quiet_NaN());
  for (const function<R>& f : functions<R>()) {
    if (f.name == "pow(x, 0)") continue;  // the function is constantly 1
    EXPECT_TRUE(is_unknown(f.evaluate(unknown, interval<R>(0.5)).value)) << f.name;
    const bool has_y = f.name.find("(y") != std::string::npos || f.name.find(" y") != std::string::npos;
    const interval<R> other = has_y ? unknown : interval<R>(0.5);
    EXPECT_EQ(is_unknown(f.evaluate(interval<R>(R(0.25), R(0.75)), other).value), has_y) << f.name;
  }
}

// ---- at the edges ---------------------------------------------------------------------------------------------------

using real = pack<double, 1>;
using range_of = interval<real>;
using rate = dual<range_of>;

range_of between(double lo, double hi) { return {real(lo), real(hi)}; }
/// x in [lo, hi] with derivative 1.
rate running(double lo, double hi) { return {between(lo, hi), range_of(1.0)}; }

void expect_about(const range_of& a, double lo, double hi) {
  if (lo == -infinite) EXPECT_EQ(a.lo.v, lo);
  else EXPECT_NEAR(a.lo.v, lo, 1e-14 * (1 + std::fabs(lo)));
  if (hi == infinite) EXPECT_EQ(a.hi.v, hi);
  else EXPECT_NEAR(a.hi.v, hi, 1e-14 * (1 + std::fabs(hi)));
}

TEST(interval, division_through_zero) {
  expect_about(range_of(1.0) / between(-1, 1), -infinite, infinite);
  expect_about(range_of(1.0) / between(0, 1), -infinite, infinite);
  expect_about(between(1, 2) / between(-4, -2), -1, -0.25);
  EXPECT_TRUE(is_unknown(between(-1, 1) / between(-1, 1)));
  EXPECT_TRUE(is_unknown(range_of(0.0) / range_of(0.0)));
  EXPECT_TRUE(is_unknown((1.0 / running(-1, 1)).d[0]));
  EXPECT_TRUE(is_unknown(pow(running(-1, 1), -2).d[0]));
  expect_about((1.0 / running(1, 2)).d[0], -1, -0.25);
}

TEST(interval, infinite_bounds) {
  const range_of all = between(-infinite, infinite), some = between(2, infinite);
  expect_about(all + range_of(1.0), -infinite, infinite);
  expect_about(some * between(0.5, 1), 1, infinite);
  expect_about(some - some, -infinite, infinite);
  expect_about(range_of(1.0) / some, 0, 0.5);
  expect_about(atan(all), -std::numbers::pi / 2, std::numbers::pi / 2);
  expect_about(max(all, 1.0), 1, infinite);
  expect_about(between(0, 1) * some, 0, infinite);
  // Beyond the largest number.
  const range_of big = between(1e308, 1.5e308);
  EXPECT_TRUE(is_unknown(big * big));
  expect_about(between(-1, 1) * 1e300 * 1e300, -infinite, infinite);
}

TEST(interval, outside_the_domain_is_unknown) {
  EXPECT_TRUE(is_unknown(sqrt(between(-1, 1))));
  EXPECT_TRUE(is_unknown(log(between(-1, 1))));
  EXPECT_TRUE(is_unknown(asin(between(0.5, 1.5))));
  EXPECT_TRUE(is_unknown(acos(between(-2, -1.5))));
  EXPECT_TRUE(is_unknown(pow(between(-1, 1), 0.5)));
  EXPECT_TRUE(is_unknown(pow(between(-1, 1), between(1, 2))));
  EXPECT_TRUE(is_unknown(sin(between(0, 1e13))));  // the end of the argument reduction
  expect_about(log(between(0, 1)), -infinite, 0);
  expect_about(sqrt(max(between(-1, 4), 0.0)), 0, 2);
}

TEST(interval, where_functions_turn_round) {
  expect_about(sin(between(1, 2)), std::sin(1.0), 1);
  expect_about(sin(between(1, 6)), -1, 1);
  expect_about(sin(between(-2, 2)), -1, 1);
  expect_about(cos(between(3, 3.5)), -1, std::cos(3.5));
  expect_about(cos(between(-0.5, 1)), std::cos(1.0), 1);
  expect_about(tan(between(1, 2)), -infinite, infinite);
  expect_about(tan(between(-1, 1)), -std::tan(1.0), std::tan(1.0));
  expect_about(cosh(between(-1, 2)), 1, std::cosh(2.0));
  expect_about(abs(between(-3, 2)), 0, 3);
  expect_about(pow(between(-3, 2), 2), 0, 9);
  expect_about(pow(between(-3, 2), 3), -27, 8);
  expect_about(pow(between(-3, 2), 6), 0, 729);
  expect_about(pow(between(-2, 1), -2), 0.25, infinite);
  expect_about(pow(between(-2, 1), -1), -infinite, infinite);
  expect_about(atan2(between(-1, 1), between(-2, -1)), -std::numbers::pi, std::numbers::pi);
  expect_about(atan2(between(-1, 1), range_of(1.0)), -std::numbers::pi / 4, std::numbers::pi / 4);
  expect_about(hypot(between(-3, 1), between(-1, 4)), 0, 5);
  const range_of x = between(-3, 2);
  expect_about(x * x, 0, 9);
  expect_about(x * (x + 0.0), -6, 9);  // two different objects
}

TEST(interval, comparisons) {
  const auto expect = [](const interval_mask<real>& m, bool certain, bool possible) {
    EXPECT_EQ(bool(m.certain), certain);
    EXPECT_EQ(bool(m.possible), possible);
  };
  const range_of low = between(0, 1), middle = between(0.5, 2), high = between(2, 3), unknown(std::nan("")), one(1.0);
  expect(low < high, true, true);
  expect(high < low, false, false);
  expect(low < middle, false, true);
  expect(middle < high, false, true);
  expect(middle <= high, true, true);
  expect(middle > high, false, false);
  expect(low >= 0.0, true, true);
  expect(low > real(0.0), false, true);
  expect(one == 1.0, true, true);
  expect(one != 1.0, false, false);
  expect(low == middle, false, true);
  expect(low == high, false, false);
  for (const auto& m : {unknown<low, unknown <= low, low> unknown, low >= unknown, unknown == low, unknown != low})
    expect(m, false, true);
  const auto yes = low < high, no = high < low, perhaps = low < middle;
  expect(yes & perhaps, false, true);
  expect(no & perhaps, false, false);
  expect(yes | perhaps, true, true);
  expect(no || perhaps, false, true);
  expect(!perhaps, false, true);
  expect(!yes, false, false);
  expect(yes ^ no, true, true);
  expect(yes ^ perhaps, false, true);
  expect((real(1.0) < real(2.0)) && yes, true, true);  // with a mask
  expect(running(0, 1) < 2.0, true, true);
  expect(running(0, 1) > real(0.5), false, true);
}

TEST(interval, choices) {
  const rate a(between(0, 2), between(1, 2)), b(between(1, 3), between(-2, -1));
  const auto yes = between(0, 1) < between(2, 3), perhaps = between(0, 2) < between(1, 3);
  const auto both = select(perhaps, a, b);
  expect_about(select(yes, a, b).value, 0, 2);
  expect_about(select(!yes, a, b).value, 1, 3);
  expect_about(both.value, 0, 3);
  expect_about(both.d[0], -2, 2);
  // selections with masks and numbers
  expect_about(select(real(1.0) < real(2.0), a, b).d[0], 1, 2);
  expect_about(select(perhaps, real(1.0), real(2.0)), 1, 2);
  expect_about(select(perhaps, 1.0, a).value, 0, 2);
  expect_about(select(yes, a, real(7.0)).value, 0, 2);
  // an unknown branch does no harm if it is not selected
  const range_of unknown(std::nan(""));
  expect_about(select(yes, a, rate(unknown)).value, 0, 2);
  EXPECT_TRUE(is_unknown(select(perhaps, a, rate(unknown)).value));
}

TEST(interval, derivatives_at_kinks_and_jumps) {
  expect_about(abs(running(-1, 2)).d[0], -1, 1);
  expect_about(max(running(-1, 2), 0.0).d[0], 0, 1);
  expect_about(max(running(-1, 2), 0.0).value, 0, 2);
  expect_about(min(running(1, 2), 0.5).d[0], 0, 0);
  expect_about(hypot(running(-1, 2), rate(0.0)).d[0], -1, 1);
  expect_about(floor(running(1.25, 1.75)).d[0], 0, 0);
  for (const rate& jumps : {floor(running(0.5, 1.5)), ceil(running(0.5, 1.5)), round(running(0, 1)),
                            sign(running(-1, 1)), tan(running(1, 2)), atan2(running(-1, 1), rate(-1.0)),
                            copysign(rate(1.0), running(-1, 1)), select(running(-1, 1) > 0.0, rate(1.0), rate(-1.0))})
    EXPECT_TRUE(is_unknown(jumps.d[0]));
}

// ---- the enclosure of a step ----------------------------------------------------------------------------------------

using saltus::certified_bracket;
using saltus::dense_output;
using saltus::direction;
using saltus::guards_at;
using saltus::guards_on_step;
using saltus::mask_of;
using saltus::options;
using saltus::vec;

/// Common part of the models of these tests: one state, y.
struct one_state {
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 0.0, "1", "the state"}};
  static void transition(auto&) {}
};

/// Two products of the distances to eight roots: one of the state, which equals the time, and one of the time itself.
struct product : one_state {
  enum parameter { root };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{root, 0.0, "1", "a root"}.of(8)};
  enum guard { by_state, by_time };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {by_state, saltus::both, saltus::bilateral, "at each root"},
      {by_time, saltus::both, saltus::bilateral, "at each root"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = 1.0 + 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) {
    g[by_state] = at[y] - at(root, 0);
    g[by_time] = at.t - at(root, 0);
    for (int k = 1; k < 8; ++k) {
      g[by_state] *= at[y] - at(root, k);
      g[by_time] *= at.t - at(root, k);
    }
  }
};

/// One step of length 1 from t = 0 in every lane, with guards on each side that they may leave.
template <class Model, int W, class Method = saltus::methods::dormand_prince_5, options Options = options{},
          class Time = saltus::forward_time>
struct one_step {
  using R = pack<double, W>;
  using E = saltus::engine<saltus::form_of<Model, Time>, Method, double, Options>;
  saltus::instance<E, R> x{};
  vec<R, E::n> delta;
  dense_output<Method, R, E::n> interpolant;
  guards_at<E, R> begin, end;
  vec<R, E::ng> side;

  one_step() {
    x.h = 1.0;
    for (int i = 0; i < E::n; ++i) x.y[i] = delta[i] = 0.0;
  }
  guards_on_step<E, R> on_step() const { return {x, interpolant}; }
  void make() {
    const saltus::step_system<E, R> f{x.constants};
    x.f = f(x.t, x.y);
    interpolant = saltus::interpolate<Method>(f, saltus::step<Method>(f, saltus::solution_point{x.t, x.y, x.f}, x.h));
    begin = on_step()(R(0.0)), end = on_step()(R(1.0));
    for (int i = 0; i < E::ng; ++i) {
      x.constants.guard_values[i] = saltus::settle<E>(i, begin.g.value[i], begin.g.rate[i]);
      side[i] = saltus::side_of(x.constants.guard_values[i]);
    }
  }
  certified_bracket<E, R> certify() const {
    return saltus::certify<E, R>(on_step(), delta, side, begin, end, mask_of<R>::all(true));
  }
  mask_of<R> quiet() const { return !saltus::suspect_enclosures<E, R>(x, interpolant, delta).leaves; }
};

// Dense outputs made of arbitrary terms, against their nested form in long double.
template <class Method>
void check_step_enclosure() {
  using R = pack<double, 4>;
  using E = saltus::engine<saltus::form_of<product>, Method, double, options{.fixed_steps = true}>;
  std::mt19937_64 random(3);
  const auto any = [&](double size) { return std::uniform_real_distribution<double>(-size, size)(random); };
  for (int trial = 0; trial < 500; ++trial) {
    dense_output<Method, R, 1> interpolant;
    vec<R, 1> delta;
    R a, b;
    interpolant.t = 3.0, interpolant.h = 0.25, delta[0] = trial % 2 == 0 ? 0.0 : 0.001;
    constexpr int terms = dense_output<Method, R, 1>::terms;
    for (int j = 0; j < 4; ++j) {
      interpolant.y0[0].set(j, any(trial % 3 == 0 ? 1e6 : 1));
      for (int k = 0; k < terms; ++k) interpolant.term[k][0].set(j, any(std::exp2(any(8))));
      const double s = (1 + any(1)) / 2, width = std::exp2(-25 + any(25));
      a.set(j, s), b.set(j, std::min(1.0, s + width));
    }
    const auto piece = saltus::step_enclosure<E, R>{interpolant, delta}(a, b, R(1.0));
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k <= 10; ++k) {
        const double s = k == 0 ? a.get(j) : k == 10 ? b.get(j) : a.get(j) + k / 10.0 * (b.get(j) - a.get(j));
        exact y = interpolant.term[terms - 1][0].get(j), f = 0;
        for (int i = terms - 2; i >= -1; --i) {
          const exact factor = i % 2 != 0 ? exact(s) : 1 - exact(s);
          f = (i % 2 != 0 ? y : -y) + factor * f;
          y = (i < 0 ? interpolant.y0[0] : interpolant.term[i][0]).get(j) + factor * y;
        }
        const double off = delta[0].get(j) * std::min(1.0, 4 * s);
        ASSERT_TRUE(holds(piece.t, j, 3 + exact(s) / 4));
        ASSERT_TRUE(holds(piece.y[0], j, y + off) && holds(piece.y[0], j, y - off)) << Method::name;
        ASSERT_TRUE(holds(piece.f[0], j, 4 * (f + 4 * exact(delta[0].get(j)))) &&
                    holds(piece.f[0], j, 4 * (f - 4 * exact(delta[0].get(j)))))
            << Method::name;
      }
  }
}
TEST(certify, encloses_a_step) {
  saltus::methods::for_each(saltus::methods::explicit_methods{}, [](auto m) { check_step_enclosure<decltype(m)>(); });
}

// ---- roots of polynomials -------------------------------------------------------------------------------------------

/// Roots in (0, 1.7): single ones, pairs down to 1e-8 apart, double ones; and the places where the sign changes.
struct shape {
  std::vector<double> roots, crossings;
  bool touches = false;  ///< there is a double root

  explicit shape(std::mt19937_64& random) {
    const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
    const auto most = random() % 9;
    while (roots.size() < most) {
      const double r = between(0.001, 1.2);
      roots.push_back(r);
      const auto kind = roots.size() < most ? random() % 4 : 0;
      if (kind == 1) roots.push_back(r), touches = true;
      if (kind == 2) roots.push_back(r + std::exp2(between(-26.6, -1)));
      if (kind != 1) crossings.push_back(r);
      if (kind == 2) crossings.push_back(roots.back());
    }
    while (roots.size() < 8) roots.push_back(random() & 1 ? between(-3, -0.1) : between(1.9, 4));
    std::shuffle(roots.begin(), roots.end(), random);
    std::sort(crossings.begin(), crossings.end());
  }
  /// The first crossing after s, or a number beyond the step.
  double after(double s) const {
    const auto r = std::upper_bound(crossings.begin(), crossings.end(), s);
    return r == crossings.end() ? 2.0 : *r;
  }
};

/// Asserts that the first crossing after `begin` was found and no other, or that there is none.
template <class Found>
void expect_first_crossing(const Found& found, int lane, double begin, const shape& p) {
  const double first = p.after(begin);
  ASSERT_EQ(found.found[lane], first <= 1.0) << "crossing at " << first;
  if (first > 1.0) return;
  ASSERT_GE(first, found.lo.get(lane));
  ASSERT_LE(first, found.hi.get(lane));
  ASSERT_GT(p.after(first), found.hi.get(lane));
}

template <int W>
void hunt(int count, double delta, unsigned seed) {
  using E = typename one_step<product, W>::E;
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < count; trial += W) {
    one_step<product, W> s;
    std::vector<shape> shapes;
    for (int j = 0; j < W; ++j) {
      shapes.emplace_back(random);
      for (int k = 0; k < 8; ++k) s.x.constants.p[k].set(j, shapes.back().roots[static_cast<std::size_t>(k)]);
    }
    s.delta[0] = delta;
    s.make();
    s.side[trial / W % 2] = 0.0;  // one guard or the other
    const auto quiet = s.quiet();
    const auto first = s.certify();
    // The second crossing: searched from the end of the first bracket, on the other side.
    auto from = s;
    for (int i = 0; i < 2; ++i) from.side[i] = -s.side[i];
    from.begin = s.on_step()(first.found.hi);
    const auto second = saltus::certify<E>(from.on_step(), s.delta, from.side, from.begin, s.end, first.found.found);
    for (int j = 0; j < W; ++j) {
      const shape& p = shapes[static_cast<std::size_t>(j)];
      expect_first_crossing(first.found, j, 0.0, p);
      if (first.found.found[j]) expect_first_crossing(second.found, j, first.found.hi.get(j), p);
      EXPECT_TRUE(p.after(0.0) > 1.0 || !quiet[j]);
      EXPECT_TRUE(p.touches || first.undetermined.get(j) == 0.0);
    }
  }
}
TEST(certify, finds_the_first_crossing_of_polynomials) {
  hunt<1>(2000, 0.0, 4);
  hunt<4>(20000, 0.0, 5);
}
TEST(certify, finds_it_where_the_step_is_in_doubt) { hunt<4>(8000, 1e-7, 6); }

/// A polynomial by its coefficients: its signs are known, its roots are not.
struct expanded : one_state {
  enum parameter { coefficient };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      saltus::variable<parameter>{coefficient, 0.0, "1", "of a power of y"}.of(9)};
  enum guard { value };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {value, saltus::both, saltus::bilateral, "at each root"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = 1.0 + 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) {
    auto p = at(coefficient, 8) + 0.0 * at[y];
    for (int k = 7; k >= 0; --k) p = fma(p, at[y], at(coefficient, k));
    g[value] = p;
  }
};

TEST(certify, no_sample_contradicts_it) {
  constexpr int W = 4, samples = 2000;
  std::mt19937_64 random(7);
  int found = 0;
  for (int trial = 0; trial < 300; ++trial) {
    one_step<expanded, W> s;
    for (int j = 0; j < W; ++j)
      for (int k = 0; k <= 8; ++k)
        s.x.constants.p[k].set(j, std::uniform_real_distribution<double>(-1, 1)(random) * std::exp2(k % 3));
    s.make();
    const auto c = s.certify();
    for (int k = 0; k <= samples; ++k) {
      const auto here = s.on_step()(pack<double, W>(static_cast<double>(k) / samples));
      const auto left = saltus::has_crossed(s.side[0], here.g.value[0], here.g.rate[0]);
      for (int j = 0; j < W; ++j) ASSERT_TRUE(!left[j] || (c.found.found[j] && here.s.get(j) > c.found.lo.get(j)));
    }
    for (int j = 0; j < W; ++j) found += c.found.found[j];
  }
  EXPECT_GT(found, 300);  // a smaller number would test too little
}

// ---- single guards --------------------------------------------------------------------------------------------------

/// Guards of the time and of the constant state, selected by a number.
struct gallery : one_state {
  enum parameter { which, at_time };
  static constexpr saltus::variable<parameter> parameter_list[] = {{which, 0.0, "1", "number of the guard"},
                                                                   {at_time, 0.5, "s", "where it happens"}};
  enum guard { one };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {one, saltus::both, saltus::bilateral, "when it happens"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = 0.0 * at[y]; }
  static void guards(const auto& at, auto& g) {
    const auto s = at.t - at[at_time];
    g[one] = s;
    const auto is = [&](double number) { return at[which] == number; };
    g[one] = select(is(1), s * s + at[y], g[one]);                          // minimum y
    g[one] = select(is(2), s * s * s, g[one]);                              // a root of third order
    g[one] = select(is(3), abs(s) + at[y], g[one]);                         // a kink at y
    g[one] = select(is(4), max(s, -2.0 * s) + at[y], g[one]);               // another kink
    g[one] = select(is(5), select(s > 0.0, s, -s) + at[y], g[one]);         // the same by a selection
    g[one] = select(is(6), 0.5 - floor(at.t + 1.0 - at[at_time]), g[one]);  // a jump
    g[one] =
        select(is(7), s + 0.0 * sqrt(at.t - at.t + 1e-300), g[one]);  // for intervals a root whose argument may be < 0
    g[one] = select(is(8), sin(20.0 * at.t) + at[y], g[one]);
    g[one] = select(is(9), at[y], g[one]);
  }
};

struct guard_test : one_step<gallery, 1> {
  guard_test(int which, double at_time, double y, double doubt = 0.0) {
    x.constants.p[0] = static_cast<double>(which), x.constants.p[1] = at_time, x.y[0] = y, delta[0] = doubt;
    make();
  }
  void expect_nothing(double undetermined_at_most = 0.0) const {
    const auto c = certify();
    EXPECT_FALSE(bool(c.found.found));
    EXPECT_LE(c.undetermined.v, undetermined_at_most);
  }
  void expect_crossing(double where, double until, double undetermined_at_most = 0.0) const {
    const auto c = certify();
    ASSERT_TRUE(bool(c.found.found));
    EXPECT_LE(c.found.lo.v, where);
    EXPECT_GE(c.found.hi.v, where);
    EXPECT_LT(c.found.hi.v, until);
    EXPECT_LE(c.undetermined.v, undetermined_at_most);
    EXPECT_FALSE(bool(quiet()));
  }
};

TEST(certify, dips) {
  for (double depth : {1e-2, 1e-6, 1e-10, 1e-14}) {
    const double r = std::sqrt(depth);
    guard_test(1, 0.3, -depth).expect_crossing(0.3 - r, 0.3 + r);
    guard_test(1, 0.3, depth).expect_nothing();
  }
  for (int kink : {3, 4, 5})
    for (double depth : {1e-2, 1e-6, 1e-10, 1e-13}) {
      const double derivative = kink == 4 ? 2.0 : 1.0;
      guard_test(kink, 0.3, -depth).expect_crossing(0.3 - depth / derivative, 0.3 + depth);
      guard_test(kink, 0.3, depth).expect_nothing();
    }
}

TEST(certify, what_rounding_hides_is_undetermined) {
  // A double root, exactly at a number and between two: it may count as a crossing or not.
  for (double at_time : {0.5, 0.3}) {
    const auto c = guard_test(1, at_time, 0.0).certify();
    EXPECT_GE(c.undetermined.v, 1.0);
    EXPECT_LE(c.undetermined.v, 4.0);
    EXPECT_TRUE(!c.found.found || std::fabs(c.found.hi.v - at_time) < 1e-7);
  }
  guard_test(2, 0.3, 0.0).expect_crossing(0.3, 0.301, 2);
  guard_test(6, 0.3, 0.0).expect_crossing(0.3, 0.301, 2);  // a jump is not a root, but it is passed
  guard_test(7, 0.3, 0.0).expect_crossing(0.3, 0.4, 400);  // unknown: the search compares signs
  guard_test(9, 0.3, 0.0).expect_nothing(400);
}

TEST(certify, ends_of_the_step) {
  guard_test(0, 1.0, 0.0).expect_crossing(1.0, 1.1);  // exactly zero at the end, on its way out
  guard_test(0, 0.0, 0.0).expect_nothing();           // zero at the start, already on its way out
  guard_test(1, 0.0, 0.0).expect_nothing(1);          // also with derivative 0
  guard_test(0, 1e-16, 0.0).expect_crossing(1e-16, 1.1);
  guard_test(8, 0.0, 0.0).expect_crossing(std::numbers::pi / 20, std::numbers::pi / 10);
  guard_test(8, 0.0, -1.0 - 1e-13).expect_nothing();  // nearly touches zero, twice
  // Just beyond zero, on its way out, with few digits of the time left.
  guard_test late(0, 1e6 + 0.5, 0.0);
  late.x.t = 1e6;
  late.make();
  late.expect_crossing(0.5, 1.1);
}

TEST(certify, guards_that_are_not_armed_are_left_alone) {
  guard_test s(0, 0.5, 0.0);
  s.side[0] = 0.0;
  s.expect_nothing();
}

// The state that the guard adds is uncertain by delta: a dip further from zero is excluded, a nearer one asks for a shorter
// step, and a steep crossing needs none.
TEST(certify, takes_in_the_local_error) {
  const double delta = 1e-6;
  const auto wants = [&](double y, bool found, bool shrink) {
    const auto c = guard_test(1, 0.5, y, delta).certify();
    EXPECT_EQ(bool(c.found.found), found) << y;
    EXPECT_EQ(bool(c.shrink), shrink) << y;
    EXPECT_EQ(c.undetermined.v, 0.0) << y;
  };
  wants(1e-5, false, false);
  wants(1.1e-6, false, false);
  wants(0.9e-6, false, true);
  wants(1e-9, false, true);
  wants(-1e-5, true, false);
  wants(-1e-13, true, true);
  // Close to zero at the start, on its way out: delta grows from zero there.
  EXPECT_FALSE(bool(guard_test(0, -1e-12, 0.0, delta).certify().shrink));
}

TEST(certify, quiet_at_a_glance) {
  EXPECT_TRUE(bool(guard_test(0, 2.0, 0.0).quiet()));
  EXPECT_TRUE(bool(guard_test(0, 1.001, 0.0).quiet()));
  EXPECT_TRUE(bool(guard_test(0, 0.0, 0.0).quiet()));
  EXPECT_TRUE(bool(guard_test(1, 0.5, 0.3).quiet()));
  EXPECT_FALSE(bool(guard_test(0, 1.0, 0.0).quiet()));
  EXPECT_FALSE(bool(guard_test(0, 0.5, 0.0).quiet()));
  EXPECT_FALSE(bool(guard_test(1, 0.5, -1e-9).quiet()));
  EXPECT_FALSE(bool(guard_test(7, 2.0, 0.0).quiet()));  // unknown
  EXPECT_FALSE(bool(guard_test(0, 1.001, 0.0, std::nan("")).quiet() & guard_test(1, 0.5, 0.3, std::nan("")).quiet()));
}

TEST(certify, backward_in_time) {
  one_step<gallery, 1, saltus::methods::dormand_prince_5, options{}, saltus::backward_time> s;
  s.x.constants.p[0] = 1.0, s.x.constants.p[1] = -0.3, s.x.y[0] = -1e-6;
  s.make();
  const auto c = s.certify();
  ASSERT_TRUE(bool(c.found.found));
  EXPECT_LE(c.found.lo.v, 0.299);
  EXPECT_GE(c.found.hi.v, 0.299);
  EXPECT_LT(c.found.hi.v, 0.301);
}

}  // namespace
