// Roots of the interpolant that differ from those of the solution: another guard crosses before the one whose root comes first
// on the interpolant (case II of Compere's Table 5.1), or the solution has no root (case III). Both are counted, and neither
// changes an event. The solution is a polynomial that the method integrates exactly (tests/models/hump.hpp).
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "event_runs.hpp"

namespace saltus::test {
namespace {

/// One step of rk4 over [0, 1] without events; roots are located to 1e-12.
const std::vector<std::string> one_step = {"method=rk4", "step=1.0", "rtol=1e-12", "output.events=true"};

/// The only root of s + height (1 - 4 s^2)^2 = level, which rises in |s| < 1/2 for a height below 0.3: by bisection.
double time_at_level(double height, double level) {
  double lo = -0.5, hi = 0.5;
  for (int i = 0; i < 60; ++i) {
    const double s = 0.5 * (lo + hi), u = 1.0 - 4.0 * s * s;
    (s + height * u * u < level ? lo : hi) = s;
  }
  return 0.5 + hi;
}

long long sum(const std::vector<long long>& counts) { return std::accumulate(counts.begin(), counts.end(), 0LL); }

TEST(WrongRoots, GuardsFireInTheOrderOfTheSolutionNotOfTheInterpolant) {
  // The interpolant passes 0 at 1/2, the solution earlier (height > 0) or later, by at most 0.06: marks in between are passed in
  // another order than the interpolant's.
  const auto r = run(test_model("hump"), with(one_step, {"sample.count=2000", "sample.height={uniform=[-0.07,0.07]}",
                                                         "sample.mark={uniform=[0.44,0.56]}"}));
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  const auto count = static_cast<std::size_t>(r.plan.count);
  ASSERT_EQ(r.log.size(), 2 * count);
  long long turned = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double height = in.parameters[2 * count + i], mark = in.parameters[4 * count + i];
    const double passed = time_at_level(height, 0.0);
    const bool level_first = passed < mark;
    turned += level_first != (0.5 < mark);
    const auto &first = r.log[2 * i], &second = r.log[2 * i + 1];
    EXPECT_EQ(first.guard, level_first ? "at_level" : "at_mark") << i;
    EXPECT_NEAR(first.time, std::min(passed, mark), 1e-11) << i;
    EXPECT_NEAR(second.time, std::max(passed, mark), 1e-11) << i;
  }
  EXPECT_GT(turned, 200);
  EXPECT_GT(sum(r.out_of_order_roots), turned / 2);
  EXPECT_LE(sum(r.out_of_order_roots), turned);
}

TEST(WrongRoots, ARootOfTheInterpolantAloneIsNoEvent) {
  // The parabola s^2 is below its level 1/100 between 0.4 and 0.6; with the hump y stays above it.
  const auto r = run(test_model("hump"), with(one_step, {"tilt=0.0", "dip=1.0", "level=0.01", "height=0.02"}));
  EXPECT_GT(r.spurious_roots[0], 0);
  EXPECT_EQ(r.log.size(), 0u);
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_NEAR(r.final("y"), 0.25, 1e-14);
}

TEST(WrongRoots, AnEventBehindASpuriousRootIsFound) {
  const auto r =
      run(test_model("hump"), with(one_step, {"tilt=0.0", "dip=1.0", "level=0.01", "height=0.02", "mark=0.75"}));
  EXPECT_GT(r.spurious_roots[0], 0);
  ASSERT_EQ(names_of(r), std::vector<std::string>{"at_mark"});
  EXPECT_NEAR(r.log[0].time, 0.75, 1e-14);
  // s = 1/4: 1/16 + 0.02 (3/4)^2
  EXPECT_NEAR(r.log[0].before[0], 0.0625 + 0.02 * 0.5625, 1e-14);
}

}  // namespace
}  // namespace saltus::test
