// The sampler: the values of each id, and whether random values follow their distributions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ensemble/sampler.hpp"
#include "spec/axis_values.hpp"
#include "spec/distribution.hpp"

namespace saltus::host {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

target parameter(int index) { return {target::kind::parameter, index, "p"}; }
target state(int index) { return {target::kind::state, index, "y"}; }

axis list(const target& what, std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {{{what, listed{std::move(values)}}}, count};
}
axis::column range(double from, double to, std::int64_t count, bool logarithmic = false) {
  return {parameter(0), ranged{from, to, count, logarithmic}};
}

/// Three parameters, two states, nothing swept.
plan fixed_plan() {
  plan p;
  p.parameters = {1.0, 2.0, 3.0};
  p.initial = {not_a_number, 5.0};
  p.t_begin = 0.5;
  p.t_end = 1.5;
  return p;
}

/// `count` instances with one random parameter.
plan random_plan(const distribution& drawn_from, std::int64_t count, std::uint64_t seed = 7) {
  plan p = fixed_plan();
  p.random = {{parameter(1), drawn_from}};
  p.samples = p.count = count;
  p.seed = seed;
  return p;
}

std::vector<double> column(const std::vector<double>& columns, int index, std::int64_t count) {
  return {columns.begin() + index * count, columns.begin() + (index + 1) * count};
}

std::vector<double> draws(const plan& p, int index = 1) {
  columns out;
  sampler(p).fill(0, p.count, out);
  return column(out.parameters, index, p.count);
}

/// Compares bit for bit, NaN included.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

// ---- ids and values

TEST(sampler, fixed_values_reach_every_instance) {
  plan p = fixed_plan();
  p.count = p.samples = 4;
  columns out;
  sampler(p).fill(1, 2, out);
  EXPECT_EQ(out.count, 2);
  EXPECT_EQ(out.parameters, (std::vector<double>{1, 1, 2, 2, 3, 3}));
  EXPECT_TRUE(std::isnan(out.initial[0]) && std::isnan(out.initial[1]));
  EXPECT_EQ(column(out.initial, 1, 2), (std::vector<double>{5, 5}));
  EXPECT_EQ(out.t_begin, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(out.t_end, (std::vector<double>{1.5, 1.5}));
}

TEST(sampler, the_last_axis_is_fastest_and_samples_are_innermost) {
  plan p = fixed_plan();
  axis zip = list(parameter(0), {10, 20});
  zip.columns.push_back({state(0), listed{{-1, -2}}});
  zip.columns.push_back({{target::kind::t_end, 0, "t_end"}, listed{{7, 8}}});
  p.axes = {list(parameter(2), {100, 200, 300}), zip};
  p.samples = 2;
  p.count = 12;
  columns out;
  sampler(p).fill(0, 12, out);
  for (int id = 0; id < 12; ++id) {
    const int slow = id / 4, fast = id / 2 % 2;
    EXPECT_EQ(out.parameters[2 * 12 + id], 100.0 * (slow + 1));
    EXPECT_EQ(out.parameters[0 * 12 + id], 10.0 * (fast + 1));
    EXPECT_EQ(out.initial[0 * 12 + id], -1.0 - fast);
    EXPECT_EQ(out.t_end[id], 7.0 + fast);
    EXPECT_EQ(out.t_begin[id], 0.5);
    EXPECT_EQ(out.parameters[1 * 12 + id], 2.0);
  }
}

TEST(sampler, a_range_has_exact_ends_and_even_steps) {
  const auto sweep = range(0.2, 10.0, 100'000);
  EXPECT_EQ(value_at(sweep, 0), 0.2);
  EXPECT_EQ(value_at(sweep, 99'999), 10.0);
  for (std::int64_t i = 0; i < 100'000; i += 97) {
    const auto exact = static_cast<double>(0.2L + (10.0L - 0.2L) * i / 99'999);
    EXPECT_NEAR(value_at(sweep, i), exact, 4e-16 * exact + 2e-16);
  }
  EXPECT_EQ(value_at(range(0.1, 0.5, 7), 6), 0.5);  // 0.1 + (0.5 - 0.1) * 6 / 6 rounds to another number
  for (int i = 0; i <= 10; ++i) EXPECT_EQ(value_at(range(0, 10, 11), i), i);
  EXPECT_EQ(value_at(range(3, -1, 5), 1), 2.0);
  EXPECT_EQ(value_at(range(3, 4, 1), 0), 3.0);
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(value_at(range(0, 1, huge), huge - 1), 1.0);
}

TEST(sampler, a_logarithmic_range_has_exact_ends_and_even_ratios) {
  for (int i = 0; i <= 6; ++i) EXPECT_NEAR(value_at(range(1e-3, 1e3, 7, true), i) / std::pow(10.0, i - 3), 1, 4e-15);
  EXPECT_EQ(value_at(range(3, 7, 9, true), 0), 3.0);  // exp(log(3)) and exp(log(7)) round to other numbers
  EXPECT_EQ(value_at(range(3, 7, 9, true), 8), 7.0);
  // A range so narrow that rounding in exp and log would leave it.
  const double above = 1e5 * (1 + 3e-15);
  for (int i = 0; i < 1000; ++i) {
    const double value = value_at(range(1e5, above, 1000, true), i);
    EXPECT_TRUE(1e5 <= value && value <= above);
  }
}

TEST(sampler, an_instance_does_not_depend_on_its_chunk) {
  plan p = fixed_plan();
  p.axes = {list(parameter(0), {1, 2, 3}), {{range(0.1, 9, 11)}, 11}};
  p.axes[1].columns[0].what = state(1);
  p.random = {{parameter(2), {distribution::kind::normal, 0, 1, 0, -0.5, 2}},
              {state(0), {distribution::kind::triangular, 0, 1, 4}}};
  p.samples = 7;
  p.count = 3 * 11 * 7;
  p.seed = 3;
  columns whole, part;
  sampler(p).fill(0, p.count, whole);
  for (const std::int64_t size : {1, 5, 8, 64}) {  // from the last chunk to the first
    for (std::int64_t first = (p.count - 1) / size * size; first >= 0; first -= size) {
      const auto count = std::min(size, p.count - first);
      sampler(p).fill(first, count, part);
      for (int j = 0; j < 3; ++j) {
        const auto all = column(whole.parameters, j, p.count);
        EXPECT_TRUE(same(column(part.parameters, j, count), {all.begin() + first, all.begin() + first + count}));
      }
      for (int j = 0; j < 2; ++j) {
        const auto all = column(whole.initial, j, p.count);
        EXPECT_TRUE(same(column(part.initial, j, count), {all.begin() + first, all.begin() + first + count}));
      }
    }
  }
}

// A chunk is filled again and again; what does not vary is there already, unless the plan or the number of instances is another.
TEST(sampler, columns_filled_again_hold_nothing_of_the_last_plan) {
  plan swept = fixed_plan(), other = fixed_plan(), random = random_plan({distribution::kind::uniform, 0, 1, 0}, 6);
  swept.axes = {list(parameter(0), {1, 2, 3, 4, 5, 6})};
  swept.count = other.count = 6;
  other.axes = {list(state(0), {7, 8, 9, 7, 8, 9})};
  other.parameters[2] = -3.0;
  other.t_end = 9.0;
  columns again;
  for (const plan* p : {&swept, &swept, &other, &random, &swept, &random, &random, &other})
    for (const std::int64_t count : {6, 4, 6, 6}) {
      columns fresh;
      sampler(*p).fill(0, count, fresh);
      sampler(*p).fill(0, count, again);
      for (auto part :
           {&columns::parameters, &columns::initial, &columns::discrete, &columns::t_begin, &columns::t_end})
        EXPECT_TRUE(same(fresh.*part, again.*part));
    }
}

// ---- random values

TEST(sampler, the_bits_are_philox_4x64_10_keyed_as_documented) {
  // From numpy.random.Philox (numpy 2.4.6), key (7, 0): the words w0, w1 for counter (12345, 1, 0, 0), parameter 1, and
  // (12345, 2^32 + 1, 0, 0), state 1. Uniform: (floor(w0 / 2^12) + 1/2) / 2^52. Normal, by mpmath:
  // sin(pi (w0 + 1/2) / 2^63) sqrt(-2 ln((w1 + 1/2) / 2^64)).
  plan p = random_plan({distribution::kind::uniform, 0, 1, 0}, 20'000);
  p.random.push_back({state(1), {distribution::kind::normal, 0, 1, 0}});
  columns out;
  sampler(p).fill(12345, 1, out);
  EXPECT_EQ(out.parameters[1], 0.847797867272918);
  EXPECT_NEAR(out.initial[1], 1.270185930361416945, 1e-15);
}

/// A distribution with its distribution function and its first moments, all from textbook formulas.
struct known_distribution {
  const char* name;
  distribution drawn_from;
  std::function<double(double)> cumulative;
  double mean, variance, kurtosis;
};

double normal_cumulative(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

std::vector<known_distribution> known_distributions() {
  // log-uniform on [a, b]: E x^k = (b^k - a^k) / (k ln(b / a))
  const double a = 0.5, b = 40;
  const auto raw = [=](int k) { return (std::pow(b, k) - std::pow(a, k)) / (k * std::log(b / a)); };
  const double mean = raw(1), variance = raw(2) - mean * mean;
  const double fourth = raw(4) - 4 * mean * raw(3) + 6 * mean * mean * raw(2) - 3 * std::pow(mean, 4);
  const double s2 = 0.25;  // variance of the logarithm
  return {
      {"uniform", {distribution::kind::uniform, -2, 3, 0}, [](double x) { return (x + 2) / 5; }, 0.5, 25.0 / 12, 1.8},
      {"log_uniform",
       {distribution::kind::log_uniform, a, b, 0},
       [=](double x) { return std::log(x / a) / std::log(b / a); },
       mean,
       variance,
       fourth / (variance * variance)},
      {"normal",
       {distribution::kind::normal, 0.8, 0.05, 0},
       [](double x) { return normal_cumulative((x - 0.8) / 0.05); },
       0.8,
       0.0025,
       3},
      {"lognormal",
       {distribution::kind::lognormal, 0.3, 0.5, 0},
       [](double x) { return normal_cumulative((std::log(x) - 0.3) / 0.5); },
       std::exp(0.3 + s2 / 2),
       std::expm1(s2) * std::exp(0.6 + s2),
       std::exp(4 * s2) + 2 * std::exp(3 * s2) + 3 * std::exp(2 * s2) - 3},
      {"triangular",
       {distribution::kind::triangular, 1, 2, 5},
       [](double x) { return x < 2 ? (x - 1) * (x - 1) / 4 : 1 - (5 - x) * (5 - x) / 12; },
       8.0 / 3,
       (1 + 4 + 25 - 2 - 5 - 10) / 18.0,
       2.4},
  };
}

/// Largest distance between the empirical and the given distribution function (Kolmogorov-Smirnov).
double distance(std::vector<double> values, const std::function<double(double)>& cumulative) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double d = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double f = cumulative(values[i]);
    d = std::max({d, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return d;
}

// A correct sampler exceeds 2.23 / sqrt(n) with probability 2 exp(-2 * 2.23^2) = 1e-4; the seed is fixed.
double allowed_distance(std::size_t n) { return 2.23 / std::sqrt(static_cast<double>(n)); }

TEST(sampler, values_follow_their_distributions) {
  constexpr std::int64_t n = 100'000;
  for (const auto& [name, drawn_from, cumulative, mean, variance, kurtosis] : known_distributions()) {
    const auto values = draws(random_plan(drawn_from, n));
    EXPECT_LT(distance(values, cumulative), allowed_distance(n)) << name;

    // Five standard errors of the mean and of the variance.
    const double m = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double v = 0;
    for (const double x : values) v += (x - mean) * (x - mean) / n;
    EXPECT_NEAR(m, mean, 5 * std::sqrt(variance / n)) << name;
    EXPECT_NEAR(v, variance, 5 * variance * std::sqrt((kurtosis - 1) / n)) << name;
  }
}

TEST(sampler, cumulative_is_the_distribution_function) {
  for (const auto& known : known_distributions())
    for (const double x : {1.1, 1.9, 2.0, 2.7})
      EXPECT_NEAR(cumulative(known.drawn_from, x), known.cumulative(x), 1e-15) << known.name;
  for (const auto& known : known_distributions()) {
    EXPECT_NEAR(cumulative(known.drawn_from, -1e9), 0, 1e-15) << known.name;
    EXPECT_NEAR(cumulative(known.drawn_from, 1e9), 1, 1e-15) << known.name;
  }
}

TEST(sampler, truncated_values_stay_inside_and_follow_the_truncated_distribution) {
  constexpr std::int64_t n = 100'000;
  for (auto [name, drawn_from, cumulative, mean, variance, kurtosis] : known_distributions()) {
    const double deviation = std::sqrt(variance);
    drawn_from.min = mean - 0.5 * deviation;
    drawn_from.max = mean + 0.8 * deviation;
    const auto values = draws(random_plan(drawn_from, n));
    for (const double x : values) ASSERT_TRUE(drawn_from.min <= x && x <= drawn_from.max) << name;
    const double low = cumulative(drawn_from.min), inside = cumulative(drawn_from.max) - low;
    const auto truncated = [&, f = cumulative](double x) { return (f(x) - low) / inside; };
    EXPECT_LT(distance(values, truncated), allowed_distance(n)) << name;
  }
}

TEST(sampler, a_rare_tail_is_reached) {  // 1 - Phi(3) = 1.35e-3, nearly the least that a spec may ask for
  distribution tail{distribution::kind::normal, 0, 1, 0};
  tail.min = 3;
  const auto values = draws(random_plan(tail, 2000));
  const auto f = [](double x) { return 1 - normal_cumulative(-x) / normal_cumulative(-3); };
  EXPECT_LT(distance(values, f), allowed_distance(values.size()));
}

TEST(sampler, an_unreachable_truncation_ends_with_an_error) {
  distribution unreachable{distribution::kind::normal, 0, 1, 0};
  unreachable.min = 100;
  try {
    draws(random_plan(unreachable, 1));
    FAIL() << "accepted";
  } catch (const error& e) { EXPECT_EQ(e.exit_code, 1); }
}

TEST(sampler, another_seed_gives_other_values) {
  const distribution drawn_from{distribution::kind::uniform, 0, 1, 0};
  const auto seven = draws(random_plan(drawn_from, 1000, 7)), eight = draws(random_plan(drawn_from, 1000, 8));
  EXPECT_TRUE(same(seven, draws(random_plan(drawn_from, 1000, 7))));
  for (std::size_t i = 0; i < seven.size(); ++i) EXPECT_NE(seven[i], eight[i]);
}

TEST(sampler, another_random_column_leaves_a_column_as_it_is) {
  const distribution drawn_from{distribution::kind::normal, 0, 1, 0, -1, 1};
  const plan one = random_plan(drawn_from, 1000);
  plan more = one;
  more.random.insert(more.random.begin(), {parameter(0), drawn_from});
  more.random.push_back({state(1), drawn_from});
  EXPECT_TRUE(same(draws(one), draws(more)));
}

TEST(sampler, columns_and_neighbours_are_uncorrelated) {
  constexpr std::int64_t n = 100'000;
  const distribution drawn_from{distribution::kind::normal, 0, 1, 0};
  plan p = random_plan(drawn_from, n);
  p.random.push_back({parameter(2), drawn_from});
  p.random.push_back({state(1), drawn_from});  // same index as the first, but another kind
  columns out;
  sampler(p).fill(0, n, out);
  const auto a = column(out.parameters, 1, n), b = column(out.parameters, 2, n), c = column(out.initial, 1, n);
  const auto correlation = [](const auto& x, const auto& y, std::int64_t lag) {
    return std::inner_product(x.begin() + lag, x.end(), y.begin(), 0.0) / n;
  };
  const double allowed = 5 / std::sqrt(static_cast<double>(n));  // five standard errors for independent inputs
  EXPECT_NEAR(correlation(a, b, 0), 0, allowed);
  EXPECT_NEAR(correlation(a, c, 0), 0, allowed);
  EXPECT_NEAR(correlation(a, a, 1), 0, allowed);
}

}  // namespace
}  // namespace saltus::host
