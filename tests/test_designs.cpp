// The designs of [sample]: points lie as their definitions say, each computed from its number alone, and quantiles equal those of
// SciPy.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "spec/design.hpp"
#include "spec/distribution.hpp"

namespace saltus::host {
namespace {

using kind = distribution::kind;

design designed(design::kind which, std::int64_t count) {
  design d;
  d.which = which;
  d.count = count;
  return d;
}

/// Number of the points `first`, ... in each of `cells` equal parts of an axis.
std::vector<int> histogram(const design_points& points, int input, std::int64_t first, std::int64_t count, int cells) {
  std::vector<int> n(static_cast<std::size_t>(cells), 0);
  for (std::int64_t i = first; i < first + count; ++i) ++n[static_cast<std::size_t>(points.at(i, input) * cells)];
  return n;
}

plan plan_of(design d, int inputs, const distribution& drawn_from, std::uint64_t seed = 7) {
  plan p;
  p.parameters.assign(static_cast<std::size_t>(inputs), 0.0);
  for (int j = 0; j < inputs; ++j) p.random.push_back({{target::kind::parameter, j, "p"}, drawn_from});
  p.design = d;
  p.seed = seed;
  p.samples = p.count = d.count * instances_per_count(d, inputs);
  return p;
}

std::vector<double> values(const plan& p) {
  columns out;
  sampler(p).fill(0, p.count, out);
  return out.parameters;
}

// ---- points

TEST(designs, a_keyed_permutation_is_one_and_all_are_equally_likely) {
  for (const std::uint64_t size : {1, 2, 3, 5, 64, 65, 1000}) {
    const keyed_permutation p(size, 3, 1);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i) seen.insert(p(i));
    EXPECT_EQ(seen.size(), size);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
  for (const auto& [size, of, limit] : {std::tuple(2, 2.0, 10.8), {3, 6.0, 20.5}, {4, 24.0, 49.7}}) {  // chi^2, 0.1 %
    std::map<std::vector<std::uint64_t>, double> counted;
    constexpr int n = 24'000;
    for (std::uint64_t stream = 0; stream < n; ++stream) {
      const keyed_permutation p(static_cast<std::uint64_t>(size), 9, stream);
      std::vector<std::uint64_t> order;
      for (int i = 0; i < size; ++i) order.push_back(p(static_cast<std::uint64_t>(i)));
      ++counted[order];
    }
    EXPECT_EQ(static_cast<double>(counted.size()), of);
    double chi_squared = 0;
    for (const auto& [order, count] : counted) chi_squared += (count - n / of) * (count - n / of) / (n / of);
    EXPECT_LT(chi_squared, limit) << size;
  }
}

TEST(designs, a_latin_hypercube_has_one_point_in_each_stratum) {
  for (const std::int64_t n : {1, 7, 1000}) {
    const design_points points(designed(design::kind::latin_hypercube, n), 3, 5);
    for (int input = 0; input < 3; ++input)
      EXPECT_EQ(histogram(points, input, 0, n, static_cast<int>(n)), std::vector<int>(static_cast<std::size_t>(n), 1));
  }
}

/// A (0, m, 1)-net in each input and a (0, m, 2)-net in inputs 0 and 1; scrambling preserves them (A. B. Owen 1995).
TEST(designs, scrambled_sobol_points_fill_elementary_intervals_evenly) {
  const design_points points(designed(design::kind::sobol, 1 << 10), 40, 5);
  for (int input = 0; input < 40; ++input)
    for (const std::int64_t first : {0, 1 << 10, 5 << 10})
      EXPECT_EQ(histogram(points, input, first, 1 << 10, 1 << 10), std::vector<int>(1 << 10, 1)) << input;
  for (int bits = 0; bits <= 8; ++bits) {
    std::vector<int> cells(256, 0);
    for (std::int64_t i = 256; i < 512; ++i)
      ++cells[(static_cast<std::size_t>(points.at(i, 0) * (1 << bits)) << (8 - bits)) +
              static_cast<std::size_t>(points.at(i, 1) * (1 << (8 - bits)))];
    EXPECT_EQ(cells, std::vector<int>(256, 1)) << bits;
  }
}

TEST(designs, scrambled_halton_points_fill_the_intervals_of_their_bases_evenly) {
  const design_points points(designed(design::kind::halton, 10'000), 4, 5);
  const std::pair<int, int> widths[] = {{0, 1024}, {1, 729}, {2, 625}, {3, 343}};  // powers of 2, 3, 5, 7
  for (const auto& [input, width] : widths)
    for (const std::int64_t turn : {0, 3})
      EXPECT_EQ(histogram(points, input, turn * width, width, width),
                std::vector<int>(static_cast<std::size_t>(width), 1));
}

/// Another seed scrambles differently, and each point is uniform over seeds.
TEST(designs, scrambling_by_the_seed_leaves_no_bias) {
  for (const auto which : {design::kind::latin_hypercube, design::kind::sobol, design::kind::halton}) {
    constexpr std::uint64_t seeds = 4000;
    double sum = 0, squares = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const double u = design_points(designed(which, 4), 2, seed).at(1, 1);
      sum += u, squares += u * u;
    }
    EXPECT_NEAR(sum / seeds, 0.5, 4 * 0.2887 / std::sqrt(seeds));
    EXPECT_NEAR(squares / seeds, 1.0 / 3, 4 * 0.2981 / std::sqrt(seeds));
  }
}

/// By the digits of n, the n points of an input in base b are blocks of b^k with one point in each of b^k intervals, anywhere in it; each
/// block adds at most one half to the error of the sum.
TEST(designs, quasi_random_means_are_as_near_as_their_digits_say) {
  constexpr std::int64_t n = 12'345;
  const int primes[] = {2, 3, 5, 7, 11};
  for (const auto which : {design::kind::sobol, design::kind::halton}) {
    const design_points points(designed(which, n), 5, 3);
    for (int input = 0; input < 5; ++input) {
      const int base = which == design::kind::sobol ? 2 : primes[input];
      double sum = 0, blocks = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += points.at(i, input) - 0.5;
      for (std::int64_t left = n; left > 0; left /= base) blocks += static_cast<double>(left % base);
      EXPECT_LE(std::abs(sum), 0.5 * blocks);
    }
  }
}

TEST(designs, rows_of_a_pair_of_samples_are_mixed_as_saltelli_says) {
  for (const bool second_order : {false, true}) {
    design d = designed(design::kind::saltelli, 100);
    d.second_order = second_order;
    const int k = 3;
    const design_points points(d, k, 5);
    const std::int64_t rows = points.unit_rows();
    ASSERT_EQ(rows, second_order ? 8 : 5);
    for (std::int64_t unit = 0; unit < d.count; ++unit)
      for (int input = 0; input < k; ++input) {
        const auto row = [&](std::int64_t r) { return points.at(unit * rows + r, input); };
        const double a = row(0), b = row(rows - 1);
        EXPECT_NE(a, b);
        for (int j = 0; j < k; ++j) {
          EXPECT_EQ(row(1 + j), j == input ? b : a);
          if (second_order) { EXPECT_EQ(row(1 + k + j), j == input ? a : b); }
        }
      }
  }
}

TEST(designs, a_morris_trajectory_changes_each_input_once_by_half_the_levels) {
  for (const int levels : {2, 4, 10}) {
    design d = designed(design::kind::morris, 200);
    d.levels = levels;
    constexpr int k = 5;
    const design_points points(d, k, 5);
    std::set<double> seen;
    double up = 0;
    for (std::int64_t unit = 0; unit < d.count; ++unit)
      for (int input = 0; input < k; ++input) {
        const morris_step step = points.step(unit, input);
        EXPECT_NEAR(std::abs(step.size), 0.5 * levels / (levels - 1), 1e-15);
        up += step.size > 0;
        for (std::int64_t row = 0; row < k; ++row) {
          const double before = points.at(unit * (k + 1) + row, input),
                       after = points.at(unit * (k + 1) + row + 1, input);
          seen.insert(before);
          EXPECT_NEAR(after - before, row == step.before ? step.size : 0.0, 1e-15);
        }
      }
    EXPECT_EQ(static_cast<int>(seen.size()), levels);
    EXPECT_EQ(*seen.begin(), 0.0);
    EXPECT_EQ(*seen.rbegin(), 1.0);
    EXPECT_NEAR(up / 1000, 0.5, 4 * 0.5 / std::sqrt(1000.0));
  }
}

/// For N = 1001 and 4 harmonics: highest frequency 125, the others up to 15.
TEST(designs, a_curve_of_fast_goes_through_its_own_input_at_the_highest_frequency) {
  constexpr std::int64_t n = 1001;
  constexpr int k = 4;
  const design_points points(designed(design::kind::fast, n), k, 5);
  for (int curve = 0; curve < k; ++curve)
    for (int input = 0; input < k; ++input) {
      int turns = 0;  // turns of a triangle wave, by its upward passages through the middle
      for (std::int64_t i = 0; i < n; ++i)
        turns += points.at(curve * n + i, input) <= 0.5 && points.at(curve * n + (i + 1) % n, input) > 0.5;
      const int others[] = {1, 8, 15};
      EXPECT_EQ(turns, input == curve ? 125 : others[input < curve ? input : input - 1]);
    }
}

TEST(designs, an_instance_depends_on_seed_and_number_alone) {
  for (const auto& form : design_forms) {
    const plan p = plan_of(designed(form.which, 300), 3, {kind::normal, 0, 1, 0, -3, 3});
    const auto all = values(p);
    for (const auto& [first, n] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {17, 40}, {p.count - 1, 1}}) {
      columns some;
      sampler(p).fill(first, n, some);
      for (std::int64_t j = 0; j < 3; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_EQ(some.parameters[static_cast<std::size_t>(j * n + i)],
                    all[static_cast<std::size_t>(j * p.count + first + i)]);
    }
    plan other = p;
    other.seed = 8;
    EXPECT_NE(values(other), all) << form.name;
  }
}

// ---- distributions

/// scipy.stats 1.17: the ppf of beta(2, 5), of beta(0.5, 0.5, loc=-1, scale=3), gamma(2.5, scale=1.5),
/// weibull_min(1.5, scale=2), truncnorm(-1, 0.5, loc=1, scale=2), lognorm(2, scale=exp(0.5)); others are exact.
TEST(designs, quantiles_are_those_of_scipy) {
  distribution arcsine{kind::beta, 0.5, 0.5, 0};
  arcsine.low = -1, arcsine.high = 2;
  const struct {
    distribution d;
    double u, expected;
  } cases[] = {
      {{kind::beta, 2, 5, 0}, 0.3, 0.18180347131894917},
      {{kind::gamma, 2.5, 1.5, 0}, 0.9, 6.927267674835843},
      {{kind::weibull, 1.5, 2, 0}, 0.1, 0.4461510512738342},
      {{kind::normal, 1, 2, 0, -1, 2}, 0.5, 0.6220635355884498},
      {arcsine, 0.25, -0.5606601717798214},                     // -1 + 3 sin^2(pi/8)
      {{kind::triangular, 0, 1, 3}, 0.75, 1.7752551286084110},  // 3 - sqrt(6 / 4)
      {{kind::log_uniform, 1e-2, 1e2, 0}, 0.75, 10.0},
      {{kind::lognormal, 0.5, 2, 0}, 0.975, 83.09030007203525},
  };
  for (const auto& c : cases) EXPECT_NEAR(quantile(c.d, c.u), c.expected, 2e-14 * std::abs(c.expected));
}

TEST(designs, distributions_without_a_largest_value_are_proper_if_their_largest_draw_is_finite) {
  for (const auto which : {kind::gamma, kind::weibull}) {
    EXPECT_TRUE(is_proper({which, 2.5, 1.5, 0}));
    EXPECT_FALSE(is_proper({which, 2.5, 0, 0}));
    EXPECT_FALSE(is_proper({which, 2.5, 1e308, 0}));
  }
}

TEST(designs, a_quantile_is_the_inverse_of_the_distribution_function) {
  const distribution all[] = {{kind::uniform, -1, 2, 0},  {kind::log_uniform, 0.1, 7, 0}, {kind::normal, 3, 2, 0},
                              {kind::lognormal, 0, 1, 0}, {kind::triangular, 0, 0, 2},    {kind::beta, 0.7, 3, 0},
                              {kind::gamma, 0.4, 2, 0},   {kind::weibull, 0.8, 3, 0},     {kind::gamma, 30, 0.1, 0}};
  for (const auto& d : all)
    for (const double u : {1e-6, 0.01, 0.5, 0.9, 0.9999}) EXPECT_NEAR(cumulative(d, quantile(d, u)), u, 1e-12);
}

TEST(designs, a_discrete_distribution_has_its_weights_and_data_their_frequencies) {
  distribution d{kind::discrete, 0, 0, 0};
  d.values = {1, 2, 5};
  d.cumulative = {0.5, 0.75, 1};
  EXPECT_EQ(quantile(d, 0.25), 1);
  EXPECT_EQ(quantile(d, 0.625), 2);
  EXPECT_EQ(quantile(d, 0.875), 5);
  EXPECT_EQ(cumulative(d, 0.5), 0);
  EXPECT_EQ(cumulative(d, 2), 0.75);
  const auto y = values(plan_of(designed(design::kind::sobol, 1024), 1, d));  // a net has exact shares
  EXPECT_EQ(std::count(y.begin(), y.end(), 1.0), 512);
  EXPECT_EQ(std::count(y.begin(), y.end(), 2.0), 256);
  EXPECT_EQ(std::count(y.begin(), y.end(), 5.0), 256);
}

TEST(designs, every_design_follows_the_distribution) {
  const distribution d{kind::gamma, 2, 3, 0, 1, 20};
  for (const auto& form : design_forms) {
    if (form.which == design::kind::morris) continue;  // morris has only its levels
    auto y = values(plan_of(designed(form.which, 4000), 1, d));
    std::sort(y.begin(), y.end());
    EXPECT_GE(y.front(), 1.0);
    EXPECT_LE(y.back(), 20.0);
    const double below = cumulative(d, 1), width = cumulative(d, 20) - below, n = static_cast<double>(y.size());
    double farthest = 0;  // Kolmogorov-Smirnov distance
    for (std::size_t i = 0; i < y.size(); ++i)
      farthest =
          std::max(farthest, std::abs((cumulative(d, y[i]) - below) / width - (static_cast<double>(i) + 0.5) / n));
    EXPECT_LT(farthest, form.which == design::kind::random ? 1.95 / std::sqrt(n) : 0.02) << form.name;
  }
}

/// For a Gaussian copula with r, Pearson's correlation of the normals is r, and Spearman's is 6 / pi asin(r / 2) for all margins.
TEST(designs, correlated_inputs_keep_their_distributions) {
  for (const auto which : {design::kind::random, design::kind::sobol, design::kind::latin_hypercube}) {
    constexpr std::int64_t n = 1 << 14;
    plan p = plan_of(designed(which, n), 2, {kind::normal, 0, 1, 0});
    p.random[1].drawn_from = {kind::weibull, 0.7, 2, 0};
    p.correlation = {1, 0, 0.6, 0.8};
    const auto y = values(p);
    double sum = 0, ranks = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double u = normal_cumulative(y[i]), v = cumulative(p.random[1].drawn_from, y[n + i]);
      sum += y[i] * normal_quantile(v);
      ranks += 12 * (u - 0.5) * (v - 0.5);
    }
    EXPECT_NEAR(sum / n, 0.6, 0.03);
    EXPECT_NEAR(ranks / n, 6 / 3.14159265358979 * std::asin(0.3), 0.03);
    plan independent = p;
    independent.correlation.clear();
    if (which != design::kind::random) {
      const auto other = values(independent);
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], other[i], 1e-9) << "the first input is unchanged";
    }
  }
}

}  // namespace
}  // namespace saltus::host
