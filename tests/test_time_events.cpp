// Events at known times: time events, guards of time, both at the ends of the span and at sample times, and all of them
// backward. tests/models/timetable.hpp counts what fires and what fires together; every expectation is plain arithmetic.
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace saltus::test {
namespace {

const std::string timetable = test_model("timetable");

TEST(TimeEvents, AreHitExactly) {
  const auto r = run(timetable, with(tight, {"parameters.kick_at=0.3", "period=0.25", "first=0.1"}));
  EXPECT_EQ(times_of(r, "kick"), std::vector<double>{0.3});
  std::vector<double> expected;
  for (int k = 0; k < 8; ++k) expected.push_back(std::fma(k, 0.25, 0.1));  // the last at 1.85
  EXPECT_EQ(times_of(r, "pulse"), expected) << "bit for bit";
  EXPECT_EQ(r.root_finding_steps[0], 0) << "no root finding was needed";
}

TEST(TimeEvents, ManyPeriodsAddUpNoRounding) {
  const auto r = run(timetable, with(tight, {"period=0.001", "first=0.0"}));
  const auto times = times_of(r, "pulse");
  ASSERT_EQ(times.size(), 2000u);  // (0, 2]: not at 0, but at 2
  for (std::size_t k = 0; k < 2000; ++k) ASSERT_EQ(times[k], 0.001 * static_cast<double>(k + 1));
  EXPECT_EQ(name_of(r.status[0]), "finished");
}

TEST(TimeEvents, APeriodMayHaveBegunBeforeOrBeginLater) {
  const auto before = run(timetable, with(tight, {"t=[1.0,2.0]", "period=0.25", "first=0.125"}));
  EXPECT_EQ(times_of(before), (std::vector<double>{1.125, 1.375, 1.625, 1.875}));
  const auto long_before = run(timetable, with(tight, {"t=[1.0,2.0]", "period=0.25", "first=-1e6"}));
  EXPECT_EQ(times_of(long_before), (std::vector<double>{1.25, 1.5, 1.75, 2.0}));
  const auto later = run(timetable, with(tight, {"t=[1.0,2.0]", "period=0.25", "first=1.5"}));
  EXPECT_EQ(times_of(later), (std::vector<double>{1.5, 1.75, 2.0}));
}

/// A wave that turns, at a clock's times, on the level of its switches, or some ulps from it: they are right after each touch.
void expect_switches_right_after_touches(const char* method) {
  const std::vector<double> levels = {1.0, 0.5, 1 - 0x1p-53, 1 + 0x1p-52, 1 - 1e-7, 1 + 1e-7, 1e-7};
  for (const double plateau : {0.0, 1.0}) {
    const auto r =
        run(test_model("triangle"), {std::string("method=") + method, "rtol=1e-8", set("sweep.level", levels),
                                     set("plateau", plateau), "output.events=true"});
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto what = fmt::format("{} {} {:.17g}", method, plateau, levels[i]);
      EXPECT_EQ(name_of(r.status[i]), "finished") << what;
      EXPECT_NEAR(r.final_state[i], plateau > 0 ? 0.0 : 0.3, 1e-7) << what;
      const double is_above = r.final_state[i] > levels[i];
      EXPECT_EQ(r.final_discrete[levels.size() + i], is_above) << what;
      EXPECT_EQ(r.final_discrete[2 * levels.size() + i], is_above) << what;
    }
  }
}
TEST(TimeEvents, LeaveSwitchesRightAfterTouches) { expect_switches_right_after_touches("dp5"); }
TEST(TimeEvents, LeaveSwitchesRightAfterTouchesByOtherMethods) {
  for (const char* method : {"bs3", "dop853", "taylor12", "rodas5p", "radau5", "sdirk4"})
    expect_switches_right_after_touches(method);
}

// 0.3, 0.6 and 0.7 are an ulp from the ticks there. A value is that after the tick, and windows contain both of their ends.
TEST(TimeEvents, AreAtTheTimesThatAreAskedForToRounding) {
  for (const char* method : {"dp5", "rodas5p", "taylor8"})
    for (int k = 1; k <= 9; ++k) {
      const double at = k / 10.0;
      const auto r = run(test_model("hourly"),
                         with(tight, {fmt::format("method={}", method), fmt::format("output.samples=[{}]", at),
                                      fmt::format("output.reduce=['value(ticks at {0})','count(tick) to {0}',"
                                                  "'last(tick) to {0}','count(tick) from {0}']",
                                                  at)}));
      EXPECT_EQ(r.reductions[0], k) << method;
      EXPECT_EQ(r.reductions[1], k) << method;
      EXPECT_NEAR(r.reductions[2], at, 1e-15) << method;
      EXPECT_EQ(r.reductions[3], 11 - k) << method;
      EXPECT_EQ(r.sample(0, 0, 0), k) << method;
      EXPECT_EQ(r.final("ticks"), 10) << method;
    }
  const auto log = run(test_model("hourly"), with(tight, {"output.events={to=0.3}"}));
  EXPECT_EQ(times_of(log).size(), 3u);
}

// -0.3 + 3 * 0.1 is 5e-17: a tick at the start, which does not come.
TEST(TimeEvents, AtTheStartToRoundingDoNotCome) {
  const auto r = run(test_model("hourly"), with(tight, {"first=-0.3"}));
  EXPECT_EQ(r.final("ticks"), 10);
}

TEST(TimeEvents, APeriodThatLeadsNowhereEndsTheInstance) {
  // Periods that are zero, backward, absent, or too small for the rounding of t; each beside an instance with a valid period.
  for (const char* bad : {"0.0", "-0.0", "-0.25", "1e-30"}) {
    const auto r = run(
        timetable, with(tight, {"t=[1.0,2.0]", "first=0.125", std::string("sweep.period=[0.25, ") + bad + ", 0.5]"}));
    EXPECT_EQ(name_of(r.status[0]), "finished") << bad;
    EXPECT_EQ(name_of(r.status[1]), "bad_schedule") << bad;
    EXPECT_EQ(name_of(r.status[2]), "finished") << bad;
    EXPECT_EQ(r.t_final[1], 1.0) << bad;
    EXPECT_EQ(r.events[1], 0) << bad;
    EXPECT_EQ(r.events[0], 4) << bad;
    const auto back = run(timetable, with(tight, {"t=[2.0,1.0]", std::string("period=") + bad}));
    EXPECT_EQ(name_of(back.status[0]), "bad_schedule") << bad;
  }
  // The smallest period gives many events, not none.
  const auto small = run(timetable, with(tight, {"t=[1.0,2.0]", "first=0.125", "period=1e-15", "max_events=10"}));
  EXPECT_EQ(name_of(small.status[0]), "event_budget");
  // An infinitely long period is valid: the time event comes once.
  const auto once = run(timetable, with(tight, {"period=1e300", "first=0.5"}));
  EXPECT_EQ(times_of(once, "pulse"), std::vector<double>{0.5});
}

TEST(TimeEvents, TwoAtOnceFireInOneTransition) {
  const auto r = run(timetable, with(tight, {"kick_at=0.75", "twin_at=0.75", "period=0.5", "first=0.25"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"pulse", "kick", "twin", "pulse", "pulse", "pulse"}));
  EXPECT_EQ(discrete(r, "transitions"), 4);  // pulse comes at 0.25, 0.75 with the others, 1.25 and 1.75
  EXPECT_EQ(discrete(r, "max_together"), 3);
  EXPECT_EQ(times_of(r, "twin"), std::vector<double>{0.75});
}

TEST(TimeEvents, CountInTheHalfOpenSpan) {
  // In (t0, t_end]: not at the start; once at the end, after which the instance has finished.
  const auto start = run(timetable, with(tight, {"kick_at=0.0", "jump=5.0"}));
  EXPECT_EQ(start.events[0], 0);
  const auto end = run(timetable, with(tight, {"kick_at=2.0", "jump=5.0"}));
  EXPECT_EQ(times_of(end), std::vector<double>{2.0});
  EXPECT_EQ(discrete(end, "kicks"), 1);
  EXPECT_EQ(name_of(end.status[0]), "finished");
  EXPECT_EQ(end.t_final[0], 2.0);
  EXPECT_NEAR(end.final("level"), 7.0, 1e-13);
}

TEST(TimeEvents, ASampleThereShowsTheStateAfter) {
  const auto r = run(timetable, with(tight, {"kick_at=0.5", "jump=10.0", "output.samples.times=[0.0, 0.5, 1.0, 2.0]"}));
  EXPECT_NEAR(r.sample(0, 0, 0), 0.0, 1e-14);
  EXPECT_NEAR(r.sample(0, 0, 1), 10.5, 1e-13);
  EXPECT_NEAR(r.sample(0, 0, 2), 11.0, 1e-13);
  const auto end = run(timetable, with(tight, {"kick_at=2.0", "jump=10.0", "output.samples.times=[1.0, 2.0]"}));
  EXPECT_NEAR(end.sample(0, 0, 0), 1.0, 1e-13);
  EXPECT_NEAR(end.sample(0, 0, 1), 12.0, 1e-13);
  // A sample at every pulse, and a pulse at every sample.
  const auto many =
      run(timetable, with(tight, {"period=0.125", "first=0.0", "kick_at=1.0", "jump=10.0", "output.samples.count=17"}));
  for (int k = 0; k <= 16; ++k) EXPECT_NEAR(many.sample(0, 0, k), 0.125 * k + (k >= 8 ? 10 : 0), 1e-13) << k;
  EXPECT_EQ(discrete(many, "pulses"), 16);
}

TEST(TimeEvents, AndGuardsAtOneTimeEachFireOnce) {
  // A time event and a guard of each kind at the same time and close together, at many times: each fires once, within
  // rounding of its time, in time order. At exactly the same time they share one transition.
  std::vector<double> kick, mark;
  const double apart[] = {0.0, 1e-16, -1e-16, 1e-15, -1e-15, 1e-14, -1e-14, 1e-12, -1e-12, 1e-9, -1e-9};
  for (int k = 1; k <= 40; ++k)
    for (const double d : apart) {
      kick.push_back(k * 0.047123);
      mark.push_back(k * 0.047123 + d);
    }
  for (const char* guard : {"mark_0", "rise_at", "fall_at", "ceiling_at", "ground_at"}) {
    const std::string direction = guard;
    const auto r = run(
        timetable, with(tight, {"run.threads=1", set("sweep.zip.kick_at", kick), set("sweep.zip." + direction, mark)}));
    int wrong = 0, out_of_order = 0, same = 0, together = 0;
    for (std::size_t i = 0; i < kick.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i);
      const auto times = times_of(r, "", id);
      const auto names = names_of(r, id);
      if (times.size() != 2 || times_of(r, "kick", id) != std::vector<double>{kick[i]}) {
        if (++wrong == 1)
          ADD_FAILURE() << guard << " at " << mark[i] << ", " << mark[i] - kick[i]
                        << " off: " << fmt::format("{}", fmt::join(names, " "));
        continue;
      }
      EXPECT_NEAR(times[names[0] == "kick" ? 1 : 0], mark[i], 4e-15);
      out_of_order += times[1] < times[0];
      if (mark[i] - kick[i] > 1e-14) out_of_order += names[0] != "kick";
      if (mark[i] - kick[i] < -1e-14) out_of_order += names[1] != "kick";
      same += mark[i] == kick[i];
      together += mark[i] == kick[i] && discrete(r, "transitions", id) == 1;
    }
    EXPECT_EQ(wrong, 0) << guard;
    EXPECT_EQ(out_of_order, 0) << guard;
    EXPECT_EQ(together, same) << guard;
  }
}

// Times k 0.02 and k 0.1 in binary: 5 of the first 20 pairs that should be equal are not.
TEST(TimeEvents, ClocksThatMeetTickTogether) {
  const auto clocks = test_model("meeting_clocks");
  const auto r = run(clocks, {"rtol=1e-8", "output.events=true", "output.samples={count=31}"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(discrete(r, "fast_ticks"), 150);
  EXPECT_EQ(discrete(r, "slow_ticks"), 30);
  EXPECT_EQ(discrete(r, "together"), 30);
  EXPECT_TRUE(times_of(r, "differ").empty()) << "equal knots of two tables are passed together";
  for (int k = 0; k <= 30; ++k) EXPECT_EQ(r.sample(0, 0, k), k) << "a sample at a tick shows the state after it";
  const auto tables = run(clocks, {"rtol=1e-8", "t=[0.0, 2.95]"});
  EXPECT_EQ(discrete(tables, "old_values"), 0) << "a knot at the same time has been passed";
  // A run that ends at a tick has this event; a run that begins there has not.
  const auto first = run(clocks, {"rtol=1e-8", "t=[0.0, 0.3]"}), then = run(clocks, {"rtol=1e-8", "t=[0.3, 3.0]"});
  EXPECT_EQ(discrete(first, "slow_ticks"), 3);
  EXPECT_EQ(discrete(then, "slow_ticks"), 27);
  EXPECT_EQ(discrete(then, "together"), 27);
}

TEST(TimeEvents, EveryPairOfDecimalPeriodsMeets) {
  // Periods i/1000 and j i/1000 as decimal numbers, forward and backward: the clocks meet at every slow tick.
  std::vector<double> fast, slow;
  for (int i = 1; i <= 40; ++i)
    for (int j = 2; j <= 11; ++j) fast.push_back(i / 1000.0), slow.push_back(i * j / 1000.0);
  for (const char* span : {"t=[0.0, 2.0]", "t=[-1.0, 1.0]"}) {
    const auto r =
        run(test_model("meeting_clocks"), {"rtol=1e-6", span, "max_events=10000", set("sweep.zip.fast_period", fast),
                                           set("sweep.zip.slow_period", slow)});
    for (std::size_t k = 0; k < fast.size(); ++k) {
      const auto id = static_cast<std::int64_t>(k);
      // In thousandths of a second, of which every number is a multiple: ticks in (t0, t_end] from the first period on.
      const long end = span[3] == '0' ? 2000 : 1000, step = std::lround(1000 * fast[k]),
                 long_step = std::lround(1000 * slow[k]);
      EXPECT_EQ(discrete(r, "fast_ticks", id), end / step) << fast[k];
      EXPECT_EQ(discrete(r, "slow_ticks", id), end / long_step) << slow[k];
      EXPECT_EQ(discrete(r, "together", id), end / long_step) << fast[k] << " " << slow[k];
    }
  }
}

TEST(TimeEvents, EveryCoincidenceOfMarksTimeEventsAndWalls) {
  // The product of times from {1/2, 1/2 + 1e-10, 1}: 3^6 instances in which some events coincide and others nearly do.
  const std::vector<double> times = {0.5, 0.5 + 1e-10, 1.0};
  std::vector<std::string> settings = {"rtol=1e-8", "output.events=true"};
  for (const char* name : {"mark_0", "mark_1", "rise_at", "ceiling_at", "ground_at", "kick_at"})
    settings.push_back(set(std::string("sweep.") + name, times));
  const auto r = run(timetable, settings);
  ASSERT_EQ(r.plan.count, 729);
  int wrong = 0;
  for (std::int64_t i = 0; i < 729; ++i) {
    const bool right = discrete(r, "marks", i) == 2 && discrete(r, "rises", i) == 1 &&
                       discrete(r, "ceilings", i) == 1 && discrete(r, "grounds", i) == 1 &&
                       discrete(r, "kicks", i) == 1 && r.events[static_cast<std::size_t>(i)] == 6 &&
                       name_of(r.status[static_cast<std::size_t>(i)]) == "finished";
    if (!right && ++wrong <= 3) {
      std::string what;
      for (const auto& e : r.log)
        if (e.instance == i) what += fmt::format("{} {:.17g}  ", e.guard, e.time);
      ADD_FAILURE() << "instance " << i << ": " << name_of(r.status[static_cast<std::size_t>(i)]) << ": " << what;
    }
  }
  EXPECT_EQ(wrong, 0);
}

/// A gated point for every rate and tick.
const std::vector<double> rates{-1.9, -0.3, 0.7, 2.3},
    ticks{0.37, 0.4227476158565736, 0.83, 1.1, 1.25, 1.7, 2.03, 2.91};
outcome gate(const std::vector<std::string>& more) {
  const std::vector<std::string> sweeps{set("sweep.rate", rates), set("sweep.tick", ticks)};
  return run(test_model("gated"), with(with(tight, sweeps), more));
}

/// x has been above its level for the time that its rate and the time of the tick say.
template <class Time>
void expect_above(const outcome& r, const Time& time) {
  for (std::size_t i = 0; i < rates.size() * ticks.size(); ++i) {
    const double rate = rates[i / ticks.size()], tick = ticks[i % ticks.size()];
    EXPECT_NEAR(r.final("time_above", static_cast<std::int64_t>(i)), time(rate, tick), 1e-12) << rate << ' ' << tick;
  }
}

TEST(TimeEvents, AGuardThatCrossesAtATickFiresOnceWhateverFollows) {
  for (const char* follow : {"follow=0.0", "follow=1.0", "follow=2.0"})
    for (const char* method : {"method=dp5", "method=radau5"}) {
      const auto r = gate({follow, method});
      for (std::int64_t i = 0; i < r.plan.count; ++i) EXPECT_EQ(discrete(r, "passes", i), 1) << follow << method << i;
      expect_above(r, [](double rate, double tick) { return rate > 0.0 ? 3.0 - tick : tick; });
    }
}

TEST(Modes, FollowTheSideToWhichAGuardAtZeroMoves) {
  expect_above(gate({"at_start=1.0"}), [](double rate, double) { return rate > 0.0 ? 3.0 : 0.0; });
  expect_above(gate({"set=1.0", "initial.x=-30.0"}),
               [](double rate, double tick) { return rate > 0.0 ? 3.0 - tick : 0.0; });
  expect_above(gate({"set=1.0", "initial.x=30.0"}), [](double rate, double tick) { return rate > 0.0 ? 3.0 : tick; });
}

TEST(Modes, WithAMemoryAreNotMisledByAGuardAtZero) {
  // x is never above the threshold: it begins there and falls, or is set to it.
  const auto trigger = [](const std::vector<std::string>& more) {
    return run(test_model("latched"), with(with(tight, {set("sweep.rate", {0.3, 0.7, 1.1, 2.3})}), more));
  };
  for (const char* method : {"method=dp5", "method=radau5"})
    for (const auto& begins : {std::vector<std::string>{method}, {method, "set=1.0", "initial.x=-5.0"}}) {
      const auto r = trigger(begins);
      for (std::int64_t i = 0; i < r.plan.count; ++i) EXPECT_EQ(r.final("time_on", i), 0.0) << method << i;
    }
}

// ---- guards at the ends of the span

TEST(Ends, AGuardThatIsZeroAtTheStart) {
  // Passing zero and returning, for each kind of guard.
  for (const char* bilateral : {"rise_at", "fall_at", "mark_0"})
    for (double sense : {1.0, -1.0})
      EXPECT_EQ(run(timetable, with(tight, {set(bilateral, 0.0), set("sense", sense)})).events[0], 0)
          << bilateral << sense;
  for (const char* unilateral : {"ceiling_at", "ground_at"}) {
    // Closing: immediate contact, since the guard may not pass zero. Opening: no contact.
    const auto closing = run(timetable, with(tight, {set(unilateral, 0.0)}));
    ASSERT_EQ(closing.log.size(), 1u) << unilateral;
    EXPECT_LT(closing.log[0].time, 1e-14);
    EXPECT_EQ(name_of(closing.status[0]), "finished");
    const auto opening = run(timetable, with(tight, {set(unilateral, 0.0), "sense=-1.0"}));
    EXPECT_EQ(opening.log.size(), 0u) << unilateral;
    EXPECT_EQ(name_of(opening.status[0]), "finished");
  }
}

TEST(Ends, AGuardThatIsZeroAtTheEnd) {
  for (const char* unilateral : {"ceiling_at", "ground_at"}) {
    const auto r = run(timetable, with(tight, {set(unilateral, 2.0)}));
    ASSERT_EQ(r.log.size(), 1u) << unilateral;
    EXPECT_NEAR(r.log[0].time, 2.0, 4e-15);
    EXPECT_EQ(name_of(r.status[0]), "finished");
    EXPECT_EQ(r.t_final[0], 2.0);
  }
  // Roots of bilateral guards are in the span if they are in (t_0, t_end]. The clock is a state, and may be an ulp before 2 there.
  for (const char* bilateral : {"rise_at", "fall_at", "mark_0"})
    for (double at : {2.0, 2.0 - 1e-14}) {
      const auto r = run(timetable, with(tight, {set(bilateral, at)}));
      if (bilateral != std::string("mark_0") || at < 2.0) { EXPECT_EQ(r.events[0], 1) << bilateral << at; }
      EXPECT_EQ(name_of(r.status[0]), "finished");
    }
}

TEST(Ends, AnInstanceEndsOnceWhateverComesLast) {
  // Guard, wall, time event and sample, all at t_end: the wall and the time event fire, and the last sample is the last state.
  const auto r = run(timetable, with(tight, {"ground_at=2.0", "kick_at=2.0", "twin_at=2.0", "jump=3.0", "period=0.5",
                                             "first=0.5", "output.samples.times=[0.5, 2.0]"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(discrete(r, "grounds"), 1);
  EXPECT_EQ(discrete(r, "kicks"), 1);
  EXPECT_EQ(discrete(r, "pulses"), 4);
  EXPECT_NEAR(r.final("level"), 5.0, 1e-13);
  EXPECT_EQ(r.sample(0, 0, 1), r.final("level"));
}

TEST(Ends, WhatTheLastEventMakesDueFiresThere) {
  // The tick at the end lifts the load past its mark: that fires as at any other time, and may stop the instance.
  const auto lifted = test_model("lifted");
  const auto ended = run(lifted, with(tight, {"t=2.0"})), longer = run(lifted, with(tight, {"t=2.5"}));
  EXPECT_EQ(names_of(ended), (std::vector<std::string>{"tick", "tick", "mark"}));
  EXPECT_EQ(names_of(longer), names_of(ended));
  EXPECT_EQ(times_of(ended, "mark"), std::vector<double>{2.0});
  EXPECT_EQ(discrete(ended, "passed"), 1);
  EXPECT_EQ(name_of(ended.status[0]), "finished");
  EXPECT_EQ(name_of(run(lifted, with(tight, {"t=2.0", "stops=1.0"})).status[0]), "stopped");
}

TEST(Ends, ExtremaHaveTheValuesThatLast) {
  // At -1, 0 and, after the second tick, -1 again: at 1 it is between two transitions only. A window has the value after a tick at its end.
  const auto r = run(test_model("lifted"), with(tight, {"t=3.0", "drop=2.0",
                                                        "output.reduce=[\"max(height)\", \"max(height) to 1.0\", "
                                                        "\"max(height) from 0.5 to 0.75\"]"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"tick", "tick", "mark", "tick"}));
  EXPECT_EQ(r.reductions[0], 0.0);
  EXPECT_EQ(r.reductions[1], 0.0);
  EXPECT_EQ(r.reductions[2], -1.0);
}

// ---- backward in time

TEST(Backward, RootsInOneStepInReverseOrder) {
  const std::vector<std::string> marks = {"first_step=2.0", "mark_0=0.0", "mark_1=1e-8", "mark_2=2e-8", "mark_3=2e-7"};
  const double at[] = {0.0, 1e-8, 2e-8, 2e-7};
  const auto there = run(timetable, with(tight, with(marks, {"t=[-1.0, 1.0]"})));
  const auto back = run(timetable, with(tight, with(marks, {"t=[1.0, -1.0]"})));
  EXPECT_EQ(names_of(there), (std::vector<std::string>{"pass_0", "pass_1", "pass_2", "pass_3"}));
  EXPECT_EQ(names_of(back), (std::vector<std::string>{"pass_3", "pass_2", "pass_1", "pass_0"}));
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(there.log[k].time, at[k], 4e-15);
    EXPECT_NEAR(back.log[k].time, at[3 - k], 4e-15);
    EXPECT_GE(there.log[k].time, at[k]) << "just past, in the direction of integration";
    EXPECT_LE(back.log[k].time, at[3 - k]) << "just past, in the direction of integration";
  }
  EXPECT_LE(there.steps[0], 6);  // one step, apart from the events
  EXPECT_LE(back.steps[0], 6);
}

TEST(Backward, DirectionsAreMeantInTheDirectionOfIntegration) {
  for (double sense : {1.0, -1.0}) {
    const auto r = run(timetable, with(tight, {"t=[2.0, 0.0]", "rise_at=1.5", "fall_at=1.25", "ceiling_at=1.0",
                                               "ground_at=0.5", "mark_0=0.25", set("sense", sense)}));
    // With sense 1, rise and ceiling fall, and fall and ground rise on the way back, from beyond the walls.
    if (sense > 0) {
      EXPECT_EQ(names_of(r), std::vector<std::string>{"pass_0"});
    } else {
      EXPECT_EQ(names_of(r), (std::vector<std::string>{"rise", "fall", "ceiling", "ground", "pass_0"}));
      const double at[] = {1.5, 1.25, 1.0, 0.5, 0.25};
      for (std::size_t k = 0; k < r.log.size(); ++k) EXPECT_NEAR(r.log[k].time, at[k], 4e-15) << k;
      EXPECT_LE(r.log[0].time, 1.5);  // past, and before:
      EXPECT_GE(r.log[2].time, 1.0);
    }
    EXPECT_EQ(name_of(r.status[0]), "finished");
    EXPECT_EQ(r.t_final[0], 0.0);
    EXPECT_NEAR(r.final("level"), -2.0, 1e-13);
  }
}

TEST(Backward, TimeEventsAndSamplesDescend) {
  const auto r = run(timetable, with(tight, {"t=[2.0, 0.0]", "period=0.25", "first=0.125", "kick_at=0.5", "jump=10.0",
                                             "twin_at=0.0", "output.samples.times=[2.0, 1.5, 0.5, 0.25, 0.0]"}));
  std::vector<double> pulses;
  for (int k = 7; k >= 0; --k) pulses.push_back(0.125 + 0.25 * k);
  EXPECT_EQ(times_of(r, "pulse"), pulses);
  EXPECT_EQ(times_of(r, "kick"), std::vector<double>{0.5});
  EXPECT_EQ(times_of(r, "twin"), std::vector<double>{0.0});
  const double expected[] = {0.0, -0.5, -1.5 + 10, -1.75 + 10, -2 + 10};
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(r.sample(0, 0, k), expected[k], 1e-13) << k;
  EXPECT_EQ(run(timetable, with(tight, {"t=[2.0, 0.0]", "kick_at=2.0"})).events[0], 0) << "not at the start";
  const auto even = run(timetable, with(tight, {"t=[2.0, 0.0]", "output.samples.count=5"}));
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(even.sample(1, 0, k), 2 - 0.5 * k, 1e-13) << k;
}

TEST(Backward, AnOscillatorWithTwoStiffnessesThereAndBack) {
  const auto there = run(test_model("bilinear"), {"rtol=1e-12", "output.events=true"});
  const auto back =
      run(test_model("bilinear"), {"rtol=1e-12", "output.events=true", "t=[10.0, 0.0]",
                                   set("initial.x", there.final("x")), set("initial.v", there.final("v"))});
  // Zeros at pi/2, then half a wave of duration pi/2 below zero and one of pi above.
  constexpr double pi = 3.14159265358979323846;
  const std::vector<double> zeros = {0.5 * pi, pi, 2 * pi, 2.5 * pi};
  const auto found = times_of(there, "zero"), again = times_of(back, "zero");
  ASSERT_EQ(found.size(), 4u);
  ASSERT_EQ(again.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(found[k], zeros[k], 1e-10);
    EXPECT_NEAR(again[3 - k], zeros[k], 1e-10);
  }
  // x = 1/2 falls at pi/3 and pi + 5 pi/6 and rises at pi + pi/6 and 5/2 pi + pi/6; on the way back they exchange roles.
  const auto out = times_of(there, "out"), down = times_of(there, "back");
  const auto out_again = times_of(back, "out"), down_again = times_of(back, "back");
  ASSERT_EQ(down.size(), 2u);
  EXPECT_NEAR(down[0], pi / 3, 1e-10);
  EXPECT_NEAR(down[1], pi + 5 * pi / 6, 1e-10);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_NEAR(out[0], pi + pi / 6, 1e-10);
  EXPECT_NEAR(out[1], 2.5 * pi + pi / 6, 1e-10);
  ASSERT_EQ(out_again.size(), 2u);
  ASSERT_EQ(down_again.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(out_again[1 - k], down[k], 1e-10);
    EXPECT_NEAR(down_again[1 - k], out[k], 1e-10);
  }
  EXPECT_NEAR(back.final("x"), 1.0, 1e-9);
  EXPECT_NEAR(back.final("v"), 0.0, 1e-9);
}

TEST(Backward, ABallFallsThatWayToo) {
  // Dropped at t = 0 and followed backward, the ball lands with a positive velocity at -sqrt(2 h / g), and so on.
  const auto r = run("bouncing_ball", with(tight, {"t=[0.0, -2.0]", "restitution=0.9", "v_min=-100.0"}));
  const double fall = std::sqrt(2 / 9.81);
  double t = -fall, flight = 2 * fall;
  std::size_t k = 0;
  for (; t > -2.0; ++k) {
    ASSERT_LT(k, r.log.size());
    EXPECT_NEAR(r.log[k].time, t, 1e-12);
    EXPECT_GT(r.log[k].before[1], 0.0);
    EXPECT_GE(r.log[k].before[0], 0.0);
    flight *= 0.9;
    t -= flight;
  }
  EXPECT_EQ(r.log.size(), k);
  EXPECT_EQ(r.t_final[0], -2.0);
}

}  // namespace
}  // namespace saltus::test
