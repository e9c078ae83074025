// Events: what fires, when, in which order, and what becomes of an instance that cannot be trusted. The expectation of
// each test is stated and known by analysis.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ensemble.hpp"
#include "sampler.hpp"

namespace saltus::test {
namespace {

std::string test_model(const char* name) {
  return std::string(SALTUS_SOURCE_FOLDER) + "/tests/models/" + name + ".hpp";
}

std::string name_of(int status) { return status_table[status].name; }

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

const std::vector<std::string> tight = {"rtol=1e-10", "output.events=true"};

TEST(Events, TwoDifferentGuardsDueAtOnceFireInOneTransition) {
  const auto r = run(test_model("clocks"), tight);
  EXPECT_EQ(r.final_discrete, (std::vector<double>{1, 1, 1}));  // each once, and once together
  ASSERT_EQ(r.log.size(), 3u);                                  // a, b, same_as_b
  for (const auto& e : r.log) EXPECT_NEAR(e.time, 1.0, 1e-13);
  EXPECT_NEAR(r.final("second"), 4.0 - 10.0, 1e-12);
  EXPECT_NEAR(r.final("first"), 2.0, 1e-12);
}

TEST(Events, GuardsAHairApartFireInOrder) {
  // b at t = 1, a at t = 1 + d and 1 - d: never missed, never together, for d well above rounding.
  for (double d : {1e-3, 1e-6, 1e-9, 1e-11})
    for (double sign : {-1.0, 1.0}) {
      const auto r = run(test_model("clocks"), with(tight, {fmt::format("first_mark={:.17g}", 1 + sign * d)}));
      EXPECT_EQ(r.final_discrete, (std::vector<double>{1, 1, 0})) << d;
      ASSERT_EQ(r.log.size(), 3u);
      EXPECT_EQ(r.log[sign < 0 ? 0 : 2].guard, "a") << d;
      EXPECT_NEAR(r.log[sign < 0 ? 0 : 2].time, 1 + sign * d, 1e-14);
    }
}

TEST(Events, BilateralLandsPastUnilateralBefore) {
  const auto apart = run(test_model("clocks"), with(tight, {"first_mark=0.3", "second_mark=1.2"}));
  ASSERT_EQ(apart.log.size(), 3u);
  EXPECT_GT(apart.log[0].before[0], 0.3);
  EXPECT_NEAR(apart.log[0].before[0], 0.3, 1e-14);
  // A unilateral guard alone stops short of its zero: the ball never enters the floor.
  const auto ball = run("bouncing_ball", tight);
  for (const auto& e : ball.log) {
    EXPECT_GE(e.before[0], 0.0);
    EXPECT_LT(e.before[0], 1e-13);
  }
  EXPECT_EQ(ball.log.size(), 11u);
}

TEST(Events, EvenNumbersOfRootsAreFound) {
  for (double depth : {0.04, 1e-4, 1e-8, 1e-12}) {
    const auto r = run(test_model("parabola"), with(tight, {fmt::format("depth={}", depth)}));
    ASSERT_EQ(r.log.size(), 2u) << depth;
    EXPECT_NEAR(r.log[0].time, 0.5 - std::sqrt(depth), 1e-9) << depth;
    EXPECT_NEAR(r.log[1].time, 0.5 + std::sqrt(depth), 1e-9) << depth;
  }
}

TEST(Events, AllRootsOfRandomCubicsOnceAndInOrder) {
  // Three random roots in (0, 1), however close: three events each, none missed, none twice.
  for (const char* method : {"bs3", "dp5", "dop853"}) {
    const auto r =
        run(test_model("cubic_guard"),
            with(tight, {fmt::format("method={}", method), "sample.count=20000", "sample.r1={uniform=[0.0,1.0]}",
                         "sample.r2={uniform=[0.0,1.0]}", "sample.r3={uniform=[0.0,1.0]}"}));
    host::columns in;
    host::sampler(r.plan).fill(0, r.plan.count, in);
    std::int64_t wrong = 0;
    std::size_t  row   = 0;
    for (std::size_t i = 0; i < 20000; ++i) {
      double roots[] = {in.parameters[i], in.parameters[20000 + i], in.parameters[40000 + i]};
      std::sort(std::begin(roots), std::end(roots));
      if (r.events[i] != 3) ++wrong;
      for (int k = 0; k < r.events[i]; ++k, ++row) {
        const double nearest = std::min(roots[1] - roots[0], roots[2] - roots[1]);
        if (r.events[i] == 3 && nearest > 1e-5) { EXPECT_NEAR(r.log[row].time, roots[k], 1e-10) << method << " " << i; }
      }
    }
    EXPECT_EQ(wrong, 0) << method;
  }
}

TEST(Events, ATouchIsNoCrossing) {
  for (double depth : {0.0, -1e-14, -1e-6, -1.0})
    for (double centre : {0.5, 0.3, 0.123456789})
      EXPECT_EQ(run(test_model("parabola"),
                    with(tight, {fmt::format("depth={:.17f}", depth), fmt::format("centre={}", centre)}))
                    .events[0],
                0)
          << depth << " " << centre;
}

TEST(Events, RootsAtTheEndsOfSteps) {
  // Fixed steps of 1/4: first passes its mark at t = 1/2 exactly, at the end of a step; it fires once.
  const auto r =
      run(test_model("clocks"), {"method=rk4", "step=0.25", "output.events=true", "first_mark=0.5", "second_mark=3.0"});
  EXPECT_EQ(r.final_discrete[0], 1);
  ASSERT_EQ(r.log.size(), 3u);
  EXPECT_NEAR(r.log[0].time, 0.5, 1e-14);
  EXPECT_NEAR(r.log[1].time, 1.5, 1e-14);
  // A guard that is zero at t0 does not fire there: (t_k, t_{k+1}].
  EXPECT_EQ(run(test_model("clocks"), with(tight, {"first_mark=0.0", "second_mark=100.0"})).events[0], 0);
  // At t_end: a bilateral guard cannot be passed within the span, and does not fire.
  const auto last = run(test_model("clocks"), with(tight, {"first_mark=2.0", "second_mark=40.0"}));
  EXPECT_EQ(last.final_discrete, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(name_of(last.status[0]), "finished");
}

TEST(Events, EventIterationFiresWhatATransitionMadeTrue) {
  // a at t = 1 takes 2 from z = 1: b is violated, fires at the same instant and mends z.
  const auto r = run(test_model("chain"), with(tight, {"restore=1.0"}));
  EXPECT_EQ(r.final_discrete, (std::vector<double>{1, 1}));
  ASSERT_EQ(r.log.size(), 2u);
  EXPECT_EQ(r.log[0].guard, "a");
  EXPECT_EQ(r.log[1].guard, "b");
  EXPECT_EQ(r.log[0].time, r.log[1].time);
  EXPECT_EQ(r.final("z"), 0.5);
  EXPECT_EQ(name_of(r.status[0]), "finished");
  // Nobody mends it: bounded, and said so.
  const auto loop = run(test_model("chain"), tight);
  EXPECT_EQ(name_of(loop.status[0]), "event_loop");
  EXPECT_NEAR(loop.t_final[0], 1.0, 1e-13);
  // The push does not reach b: only a fires.
  EXPECT_EQ(run(test_model("chain"), with(tight, {"push=0.5"})).final_discrete, (std::vector<double>{1, 0}));
}

TEST(Events, ModesFollowGuardSigns) {
  // Slopes 1, 2, 4: y = 1 at t = 1, y = 3 at t = 2, y(3) = 7. The first mode is set before anything moves.
  const auto r = run(test_model("modes"), tight);
  EXPECT_NEAR(r.final("y"), 7.0, 1e-12);
  EXPECT_EQ(r.final_discrete[0], 4.0);
  ASSERT_EQ(r.log.size(), 2u);
  EXPECT_NEAR(r.log[0].time, 1.0, 1e-14);
  EXPECT_NEAR(r.log[1].time, 2.0, 1e-14);
  EXPECT_NEAR(run(test_model("modes"), with(tight, {"initial.y=1.5"})).final("y"), 1.5 + 1.5 + 4 * 2.25, 1e-12);
}

TEST(Events, MoreGuardsThanStatesInTheirOrder) {
  const auto r = run(test_model("many_guards"), tight);
  ASSERT_EQ(r.log.size(), 12u);
  for (int k = 0; k < 12; ++k) {
    const int mark = (5 * k + 3) % 12;
    EXPECT_EQ(r.log[static_cast<std::size_t>(mark)].guard, fmt::format("g{}", k));
    EXPECT_NEAR(r.log[static_cast<std::size_t>(mark)].time, (mark + 0.5) / 12, 1e-14);
  }
}

TEST(Events, ZenoEndsWithAStatusAndAboveTheFloor) {
  // With v_min = 0 the bounces accumulate at 2.55863396558580846 s (analysis); no ball is ever below the floor. From about
  // the 60th bounce on a flight lasts what a fall from the rounding of the height does, some 1e-8 s.
  const auto r = run("bouncing_ball",
                     with(tight, {"v_min=0.0", "max_events=500", "t=[0.0,10.0]", "output.reduce=['min(height)']"}));
  EXPECT_EQ(name_of(r.status[0]), "event_budget");
  EXPECT_NEAR(r.t_final[0], 2.55863396558580846, 1e-5);
  EXPECT_GE(r.reductions[0], -1e-13);
}

TEST(Events, ABodyThatStartsInContactDoesNotFallThrough) {
  // At rest on the floor: contact at once, again and again, and a status; below it and falling: refused.
  const auto resting = run("bouncing_ball", with(tight, {"initial.height=0.0", "v_min=0.0", "max_events=50"}));
  EXPECT_EQ(name_of(resting.status[0]), "event_budget");
  EXPECT_GE(resting.final("height"), -1e-13);
  const auto below = run("bouncing_ball", with(tight, {"initial.height=-0.1"}));
  EXPECT_EQ(name_of(below.status[0]), "guard_violated");
  EXPECT_EQ(below.t_final[0], 0.0);
  const auto rising = run("bouncing_ball", with(tight, {"initial.height=0.0", "initial.velocity=3.0", "t=[0.0,0.7]"}));
  EXPECT_EQ(rising.events[0], 1);  // it leaves the floor without an event and lands at 2 v / g = 0.6116 s
  EXPECT_NEAR(rising.log[0].time, 6 / 9.81, 1e-12);
}

TEST(Events, NaNInSomeInstancesHarmsNoOther) {
  const std::vector<std::string> base  = {"rtol=1e-8", "output.events=true", "sweep.rate.from=0.5", "sweep.rate.to=2.0",
                                          "sweep.rate.count=3"};
  const auto                     clean = run(test_model("trouble"), base);
  const auto                     mixed =
      run(test_model("trouble"), with(base, {"sweep.rhs_fails_at=[10.0,0.25]", "sweep.guard_fails_at=[10.0,0.5]"}));
  ASSERT_EQ(mixed.plan.count, 12);
  for (std::int64_t i = 0; i < 12; ++i) {
    const auto at = static_cast<std::size_t>(i);
    // Order of the product: rate, rhs_fails_at, guard_fails_at, the last fastest.
    const bool rhs_fails = i / 2 % 2 == 1, guard_fails = i % 2 == 1;
    if (!rhs_fails && !guard_fails) {
      EXPECT_EQ(name_of(mixed.status[at]), "finished");
      EXPECT_EQ(mixed.final("y", i), clean.final("y", i / 4)) << "bit for bit";
      EXPECT_EQ(mixed.events[at], clean.events[at / 4]);
    } else {
      EXPECT_EQ(name_of(mixed.status[at]), "not_finite");
      EXPECT_NEAR(mixed.t_final[at], rhs_fails ? 0.25 : 0.5, 1e-6);
      EXPECT_TRUE(std::isfinite(mixed.final("y", i)));
    }
  }
}

TEST(Events, BudgetsEndInstances) {
  const auto steps = run("lorenz", {"rtol=1e-10", "max_steps=100"});
  EXPECT_EQ(name_of(steps.status[0]), "step_budget");
  EXPECT_EQ(steps.steps[0] + steps.rejected[0], 100);
  const auto events = run("relief_valve", {"rtol=1e-8", "max_events=5"});
  EXPECT_EQ(name_of(events.status[0]), "event_budget");
  EXPECT_EQ(events.events[0], 5);
}

TEST(Events, TerminalGuardStops) {
  const auto r = run(test_model("wave"), with(tight, {"end_at=4.0", "output.samples.count=11"}));
  EXPECT_EQ(name_of(r.status[0]), "stopped");
  EXPECT_NEAR(r.t_final[0], 4.0, 1e-14);
  EXPECT_NEAR(r.final("x"), std::sin(4.0), 1e-9);
  // Samples at 0, 1, ..., 10: there up to the end, absent after it.
  for (int k = 0; k <= 4; ++k) EXPECT_NEAR(r.sample(0, 0, k), std::sin(k), 1e-9) << k;
  for (int k = 5; k <= 10; ++k) EXPECT_TRUE(std::isnan(r.sample(0, 0, k))) << k;
}

TEST(Observe, SamplesFollowTheSolutionToTheMethodsOrder) {
  for (const char* method : {"bs3", "rkf45", "rkf78", "dp5", "tsit5", "dop853"}) {
    const auto r =
        run(test_model("wave"), {"rtol=1e-10", fmt::format("method={}", method), "output.samples.count=101"});
    double worst = 0;
    for (int k = 0; k <= 100; ++k) {
      worst = std::max(worst, std::fabs(r.sample(0, 0, k) - std::sin(0.1 * k)));
      worst = std::max(worst, std::fabs(r.sample(1, 0, k) - std::cos(0.1 * k)));
      worst = std::max(worst, std::fabs(r.sample(2, 0, k) - 0.5));  // the output
    }
    fmt::print("{:<7} largest error of 101 samples {:.1e}\n", method, worst);
    EXPECT_LT(worst, 3e-8) << method;
  }
}

TEST(Observe, ASampleAtTheInstantOfAnEventShowsTheStateAfterIt) {
  const auto r =
      run(test_model("wave"), with(tight, {"jump_at=5.0", "jump=2.0", "output.samples.times=[4.0, 5.0, 6.0]"}));
  EXPECT_NEAR(r.sample(0, 0, 0), std::sin(4.0), 1e-9);
  // The event lies a rounding past t = 5 (bilateral), so the sample at 5 is the state just before it.
  EXPECT_NEAR(r.sample(0, 0, 1), std::sin(5.0), 1e-9);
  EXPECT_NEAR(r.sample(0, 0, 2), (std::sin(5.0) + 2) * std::cos(1.0) + std::cos(5.0) * std::sin(1.0), 1e-9);
}

TEST(Observe, ReductionsOfAKnownTrajectory) {
  for (const char* method : {"bs3", "dp5", "dop853", "rkf78"}) {
    const auto r =
        run(test_model("wave"), {"rtol=1e-9", fmt::format("method={}", method), "t=[0.0,10.0]",
                                 "output.reduce=['max(x)','min(x)','mean(x)','integral(x)','max(energy)','max(v)']"});
    const double tolerance = std::string(method) == "bs3" ? 3e-6 : 1e-7;
    EXPECT_NEAR(r.reductions[0], 1.0, tolerance) << method;
    EXPECT_NEAR(r.reductions[1], -1.0, tolerance) << method;
    EXPECT_NEAR(r.reductions[2], (1 - std::cos(10.0)) / 10, 1e-5) << method;
    EXPECT_NEAR(r.reductions[3], 1 - std::cos(10.0), 1e-4) << method;
    EXPECT_NEAR(r.reductions[4], 0.5, tolerance) << method;
    EXPECT_NEAR(r.reductions[5], 1.0, tolerance) << method;
  }
  // A jump counts: x = sin t until 5, then 2 more.
  const auto jumped =
      run(test_model("wave"), {"rtol=1e-9", "jump_at=5.0", "jump=20.0", "t=[0.0,5.1]", "output.reduce=['max(x)']"});
  EXPECT_NEAR(jumped.reductions[0], 20 + std::sin(5.0), 0.2);
  EXPECT_GE(jumped.reductions[0], 20 + std::sin(5.0) - 1e-7);
}

}  // namespace
}  // namespace saltus::test
