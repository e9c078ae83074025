// The host carries on instances that lanes give up: injected exceptions lose nothing and change nothing beyond the tolerances,
// and real ones end as they should.
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

/// Balls in air with random drops, bounces and drag, stopped when slow: no chaos, some ten events each.
const std::vector<std::string> balls = {"rtol=1e-9",
                                        "t=[0.0, 3.0]",
                                        "sample.count=3000",
                                        "sample.seed=11",
                                        "sample.height={uniform=[0.5, 2.0]}",
                                        "sample.restitution={uniform=[0.5, 0.85]}",
                                        "sample.drag={uniform=[0.0, 0.3]}",
                                        "output.events=true",
                                        "output.samples.count=7",
                                        "output.reduce=['max(height)', 'min(velocity)', 'integral(height)']"};

const outcome& undisturbed() {
  static const outcome r = run("ball_drag", balls);
  return r;
}

/// Rows of the log by instance.
std::vector<std::vector<const event_row*>> rows_of(const outcome& r) {
  std::vector<std::vector<const event_row*>> rows(static_cast<std::size_t>(r.plan.count));
  for (const auto& e : r.log) rows[static_cast<std::size_t>(e.instance)].push_back(&e);
  return rows;
}

std::int64_t with_exception(const outcome& r) {
  return std::count_if(r.exception.begin(), r.exception.end(), [](int e) { return e != 0; });
}

/// Every instance of `r` ends as in `clean`: the same status, events and guards, and numbers within `tolerance`.
void expect_equal_within(const outcome& clean, const outcome& r, double tolerance) {
  const auto n = static_cast<std::size_t>(r.plan.count);
  double furthest = 0, furthest_time = 0;
  const auto compare = [&](double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return;
    const double off = std::fabs(a - b);
    furthest = off <= furthest ? furthest : off;  // keeps a NaN
  };
  for (std::size_t k = 0; k < clean.final_state.size(); ++k) compare(clean.final_state[k], r.final_state[k]);
  for (std::size_t k = 0; k < clean.samples.size(); ++k) compare(clean.samples[k], r.samples[k]);
  for (std::size_t k = 0; k < clean.reductions.size(); ++k) compare(clean.reductions[k], r.reductions[k]);
  for (std::size_t k = 0; k < n; ++k) compare(clean.t_final[k], r.t_final[k]);
  EXPECT_LE(furthest, tolerance);
  const auto rows = rows_of(r), clean_rows = rows_of(clean);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(name_of(r.status[i]), name_of(clean.status[i])) << i;
    ASSERT_EQ(r.events[i], clean.events[i]) << i;
    ASSERT_EQ(static_cast<long long>(rows[i].size()), r.events[i]) << i;
    for (std::size_t e = 0; e < rows[i].size(); ++e) {
      ASSERT_EQ(rows[i][e]->guard, clean_rows[i][e]->guard) << i;
      furthest_time = std::fmax(furthest_time, std::fabs(rows[i][e]->time - clean_rows[i][e]->time));
      ASSERT_GE(rows[i][e]->time, rows[i][e > 0 ? e - 1 : 0]->time) << i;
    }
  }
  EXPECT_LE(furthest_time, tolerance);
}

TEST(Rescue, InjectedExceptionsLoseNothing) {
  const outcome& clean = undisturbed();
  EXPECT_EQ(with_exception(clean), 0);
  EXPECT_EQ(clean.summary.counts.rescued(), 0);
  for (const double share : {0.01, 0.1, 0.5, 1.0}) {
    SCOPED_TRACE(share);
    const outcome r = run("ball_drag", with(balls, {set("inject_exceptions", share)}));
    const auto& tally = r.summary.counts;
    // Nothing is lost, all instances end well, and each one that was given up is rescued.
    EXPECT_EQ(tally.ok() + tally.rescued() + tally.failed() + tally.not_finished(), 3000);
    EXPECT_EQ(tally.failed(), 0);
    EXPECT_EQ(tally.not_finished(), 0);
    EXPECT_EQ(tally.rescued(), with_exception(r));
    EXPECT_NEAR(static_cast<double>(tally.rescued()), 3000 * share, 4 * std::sqrt(3000 * share) + 100 * share);
    for (const auto kind : {status::not_located, status::step_too_small, status::not_finite}) {
      EXPECT_GT(std::count(r.exception.begin(), r.exception.end(), static_cast<int>(kind)), 3000 * share / 5)
          << name_of(static_cast<int>(kind));
      EXPECT_EQ(tally.by_rescue[static_cast<std::size_t>(kind)],
                std::count(r.exception.begin(), r.exception.end(), static_cast<int>(kind)));
    }
    expect_equal_within(clean, r, 2e-6);
    for (std::int64_t i = 0; i < 3000; ++i)
      if (r.exception[static_cast<std::size_t>(i)] == 0) expect_same(clean, i, r, i);
  }
}

TEST(Rescue, LanesThreadsAndChunksChangeNothing) {
  const auto settings = with(balls, {"inject_exceptions=0.2"});
  const outcome reference = run("ball_drag", with(settings, {"run.lanes=1", "run.threads=1"}));
  for (const int lanes : {1, host::native_lanes()})
    for (const int threads : {1, 2})
      for (const int chunk : {7, 500, 4000}) {
        const outcome r =
            run("ball_drag", with(settings, {fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                                             fmt::format("run.chunk={}", chunk)}));
        for (std::int64_t i = 0; i < 3000; ++i) expect_same(reference, i, r, i);
        expect_same_log(reference, r);
        if (HasFatalFailure()) return;
      }
}

TEST(Rescue, CanBeSwitchedOff) {
  const outcome with_it = run("ball_drag", with(balls, {"inject_exceptions=0.2"}));
  const outcome r = run("ball_drag", with(balls, {"inject_exceptions=0.2", "rescue=false"}));
  EXPECT_EQ(r.summary.counts.rescued(), 0);
  EXPECT_EQ(r.summary.counts.failed(), with_exception(with_it));
  EXPECT_EQ(r.summary.counts.ok() + r.summary.counts.failed(), 3000);
  EXPECT_EQ(with_exception(r), 0);
  for (std::size_t i = 0; i < 3000; ++i)
    EXPECT_EQ(r.status[i], with_it.exception[i] != 0 ? with_it.exception[i] : with_it.status[i]) << i;
}

TEST(Rescue, OfSlidesRestsTimeEventsAndConditions) {
  const std::vector<std::string> settings = {"rtol=1e-9",
                                             "sample.count=400",
                                             "sample.restitution={uniform=[0.3, 0.7]}",
                                             "sample.period={uniform=[3.0, 5.0]}",
                                             "sample.belt_speed={uniform=[0.1, 0.5]}",
                                             "output.events=true"};
  const std::string model = test_model("everything");
  const outcome clean = run(model, settings), r = run(model, with(settings, {"inject_exceptions=0.5"}));
  EXPECT_EQ(r.summary.counts.failed() + r.summary.counts.not_finished(), 0);
  EXPECT_EQ(r.summary.counts.rescued(), with_exception(r));
  EXPECT_GT(with_exception(r), 150);
  // The engine chooses how many bounces come before the rest; everything else is unchanged.
  double furthest = 0;
  for (std::size_t k = 0; k < clean.final_state.size(); ++k)
    furthest = std::fmax(furthest, std::fabs(clean.final_state[k] - r.final_state[k]));
  EXPECT_LT(furthest, 1e-5);
  EXPECT_EQ(clean.final_discrete, r.final_discrete);
  const auto rows = rows_of(r), clean_rows = rows_of(clean);
  for (std::size_t i = 0; i < 400; ++i) {
    std::vector<std::string> names, clean_names;
    for (const auto* e : rows[i])
      if (e->guard != "impact") names.push_back(e->guard);
    for (const auto* e : clean_rows[i])
      if (e->guard != "impact") clean_names.push_back(e->guard);
    ASSERT_EQ(names, clean_names) << i;
    for (std::size_t e = 1; e < rows[i].size(); ++e) ASSERT_GE(rows[i][e]->time, rows[i][e - 1]->time) << i;
  }
}

// Implicit methods have two more reasons to give up, and continue with the same method.
TEST(Rescue, OfImplicitMethods) {
  struct ensemble {
    const char* model;
    std::vector<std::string> settings;
    double tolerance;
  };
  const ensemble list[] = {
      {"cubic_semi",
       {"rtol=1e-9", "method=rodas5p", "level=0.5", "bump=1.5", "sample.z_begin={uniform=[-1.5, 0.4]}"},
       1e-6},
      {"circle_2", {"rtol=1e-9", "method=radau5", "sample.turn_at={uniform=[-0.2, 0.9]}"}, 1e-6},
  };
  for (const auto& e : list) {
    SCOPED_TRACE(e.model);
    const auto settings = with(e.settings, {"sample.count=400", "output.events=true", "run.lanes=4"});
    const auto clean = run(test_model(e.model), settings);
    const auto r = run(test_model(e.model), with(settings, {"inject_exceptions=0.5"}));
    EXPECT_EQ(clean.summary.counts.ok(), 400);
    EXPECT_EQ(r.summary.counts.failed() + r.summary.counts.not_finished(), 0);
    EXPECT_EQ(r.summary.counts.rescued(), with_exception(r));
    EXPECT_GT(with_exception(r), 150);
    expect_equal_within(clean, r, e.tolerance);
    for (std::int64_t i = 0; i < 400; ++i) {
      EXPECT_LE(r.residual[static_cast<std::size_t>(i)], 1e-12);
      if (r.exception[static_cast<std::size_t>(i)] == 0) expect_same(clean, i, r, i);
    }
  }
}

// ---- real exceptions

const std::string mishaps = test_model("mishaps");

TEST(Mishaps, AGuardThatJumpsOverZero) {
  // The guard has no root. The engine sees that it has changed sides and brackets the change, so that the event is on the proper
  // side, without standing still, wherever the change is.
  for (const std::string guard : {"jump", "wall"}) {
    const auto r = run(mishaps, {"rtol=1e-8", "output.events=true", "max_steps=1000", "sample.count=1000",
                                 "sample." + guard + "_at={uniform=[0.0, 2.0]}"});
    EXPECT_EQ(r.summary.counts.ok() + r.summary.counts.rescued(), 1000) << guard;
    EXPECT_EQ(r.log.size(), 1000u) << guard;
    host::columns in;
    host::sampler(r.plan).fill(0, r.plan.count, in);
    const std::size_t column = guard == "jump" ? 2 : 3;
    for (const auto& e : r.log)
      EXPECT_NEAR(e.time, in.parameters[column * 1000 + static_cast<std::size_t>(e.instance)], 1e-13) << guard;
    EXPECT_EQ(std::accumulate(r.out_of_order_roots.begin(), r.out_of_order_roots.end(), 0LL), 0)
        << "no other guard could be first";
  }
}

TEST(Mishaps, ABlowUpIsNotRescuedAndSaysSo) {
  // y' = y^2 has its pole at t = 1. Other instances have none.
  const auto r = run(mishaps, with(tight, {"growth=0.0", "sweep.square=[0.0, 1.0, 0.25]"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.status[2]), "finished");
  EXPECT_NEAR(r.final("y", 2), 2.0, 1e-8);
  EXPECT_NE(r.exception[1], 0);
  EXPECT_TRUE(name_of(r.status[1]) == "step_too_small" || name_of(r.status[1]) == "not_finite") << name_of(r.status[1]);
  EXPECT_NEAR(r.t_final[1], 1.0, 1e-6);
  EXPECT_TRUE(std::isfinite(r.final("y", 1)));
  EXPECT_EQ(r.summary.counts.ok(), 2);
  EXPECT_EQ(r.summary.counts.rescued(), 0);
  EXPECT_EQ(r.summary.counts.failed(), 1);
}

TEST(Mishaps, ANumberThatIsNoneEndsAtItsTime) {
  const auto r = run(mishaps, with(tight, {"nan_from=0.75"}));
  EXPECT_EQ(name_of(r.status[0]), "not_finite");
  EXPECT_EQ(name_of(r.exception[0]), "not_finite");
  EXPECT_NEAR(r.t_final[0], 0.75, 1e-9);
  EXPECT_NEAR(r.final("y"), std::exp(-r.t_final[0]), 1e-9);
}

TEST(Mishaps, AStepAtTheFloorOfFloatIsCarriedOnInDouble) {
  // At t = 2^22 an ulp of a float is 1/2: single precision cannot resolve any step that y' = -y requires, but double can.
  const std::vector<std::string> late = {"rtol=1e-8", "precision=float", "t=[4194304.0, 4194306.0]",
                                         "output.events=true"};
  const auto r = run(mishaps, with(late, {"jump_at=1.5"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.exception[0]), "step_too_small");
  EXPECT_EQ(r.summary.counts.rescued(), 1);
  EXPECT_NEAR(r.final("y"), std::exp(-2.0), 1e-7);
  EXPECT_EQ(r.t_final[0], 4194306.0);
  ASSERT_EQ(r.log.size(), 1u);
  EXPECT_NEAR(r.log[0].time, 4194305.5, 1e-6);
  const auto alone = run(mishaps, with(late, {"rescue=false"}));
  EXPECT_EQ(name_of(alone.status[0]), "step_too_small");
}

TEST(Mishaps, TimeAndStateMoveTogether) {
  // If an ulp of t is as large as the steps - 1/8 s at 1e15, 1/16 s at 2^20 in float - steps are the amounts by which t
  // moves: the state that counts seconds ends at 4, and y at exp(-4).
  for (const auto& where : {std::vector<std::string>{"t=[1e15, 1000000000000004.0]"},
                            std::vector<std::string>{"t=[1048576.0, 1048580.0]", "precision=float"}}) {
    const auto r = run(mishaps, with(where, {"rtol=1e-5"}));
    EXPECT_EQ(name_of(r.status[0]), "finished");
    EXPECT_NEAR(r.final("clock"), 4.0, 1e-5);
    EXPECT_NEAR(r.final("y"), std::exp(-4.0), 1e-4);
  }
}

TEST(Mishaps, WhatIsNotNumericalIsNotRescued) {
  // Bad starts and budgets are failures without rescue.
  const auto start = run(mishaps, with(tight, {"nan_from=-1.0"}));
  EXPECT_EQ(name_of(start.status[0]), "bad_start");
  EXPECT_EQ(start.exception[0], 0);
  const auto budget = run(mishaps, with(tight, {"max_steps=3"}));
  EXPECT_EQ(name_of(budget.status[0]), "step_budget");
  EXPECT_EQ(budget.exception[0], 0);
}

}  // namespace
}  // namespace saltus::test
