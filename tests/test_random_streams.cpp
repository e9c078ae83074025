// Random numbers of models: the generator against its published vectors, draws against an implementation of others (Random123), their
// distributions, and processes whose moments are known. All seeds are fixed, so that a test passes always or never.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include "derivative_runs.hpp"
#include "number/normal_quantile.hpp"
#include "number/philox.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

const std::string draws = test_model("draws"), repairs = test_model("repairs");

TEST(RandomStreams, PhiloxHasItsPublishedVectors) {
  // kat_vectors of Random123 1.09: counter, key, and the four words that they make.
  struct vector {
    uint32 counter[4], key[2], word[4];
  };
  const vector all[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& v : all) {
    const auto x = philox::of(v.counter, v.key[0], v.key[1]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(x.word[i], v.word[i]);
  }
}

TEST(RandomStreams, NumbersLieBetweenZeroAndOne) {
  for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    const double u = detail::between_0_and_1<double>(bits);
    const float f = detail::between_0_and_1<float>(bits);
    EXPECT_TRUE(0.0 < u && u < 1.0 && 0.0f < f && f < 1.0f);
    EXPECT_EQ(bits == 0 ? u : 1 - u, 0x1p-53);
    EXPECT_EQ(bits == 0 ? f : 1 - f, 0x1p-24f);
  }
}

TEST(RandomStreams, QuantilesOfTheNormalDistribution) {
  // scipy.special.ndtri
  const std::pair<double, double> known[] = {{0.5, 0.0},
                                             {0.975, 1.959963984540054},
                                             {0.6, 0.2533471031357997},
                                             {0.925, 1.4395314709384563},
                                             {0.9251, 1.4402382675279635},
                                             {1e-10, -6.361340902404056},
                                             {0x1p-53, -8.209536151601387},
                                             {0.999999, 4.753424308817087}};
  for (const auto& [u, z] : known) {
    const double found = normal_quantile(pack<double, 1>(u)).v;
    EXPECT_NEAR(found, z, 1e-15 * (1 + 4 * std::fabs(z))) << u;
    EXPECT_NEAR(normal_quantile(pack<float, 1>(u)).v, z, u == 0.999999 ? 2e-2 : 2e-5) << u;
  }
  // Lane by lane, a pack has the bits of single numbers.
  pack<double, 4> u;
  for (int lane = 0; lane < 4; ++lane) u.set(lane, known[lane].first);
  for (int lane = 0; lane < 4; ++lane)
    EXPECT_EQ(normal_quantile(u).get(lane), normal_quantile(pack<double, 1>(known[lane].first)).v);
}

/// Draw number `count` of a stream of an instance, by Random123.
std::uint64_t bits_of_draw(std::uint64_t seed, std::uint64_t id, std::uint32_t stream, std::uint64_t count) {
  r123::Philox2x32::ctr_type key = {{static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32)}};
  key = r123::Philox2x32()(key, {{static_cast<std::uint32_t>(seed)}});
  key = r123::Philox2x32()(key, {{static_cast<std::uint32_t>(seed >> 32)}});
  const auto words = r123::Philox4x32()(
      {{static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(count >> 32), stream, 0}}, {{key[0], key[1]}});
  return static_cast<std::uint64_t>(words[0]) << 32 | words[1];
}
double uniform_draw(std::uint64_t seed, std::uint64_t id, std::uint32_t stream, std::uint64_t count) {
  return (static_cast<double>(bits_of_draw(seed, id, stream, count) >> 12) + 0.5) / 0x1p52;
}

TEST(RandomStreams, AreFunctionsOfSeedInstanceStreamAndCount) {
  const auto r = run(draws, {"sample.count=40", "sample.seed=4294967299", "parameters.many=70000"});
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto draw = [&](std::uint32_t stream, std::uint64_t count) {
      return uniform_draw(4294967299, static_cast<std::uint64_t>(i), stream, count);
    };
    ASSERT_EQ(discrete(r, "at_start", i), draw(0, 0)) << i;
    ASSERT_EQ(discrete(r, "first", i), draw(0, 1)) << i;
    ASSERT_EQ(discrete(r, "second", i), draw(0, 2)) << i;
    ASSERT_EQ(discrete(r, "other", i), draw(1, 0)) << i;
    ASSERT_EQ(discrete(r, "gauss", i), normal_quantile(pack<double, 1>(draw(2, 0))).v) << i;
    ASSERT_EQ(discrete(r, "last", i), draw(0, 70003)) << i;
  }
  EXPECT_EQ(discrete(r, "plain_draws_0"), 70004 - 65536);
  EXPECT_EQ(discrete(r, "plain_draws_1"), 1);
  // Without a seed it is 0; and floats have the leading 23 bits.
  const auto floats = run(draws, {"precision=float", "rtol=1e-4", "parameters.many=70000"});
  EXPECT_EQ(discrete(floats, "last"), (static_cast<double>(bits_of_draw(0, 0, 0, 70003) >> 41) + 0.5) / 0x1p23);
}

TEST(RandomStreams, AreUniformNormalAndIndependent) {
  constexpr int n = 20000;
  const auto r = run(draws, {fmt::format("sample.count={}", n), "sample.seed=5"});
  const char* const names[] = {"at_start", "first", "second", "other"};
  std::array<std::array<int, 64>, 4> bins{};
  double sums[4] = {}, products[4] = {}, moments[5] = {};
  for (int i = 0; i < n; ++i) {
    double previous = discrete(r, "other", (i + n - 1) % n);  // of the instance before
    for (std::size_t k = 0; k < 4; ++k) {
      const double u = discrete(r, names[k], i);
      ++bins[k][static_cast<std::size_t>(64 * u)];
      sums[k] += u - 0.5, products[k] += (u - 0.5) * (previous - 0.5);
      previous = u;
    }
    const double z = discrete(r, "gauss", i);
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(z, k) / n;
  }
  for (std::size_t k = 0; k < 4; ++k) {
    double chi_square = 0;
    for (const int count : bins[k]) chi_square += (count - n / 64.0) * (count - n / 64.0) / (n / 64.0);
    // 63 degrees of freedom: 26.0 and 122.7 have probabilities 1e-5 below and above (scipy.stats.chi2).
    EXPECT_GT(chi_square, 26.0) << names[k];
    EXPECT_LT(chi_square, 122.7) << names[k];
    EXPECT_LT(std::fabs(sums[k]), 4 * std::sqrt(n / 12.0)) << names[k];
    EXPECT_LT(std::fabs(products[k]), 4 * std::sqrt(n / 144.0)) << names[k];
  }
  // Moments 0, 1, 0, 3 with variances 1, 2, 15, 96 of their terms.
  EXPECT_LT(std::fabs(moments[1]), 4 * std::sqrt(1.0 / n));
  EXPECT_LT(std::fabs(moments[2] - 1), 4 * std::sqrt(2.0 / n));
  EXPECT_LT(std::fabs(moments[3]), 4 * std::sqrt(15.0 / n));
  EXPECT_LT(std::fabs(moments[4] - 3), 4 * std::sqrt(96.0 / n));
}

/// Mean, and standard error of the mean, of f(instance).
template <class F>
std::pair<double, double> mean_of(std::int64_t n, F&& f) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += f(i), squares += f(i) * f(i);
  const auto count = static_cast<double>(n);
  const double mean = sum / count;
  return {mean, std::sqrt((squares / count - mean * mean) / (count - 1))};
}

TEST(RandomStreams, FailuresAndRepairsHaveTheirMoments) {
  // Rates l of failures and m of repairs. With p the probability to run, starting with 1, p' = m - (l + m) p; the moments of the number N of
  // failures, restricted to running (1) and not (0), obey linear equations as well.
  constexpr double l = 0.5, m = 1.5, t = 10, s = l + m;
  constexpr std::int64_t n = 20000;
  const auto r = run(repairs, {fmt::format("sample.count={}", n), "sample.seed=11"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  const double running = m / s + l / s * std::exp(-s * t);
  const double up = m / s * t + l / (s * s) * (1 - std::exp(-s * t));
  const auto within = [](std::pair<double, double> found, double expected, const char* what) {
    EXPECT_LT(std::fabs(found.first - expected), 4 * found.second) << what << ": " << found.first << ", " << expected;
  };
  within(mean_of(n, [&](auto i) { return discrete(r, "runs", i); }), running, "probability to run");
  within(mean_of(n, [&](auto i) { return r.final("up", i); }), up, "time up");
  within(mean_of(n, [&](auto i) { return discrete(r, "failures", i); }), l * up, "failures");
  // p1, p0, E[N; 1], E[N; 0], E[N^2; 1], E[N^2; 0] by the classical Runge-Kutta method.
  using six = std::array<double, 6>;
  const auto f = [](const six& y) {
    const auto& [p1, p0, m1, m0, s1, s0] = y;
    return six{m * p0 - l * p1,        l * p1 - m * p0, m * m0 - l * m1,
               l * (m1 + p1) - m * m0, m * s0 - l * s1, l * (s1 + 2 * m1 + p1) - m * s0};
  };
  const auto plus = [](six y, double h, const six& k) {
    for (std::size_t i = 0; i < 6; ++i) y[i] += h * k[i];
    return y;
  };
  six y = {1, 0, 0, 0, 0, 0};
  constexpr int steps = 2000;
  for (int k = 0; k < steps; ++k) {
    const double h = t / steps;
    const auto a = f(y), b = f(plus(y, h / 2, a)), c = f(plus(y, h / 2, b)), d = f(plus(y, h, c));
    y = plus(plus(plus(plus(y, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  }
  EXPECT_NEAR(y[2] + y[3], l * up, 1e-9);
  within(mean_of(n, [&](auto i) { return std::pow(discrete(r, "failures", i), 2); }), y[4] + y[5], "failures squared");
}

TEST(RandomStreams, StepsOfAnOrnsteinUhlenbeckProcessAreExact) {
  constexpr double theta = 0.7, sigma = 0.4, step = 0.5, variance = sigma * sigma / (2 * theta);
  constexpr std::int64_t n = 20000;
  const auto r = run(repairs, {fmt::format("sample.count={}", n), "sample.seed=3"});
  const auto a = [&](std::int64_t i) { return discrete(r, "before", i); };
  const auto b = [&](std::int64_t i) { return discrete(r, "noise", i); };
  const auto within = [](std::pair<double, double> found, double expected, const char* what) {
    EXPECT_LT(std::fabs(found.first - expected), 4 * found.second) << what << ": " << found.first << ", " << expected;
  };
  within(mean_of(n, b), 0, "mean");
  within(mean_of(n, [&](auto i) { return b(i) * b(i); }), variance, "variance");
  within(mean_of(n, [&](auto i) { return a(i) * b(i); }), variance * std::exp(-theta * step), "covariance");
}

TEST(RandomStreams, HaveTheSameBitsEverywhere) {
  const std::vector<std::string> all = {"sample.count=61", "sample.seed=2", "output.events=true"};
  const auto reference = run(repairs, with(all, {"run.lanes=1", "run.threads=1"}));
  for (const int lanes : {4, 8})
    for (const auto& [threads, chunk] : {std::pair(1, 3), {2, 9}, {1, 1000}}) {
      if (lanes > host::native_lanes()) continue;
      const auto r = run(repairs, with(all, {fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                                             fmt::format("run.chunk={}", chunk)}));
      for (std::int64_t i = 0; i < 61; ++i) expect_same(reference, i, r, i);
      expect_same_log(reference, r);
    }
  // Another order of magnitude of the tolerance changes steps, not paths; and so does a rescue.
  for (const char* other : {"rtol=1e-9", "inject_exceptions=0.5", "method=radau5"}) {
    const auto r = run(repairs, with(all, {other}));
    for (std::int64_t i = 0; i < 61; ++i)
      for (const char* name : {"failures", "runs", "noise", "change_time_0"})
        ASSERT_EQ(discrete(r, name, i), discrete(reference, name, i)) << other;
  }
  // Other seeds and other instances have other paths.
  EXPECT_NE(discrete(run(repairs, {"sample.seed=1", "sample.count=1"}), "noise"), discrete(reference, "noise"));
  EXPECT_NE(discrete(reference, "noise", 1), discrete(reference, "noise"));
}

TEST(RandomStreams, GoOnInAnotherRun) {
  const std::vector<std::string> seed = {"sample.seed=9", "sample.count=1", "output.events=true"};
  const auto whole = run(repairs, seed), half = run(repairs, with(seed, {"t=[0.0, 4.2]"}));
  std::vector<std::string> from = {"t=[4.2, 10.0]", set("initial.up", half.final("up")), "output.events=true"};
  for (const auto& d : half.plan.model.discretes) from.push_back(set("initial." + d.name, discrete(half, d.name)));
  const auto rest = run(repairs, from);
  for (const auto& d : whole.plan.model.discretes) EXPECT_EQ(discrete(rest, d.name), discrete(whole, d.name)) << d.name;
  EXPECT_NEAR(rest.final("up"), whole.final("up"), 1e-12);
  auto times = times_of(half);
  for (const double t : times_of(rest)) times.push_back(t);
  EXPECT_EQ(times, times_of(whole));
}

TEST(RandomStreams, HaveDerivativesAlongAFixedPath) {
  // The waiting times are -log(u)/rate, so the machine changes at times that move with both rates. All runs have one key.
  std::vector<std::string> key;
  for (int part = 0; part < 4; ++part) key.push_back(fmt::format("initial.random_key_{}={}.0", part, 11 * part + 7));
  expect_differences({repairs, key, {{"failing", 0.5}, {"mending", 1.5}}, 1e-6});
  const auto r = run(draws, {by({"many"})});
  EXPECT_EQ(r.derivative(0), 0) << "draws have no derivative";
}

}  // namespace
}  // namespace saltus::test
