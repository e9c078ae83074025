// The elementary functions: errors against the C library's long double functions, special values by C99 Annex F as in that
// library, equal bits at every width, derivatives.
//
// The reference has 11 (float: 40) more bits than the tested functions: its own error of a few units in its last place stays
// below 0.003 of their units.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "number/math.hpp"

static_assert(LDBL_MANT_DIG >= 64, "these tests need a long double with more bits than double");

namespace {

using saltus::dual;
using saltus::pack;
using exact = long double;

/// Distance of `got` from `wanted` in units of the last place of T; infinite if a NaN, an infinity or a sign is
/// wrong.
template <class T>
double ulps(T got, exact wanted) {
  using of = std::numeric_limits<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) && std::isnan(wanted) ? 0.0 : wrong;
  if (std::signbit(got) != std::signbit(wanted)) return wrong;
  const T rounded = static_cast<T>(wanted);
  if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0.0 : wrong;
  int exponent = of::min_exponent;
  if (wanted != 0) std::frexp(wanted, &exponent);
  const exact unit = std::ldexp(exact(1), std::max(exponent, of::min_exponent) - of::digits);
  return static_cast<double>(std::fabs(got - wanted) / unit);
}

// ---- the functions under test ---------------------------------------------------------------------------------------

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
struct domain {
  range x, y = {0.0, 0.0};
};

/// out[i] = f(x[i], y[i]) with W lanes at a time; a function of one argument ignores the other.
template <class T, int W, class F>
[[gnu::noinline]] void evaluate(const T* x, const T* y, T* out, int n) {
  for (int i = 0; i < n; i += W) {
    pack<T, W> a, b;
    std::memcpy(&a, x + i, sizeof a);
    std::memcpy(&b, y + i, sizeof b);
    const pack<T, W> r = F{}(a, b);
    std::memcpy(out + i, &r, sizeof r);
  }
}

template <class T>
struct function {
  const char* name;
  exact (*reference)(exact, exact);
  double bound;  ///< ulp
  std::vector<domain> domains;
  using evaluator = void (*)(const T*, const T*, T*, int);
  std::vector<evaluator> widths;  ///< the first has one lane

  T operator()(T x, T y = 0) const {
    T r;
    widths[0](&x, &y, &r, 1);
    return r;
  }
};

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

template <class T, class F>
function<T> test_of(const char* name, F, exact (*reference)(exact, exact), double bound, std::vector<domain> domains) {
  function<T> r{name, reference, bound, std::move(domains), {&evaluate<T, 1, F>}};
  constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
  if constexpr (lanes >= 2 && sizeof(T) == 8) r.widths.push_back(&evaluate<T, 2, F>);
  if constexpr (lanes >= 4) r.widths.push_back(&evaluate<T, 4, F>);
  if constexpr (lanes >= 8) r.widths.push_back(&evaluate<T, 8, F>);
  if constexpr (lanes >= 16) r.widths.push_back(&evaluate<T, 16, F>);
  return r;
}
#define ONE(f) #f, [](auto x, auto) { return f(x); }, [](exact x, exact) { return std::f(x); }
#define TWO(f) #f, [](auto x, auto y) { return f(x, y); }, [](exact x, exact y) { return std::f(x, y); }
#define POWER(n) \
  "pow(x, " #n ")", [](auto x, auto) { return pow(x, n); }, [](exact x, exact) { return std::pow(x, exact(n)); }

/// Every function, with its bound and its tested arguments. `all` spans every finite number.
template <class T>
std::vector<function<T>> functions() {
  constexpr bool d = sizeof(T) == 8;
  constexpr double overflow = d ? 709.78 : 88.72;  // of exp
  constexpr double vanish = d ? -745.1 : -103.9;
  constexpr double turn = d ? 40 : 17;  // 2^turn is the end of the range of sin, cos, tan
  const range all{d ? -1074.0 : -149.0, d ? 1023.99 : 127.99, true}, small{-40, 1, true}, unit{-1, 1}, near_1{0.5, 2};
  return {
      test_of<T>(ONE(floor), 0, {{{-10, 10}}, {{-60, 60, true}}}),
      test_of<T>(ONE(ceil), 0, {{{-10, 10}}, {{-60, 60, true}}}),
      test_of<T>(
          "round", [](auto x, auto) { return round(x); }, [](exact x, exact) { return std::nearbyint(x); }, 0,
          {{{-10, 10}}, {{-60, 60, true}}}),
      test_of<T>(ONE(exp), 0.9, {{unit}, {{vanish, overflow}}}),
      test_of<T>(ONE(expm1), 1.2, {{small}, {{-50, overflow}}}),
      test_of<T>(ONE(sinh), 2, {{small}, {{-overflow, overflow}}}),
      test_of<T>(ONE(cosh), 2, {{unit}, {{-overflow, overflow}}}),
      test_of<T>(ONE(tanh), 1.2, {{small}, {{-25, 25}}}),
      test_of<T>(ONE(log), 0.9, {{near_1}, {all}}),
      test_of<T>(ONE(log2), 1.2, {{near_1}, {all}}),
      test_of<T>(ONE(log10), 1.2, {{near_1}, {all}}),
      test_of<T>(TWO(pow), 0.9,
                 {{{0, 10}, {-10, 10}},
                  {near_1, {d ? -1000. : -120., d ? 1000. : 120.}},
                  {{0.999, 1.001}, {d ? -7e5 : -8e4, d ? 7e5 : 8e4}},
                  {all, {-1.1, 1.1}}}),
      test_of<T>(POWER(2), 0.51, {{all}}),
      test_of<T>(POWER(3), 1.5, {{{-30, 30, true}}}),
      test_of<T>(POWER(4), 2, {{{-30, 30, true}}}),
      test_of<T>(POWER(-2), 2, {{{-30, 30, true}}}),
      test_of<T>(POWER(0.5), 0.51, {{all}}),
      test_of<T>(POWER(1.5), 1.5, {{{-30, 30, true}}, {all}}),
      test_of<T>(POWER(-0.5), 1.6, {{all}}),
      test_of<T>(POWER(-1.5), 2.3, {{{-30, 30, true}}, {all}}),
      test_of<T>(ONE(sin), 0.9, {{{-7, 7}}, {{-30, turn, true}}}),
      test_of<T>(ONE(cos), 0.9, {{{-7, 7}}, {{-30, turn, true}}}),
      test_of<T>(ONE(tan), 1.2, {{{-7, 7}}, {{-30, turn, true}}}),
      test_of<T>(ONE(asin), 1.5, {{unit}, {{0.4, 0.6}}, {{-40, 0, true}}}),
      test_of<T>(ONE(acos), 1.5, {{unit}, {{0.4, 0.6}}, {{-1, -0.9}}, {{0.99, 1}}}),
      test_of<T>(ONE(atan), 2, {{{-3, 3}}, {{0.4, 0.5}}, {all}}),
      test_of<T>(TWO(atan2), 2,
                 {{unit, unit}, {all, all}, {{all.from, all.from + 12, true}, {all.from, all.from + 12, true}}}),
      test_of<T>(TWO(hypot), 1.5, {{unit, unit}, {{-3, 3, true}, {-3, 3, true}}, {all, all}}),
      test_of<T>(ONE(cbrt), 0.51, {{{1, 8}}, {all}}),
  };
}

template <class T>
std::vector<T> draw(const range& r, int n, std::mt19937_64& random) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& x : v) x = static_cast<T>(r.draw(random));
  return v;
}

/// Special arguments: zeros, infinities, NaN, units, ends of the range, odd and even integers.
template <class T>
std::vector<T> special_numbers() {
  using of = std::numeric_limits<T>;
  std::vector<T> r = {0,   of::denorm_min(), of::min(), T(1e-9), T(0.5), 1, std::nextafter(T(1), T(2)), T(1.5), 2, 3, 4,
                      1000};
  const T whole = std::ldexp(T(1), of::digits - 1);  // numbers from here on are integers, from twice that on even ones
  for (T x : {whole - T(0.5), whole + 1, 2 * whole + 2, of::max(), of::infinity(), of::quiet_NaN()}) r.push_back(x);
  for (std::size_t i = 0, n = r.size(); i < n; ++i) r.push_back(-r[i]);
  return r;
}

template <class T>
class math : public testing::Test {};
using scalars = testing::Types<double, float>;
TYPED_TEST_SUITE(math, scalars);

// ---- values ---------------------------------------------------------------------------------------------------------

TYPED_TEST(math, error) {
  using T = TypeParam;
  constexpr int n = 20000;
  for (const function<T>& f : functions<T>()) {
    std::mt19937_64 random(1);
    double worst = 0.0;
    for (const domain& in : f.domains) {
      const std::vector<T> x = draw<T>(in.x, n, random), y = draw<T>(in.y, n, random);
      std::vector<T> r(n);
      f.widths[0](x.data(), y.data(), r.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        const double error = ulps(r[i], f.reference(x[i], y[i]));
        if (!(error <= f.bound))
          ADD_FAILURE() << f.name << "(" << x[i] << ", " << y[i] << ") = " << r[i] << ": " << error << " ulp";
        worst = std::max(worst, error);
      }
    }
    std::printf("  %-6s %-12s %.2f ulp\n", sizeof(T) == 8 ? "double" : "float", f.name, worst);
  }
}

// The numbers next to multiples of pi/2, where the argument reduction loses most digits.
TYPED_TEST(math, next_to_multiples_of_half_pi) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  const range quarter_turns{0, (sizeof(T) == 8 ? 40 : 17) - 0.66, true};
  for (const function<T>& f : functions<T>()) {
    if (std::string_view("sin cos tan").find(f.name) == std::string_view::npos) continue;
    for (int i = 0; i < 5000; ++i) {
      const exact k = i < 1000 ? exact(i) : std::floor(exact(quarter_turns.draw(random)));
      T x = std::nextafter(static_cast<T>(k * std::numbers::pi_v<exact> / 2), T(-1e30));
      for (int j = 0; j < 3; ++j, x = std::nextafter(x, T(1e30)))
        ASSERT_LE(ulps(f(x), f.reference(x, 0)), f.bound) << f.name << "(" << x << ")";
    }
  }
}

TYPED_TEST(math, special_values) {
  using T = TypeParam;
  for (const function<T>& f : functions<T>()) {
    const bool two_arguments = f.domains[0].y.to != 0.0;
    const bool trigonometric = std::string_view("sin cos tan").find(f.name) != std::string_view::npos;
    for (T x : special_numbers<T>()) {
      if (trigonometric && std::isfinite(x) && std::fabs(x) > T(1e4)) continue;
      for (T y : two_arguments ? special_numbers<T>() : std::vector<T>{0})
        EXPECT_LE(ulps(f(x, y), f.reference(x, y)), f.bound) << f.name << "(" << x << ", " << y << ") = " << f(x, y);
    }
  }
}

TYPED_TEST(math, the_end_of_the_range_of_the_trigonometric_functions) {
  using R = pack<TypeParam, 1>;
  const auto limit = std::ldexp(TypeParam(1), sizeof(TypeParam) == 8 ? 40 : 17);
  const R beyond = R::from(std::nextafter(limit, TypeParam(1e30)));
  for (const R& x : {beyond, -beyond}) {
    EXPECT_TRUE(std::isnan(sin(x).v));
    EXPECT_TRUE(std::isnan(cos(x).v));
    EXPECT_TRUE(std::isnan(tan(x).v));
  }
  EXPECT_LE(ulps(sin(R::from(limit)).v, std::sin(exact(limit))), 1.0);
}

// Exact results by construction, independent of the last bit elsewhere.
TYPED_TEST(math, exact_values) {
  using T = TypeParam;
  using R = pack<T, 1>;
  for (int k = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
       k < std::numeric_limits<T>::max_exponent; ++k)
    ASSERT_EQ(log2(R::from(std::ldexp(T(1), k))).v, k);
  for (int k = 0; k <= (sizeof(T) == 8 ? 22 : 10); ++k)  // 10^k is a T
    EXPECT_EQ(log10(R::from(static_cast<T>(std::pow(exact(10), exact(k))))).v, k);
  for (int k = -100; k <= 100; ++k) EXPECT_EQ(cbrt(R(double(k) * k * k)).v, k);
  for (int k = -30; k <= 30; ++k) EXPECT_EQ(pow(R(2.0), R(double(k))).v, std::ldexp(T(1), k));
  EXPECT_EQ(hypot(R(3.0), 4).v, 5);
  EXPECT_EQ(pow(R(-2.0), R(3.0)).v, -8);
}

// ---- equal bits -----------------------------------------------------------------------------------------------------

TYPED_TEST(math, every_width_gives_the_same_bits) {
  using T = TypeParam;
  using B = saltus::integer_of<T>;
  constexpr int n = 100000;
  std::mt19937_64 random(3);
  for (const function<T>& f : functions<T>()) {
    // Half of the arguments are in the range of interest, half are arbitrary bits.
    std::vector<T> x = draw<T>(f.domains[0].x, n, random), y = draw<T>(f.domains[0].y, n, random);
    for (int i = n / 2; i < n; ++i)
      for (T* z : {&x[i], &y[i]}) {
        const auto bits = static_cast<B>(random());
        std::memcpy(z, &bits, sizeof bits);
      }
    std::vector<T> scalar(n), lanes(n);
    f.widths[0](x.data(), y.data(), scalar.data(), n);
    for (std::size_t w = 1; w < f.widths.size(); ++w) {
      f.widths[w](x.data(), y.data(), lanes.data(), n);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(std::memcmp(&scalar[i], &lanes[i], sizeof(T)) == 0 ||
                    (std::isnan(scalar[i]) && std::isnan(lanes[i])))
            << f.name << "(" << x[i] << ", " << y[i] << ") is " << scalar[i] << " in one lane, " << lanes[i]
            << " in width " << w;
    }
  }
}

TYPED_TEST(math, a_literal_is_the_same_in_every_lane) {
  EXPECT_TRUE(std::signbit(pack<TypeParam, 1>(-0.0).get(0)));
  EXPECT_TRUE(std::signbit(pack<TypeParam, 4>(-0.0).get(3)));
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

using real = pack<double, 1>;
using rate = dual<real, 1>;

void expect_derivative(const char* name, rate got, exact wanted) {
  EXPECT_NEAR(got.d[0].v, static_cast<double>(wanted), 4e-15 * std::fabs(static_cast<double>(wanted))) << name;
}

// Against derivatives by calculus, along a direction of length 3.
TEST(derivatives, of_one_argument) {
  for (double at : {-0.9, -0.3, 0.2, 0.7}) {
    const rate x(real(at), real(3.0));
    const rate positive(real(at + 1), real(3.0));
    const exact t = at, p = exact(at + 1);
    expect_derivative("exp", exp(x), 3 * std::exp(t));
    expect_derivative("expm1", expm1(x), 3 * std::exp(t));
    expect_derivative("sinh", sinh(x), 3 * std::cosh(t));
    expect_derivative("cosh", cosh(x), 3 * std::sinh(t));
    expect_derivative("tanh", tanh(x), 3 / (std::cosh(t) * std::cosh(t)));
    expect_derivative("log", log(positive), 3 / p);
    expect_derivative("log2", log2(positive), 3 / (p * std::numbers::ln2_v<exact>));
    expect_derivative("log10", log10(positive), 3 / (p * std::numbers::ln10_v<exact>));
    expect_derivative("sin", sin(x), 3 * std::cos(t));
    expect_derivative("cos", cos(x), -3 * std::sin(t));
    expect_derivative("tan", tan(x), 3 / (std::cos(t) * std::cos(t)));
    expect_derivative("asin", asin(x), 3 / std::sqrt(1 - t * t));
    expect_derivative("acos", acos(x), -3 / std::sqrt(1 - t * t));
    expect_derivative("atan", atan(x), 3 / (1 + t * t));
    expect_derivative("cbrt", cbrt(x), std::pow(std::fabs(t), exact(-2) / 3));
    expect_derivative("floor", floor(x), 0);
    expect_derivative("ceil", ceil(x), 0);
    expect_derivative("round", round(x), 0);
    expect_derivative("copysign", copysign(x, rate(-2.0)), at < 0 ? 3 : -3);
    expect_derivative("pow(x, 3)", pow(x, 3), 9 * t * t);
    expect_derivative("pow(x, -2)", pow(x, -2), -6 / (t * t * t));
    expect_derivative("pow(x, 1.7)", pow(positive, 1.7), 3 * exact(1.7) * std::pow(p, exact(1.7) - 1));
    expect_derivative("pow(x, real)", pow(positive, real(1.7)), 3 * exact(1.7) * std::pow(p, exact(1.7) - 1));
    expect_derivative("pow(2.5, x)", pow(2.5, x), 3 * std::pow(exact(2.5), t) * std::log(exact(2.5)));
  }
}

TEST(derivatives, of_two_arguments) {
  using rates = dual<real, 2>;
  rates x(1.3), y(-0.4);
  x.d[0] = real(1.0);
  y.d[1] = real(1.0);
  const exact a = 1.3, b = -0.4, square = a * a + b * b;
  const auto expect_gradient = [](const rates& got, exact along_x, exact along_y) {
    EXPECT_NEAR(got.d[0].v, static_cast<double>(along_x), 4e-15);
    EXPECT_NEAR(got.d[1].v, static_cast<double>(along_y), 4e-15);
  };
  expect_gradient(hypot(x, y), a / std::sqrt(square), b / std::sqrt(square));
  expect_gradient(atan2(y, x), -b / square, a / square);
  expect_gradient(pow(x, y), b * std::pow(a, b - 1), std::pow(a, b) * std::log(a));
  expect_gradient(hypot(x, 0.5), a / std::sqrt(a * a + 0.25L), 0);
  expect_gradient(atan2(2, x), -2 / (a * a + 4), 0);
  expect_gradient(atan2(real(2.0), x), -2 / (a * a + 4), 0);
}

// 0 times infinity must not make a NaN of a derivative that exists.
TEST(derivatives, of_powers_at_the_edge) {
  const rate zero(real(0.0), real(1.0)), minus_two(real(-2.0), real(1.0));
  EXPECT_EQ(pow(zero, 2).d[0].v, 0);
  EXPECT_EQ(pow(zero, 1).d[0].v, 1);
  EXPECT_EQ(pow(zero, 0).d[0].v, 0);
  EXPECT_EQ(pow(zero, real(2.0)).d[0].v, 0);
  EXPECT_EQ(pow(zero, real(0.0)).d[0].v, 0);
  EXPECT_EQ(pow(zero, rate(2.0)).d[0].v, 0);
  EXPECT_EQ(pow(0.0, rate(real(2.0), real(1.0))).d[0].v, 0);
  EXPECT_EQ(pow(zero, rate(real(2.0), real(1.0))).d[0].v, 0);
  EXPECT_EQ(pow(minus_two, real(3.0)).d[0].v, 12);
  EXPECT_EQ(pow(minus_two, rate(3.0)).d[0].v, 12);
  EXPECT_TRUE(std::isnan(pow(minus_two, rate(real(3.0), real(1.0))).d[0].v));
}

// A model that forgets at[...] around a parameter's name must not compile.
enum parameter { name_of_a_parameter };
template <class Number>
concept takes_a_name_as_exponent = requires(Number x) {
  pow(x, name_of_a_parameter);
};
static_assert(!takes_a_name_as_exponent<real> && !takes_a_name_as_exponent<rate>);

TEST(derivatives, of_second_order) {
  using second = dual<rate, 1>;
  const second x(rate(real(0.6), real(1.0)), rate(1.0));
  EXPECT_NEAR(sin(x).d[0].d[0].v, -std::sin(0.6), 1e-15);
  EXPECT_NEAR(exp(x).d[0].d[0].v, std::exp(0.6), 1e-15);
  EXPECT_NEAR(pow(x, 3).d[0].d[0].v, 6 * 0.6, 1e-15);
  EXPECT_NEAR(pow(x, 2.5).d[0].d[0].v, 2.5 * 1.5 * std::sqrt(0.6), 4e-15);
}

}  // namespace
