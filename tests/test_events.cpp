// Events: which events fire, when and in which order, and the end of instances that cannot be trusted. Analysis gives the
// expected result of each test.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace saltus::test {
namespace {

TEST(Events, TwoDifferentGuardsDueAtOnceFireInOneTransition) {
  const auto r = run(test_model("clocks"), tight);
  EXPECT_EQ(r.final_discrete, (std::vector<double>{1, 1, 1}));  // each once alone, and once together
  ASSERT_EQ(r.log.size(), 3u);                                  // a, b, same_as_b
  for (const auto& e : r.log) EXPECT_NEAR(e.time, 1.0, 1e-13);
  EXPECT_NEAR(r.final("second"), 4.0 - 10.0, 1e-12);
  EXPECT_NEAR(r.final("first"), 2.0, 1e-12);
}

TEST(Events, IdenticalGuardsFireOnceAndTogether) {
  // Two bilateral marks at one place, two walls at another.
  const auto r =
      run(test_model("timetable"), with(tight, {"mark_0=0.5", "mark_3=0.5", "ceiling_at=1.25", "ground_at=1.25"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"pass_0", "pass_3", "ceiling", "ground"}));
  EXPECT_EQ(discrete(r, "transitions"), 2);
  EXPECT_EQ(discrete(r, "max_together"), 2);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(r.log[k].time, k < 2 ? 0.5 : 1.25, 1e-15 * (k < 2 ? 1 : 4));
}

TEST(Events, GuardsCloseTogetherFireInOrder) {
  // b at t = 1, a at t = 1 + d and 1 - d: never missed and never together, for d well above rounding.
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
  // Three random roots in (0, 1), arbitrarily close: three events each, none missed, none repeated.
  for (const char* method : {"bs3", "dp5", "dop853"}) {
    const auto r =
        run(test_model("cubic_guard"),
            with(tight, {fmt::format("method={}", method), "sample.count=20000", "sample.r1={uniform=[0.0,1.0]}",
                         "sample.r2={uniform=[0.0,1.0]}", "sample.r3={uniform=[0.0,1.0]}"}));
    const auto in = inputs_of(r);
    std::int64_t wrong = 0;
    std::size_t row = 0;
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

/// The values of a guard's waves, of a model whose states leave the step size free.
struct wave_members {
  std::vector<double> w, p, b, w2, k, mu;

  explicit wave_members(int count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> within(0, 1);
    const double sizes[] = {0, 0.1, 1}, rates[] = {0, 1e-3, 1e-2, 0.1, 1};
    for (int i = 0; i < count; ++i) {
      w.push_back(std::pow(10, -1 + 2.5 * within(random)));
      w2.push_back(std::pow(10, -1 + 2.5 * within(random)));
      p.push_back(6.25 * within(random));
      mu.push_back(-1 + 3 * within(random));
      b.push_back(sizes[random() % 3]);
      k.push_back(rates[random() % 5]);
    }
  }
  double guard(std::size_t i, double t) const {
    return std::sin(w[i] * t + p[i]) + b[i] * std::sin(w2[i] * t) + std::exp(-k[i] * t) - mu[i];
  }
};

/// The alarms of 300 models, and their times to 2e-3, against a fine grid.
void expect_all_alarms(const std::vector<const char*>& methods) {
  constexpr int count = 300, grid = 30000;
  const wave_members m(count);
  std::vector<std::vector<double>> expected(count);
  for (std::size_t i = 0; i < count; ++i)
    for (int k = 0; k < grid; ++k) {
      const double t = 30.0 * k / grid, after = 30.0 * (k + 1) / grid;
      if (m.guard(i, t) < 0 && m.guard(i, after) >= 0) expected[i].push_back(after);
    }
  for (const char* method : methods)
    for (const char* rtol : {"rtol=1e-5", "rtol=1e-10"}) {
      const auto r =
          run(test_model("two_waves"), {std::string("method=") + method, rtol, "atol=1e-10", "output.events=true",
                                        set("sweep.zip.w", m.w), set("sweep.zip.p", m.p), set("sweep.zip.b", m.b),
                                        set("sweep.zip.w2", m.w2), set("sweep.zip.k", m.k), set("sweep.zip.mu", m.mu)});
      for (std::size_t i = 0; i < count; ++i) {
        const auto found = times_of(r, "rings", static_cast<std::int64_t>(i));
        ASSERT_EQ(found.size(), expected[i].size()) << method << " " << rtol << " " << i;
        for (std::size_t j = 0; j < found.size(); ++j)
          EXPECT_NEAR(found[j], expected[i][j], 2e-3) << method << " " << rtol << " " << i;
      }
    }
}

// The states have no error, or little: their control alone lets steps pass over many turns of the guard.
TEST(Events, OfGuardsThatSwingWhileStatesRest) { expect_all_alarms({"dp5", "taylor12"}); }
TEST(Events, OfGuardsThatSwingWhileStatesRestByOtherMethods) {
  expect_all_alarms({"bs3", "dop853", "esdirk4", "rodas5p"});
}

// A corner hides a part of a step above the level from its ends and its middle. Without the quarters of steps dp5 lost 13 events.
TEST(Events, OfTheLargerOfTwoWaves) {
  std::vector<double> w, phase, level;
  std::vector<long long> expected;
  for (int i = 0; i < 500; ++i) {
    w.push_back(0.3 + 8.7 * std::fmod(0.6180339887498949 * i, 1.0));
    phase.push_back(6.28 * std::fmod(0.7548776662466927 * i, 1.0));
    level.push_back(0.05 + 0.9 * std::fmod(0.5698402909980532 * i, 1.0));
    constexpr int grid = 100'000;
    long long rises = 0;
    bool was = true;
    for (int k = 0; k <= grid; ++k) {
      const double t = 10.0 * k / grid;
      const bool is = std::max(std::sin(w.back() * t + phase.back()), std::sin(2.3 * t + 1.0)) > level.back();
      rises += is && !was ? 1 : 0;
      was = is;
    }
    expected.push_back(rises);
  }
  for (const char* method : {"dp5", "tsit5", "dop853"}) {
    const auto r = run(test_model("larger_wave"), {std::string("method=") + method, "rtol=1e-6", set("sweep.zip.w", w),
                                                   set("sweep.zip.phase", phase), set("sweep.zip.level", level)});
    long long lost = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) lost += std::abs(expected[i] - r.events[i]);
    EXPECT_LE(lost, 3) << method;
  }
}

// Roots of sin t = 0.2, sin t = 0, |sin 3t| = 0.3 and sin t = 0.3 in (0, 30].
TEST(Events, OfSteepGuardsAndOfCorners) {
  struct {
    double kind;
    std::vector<double> q;
    long long expected;
  } const cases[] = {{0, {1, 20, 50, 200, 1000}, 10}, {1, {1.1, 4, 20}, 9}, {2, {1}, 57}, {3, {1}, 10}};
  for (const char* method : {"dp5", "dop853", "taylor12", "taylor20", "radau5"})
    for (const auto& c : cases) {
      const auto r =
          run(test_model("guard_kinds"), {std::string("method=") + method, set("kind", c.kind), set("sweep.q", c.q)});
      for (std::size_t i = 0; i < c.q.size(); ++i)
        EXPECT_EQ(r.events[i], c.expected) << method << ", kind " << c.kind << ", q " << c.q[i];
    }
}

/// Number of t in (begin, end] with root + a multiple of the period; -1 if one is within `near` of an end.
int times_between(double root, double period, double begin, double end, double near = 1e-3) {
  for (const double t : {begin, end})
    if (std::abs(std::remainder(t - root, period)) < near) return -1;
  return static_cast<int>(std::floor((end - root) / period) - std::floor((begin - root) / period));
}

// Steps of methods of high order are longer than the time for which a level is passed.
TEST(Events, OfLevelsThatAreBarelyPassed) {
  const double pi = std::acos(-1.0);
  for (const char* method : {"dop853", "rkf78", "radau9"}) {
    const auto r = run(test_model("two_levels"),
                       {std::string("method=") + method, "rtol=1e-6", "sample.count=4000", "output.events=true",
                        "sample.depth={log_uniform=[1e-3, 0.3]}", "sample.phase={uniform=[0, 6.28]}"});
    const auto in = inputs_of(r);
    const auto count = static_cast<std::size_t>(in.count);
    std::vector<int> lines(count), products(count);
    for (const auto& e : r.log) ++(e.guard == "line" ? lines : products)[static_cast<std::size_t>(e.instance)];
    int judged = 0, wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double depth = in.parameters[i], phase = in.parameters[count + i], up = std::asin(1.0 - depth);
      const int first = times_between(up, 2 * pi, phase, phase + 40),
                second = times_between(pi - up, 2 * pi, phase, phase + 40);
      const int third = times_between((up + std::atan2(0.5, 0.25)) / 2, pi, phase, phase + 40);
      if (first < 0 || second < 0 || third < 0) continue;
      ++judged;
      wrong += lines[i] != first + second || products[i] != third;
    }
    EXPECT_GT(judged, 3900) << method;
    EXPECT_EQ(wrong, 0) << method;
  }
}

// Such a guard does not hover: the errors of the states cancel in it.
TEST(Events, OfTheDifferenceOfTwoLargeStates) {
  const double pi = std::acos(-1.0);
  const std::vector<double> depths = {0.01, 0.03, 0.1, 0.3};
  for (const char* method : {"dp5", "dop853"}) {
    const auto r =
        run(test_model("two_cars"), {std::string("method=") + method, "rtol=1e-6", set("sweep.depth", depths)});
    for (std::size_t i = 0; i < depths.size(); ++i) {
      const double up = std::asin(1.0 - depths[i]);
      EXPECT_EQ(r.events[i], times_between(up, 2 * pi, 0.0, 40.0) + times_between(pi - up, 2 * pi, 0.0, 40.0))
          << method << ", depth " << depths[i];
    }
  }
}

TEST(Events, OfLinearGuardsAreKnownWhenAModelIsRead) {
  const auto guards = run(test_model("two_levels"), {}).plan.model.guards;
  EXPECT_EQ(guards[0].how_smooth, smoothness::linear);
  EXPECT_EQ(guards[1].how_smooth, smoothness::smooth);
}

// Such guards limit no steps: a hovering one is zero within what the tolerated errors of the states make of it.
TEST(Events, OfGuardsThatHoverAtZeroLimitNoSteps) {
  for (const char* method : {"dp5", "dop853", "rkf78", "rodas5p", "radau9", "taylor12"})
    for (const double kind : {4.0, 5.0, 6.0}) {
      const auto r = run(test_model("guard_kinds"), {std::string("method=") + method, set("kind", kind)});
      EXPECT_EQ(name_of(r.status[0]), "finished") << method << ", kind " << kind;
      EXPECT_LT(r.steps[0] + r.rejected[0], kind == 4 ? 300 : 1500) << method << ", kind " << kind;
      EXPECT_LE(r.events[0], kind == 4 ? 100 : 0) << method << ", kind " << kind;
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
  // Fixed steps of 1/4: `first` passes its mark exactly at t = 1/2, the end of a step, and fires once.
  const auto r =
      run(test_model("clocks"), {"method=rk4", "step=0.25", "output.events=true", "first_mark=0.5", "second_mark=3.0"});
  EXPECT_EQ(r.final_discrete[0], 1);
  ASSERT_EQ(r.log.size(), 3u);
  EXPECT_NEAR(r.log[0].time, 0.5, 1e-14);
  EXPECT_NEAR(r.log[1].time, 1.5, 1e-14);
  // A guard that is zero at t0 does not fire there, since intervals are (t_k, t_{k+1}].
  EXPECT_EQ(run(test_model("clocks"), with(tight, {"first_mark=0.0", "second_mark=100.0"})).events[0], 0);
  // A bilateral guard that reaches zero at t_end cannot be passed within the span, and does not fire.
  const auto last = run(test_model("clocks"), with(tight, {"first_mark=2.0", "second_mark=40.0"}));
  EXPECT_EQ(last.final_discrete, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(name_of(last.status[0]), "finished");
}

/// Times at which the guards of tests/models/flat.hpp fire, for r = a/b: x is zero again at 3 r if its two terms have one sign.
std::vector<std::pair<double, std::string>> events_of_flat(double a, double b, double anew, double t_end) {
  std::vector<std::pair<double, std::string>> r = {{anew, "restart"}};
  const double root = 3.0 * a / b;
  if (a * b > 0.0) {
    if (root < t_end) r.insert(r.end(), {{root, "any"}, {root, b > 0.0 ? "up" : "down"}});
    // The transition that resets z from beyond its root moves it to its other side.
    if (root < anew) r.insert(r.end(), {{root, "again"}, {anew, "again"}});
    if (anew + root < t_end) r.push_back({anew + root, "again"});
  }
  std::sort(r.begin(), r.end());
  return r;
}

TEST(Events, GuardsThatBeginFlatAtZeroAreOnTheSideTheyGoTo) {
  // Each method's first steps are longer than most of the dips.
  for (const char* method : {"dp5", "dop853", "bs3", "rodas5p"})
    for (const double a : {-3.0, -0.02, 0.0, 1e-6, 0.02, 0.5, 3.0}) {
      const std::vector<double> all_b = {-2.0, -0.1, 0.1, 2.0};
      const auto r = run(test_model("flat"), with(tight, {std::string("method=") + method, fmt::format("a={}", a),
                                                          "sweep.b=[-2.0,-0.1,0.1,2.0]", "anew=0.7"}));
      for (std::size_t i = 0; i < all_b.size(); ++i) {
        SCOPED_TRACE(fmt::format("{}: a {}, b {}", method, a, all_b[i]));
        std::vector<std::pair<double, std::string>> found;
        for (const auto& e : r.log)
          if (e.instance == static_cast<std::int64_t>(i)) found.emplace_back(e.time, e.guard);
        std::sort(found.begin(), found.end(), [](const auto& p, const auto& q) {
          return std::fabs(p.first - q.first) > 1e-6 ? p.first < q.first : p.second < q.second;
        });
        const auto expected = events_of_flat(a, all_b[i], 0.7, 10.0);
        ASSERT_EQ(expected.size(), found.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          EXPECT_NEAR(expected[k].first, found[k].first, 1e-8);
          EXPECT_EQ(expected[k].second, found[k].second);
        }
        EXPECT_EQ(name_of(r.status[i]), "finished");
      }
    }
}

TEST(Events, GuardsOfDaesThatBeginFlatAreOnTheSideTheyGoTo) {
  // x = -a s^2/2 + b s^3/6 from t = 0, and from t = 5 again (tests/models/parts/flat_base.hpp).
  const std::vector<double> all_a = {1.0, -1.0, 1.0, -1.0, 1e-3, 0.0, 0.0},
                            all_b = {1.0, -1.0, -1.0, 1.0, 1e-3, 1.0, -1.0};
  for (const char* model : {"flat_index_1", "flat_index_2", "flat_residual"})
    for (const char* rtol : {"rtol=1e-5", "rtol=1e-10"}) {
      const auto r = run(test_model(model), {rtol, "method=radau5", "output.events=true", set("sweep.zip.a", all_a),
                                             set("sweep.zip.b", all_b)});
      for (std::size_t i = 0; i < all_a.size(); ++i) {
        SCOPED_TRACE(fmt::format("{}, {}: a {}, b {}", model, rtol, all_a[i], all_b[i]));
        const auto times = times_of(r, "any", static_cast<std::int64_t>(i));
        EXPECT_EQ(name_of(r.status[i]), "finished");
        if (all_a[i] * all_b[i] > 0.0) {
          // The transition that resets x from beyond its root moves it to its other side.
          ASSERT_EQ(times.size(), 3u);
          const double expected[] = {3.0, 5.0, 8.0};
          for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(times[k], expected[k], 1e-4);
        } else {
          EXPECT_TRUE(times.empty());
        }
      }
    }
}

TEST(Events, EventIterationFiresWhatATransitionMadeTrue) {
  // a at t = 1 takes 2 from z = 1: b is violated, fires at the same time and corrects z.
  const auto r = run(test_model("chain"), with(tight, {"restore=1.0"}));
  EXPECT_EQ(r.final_discrete, (std::vector<double>{1, 1}));
  ASSERT_EQ(r.log.size(), 2u);
  EXPECT_EQ(r.log[0].guard, "a");
  EXPECT_EQ(r.log[1].guard, "b");
  EXPECT_EQ(r.log[0].time, r.log[1].time);
  EXPECT_EQ(r.final("z"), 0.5);
  EXPECT_EQ(name_of(r.status[0]), "finished");
  // No transition corrects z: the iteration is bounded, and a status reports it.
  const auto loop = run(test_model("chain"), tight);
  EXPECT_EQ(name_of(loop.status[0]), "event_loop");
  EXPECT_NEAR(loop.t_final[0], 1.0, 1e-13);
  EXPECT_EQ(loop.events[0], 64);  // rounds
  // The push does not reach b, so only a fires.
  EXPECT_EQ(run(test_model("chain"), with(tight, {"push=0.5"})).final_discrete, (std::vector<double>{1, 0}));
}

TEST(Events, EventIterationAtExactlyZero) {
  // a puts z exactly on b's zero. If z falls, b is due at the same time; at rest or rising, it is not.
  const auto closing = run(test_model("chain"), with(tight, {"push=1.0", "drift=-1.0", "restore=1.0"}));
  EXPECT_EQ(names_of(closing), (std::vector<std::string>{"a", "b", "b"}));
  EXPECT_EQ(closing.log[1].time, closing.log[0].time);
  EXPECT_EQ(closing.log[1].before[1], 0.0);
  EXPECT_NEAR(closing.log[2].time, 1.5, 1e-13);  // reset to 1/2, z falls again
  const auto resting = run(test_model("chain"), with(tight, {"push=1.0"}));
  EXPECT_EQ(names_of(resting), std::vector<std::string>{"a"});
  EXPECT_EQ(resting.final("z"), 0.0);
  const auto opening = run(test_model("chain"), with(tight, {"push=1.0", "drift=1.0"}));
  EXPECT_EQ(names_of(opening), std::vector<std::string>{"a"});
  EXPECT_NEAR(opening.final("z"), 1.0, 1e-13);
  for (const auto* r : {&closing, &resting, &opening}) EXPECT_EQ(name_of(r->status[0]), "finished");
  // A guard beyond zero but on its way back has no event, and is met again from the right side: z = -1/2 + (t - 1).
  const auto back = run(test_model("chain"), with(tight, {"push=1.5", "drift=1.0"}));
  EXPECT_EQ(discrete(back, "fired_a"), 1);
  EXPECT_NEAR(back.final("z"), 0.5, 1e-13);
}

TEST(Events, ModesFollowGuardSigns) {
  // Slopes 1, 2, 4: y = 1 at t = 1, y = 3 at t = 2, y(3) = 7. The first mode is set before the integration begins.
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

TEST(Events, ABodyThatStartsInContactDoesNotFallThrough) {
  // At rest on the floor: immediate contact, repeatedly, and a status; below the floor and falling: rejected.
  const auto resting = run("bouncing_ball", with(tight, {"initial.height=0.0", "v_min=0.0", "max_events=50"}));
  EXPECT_EQ(name_of(resting.status[0]), "zeno");
  EXPECT_LT(resting.t_final[0], 1e-6);
  EXPECT_GE(resting.final("height"), -1e-13);
  const auto below = run("bouncing_ball", with(tight, {"initial.height=-0.1"}));
  EXPECT_EQ(name_of(below.status[0]), "guard_violated");
  EXPECT_EQ(below.t_final[0], 0.0);
  const auto rising = run("bouncing_ball", with(tight, {"initial.height=0.0", "initial.velocity=3.0", "t=[0.0,0.7]"}));
  EXPECT_EQ(rising.events[0], 1);  // the ball leaves the floor without an event and lands at 2 v / g = 0.6116 s
  EXPECT_NEAR(rising.log[0].time, 6 / 9.81, 1e-12);
}

TEST(Events, AThousandGuardsOnceAndInOrder) {
  // Marks 1e-3 apart and 5e-12 apart: two hundred within 1e-9.
  for (const double gap : {1e-3, 5e-12}) {
    const auto r = run(test_model("marks"), {"rtol=1e-8", "output.events=true", "begin=0.00047", set("gap", gap)});
    ASSERT_EQ(r.log.size(), 1000u) << gap;
    EXPECT_EQ(discrete(r, "count"), 1000) << gap;
    EXPECT_EQ(discrete(r, "disorder"), 0) << gap;
    for (int k = 0; k < 1000; ++k) {
      const auto& row = r.log[static_cast<std::size_t>((7 * k + 3) % 1000)];
      ASSERT_EQ(row.guard, fmt::format("passed_{}", k)) << gap;
      ASSERT_NEAR(row.time, 0.00047 + gap * ((7 * k + 3) % 1000), 2e-14) << gap;
    }
  }
}

TEST(Events, ManyStatesFewGuards) {
  // State i grows at 1 + i / 8: state 20 reaches 1 at t = 2/7, state 39 reaches 10 every 80/47.
  const auto r = run(test_model("column"), tight);
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"middle", "last"}));
  EXPECT_NEAR(r.log[0].time, 2.0 / 7, 1e-13);
  EXPECT_NEAR(r.log[1].time, 80.0 / 47, 1e-13);
  for (int i = 0; i < 40; ++i)
    EXPECT_NEAR(r.final(fmt::format("y_{}", i)), (1 + i / 8.0) * 3 - (i == 39 ? 10 : 0), 1e-11) << i;
}

// ---- grazing

TEST(Grazing, BilateralBothCrossingsOrNone) {
  // x = (t - 1)^2 / 2 - depth against its line: passed at 1 -+ sqrt(2 depth). A rounding of x moves that time by 1e-16 / speed.
  for (double depth : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    const auto r = run(test_model("graze"), with(tight, {set("line_depth", depth)}));
    const double reach = std::sqrt(2 * depth);
    ASSERT_EQ(names_of(r), (std::vector<std::string>{"line", "line"})) << depth;
    EXPECT_NEAR(r.log[0].time, 1 - reach, 1e-15 + 1e-15 / reach) << depth;
    EXPECT_NEAR(r.log[1].time, 1 + reach, 1e-15 + 1e-15 / reach) << depth;
  }
  for (double depth : {-1e-12, -1e-10, -1e-6})
    EXPECT_EQ(run(test_model("graze"), with(tight, {set("line_depth", depth)})).events[0], 0) << depth;
}

TEST(Grazing, UnilateralOneImpactOrNone) {
  // The stone would pass the wall by `depth`: it arrives at 1 - sqrt(2 depth) with that speed, and leaves with half of it.
  for (double depth : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    const auto r = run(test_model("graze"), with(tight, {set("wall_depth", depth)}));
    const double speed = std::sqrt(2 * depth);
    ASSERT_EQ(names_of(r), std::vector<std::string>{"wall"}) << depth;
    EXPECT_EQ(name_of(r.status[0]), "finished") << depth;
    EXPECT_NEAR(r.log[0].time, 1 - speed, 1e-15 + 1e-15 / speed) << depth;
    EXPECT_NEAR(r.log[0].before[1], -speed, 1e-15 + 1e-15 / speed) << depth;
    EXPECT_GE(r.log[0].before[0], depth);
    const double left = 1 + speed;  // from the impact to t = 2
    EXPECT_NEAR(r.final("x"), depth + left * (speed / 2 + left / 2), 1e-12 + 1e-14 / speed) << depth;
  }
  for (double depth : {-1e-12, -1e-10, -1e-6}) {
    const auto r = run(test_model("graze"), with(tight, {set("wall_depth", depth)}));
    EXPECT_EQ(r.events[0], 0) << depth;
    EXPECT_NEAR(r.final("x"), 0.5, 1e-14);
  }
  // A touch without speed: at most an impact without effect.
  const auto touch = run(test_model("graze"), with(tight, {"wall_depth=0.0"}));
  EXPECT_EQ(name_of(touch.status[0]), "finished");
  EXPECT_LE(touch.events[0], 1);
  EXPECT_NEAR(touch.final("x"), 0.5, 1e-7);
}

// ---- region of concurrency: guards of tests/models/timetable.hpp, with time derivative 1

const std::vector<std::string> concurrent = {"rtol=1e-8", "output.events=true", "concurrency.time=1e-6"};

TEST(Concurrency, AGroupFiresInOneTransition) {
  const std::vector<std::string> marks = {"mark_0=0.5", set("mark_1", 0.5 + 2e-7), set("mark_2", 0.5 + 1e-7),
                                          "mark_3=1.5"};
  const auto r = run(test_model("timetable"), with(concurrent, with(marks, {"concurrency.value=1e-3"})));
  EXPECT_EQ(discrete(r, "transitions"), 2);
  EXPECT_EQ(discrete(r, "max_together"), 3);
  ASSERT_EQ(r.log.size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(r.log[k].time, 0.5 + 2e-7, 1e-14) << "at the last root of the group";
  EXPECT_NEAR(r.log[3].time, 1.5, 1e-14);
  // Without the region the guards fire one by one.
  const auto apart = run(test_model("timetable"), with(tight, marks));
  EXPECT_EQ(discrete(apart, "transitions"), 4);
  EXPECT_EQ(names_of(apart), (std::vector<std::string>{"pass_0", "pass_2", "pass_1", "pass_3"}));
}

TEST(Concurrency, IsLimitedInTimeAndInValue) {
  // No guard may pass zero by more than `value`: the third, 2e-7 behind the first, fires separately.
  const std::vector<std::string> marks = {"mark_0=0.5", set("mark_1", 0.5 + 1e-7), set("mark_2", 0.5 + 2e-7)};
  const auto value = run(test_model("timetable"), with(concurrent, with(marks, {"concurrency.value=1.5e-7"})));
  EXPECT_EQ(discrete(value, "transitions"), 2);
  EXPECT_NEAR(value.log.at(0).time, 0.5 + 1e-7, 1e-14);
  EXPECT_NEAR(value.log.at(2).time, 0.5 + 2e-7, 1e-14);
  // The time span counts from the first guard: links of 8e-7 do not form a chain.
  const auto chain = run(
      test_model("timetable"),
      with(concurrent, {"concurrency.value=1.0", "mark_0=0.5", set("mark_1", 0.5 + 8e-7), set("mark_2", 0.5 + 16e-7)}));
  EXPECT_EQ(discrete(chain, "transitions"), 2);
  EXPECT_EQ(discrete(chain, "max_together"), 2);
  EXPECT_NEAR(chain.log.at(2).time, 0.5 + 16e-7, 1e-14);
  const auto outside = run(test_model("timetable"),
                           with(concurrent, {"concurrency.value=1.0", "mark_0=0.5", set("mark_1", 0.5 + 2e-6)}));
  EXPECT_EQ(discrete(outside, "transitions"), 2);
  EXPECT_NEAR(outside.log.at(0).time, 0.5, 1e-14);
  EXPECT_NEAR(outside.log.at(1).time, 0.5 + 2e-6, 1e-14);
}

TEST(Concurrency, PassesNoUnilateralGuard) {
  for (const char* wall : {"ground", "ceiling"}) {
    const auto r = run(test_model("timetable"),
                       with(concurrent, {"concurrency.value=1.0", "mark_0=0.5",
                                         set(std::string(wall) + "_at", 0.5 + 1e-7), set("mark_1", 0.5 + 2e-7)}));
    EXPECT_EQ(names_of(r), (std::vector<std::string>{"pass_0", wall, "pass_1"}));
    EXPECT_LE(times_of(r, wall).at(0), 0.5 + 1e-7);
    EXPECT_NEAR(times_of(r, wall).at(0), 0.5 + 1e-7, 1e-14);
  }
}

// ---- guards in the error control

TEST(GuardsInError, FindEveryTickOfAClock) {
  // Mao and Petzold's argument: 69 switchings before 3.5 at rtol = 1e-5, without any longest step; y = 0.1 exp(7/4).
  const auto r = run(test_model("gate"), {"rtol=1e-5", "guards_in_error=true", "output.events=true"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  ASSERT_EQ(r.log.size(), 69u);
  for (std::size_t k = 0; k < 69; ++k) EXPECT_NEAR(r.log[k].time, 0.05 * static_cast<double>(k + 1), 1e-12) << k;
  EXPECT_NEAR(r.final("y"), 0.1 * std::exp(1.75), 1e-5);
}

/// The times at which a pendulum of length 1 that begins at rest passes an angle with this cosine, up to `end`, by elliptic integrals.
std::vector<double> times_of_passing(double angle, double gravity, double cosine, double end) {
  std::vector<double> times;
  const double k = std::sin(angle / 2), rate = std::sqrt(gravity), sine = std::sqrt((1 - cosine) / 2) / k;
  if (!(sine < 1)) return times;
  const double quarter = std::comp_ellint_1(k) / rate, from_below = std::ellint_1(k, std::asin(sine)) / rate;
  for (double below = quarter; below - from_below < end; below += 2 * quarter)
    for (double t : {below - from_below, below + from_below})
      if (t < end) times.push_back(t);
  return times;
}

// Algebraic states of index 2 are solved for anew at an event, which moves them by the error of the step.
TEST(Events, AGuardOnAnAlgebraicStateFiresOnceAtARoot) {
  constexpr std::size_t count = 500;
  for (const char* method : {"radau5", "radau9"})
    for (const char* rtol : {"1e-6", "1e-10"}) {
      const auto r = run(test_model("rod_in_tension"),
                         {fmt::format("method='{}'", method), set("rtol", std::stod(rtol)), "atol=1e-10",
                          fmt::format("sample.count={}", count), "sample.seed=3", "sample.angle={uniform=[0.3, 1.4]}",
                          "sample.level={uniform=[6.0, 14.0]}", "output.events=true"});
      const auto in = inputs_of(r);
      std::size_t events = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const double angle = in.parameters[i], gravity = in.parameters[count + i], level = in.parameters[2 * count + i];
        // The tension is gravity (3 cos - 2 cos of the first angle).
        const auto due = times_of_passing(angle, gravity, (level / gravity + 2 * std::cos(angle)) / 3, 3.0);
        const auto found = times_of(r, "", static_cast<std::int64_t>(i));
        ASSERT_EQ(found.size(), due.size()) << method << " " << rtol << ", angle " << angle << ", level " << level;
        for (std::size_t k = 0; k < due.size(); ++k) EXPECT_NEAR(found[k], due[k], 1e-4) << method << " " << rtol;
        events += due.size();
      }
      EXPECT_GT(events, 2 * count);
    }
}

TEST(Events, NaNInSomeInstancesHarmsNoOther) {
  const std::vector<std::string> base = {"rtol=1e-8", "output.events=true", "sweep.rate.from=0.5", "sweep.rate.to=2.0",
                                         "sweep.rate.count=3"};
  const auto clean = run(test_model("trouble"), base);
  const auto mixed =
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
  // Samples at 0, 1, ..., 10: present up to the end, absent after it.
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
  // The event lies a rounding past t = 5 (bilateral), so the sample at 5 is the state just before the event.
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
      run(test_model("wave"), {"rtol=1e-9", "jump_at=5.0", "jump=20.0", "t=[0.0,5.1]",
                               "output.reduce=['max(x)','min(x)','mean(x)','integral(x)','max(energy)','max(v)']"});
  EXPECT_NEAR(jumped.reductions[0], 20 + std::sin(5.0), 0.2);
  EXPECT_GE(jumped.reductions[0], 20 + std::sin(5.0) - 1e-7);
}

// A transition changes the sign of one guard, which switches another: that one jumps from 2 to -2 at the same time, and is due there.
TEST(Iteration, SeesAGuardThatSwitchesByTheSignOfAnother) {
  for (const char* method : {"dp5", "radau5"}) {
    const auto r = run(test_model("switched_guard"), with(tight, {std::string("method=") + method}));
    EXPECT_EQ(names_of(r), (std::vector<std::string>{"turn", "level"})) << method;
    EXPECT_EQ(times_of(r), (std::vector<double>{1.0, 1.0})) << method;
  }
}

// One-way guards change sides without events, and guards that depend on their sides jump at the start of the next step, however short.
TEST(Iteration, LocatesWhatJumpsWhereAStepBegins) {
  constexpr std::size_t count = 3000;
  const auto outcome = [&](const char* method, const char* rtol) {
    std::vector<std::string> settings = {
        fmt::format("sample.count={}", count), "sample.seed=5",
        fmt::format("rtol={}", rtol),          "rescue=false",
        fmt::format("method={}", method),      "sample.power={discrete=[0.0,0.5,1.0,1.5,2.0]}"};
    for (int k = 0; k < 8; ++k) settings.push_back(fmt::format("sample.c_{}={{uniform=[-1.0,1.0]}}", k));
    return run(test_model("selecting_mixed"), settings);
  };
  const auto exact = outcome("rodas5p", "1e-9");
  for (const char* method : {"radau5", "rodas5p"}) {
    const auto r = outcome(method, "1e-6");
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(name_of(r.status[i]), "finished") << method << " " << i;
      EXPECT_NEAR(r.final("x", i), exact.final("x", i), 1e-3) << method << " " << i;
      EXPECT_NEAR(r.final("v", i), exact.final("v", i), 1e-3) << method << " " << i;
    }
  }
}

}  // namespace
}  // namespace saltus::test
