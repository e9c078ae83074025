// Zeno: events that accumulate before a finite time. The limits are geometric series: a ball with restitution e dropped from
// rest at h lands first at T = sqrt(2 h / g) and comes to rest at T (1 + e) / (1 - e).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "event_runs.hpp"

namespace saltus::test {
namespace {

const std::string resting_balls = test_model("resting_balls");
constexpr double gravity = 9.81;

double first_landing(double height) { return std::sqrt(2 * height / gravity); }
double limit(double height, double e) { return first_landing(height) * (1 + e) / (1 - e); }

TEST(Zeno, EndsWithItsLimit) {
  // 2.55863396558580846 for e = 0.7.
  EXPECT_NEAR(limit(1.0, 0.7), 2.55863396558580846, 1e-15);
  for (double e : {0.5, 0.7, 0.9, 0.95})
    for (double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      const auto r = run("bouncing_ball", {set("rtol", tolerance), "v_min=0.0", set("restitution", e), "t=[0.0, 20.0]",
                                           "output.events=true", "output.reduce=['min(height)']"});
      EXPECT_EQ(name_of(r.status[0]), "zeno") << e << " " << tolerance;
      EXPECT_NEAR(r.t_final[0], limit(1.0, e), 1e-12 * limit(1.0, e)) << e << " " << tolerance;
      EXPECT_GE(r.reductions[0], -1e-13);
      EXPECT_LT(r.events[0], e < 0.9 ? 100 : 500);
    }
}

TEST(Zeno, NothingHappensWithoutItsSeries) {
  // The span ends before the limit, or events continue at a constant rate: no accumulation.
  const auto early = run("bouncing_ball", with(tight, {"v_min=0.0", "t=[0.0, 2.5586]"}));
  EXPECT_EQ(name_of(early.status[0]), "finished");
  const auto never = run("bouncing_ball", with(tight, {"v_min=0.0", "t=[0.0, 20.0]", "zeno=0.0", "max_events=100"}));
  EXPECT_EQ(name_of(never.status[0]), "event_budget");
  EXPECT_NEAR(never.t_final[0], limit(1.0, 0.7), 1e-5);
  // A clock of 1 kHz is as regular in a span of 1e6 s as in one of 1 s.
  const auto clock = run("sine_roots", {"rtol=1e-6", "t=[0.0, 1e6]", "max_events=200"});
  EXPECT_EQ(name_of(clock.status[0]), "event_budget");
  EXPECT_NEAR(clock.t_final[0], 0.2, 1e-12);
}

TEST(Zeno, BackwardInTime) {
  const auto r = run("bouncing_ball", with(tight, {"t=[0.0, -10.0]", "v_min=-100.0"}));
  EXPECT_EQ(name_of(r.status[0]), "zeno");
  EXPECT_NEAR(r.t_final[0], -limit(1.0, 0.7), 1e-11);
}

TEST(Zeno, OfTwoGuardsInTurn) {
  // BOK 3: t_n = (ln 2) / 2 + (3/2) ln 2 (1 - 2^(1 - n)), upper and lower in turn, limit 2 ln 2.
  const auto r = run("bok_3", {"rtol=1e-13", "output.events=true", "t=[0.0, 2.0]"});
  EXPECT_EQ(name_of(r.status[0]), "zeno");
  EXPECT_NEAR(r.t_final[0], 2 * std::log(2.0), 1e-11);
  for (std::size_t n = 1; n < r.log.size(); ++n) EXPECT_NE(r.log[n].guard, r.log[n - 1].guard);
}

TEST(Zeno, RestIsExactAndLasting) {
  for (double e : {0.5, 0.7, 0.9, 0.95})
    for (double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      const auto r = run(resting_balls, {set("rtol", tolerance), "output.events=true", "t=[0.0, 50.0]",
                                         set("restitution_0", e), set("restitution_1", e), "initial.height_1=0.5"});
      ASSERT_EQ(name_of(r.status[0]), "finished") << e << " " << tolerance;
      for (const char* ball : {"0", "1"}) {
        EXPECT_EQ(r.final(std::string("height_") + ball), 0.0);
        EXPECT_EQ(r.final(std::string("velocity_") + ball), 0.0);
        EXPECT_EQ(discrete(r, std::string("resting_") + ball), 1.0);
        const auto times = times_of(r, std::string("contact_") + ball);
        const double at = limit(*ball == '0' ? 1.0 : 0.5, e);
        ASSERT_FALSE(times.empty());
        EXPECT_NEAR(times.back(), at, 1e-11 * at) << "ball " << ball << ", " << e << " " << tolerance;
      }
    }
}

// With little restitution, a gap that is a difference reaches its rounding before four flights have been seen to shrink. The guard may then
// fire at every bit, or not at all.
TEST(Zeno, WhereLittleRestitutionMeetsRounding) {
  const int count = 200;
  const double noise =
      24 * 0x1p-27 * 12.0;  // number of flights before a standstill counts as such, each of this part of the span
  for (const char* method : {"dp5", "dop853"})
    for (const double height : {0.0, 0.3, 1.0, -40.0}) {
      const outcome r = run(test_model("shelf"),
                            {"rtol=1e-9", std::string("method=") + method, set("height", height),
                             "sweep.restitution={from=0.0,to=0.1,count=200}", "t=[0.0,12.0]", "output.events=true"});
      std::vector<double> last(static_cast<std::size_t>(count), 0.0);
      for (const auto& e : r.log) last[static_cast<std::size_t>(e.instance)] = e.time;
      for (int i = 0; i < count; ++i) {
        SCOPED_TRACE(fmt::format("{}, shelf at {}, instance {}", method, height, i));
        const double e = 0.1 * i / (count - 1), fall = std::sqrt(2.0 * (2.0 - height) / 9.81);
        EXPECT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished");
        EXPECT_EQ(r.final("y", i), height);
        EXPECT_EQ(r.final("v", i), 0.0);
        EXPECT_NEAR(last[static_cast<std::size_t>(i)], fall * (1.0 + 2.0 * e / (1.0 - e)), noise);
      }
    }
}

TEST(Zeno, AtTheSameLimitForTwo) {
  const auto r = run(resting_balls, tight);
  EXPECT_EQ(name_of(r.status[0]), "finished");
  for (const char* ball : {"0", "1"}) {
    EXPECT_EQ(r.final(std::string("height_") + ball), 0.0);
    EXPECT_EQ(discrete(r, std::string("resting_") + ball), 1.0);
    EXPECT_NEAR(times_of(r, std::string("contact_") + ball).back(), limit(1.0, 0.7), 1e-11);
  }
}

TEST(Zeno, WhatDoesNotRestGoesOnUndisturbed) {
  // Ball 0 comes to rest at 1.35 s; the flight of ball 1 during that time is the same parabola.
  const double e1 = 0.9;
  const auto r = run(resting_balls, with(tight, {"restitution_0=0.5", set("restitution_1", e1), "t=[0.0, 2.0]"}));
  double t = first_landing(1.0), flight = 2 * t;
  std::vector<double> expected;
  for (; t < 2.0; flight *= e1, t += flight) expected.push_back(t);
  const auto times = times_of(r, "contact_1");
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(times[k], expected[k], 1e-12) << k;
}

TEST(Zeno, ATimeEventJustBeforeTheLimitIsNotPassedOver) {
  for (double before : {1e-3, 1e-6, 1e-7, 1e-8, 1e-9}) {
    const auto r = run(resting_balls, with(tight, {set("throw_at", limit(1.0, 0.7) - before)}));
    EXPECT_EQ(discrete(r, "thrown"), 1) << before;
    EXPECT_EQ(name_of(r.status[0]), "finished");
    EXPECT_EQ(r.final("height_0"), 0.0);
  }
}

TEST(Zeno, WhatRestsMayBeThrownAgain) {
  // At rest from 2.56 s on; thrown at 5 s with 3 m/s, it lands 6 / g later and rests again 6 / g / (1 - e) after the throw.
  const auto r = run(resting_balls, with(tight, {"throw_at=5.0", "output.samples.times=[4.0, 5.1, 9.0]"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(r.sample(0, 0, 0), 0.0);
  EXPECT_NEAR(r.sample(0, 0, 1), 3 * 0.1 - gravity / 2 * 0.01, 1e-12);
  EXPECT_EQ(r.sample(0, 0, 2), 0.0);
  std::vector<double> after;
  for (double t : times_of(r, "contact_0"))
    if (t > 5.0) after.push_back(t);
  double t = 5.0, flight = 2 * 3.0 / gravity;
  for (std::size_t k = 0; k < 5; ++k, flight *= 0.7) EXPECT_NEAR(after.at(k), t += flight, 1e-12) << k;
  EXPECT_NEAR(after.back(), 5.0 + 2 * 3.0 / gravity / 0.3, 1e-11);
}

TEST(Zeno, AtRestFromTheStart) {
  // On the table without velocity: at rest immediately. (Each landing is the last: flights of zero length.)
  const auto r = run(resting_balls, with(tight, {"initial.height_0=0.0"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(r.final("height_0"), 0.0);
  EXPECT_EQ(discrete(r, "resting_0"), 1.0);
  EXPECT_LT(r.log[0].time, 1e-7);
  EXPECT_NEAR(times_of(r, "contact_1").back(), limit(1.0, 0.7), 1e-11);
}

TEST(Zeno, AReliefValveSitsDownAndLiftsOff) {
  // At rest on its seat the pressure grows at compressibility times flow = 20 x 0.25; the valve lifts off at the preload, 10.
  const auto r = run("relief_valve", {"rtol=1e-10", "output.events=true", "flow=0.25", "output.reduce=['min(lift)']"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_GE(r.reductions[0], -1e-13);
  int lifted = 0;
  for (std::size_t k = 1; k < r.log.size(); ++k)
    if (r.log[k].guard == "lift_off") {
      ++lifted;
      EXPECT_EQ(r.log[k].before[0], 0.0);
      EXPECT_EQ(r.log[k].before[1], 0.0);
      EXPECT_NEAR(r.log[k].time, r.log[k - 1].time + (10 - r.log[k - 1].after[2]) / (20 * 0.25), 1e-10);
    }
  EXPECT_GE(lifted, 1);
}

// From 0.7 at the speed drift - 1 to the surface, which is then crossed back and forth at drift - 1 and drift + 1: the way back from past
// the surface takes up to 200,000 times longer on one side than on the other. A drift beyond 1 leads away from it.
TEST(Chattering, OfASwitchThatBothSidesPushOnto) {
  const std::vector<double> drifts = {-0.3, 0.1, 0.2,  0.3,  0.4,  0.5,     0.6, 0.7,
                                      0.8,  0.9, 0.91, 0.95, 0.99, 0.99999, 1.5};
  for (const char* method : {"dp5", "radau5"})
    for (const double level : {0.0, 1.0, -1e3, 1e6}) {
      const auto r = run(test_model("undeclared_slide"), {"rtol=1e-8", std::string("method=") + method, "t=[0.0, 1e5]",
                                                          set("level", level), set("sweep.drift", drifts)});
      for (std::size_t i = 0; i + 1 < drifts.size(); ++i) {
        SCOPED_TRACE(fmt::format("{}, surface at {}, drift {}", method, level, drifts[i]));
        const double rate = 1 - drifts[i];
        EXPECT_EQ(name_of(r.status[i]), "chattering");
        EXPECT_LE(r.events[i], 40);
        // x is known to the rounding of its level
        EXPECT_NEAR(r.t_final[i], 0.7 / rate, 1e-8 * (0.7 / rate) + 64 * 0x1p-53 * std::fabs(level) / rate);
      }
      EXPECT_EQ(name_of(r.status[drifts.size() - 1]), "finished");
    }
}

TEST(Chattering, IsNotWhatASwitchWithTwoThresholdsDoes) {
  // Transitions switch at thresholds that coincide or nearly do: gap / rise to heat and gap / 0.5 to cool, repeatedly from 1.4 s on. The
  // first 2,000 events take a thousand of these periods.
  const std::vector<double> gaps = {0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5};
  for (const double level : {0.0, 1.0, -1e3})
    for (const double rise : {1e-2, 1.0, 1e3}) {
      const auto r = run(test_model("two_thresholds_at_once"), {"rtol=1e-8", "max_events=2000", set("level", level),
                                                                set("rise", rise), set("sweep.gap", gaps)});
      for (std::size_t i = 0; i < gaps.size(); ++i) {
        SCOPED_TRACE(fmt::format("level {}, rise {}, gap {}", level, rise, gaps[i]));
        const double period = gaps[i] / rise + gaps[i] / 0.5;
        const double end = 1.4 + 1000 * period,
                     rounding = 1e-6 + 1000 * 0x1p-51 * std::fabs(level) / std::fmin(rise, 0.5);
        EXPECT_EQ(name_of(r.status[i]), gaps[i] == 0.0 ? "chattering" : end < 5.0 ? "event_budget" : "finished");
        if (end < 5.0) EXPECT_NEAR(r.t_final[i], end, period + rounding);
        else EXPECT_NEAR(static_cast<double>(r.events[i]), 2 * 3.6 / period, 2.0);
      }
    }
}

TEST(Chattering, OfAGuardThatIsHeardInBothDirections) {
  // From 1.4 s on a heater holds x at the mark; a bounce turns the body back, and at 5 s it is 0.5 (5 - 1.4) above the mark. Jumps of
  // another state leave the events as they are, but states that jump make an accumulation.
  for (const bool jumps : {false, true}) {
    const auto r =
        run(test_model("turned_at_once"), {"rtol=1e-8", jumps ? "part=0.5" : "part=1.0", "sweep.way=[0.0, 1.0, 2.0]"});
    for (std::size_t i : {0, 1}) {
      EXPECT_EQ(name_of(r.status[i]), jumps ? "zeno" : "chattering") << i;
      EXPECT_NEAR(r.t_final[i], 1.4, 1e-9) << i;
    }
    EXPECT_EQ(name_of(r.status[2]), "finished");
    EXPECT_EQ(r.events[2], 1);
    EXPECT_NEAR(r.final("x", 2), 1.8, 1e-12);
  }
}

TEST(Zeno, AnImpactOscillatorRestsAtItsWallUntilTheDriveTurns) {
  // The surface holds x while cos(w t) > 0: it leaves at w t = pi/2 + 2 k pi, and is at x = 0 until then.
  const auto r =
      run("impact_oscillator",
          {"rtol=1e-9", "t=[0.0, 400.0]", "sweep.frequency={from=2.4, to=3.6, count=400}", "initial.position=-0.1",
           "initial.velocity=0.0", "output.events=true", "output.reduce=['max(position)']"});
  int rested = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    EXPECT_EQ(name_of(r.status[i]), "finished") << i;
    EXPECT_LE(r.reductions[i], 1e-12) << i;
  }
  for (std::size_t k = 0; k < r.log.size(); ++k) {
    if (r.log[k].guard != "release") continue;
    ++rested;
    const double w = 2.4 + 1.2 * static_cast<double>(r.log[k].instance) / 399, pi = std::acos(-1.0);
    EXPECT_NEAR(std::remainder(w * r.log[k].time - pi / 2, 2 * pi), 0.0, 1e-9);
    EXPECT_EQ(r.log[k].before[0], 0.0);
    EXPECT_EQ(r.log[k].before[1], 0.0);
    EXPECT_EQ(r.log[k - 1].guard, "impact") << "the last impact of the accumulation";
  }
  EXPECT_GE(rested, 20);
}

TEST(Zeno, ARockingBlockLosesLittleAtEachImpact) {
  // The gap of a corner is a difference of terms of half a metre. Rounding keeps flights of a microsecond going, in which a block that
  // keeps 0.93 of its angular velocity loses no more than the error of landings. Housner: omega <- (1 - 3/2 sin^2 a) omega,
  // tan a = width/height; once angles are below 1e-6, flights are proportional to omega.
  const std::size_t count = 200;
  const auto r =
      run("rocking_block", {"output.events=true", "sample.count=200", "sample.seed=1", "t=[0.0, 14.0]",
                            "sample.half_width={uniform=[0.17, 0.23]}", "sample.half_height={uniform=[0.68, 0.92]}",
                            "sample.gravity={uniform=[8.3, 11.3]}"});
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  std::vector<std::vector<const event_row*>> events(count);
  for (const auto& e : r.log) events[static_cast<std::size_t>(e.instance)].push_back(&e);
  for (std::size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(name_of(r.status[i]), "finished");
    EXPECT_NEAR(r.final("omega", static_cast<int>(i)), 0.0, 1e-15);
    const double w = in.parameters[1 * count + i], h = in.parameters[2 * count + i];
    const double kept = 1 - 1.5 * w * w / (w * w + h * h);
    const auto& of = events[i];
    std::size_t k = 1;
    while (std::fabs(of[k]->after[5]) > 1e-3) ++k;
    EXPECT_NEAR(of.back()->time, of[k]->time + (of[k]->time - of[k - 1]->time) * kept / (1 - kept), 3e-5);
  }
}

TEST(Zeno, FrictionAtRestIsNoLessThanThatOfMotion) {
  // If the coefficient at rest is below that of sliding, a moved body keeps moving: there is no creep of infinitely many stops.
  const auto block = run("pulled_block", {"sweep.at_rest={from=0.3,to=0.5,count=40}"});
  const auto mass = run("coulomb_oscillator", {"sweep.static_friction={from=0.3,to=0.7,count=40}"});
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(name_of(block.status[i]), "finished") << i;
    EXPECT_EQ(name_of(mass.status[i]), "finished") << i;
  }
}

/// Height at t of a ball with restitution e dropped from h, and thrown up with v at `thrown` if it rests by then. `margin` is its distance
/// in time from another course of events.
double height_at(double t, double h, double e, double thrown, double v, double& margin) {
  const double rests = limit(h, e);
  margin = std::fmin(std::fabs(rests - thrown), std::fabs(rests - t));
  double start = 0, flight = first_landing(h);
  if (t > flight) {
    start = flight, flight *= 2 * e;
    if (rests < thrown && t > thrown) {
      const double again = thrown + 2 * v / gravity / (1 - e);
      margin = std::fmin(margin, std::fabs(again - t));
      if (t > again) return 0;
      start = thrown, flight = 2 * v / gravity;
    } else if (t > rests) {
      return 0;
    }
    while (t > start + flight) start += flight, flight *= e;
    return gravity / 2 * (t - start) * (start + flight - t);
  }
  return h - gravity / 2 * t * t;
}

TEST(Zeno, AtRandom) {
  const auto r =
      run(resting_balls, {"rtol=1e-10", "output.events=true", "t=[0.0, 6.0]", "sample.count=3000", "sample.seed=4",
                          "sample.restitution_0={uniform=[0.2, 0.9]}", "sample.restitution_1={uniform=[0.2, 0.9]}",
                          "sample.height_0={uniform=[0.2, 2.0]}", "sample.height_1={uniform=[0.2, 2.0]}",
                          "sample.throw_at={uniform=[1.0, 6.0]}"});
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  int wrong = 0, doubtful = 0;
  double furthest = 0;
  for (std::size_t i = 0; i < 3000; ++i)
    for (std::size_t ball = 0; ball < 2; ++ball) {
      const double e = in.parameters[(1 + ball) * 3000 + i], thrown = in.parameters[3 * 3000 + i],
                   h = in.initial[ball * 3000 + i];
      double margin;
      const double expected = height_at(6.0, h, e, thrown, 3.0, margin);
      if (margin < 1e-4) {
        ++doubtful;
        continue;
      }
      const double off = std::fabs(r.final_state[ball * 3000 + i] - expected);
      furthest = std::fmax(furthest, off);
      if (off < 1e-10 && name_of(r.status[i]) == "finished") continue;
      if (++wrong <= 3)
        ADD_FAILURE() << fmt::format(
            "instance {}, ball {}: {}, from {:.17g} with {:.17g}, thrown at {:.17g}: off by {:.1e}", i, ball,
            name_of(r.status[i]), h, e, thrown, off);
    }
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(doubtful, 60);
  fmt::print("heights within {:.1e}\n", furthest);
}

}  // namespace
}  // namespace saltus::test
