// Outputs kept from a run: rows of the event log by guard, time and number; reductions with and without windows; samples from one
// time to another; statistics at sample times. tests/models/rotor.hpp has closed forms for all of them: x = size sin(t).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ensemble/value_counts.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

constexpr double pi = std::numbers::pi, nan = std::numeric_limits<double>::quiet_NaN();
const std::string rotor = test_model("rotor");

/// A reduction as in a spec, and its exact value for size 1.
struct known {
  std::string name;
  double value;
};

/// Integrals use the cubic through the ends of a step: the error h^4/720 for a step of 0.05 is 9e-9.
const std::vector<std::string> fine = {"rtol=1e-11", "max_step=0.05"};

const std::vector<known> of_quantities = {
    {"max(x)", 1.0},
    {"min(x)", -1.0},
    {"max(x) from 2 to 3", std::sin(2.0)},  // falling: the maximum is at the beginning of the window, within a step
    {"min(x) from 2.01 to 3.07", std::sin(3.07)},
    {"max(square) from 5.1 to 10", 1.0},
    {"time(max(x)) from 5 to 10", 2.5 * pi},
    {"time(min(x)) from 2 to 9.9", 1.5 * pi},
    {"time(max(square)) from 3.5 to 6", 1.5 * pi},
    {"time(max(x)) from 8.2 to 9.3", 8.2},
    {"integral(x) from 1 to 2", std::cos(1.0) - std::cos(2.0)},
    {"integral(square) from 0.3", (19.7 - 0.5 * (std::sin(40.0) - std::sin(0.6))) / 2},
    {"mean(x) to 3.14159265358979", 2 / pi},
    {"mean(x) from 0.52 to 0.53", (std::cos(0.52) - std::cos(0.53)) / 0.01},  // within one step
    {"std(x) from 6.283185307179586 to 18.84955592153876", std::sqrt(0.5)},
    {"rms(x) from 1 to 2", std::sqrt((1 - 0.5 * (std::sin(4.0) - std::sin(2.0))) / 2)},
    {"std(square) to 12.566370614359172", std::sqrt(0.125)},  // of (1 - cos 2t) / 2
    {"value(x at 3.3)", std::sin(3.3)},
    {"value(square at 7)", std::pow(std::sin(7.0), 2)},
    {"value(v at 0)", 1.0},
    {"value(v at 20)", std::cos(20.0)},
    {"value(count at 5)", 5.0},  // the state after a tick at that time
};
const std::vector<known> of_events = {
    {"count(up)", 3},    // at 2 pi, 4 pi, 6 pi; not at 0
    {"count(down)", 3},  // at pi, 3 pi, 5 pi
    {"count(tick)", 20},
    {"count(down) from 4 to 12", 1},
    {"count(tick) from 3 to 7", 5},  // both ends belong to the window
    {"first(down)", pi},
    {"last(up)", 6 * pi},
    {"first(up) from 7", 4 * pi},
    {"last(down) to 10", 3 * pi},
    {"first(up) from 7 to 12", nan},
    {"first(tick) from 4.5", 5},
};

std::string listed(const std::vector<known>& all) {
  std::string text;
  for (const known& k : all) text += (text.empty() ? "'" : ", '") + k.name + "'";
  return "output.reduce=[" + text + "]";
}

void expect_known(const outcome& r, const std::vector<known>& all, double tolerance, std::size_t instance = 0,
                  double size = 1.0) {
  for (std::size_t j = 0; j < all.size(); ++j) {
    const double is = r.reductions[j * static_cast<std::size_t>(r.plan.count) + instance];
    const std::string& name = all[j].name;
    const bool is_time = name.starts_with("time") || name.starts_with("first") || name.starts_with("last");
    const double scale = is_time || name.starts_with("count") ? 1.0
                         : name.find("square") < name.npos    ? size * size
                                                              : size;
    if (all[j].value != all[j].value) {
      EXPECT_TRUE(is != is) << name << " is " << is;
    } else {
      EXPECT_NEAR(is, scale * all[j].value, tolerance) << name;
    }
  }
}

std::vector<known> joined(std::vector<known> a, const std::vector<known>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Reductions, HaveTheirClosedForms) {
  const auto all = joined(of_quantities, of_events);
  const auto r = run(rotor, with(fine, {listed(all)}));
  expect_known(r, all, 2e-8);
  for (std::size_t j = of_quantities.size(); j < all.size(); ++j)
    if (all[j].value == all[j].value) { EXPECT_NEAR(r.reductions[j], all[j].value, 1e-9) << all[j].name; }
}

TEST(Reductions, OfASeriesAreThoseOfItsLongSteps) {
  const auto all = joined(of_quantities, of_events);
  const auto r = run(rotor, {"rtol=1e-12", "method=taylor", listed(all)});
  EXPECT_LT(r.steps[0], 110);  // of 0.2: `square` turns twice as fast as x, which takes 34 steps alone
  expect_known(r, all, 1e-9);
}

TEST(Reductions, OfAStiffMethodFollowItsDenseOutput) {
  const auto all = joined(of_quantities, of_events);
  expect_known(run(rotor, {"rtol=1e-8", "max_step=0.05", "method=radau5", listed(all)}), all, 1e-6);
}

TEST(Reductions, GoBackwardWithTheirRun) {
  // From 20 to 0, starting with the final state of the run forward: sin and cos again, and windows are read from their later end.
  auto settings = with(fine, {"t=[20.0,0.0]", set("initial.x", std::sin(20.0)), set("initial.v", std::cos(20.0))});
  const auto r =
      run(rotor, with(settings, {"output.reduce=['mean(x) from 2 to 1','time(max(x)) from 10 to 5','value(x at 3.3)',"
                                 "'max(x) from 3 to 2','last(up)','first(up) from 10']"}));
  EXPECT_NEAR(r.reductions[0], std::cos(1.0) - std::cos(2.0), 2e-8);
  EXPECT_NEAR(r.reductions[1], 2.5 * pi, 2e-8);
  EXPECT_NEAR(r.reductions[2], std::sin(3.3), 2e-8);
  EXPECT_NEAR(r.reductions[3], std::sin(2.0), 2e-8);
  // Backward, x rises where it falls forward: the last such time is pi, and the first from 10 on is 3 pi.
  EXPECT_NEAR(r.reductions[4], pi, 1e-8);
  EXPECT_NEAR(r.reductions[5], 3 * pi, 1e-8);
}

TEST(Reductions, OfAnEventTakeWhatFollowsIt) {
  // Both guards fall at t = 1, and `second` of clocks.hpp jumps by -10 from 2 there: value, extremum, and time of the extremum.
  const auto r =
      run(test_model("clocks"),
          {"output.reduce=['value(second at 1.5)','min(second)','time(min(second))','max(second)','time(max(second))',"
           "'count(a)','count(b)','first(b)','min(second) from 0.5 to 1.5','count(same_as_b) from 1']",
           "rtol=1e-10"});
  const double expected[] = {-7, -8, 1, 2, 1, 1, 1, 1, -8, 1};
  for (std::size_t j = 0; j < std::size(expected); ++j)
    EXPECT_NEAR(r.reductions[j], expected[j], 1e-9) << r.plan.reductions[j].name;
}

TEST(Reductions, QuantilesAreWithinTheirBins) {
  // sin is below its quantile p for the fraction p of a period: sin(pi (p - 1/2)). A bin is less than 1/63 of the range.
  const std::vector<known> all = {{"quantile(x, 0.95) to 12.566370614359172", std::sin(0.45 * pi)},
                                  {"quantile(x, 0.5) to 12.566370614359172", 0.0},
                                  {"quantile(x, 0.25) to 12.566370614359172", -std::sin(0.25 * pi)},
                                  {"quantile(x, 0) to 12.566370614359172", -1.0},
                                  {"quantile(x, 1) to 12.566370614359172", 1.0},
                                  {"quantile(x, 0.5) from 0.1 to 0.2", std::sin(0.15)},
                                  {"quantile(count, 0.35) to 10", 3.0}};  // 0 to 9, a second each
  const auto r = run(rotor, with(fine, {listed(all)}));
  for (std::size_t j = 0; j < all.size(); ++j) {
    const double range = j == 5 ? 0.1 : j == 6 ? 9.0 : 2.0;
    EXPECT_NEAR(r.reductions[j], all[j].value, range / 63) << all[j].name;
    if (j < 6) {
      EXPECT_NEAR(r.reductions[j], all[j].value, range / 1000) << all[j].name << ", interpolation in a bin";
    }
  }
  expect_known(run(rotor, {"rtol=1e-12", "method=taylor", listed({all.begin(), all.begin() + 3})}),
               {all.begin(), all.begin() + 3}, 2e-3);
}

TEST(Reductions, MedianIsTheQuantileOfOneHalf) {
  const auto same = [](const std::vector<std::string>& settings) {
    const auto r =
        run(rotor, with(settings, {"output.reduce=['median(x)','quantile(x, 0.5)','median(square) from 1 to 7',"
                                   "'quantile(square, 0.5) from 1 to 7']"}));
    EXPECT_EQ(r.reductions[0], r.reductions[1]);
    EXPECT_EQ(r.reductions[2], r.reductions[3]);
    EXPECT_NE(r.reductions[0], r.reductions[2]);
  };
  same(fine);
  same({"rtol=1e-8", "method=radau5"});
  same({"rtol=1e-5", "precision=float"});
}

TEST(Reductions, WhatIsNeverReachedIsNaN) {
  // This run ends at the first impact, at 0.45 s, of a ball dropped from 1 m.
  const auto r = run("bouncing_ball",
                     {"v_min=1e3",
                      "output.reduce=['mean(height) from 1 to 2','max(height) from 1','value(height at 1)',"
                      "'std(height) from 1','rms(height) from 1','quantile(height, 0.5) from 1',"
                      "'time(max(height)) from 1','integral(height) from 1','count(impact) from 1','first(impact)']"});
  EXPECT_EQ(name_of(r.status[0]), "stopped");
  for (std::size_t j = 0; j < 7; ++j) EXPECT_TRUE(r.reductions[j] != r.reductions[j]) << r.plan.reductions[j].name;
  EXPECT_EQ(r.reductions[7], 0.0);
  EXPECT_EQ(r.reductions[8], 0.0);
  EXPECT_NEAR(r.reductions[9], std::sqrt(2 / 9.81), 1e-9);
}

// ---- the event log

const std::vector<std::string> spread = {"rtol=1e-9", "sweep.size={from=0.5, to=2.0, count=67}"};

/// The rows of the whole log that a selection should keep.
template <class Keep>
void expect_rows(const outcome& whole, const outcome& some, Keep&& keep, std::size_t first = 0, std::size_t last = 0) {
  outcome expected;
  expected.plan = whole.plan;
  for (std::int64_t i = 0; i < whole.plan.count; ++i) {
    std::vector<event_row> rows;
    for (const event_row& row : whole.log)
      if (row.instance == i && keep(row)) rows.push_back(row);
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (first + last == 0 || k < first || k + last >= rows.size()) expected.log.push_back(rows[k]);
  }
  ASSERT_FALSE(expected.log.empty());
  expect_same_log(expected, some);
  for (std::int64_t i = 0; i < whole.plan.count; ++i) expect_same(whole, i, some, i);
}

TEST(EventLog, HasTheRowsThatAreAskedForAndChangesNothingElse) {
  const auto whole = run(rotor, with(spread, {"output.events=true"}));
  const auto go = [&](const std::string& events) { return run(rotor, with(spread, {"output.events=" + events})); };
  expect_rows(whole, go("{guards=['down','tick']}"), [](const auto& e) { return e.guard != "up"; });
  expect_rows(whole, go("{from=3, to=7}"), [](const auto& e) { return e.time >= 3 && e.time <= 7; });
  const auto all = [](const auto&) { return true; };
  expect_rows(whole, go("{first=3}"), all, 3, 0);
  expect_rows(whole, go("{last=4}"), all, 0, 4);
  expect_rows(whole, go("{first=2, last=3}"), all, 2, 3);
  expect_rows(whole, go("{first=20, last=20}"), all, 20, 20);  // 26 in all, none repeated
  expect_rows(
      whole, go("{guards=['up','down'], from=5, first=1, last=1}"),
      [](const auto& e) { return e.guard != "tick" && e.time >= 5; }, 1, 1);
}

TEST(EventLog, WithOutputsIsASection) {
  const auto r = run(rotor, {"rtol=1e-11", "size=2.0", "output.events={guards=['tick','up'], outputs=true}"});
  ASSERT_EQ(r.log.size(), 23u);
  double ticks = 0;
  for (const event_row& e : r.log) {
    ASSERT_EQ(e.after.size(), 4u);
    EXPECT_NEAR(e.after[0], 2 * std::sin(e.time), 1e-9);
    EXPECT_NEAR(e.after[2], std::pow(e.after[0], 2), 1e-15) << "x squared";
    EXPECT_EQ(e.before[3], ticks) << "before the transition";
    ticks += e.guard == "tick";
    EXPECT_EQ(e.after[3], ticks) << "after it";
  }
}

TEST(EventLog, AndReductionsHaveTheSameBitsWhereverTheyAreMade) {
  const auto all = joined(joined(of_quantities, of_events), {{"quantile(x, 0.9) from 1", 0}});
  const std::vector<std::string> settings = {"rtol=1e-6", "sweep.size={from=0.5, to=2.0, count=37}", listed(all),
                                             "output.samples={from=3, to=5, count=3}",
                                             "output.events={guards=['up','tick'], first=2, last=3, outputs=true}"};
  const auto one = run(rotor, with(settings, {"run.lanes=1", "run.threads=1"}));
  const auto many = run(rotor, with(settings, {"run.lanes=8", "run.groups=2", "run.threads=2", "run.chunk=5"}));
  for (std::int64_t i = 0; i < one.plan.count; ++i) expect_same(one, i, many, i);
  expect_same_log(one, many);
  EXPECT_EQ(one.log.size(), 37u * 5);
  // The host carries instances on from any point: nothing is counted twice or lost.
  const auto rescued = run(rotor, with(settings, {"inject_exceptions=0.9", "run.lanes=8"}));
  EXPECT_GT(rescued.summary.counts.rescued(), 20);
  for (std::size_t j = of_quantities.size(); j < of_quantities.size() + of_events.size(); ++j)
    for (std::size_t i = 0; i < 37; ++i) {
      const double is = rescued.reductions[j * 37 + i], known = of_events[j - of_quantities.size()].value;
      if (known == known) { EXPECT_NEAR(is, known, 1e-4) << of_events[j - of_quantities.size()].name; }
    }
  EXPECT_EQ(rescued.log.size(), one.log.size());
}

// ---- samples

TEST(Samples, GoFromOneTimeToAnother) {
  const auto r = run(rotor, {"rtol=1e-11", "output.samples={from=2.5, to=4, count=4}"});
  ASSERT_EQ(r.plan.sample_times, (std::vector<double>{2.5, 3.0, 3.5, 4.0}));
  for (std::int64_t k = 0; k < 4; ++k)
    EXPECT_NEAR(r.sample(0, 0, k), std::sin(2.5 + 0.5 * static_cast<double>(k)), 1e-9);
  EXPECT_EQ(plan_of(rotor, {"output.samples={from=19, step=0.25}"}).sample_times,
            (std::vector<double>{19.0, 19.25, 19.5, 19.75, 20.0}));
  EXPECT_EQ(plan_of(rotor, {"t=[20.0,0.0]", "output.samples={from=4, to=3, step=0.5}"}).sample_times,
            (std::vector<double>{4.0, 3.5, 3.0}));
}

TEST(Samples, AreNaNBeforeAnInstanceBegins) {
  const auto r = run(rotor, {"sweep.t_begin=[0.0, 1.0]", "output.samples={times=[0.5, 1.5]}"});
  EXPECT_NEAR(r.sample(0, 0, 0), std::sin(0.5), 1e-5);
  EXPECT_TRUE(r.sample(0, 1, 0) != r.sample(0, 1, 0));
  EXPECT_NEAR(r.sample(0, 1, 1), std::sin(0.5), 1e-5);
  EXPECT_TRUE(r.sample(2, 1, 0) != r.sample(2, 1, 0)) << "an output";
}

// ---- statistics at sample times

/// NumPy's definition: linear interpolation between order statistics.
double quantile_of(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(below);
  return part > 0 ? values[below] + part * (values[below + 1] - values[below]) : values[below];
}

TEST(ValueCounts, AreExactWhileThereAreFewValues) {
  std::vector<double> values;
  for (int k = 0; k < 2000; ++k) values.push_back(std::sin(1.0 * (k % 1000)) * std::exp2(k % 1000 % 37 - 20));
  const host::value_counts all(values);
  EXPECT_EQ(all.count(), 2000);
  EXPECT_EQ(all.error(), 0.0);
  for (const double p : {0.0, 0.05, 0.3, 0.5, 0.77, 1.0}) EXPECT_EQ(all.quantile(p), quantile_of(values, p)) << p;
  const host::value_counts zeros({0.0, -0.0, 0.0});
  EXPECT_EQ(zeros.buckets.size(), 1u) << "zeros of both signs are equal";
  EXPECT_TRUE(std::isnan(host::value_counts().quantile(0.5)));
}

TEST(ValueCounts, DependOnNoOrderAndStayWithinTheirError) {
  // A hundred thousand numbers over eight decades with both signs, in parts of several sizes, forward and backward.
  std::vector<double> values;
  for (int k = 0; k < 100'000; ++k) values.push_back(std::sin(1.0 * k) * std::exp(std::cos(0.1 * k) * 9));
  const host::value_counts whole(values);
  EXPECT_LE(whole.buckets.size(), host::value_counts::max_buckets);
  for (const std::size_t size : {7u, 1000u, 33'333u}) {
    host::value_counts up, down;
    std::vector<host::value_counts> pieces;
    for (std::size_t first = 0; first < values.size(); first += size)
      pieces.emplace_back(
          std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(first),
                              values.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, values.size()))));
    for (std::size_t k = 0; k < pieces.size(); ++k) up.add(pieces[k]), down.add(pieces[pieces.size() - 1 - k]);
    EXPECT_EQ(up.buckets, whole.buckets) << size;
    EXPECT_EQ(down.buckets, whole.buckets) << size;
    EXPECT_EQ(up.shift, whole.shift);
  }
  EXPECT_GT(whole.error(), 0.0);
  for (const double p : {0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999}) {
    const double exact = quantile_of(values, p);
    EXPECT_NEAR(whole.quantile(p), exact, whole.error() * std::fabs(exact) + 1e-4) << p;
  }
}

TEST(Bands, AreThoseOfTheSamplesAndHaveTheSameBitsWhateverTheChunks) {
  const std::vector<std::string> settings = {"rtol=1e-9", "sample={count=900, seed=2, size={uniform=[1.0, 3.0]}}",
                                             "output.samples={from=1, to=4, count=4}",
                                             "output.bands={quantiles=[0.05, 0.5, 1.0]}"};
  const auto r = run(rotor, settings);
  const host::statistics& all = r.summary.statistics;
  ASSERT_EQ(all.bands.size(), 16u);
  for (std::size_t q = 0; q < 4; ++q)
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> values;
      double sum = 0;
      for (std::int64_t i = 0; i < 900; ++i) sum += values.emplace_back(r.sample(q, i, static_cast<std::int64_t>(k)));
      const summary& s = all.bands[q * 4 + k];
      EXPECT_EQ(s.count, 900);
      EXPECT_NEAR(s.mean, sum / 900, 1e-13);
      EXPECT_EQ(s.min, *std::min_element(values.begin(), values.end()));
      EXPECT_EQ(s.max, *std::max_element(values.begin(), values.end()));
      EXPECT_EQ(values[static_cast<std::size_t>(s.max_id)], s.max);
      for (const double p : {0.05, 0.5, 1.0}) EXPECT_EQ(all.values[q * 4 + k].quantile(p), quantile_of(values, p));
    }
  for (const auto& more : {std::vector<std::string>{"output.rows=false"},
                           {"output.rows=false", "run.chunk=100", "run.threads=2"},
                           {"run.chunk=256"},
                           {"run.chunk=1", "run.lanes=1"}}) {
    const host::statistics other = run(rotor, with(settings, more)).summary.statistics;
    ASSERT_EQ(other.bands.size(), 16u);
    for (std::size_t j = 0; j < 16; ++j) {
      EXPECT_EQ(bits(all.bands[j].mean), bits(other.bands[j].mean));
      EXPECT_EQ(bits(all.bands[j].squares), bits(other.bands[j].squares));
      EXPECT_EQ(all.bands[j].min_id, other.bands[j].min_id);
      EXPECT_EQ(all.values[j].buckets, other.values[j].buckets);
    }
  }
}

TEST(Bands, OfAStratifiedSampleAreItsDistribution) {
  // size is uniform in [1, 3], one in each of 5000 strata: the quantile p of x(t) is (1 + 2 p) sin t, up to a stratum or two and
  // the width of a bucket. The standard deviation is 2 / sqrt(12) |sin t|.
  const auto r = run(rotor, {"rtol=1e-9", "sample={count=5000, design='latin_hypercube', size={uniform=[1.0, 3.0]}}",
                             "output.samples={times=[1.0, 4.0]}", "output.rows=false"});
  const host::statistics& all = r.summary.statistics;
  for (std::size_t k = 0; k < 2; ++k) {
    const double sine = std::sin(k == 0 ? 1.0 : 4.0);
    EXPECT_GT(all.values[k].error(), 0.0);
    EXPECT_LT(all.values[k].error(), 0.01);
    EXPECT_NEAR(all.bands[k].mean, 2 * sine, 1e-3);
    EXPECT_NEAR(std::sqrt(all.bands[k].squares / 4999), 2 / std::sqrt(12.0) * std::fabs(sine), 1e-3);
    for (const double p : {0.05, 0.5, 0.95})
      EXPECT_NEAR(all.values[k].quantile(sine > 0 ? p : 1 - p), (1 + 2 * p) * sine, 2e-3) << p;
  }
}

// ---- rejected specs

std::string complaint(const std::vector<std::string>& settings) {
  try {
    plan_of(rotor, settings);
  } catch (const host::error& e) { return e.what(); }
  return "none";
}

TEST(Keeping, SaysWhatIsAllowed) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  has(complaint({"output.reduce=['midrange(x)']"}),
      "must be one of min(x), max(x), mean(x), integral(x), time(min(x))");
  has(complaint({"output.reduce=['value(x)']"}), "value(x at t)");
  has(complaint({"output.reduce=['mean(y)']"}), "y is not a state or an output");
  has(complaint({"output.reduce=['count(dwon)']"}), "did you mean down");
  has(complaint({"output.reduce=['mean(x) from 5 to 3']"}), "5 must come before 3");
  has(complaint({"output.reduce=['mean(x) from 5 to 30']"}), "30 must be a time from 0 to 20");
  has(complaint({"output.reduce=['value(x at noon)']"}), "noon must be a finite number");
  has(complaint({"output.reduce=['value(x at 3) from 1']"}), "must have no window");
  has(complaint({"output.reduce=['quantile(x, 95)']"}), "95 must be a part of the time, from 0 to 1");
  has(complaint({"output.events={guards=['north']}"}), "allowed: up, down, tick");
  has(complaint({"output.events={guards=[]}"}), "must name at least one");
  has(complaint({"output.events={first=0}"}), "must be a whole number from 1 to 100000");
  has(complaint({"output.events={from=30}"}), "must not come behind the end of all time spans, 20");
  has(complaint({"output.events={from=5, to=3}"}), "must not come before 5");
  has(complaint({"output.samples={at='up'}"}), "write events = { guards = [\"up\"], outputs = true }");
  has(complaint({"output.samples={from=3, times=[4.0]}"}), "must be left out beside times");
  has(complaint({"output.samples={from=9, to=3, count=5}"}), "must leave from before to");
  has(complaint({"output.bands=true"}), "must be false without samples");
  has(complaint({"output.samples={count=3}", "output.bands={quantiles=[5.0]}"}), "from 0 to 1");
  has(complaint({"output.rows=false", "output.events=true"}), "count(...), first(...) and last(...)");
  has(complaint({"output.samples={count=3}", "output.rows=false", "sweep.t_end=[10.0, 20.0]"}),
      "must have from and to, or times");
}

}  // namespace
}  // namespace saltus::test
