// Events that transitions schedule after a delay: their times, their order, what they carry, how they are taken back, and what a full queue
// or a wrong delay does. Expected numbers come from closed forms, and from simulations in this file that go from event to event.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "derivative_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

const std::string race = test_model("relay_race"), belt = test_model("conveyor"), loop = test_model("sampled_loop"),
                  neurons = test_model("delayed_neurons"), of_sbml = test_model("delayed_events"),
                  circuit = test_model("scheduled_circuit");
constexpr double never = std::numeric_limits<double>::infinity();

// ------------------------------------------------------------------------------------------------------- times and order

TEST(ScheduledEvents, ComeAfterTheirDelays) {
  // Ticks at 1, 2, ..., each with an item 2.5 later: at 3.5, 4.5, ..., 9.5.
  const auto r = run(race, tight);
  std::vector<double> expected;
  for (int k = 1; k <= 7; ++k) expected.push_back(k + 2.5);
  EXPECT_EQ(times_of(r, "item"), expected) << "bit for bit";
  EXPECT_EQ(discrete(r, "order"), 1234567);
  EXPECT_EQ(discrete(r, "item_waiting"), 3) << "of the ticks at 8, 9, 10";
  EXPECT_EQ(discrete(r, "item_time_0"), 10.5);
  EXPECT_EQ(discrete(r, "item_0_1"), 8) << "the time of the tick that it carries";
  EXPECT_NEAR(r.final("level"), 17, 1e-12);
}

TEST(ScheduledEvents, OfOneTimeComeInTheOrderOfScheduling) {
  // Two items are due at 6: that of tick 3, scheduled at 3, and one that the item of tick 1 schedules at 4, with the number 2.
  const auto r = run(race, with(tight, {"parameters.delay=3.0", "parameters.again=2.0", "t=[0.0, 6.5]", "jump=0.0"}));
  EXPECT_EQ(times_of(r, "item"), (std::vector<double>{4, 5, 6})) << "one row of the log for each time";
  EXPECT_EQ(discrete(r, "order"), 1232);
  EXPECT_EQ(discrete(r, "same"), 2);
}

TEST(ScheduledEvents, ThatDifferByRoundingComeTogether) {
  // 0.1 + 0.2 is not 0.3: the item of the start is due at 0.3, that of the tick at 0.1 + 0.2, an ulp later.
  const auto r = run(race, with(tight, {"period=0.1", "first=0.3", "parameters.delay=0.2", "t=[0.0, 0.35]"}));
  ASSERT_NE(0.1 + 0.2, 0.3);
  EXPECT_EQ(times_of(r, "item").size(), 1u);
  EXPECT_EQ(discrete(r, "same"), 2);
  EXPECT_EQ(discrete(r, "order"), 90.1) << "first the item of 0.3, which carries 9, then that of the tick at 0.1";
}

TEST(ScheduledEvents, WithoutDelayComeInTheNextTransition) {
  const auto r = run(race, with(tight, {"parameters.delay=0.0", "t=[0.0, 3.5]"}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"tick", "item", "tick", "item", "tick", "item"}));
  EXPECT_EQ(times_of(r, "item"), (std::vector<double>{1, 2, 3}));
  EXPECT_NEAR(r.final("level"), 6.5, 1e-12);
  const auto endless = run(race, with(tight, {"parameters.again=0.0"}));
  EXPECT_EQ(name_of(endless.status[0]), "event_loop");
  EXPECT_EQ(endless.t_final[0], 3.5);
}

TEST(ScheduledEvents, OfTheStartMayBeDueThere) {
  const auto r = run(race, with(tight, {"first=0.0", "t=[0.0, 2.25]", "output.samples.times=[0.0, 2.25]",
                                        "output.reduce=['count(item)', 'max(level)']"}));
  EXPECT_EQ(times_of(r, "item"), std::vector<double>{0});
  EXPECT_EQ(r.sample(0, 0, 0), 1) << "a sample shows the state after it";
  EXPECT_NEAR(r.final("level"), 3.25, 1e-12);
  EXPECT_EQ(r.reductions[0], 1);
  EXPECT_NEAR(r.reductions[1], 3.25, 1e-12);
}

TEST(ScheduledEvents, FloatsKeepTheOrder) {
  const auto r = run(race, with(tight, {"precision=float", "rtol=1e-5", "parameters.delay=3.0", "parameters.again=2.0",
                                        "t=[0.0, 6.5]", "jump=0.0"}));
  EXPECT_EQ(discrete(r, "order"), 1232);
  EXPECT_EQ(times_of(r, "item"), (std::vector<double>{4, 5, 6}));
}

// ------------------------------------------------------------------------------------------------------- faults

TEST(ScheduledEvents, AFullQueueEndsTheInstanceAlone) {
  // The queue has six places. With a delay of 7.5 ticks the seventh item finds it full; with one of 5.5 all fit.
  const auto r = run(race, with(tight, {"sweep.delay=[5.5, 7.5, 2.5]"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.status[1]), "queue_full");
  EXPECT_EQ(r.t_final[1], 7);
  EXPECT_EQ(name_of(r.status[2]), "finished");
}

TEST(ScheduledEvents, ANegativeDelayEndsTheInstance) {
  for (const char* quantity : {"delay", "first"}) {
    const auto r = run(race, with(tight, {fmt::format("sweep.{}=[2.5, -0.001, -1e30]", quantity)}));
    EXPECT_EQ(name_of(r.status[0]), "finished") << quantity;
    EXPECT_EQ(name_of(r.status[1]), "bad_schedule") << quantity;
    EXPECT_EQ(name_of(r.status[2]), "bad_schedule") << quantity;
    EXPECT_EQ(r.t_final[1], quantity == std::string("delay") ? 1 : 0);
  }
}

TEST(ScheduledEvents, AreRefusedWhereTheyHaveNoPlace) {
  // In `mode`; for a time event that is not scheduled; with a number for an item that carries none. The items of the others are not asked
  // for by the transition and are dropped.
  const auto r = run(test_model("misused_schedules"), with(tight, {"sweep.how=[0.0, 1.0, 2.0, 3.0, 4.0]"}));
  for (const std::size_t i : {0u, 4u}) {
    EXPECT_EQ(name_of(r.status[i]), "finished") << i;
    EXPECT_EQ(times_of(r, "loaded", static_cast<std::int64_t>(i)), std::vector<double>{2});
    EXPECT_EQ(discrete(r, "loaded_waiting", static_cast<std::int64_t>(i)), 0);
  }
  for (const std::size_t i : {1u, 2u, 3u}) {
    EXPECT_EQ(name_of(r.status[i]), "bad_schedule") << i;
    EXPECT_EQ(r.t_final[i], 1) << i;
  }
}

TEST(ScheduledEvents, RunForwardAlone) {
  try {
    plan_of(race, {"t=[5.0, 0.0]"});
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("relay_race schedules time events (item), which come later"),
              std::string::npos)
        << e.what();
  }
}

TEST(ScheduledEvents, AreNoStatistics) {
  const auto p = plan_of(race, {"output.statistics=true"});
  for (const auto& column : host::statistic_columns(p)) EXPECT_EQ(column.name.find("item"), std::string::npos);
}

// ------------------------------------------------------------------------------------------------------- a belt

TEST(ScheduledEvents, PartsLieOnABelt) {
  // Part k enters at k with mass k + 1/2 and falls into the bin at k + 3.3. At 5.5 the parts 3, 4, 5 are on the belt, and 4 is taken off.
  const auto r = run(belt, with(tight, {"output.samples.count=21"}));
  double expected = 0;
  std::vector<double> times;
  for (const int k : {1, 2, 3, 5, 6}) {
    times.push_back(k + 3.3);
    expected += (k + 0.5) * std::exp(-0.1 * (10 - k - 3.3));
  }
  EXPECT_EQ(times_of(r, "arrives"), times);
  EXPECT_NEAR(r.final("bin"), expected, 1e-8);
  EXPECT_EQ(discrete(r, "order"), 12356);
  EXPECT_EQ(discrete(r, "taken"), 1);
  EXPECT_EQ(discrete(r, "on_the_belt"), 4) << "the parts 7, 8, 9, 10";
  // Samples at multiples of 1/2, after what comes there: on the belt are the parts that have entered and not fallen off or been taken.
  for (int k = 0; k <= 20; ++k) {
    int on_belt = 0;
    for (int part = 1; part <= 10; ++part)
      on_belt += part <= 0.5 * k && 0.5 * k < part + 3.3 && !(part == 4 && 0.5 * k >= 5.5);
    EXPECT_EQ(r.sample(1, 0, k), on_belt) << 0.5 * k;
  }
}

TEST(ScheduledEvents, PartsOvertakeEachOther) {
  // Part k arrives at k + 3.3 - 1.25 (k - 1) = 4.55 - k/4: at 4.3, 4.05, 3.8, and the fourth at 4.55 - 1 < 4, a negative delay.
  const auto r = run(belt, with(tight, {"faster=1.25", "cleared_at=100.0", "t=[0.0, 3.95]"}));
  EXPECT_EQ(discrete(r, "order"), 3);
  EXPECT_EQ(discrete(r, "arrives_0_0"), 2);
  EXPECT_EQ(discrete(r, "arrives_1_0"), 1);
  EXPECT_DOUBLE_EQ(discrete(r, "arrives_time_1"), 4.3);
  EXPECT_EQ(discrete(r, "arrives_time_2"), 0) << "a free place";
  EXPECT_EQ(name_of(run(belt, with(tight, {"faster=1.25", "t=[0.0, 5.0]"})).status[0]), "bad_schedule");
}

// ------------------------------------------------------------------------------------------------------- neurons

struct spike {
  double time;
  int neuron;
};

/// The spikes of the model until `end`, from event to event: between two of them v = I + (v0 - I) exp(-t).
std::vector<spike> simulate_neurons(double end, double weight, double delay) {
  constexpr int n = 20;
  struct arrival {
    double time;
    int source;
  };
  std::vector<double> v(n), drive(n);
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = 0.045 * i, drive[static_cast<std::size_t>(i)] = 1.3 + 0.0137 * i;
  std::vector<arrival> under_way;
  std::vector<spike> spikes;
  for (double t = 0;;) {
    double next = never;
    int fires = -1;
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (const double then = t + std::log((drive[at] - v[at]) / (drive[at] - 1)); then < next) next = then, fires = i;
    }
    const auto first = std::min_element(under_way.begin(), under_way.end(),
                                        [](const arrival& a, const arrival& b) { return a.time < b.time; });
    const bool arrives = first != under_way.end() && first->time < next;
    if (arrives) next = first->time;
    if (next > end) return spikes;
    for (std::size_t i = 0; i < n; ++i) v[i] = drive[i] + (v[i] - drive[i]) * std::exp(t - next);
    t = next;
    const auto spikes_now = [&](int i) {
      v[static_cast<std::size_t>(i)] = 0;
      spikes.push_back({t, i});
      under_way.push_back({t + delay + 0.137 * i, i});
    };
    if (!arrives) {
      spikes_now(fires);
      continue;
    }
    const int source = first->source;
    under_way.erase(first);
    for (const int to : {std::min((source + 1) % n, (source + 7) % n), std::max((source + 1) % n, (source + 7) % n)})
      if ((v[static_cast<std::size_t>(to)] += weight) >= 1) spikes_now(to);
  }
}

TEST(ScheduledEvents, SpikesTravelLongerThanTheTimeBetweenTwo) {
  const auto spikes = simulate_neurons(12, 0.11, 4.7);
  const auto r = run(neurons, with({"rtol=1e-12", "atol=1e-13", "output.events=true", "method=dop853"}, {}));
  ASSERT_EQ(name_of(r.status[0]), "finished");
  std::vector<spike> found;
  for (const auto& e : r.log)
    if (e.guard != "arrival") found.push_back({e.time, std::stoi(e.guard.substr(10))});
  ASSERT_EQ(found.size(), spikes.size());
  ASSERT_GT(spikes.size(), 150u);
  EXPECT_EQ(discrete(r, "spikes"), static_cast<double>(spikes.size()));
  EXPECT_GT(discrete(r, "arrival_waiting"), 60) << "three and more of each neuron are under way";
  double off = 0;
  for (std::size_t k = 0; k < spikes.size(); ++k) {
    ASSERT_EQ(found[k].neuron, spikes[k].neuron) << k;
    off = std::max(off, std::fabs(found[k].time - spikes[k].time));
  }
  EXPECT_LT(off, 1e-9);
}

// ------------------------------------------------------------------------------------------------------- a controller

/// x at time `end` of the sampled loop, from event to event: between two of them x = u + (x0 - u) exp(-t).
double simulate_loop(double gain, double period, double transport, double jitter, double end,
                     std::vector<double>* times) {
  struct command {
    double time, value;
  };
  std::vector<command> under_way;
  double t = 0, x = 1, u = 0;
  for (int samples = 0;;) {
    const double sample = (samples + 1) * period;
    const auto first = std::min_element(under_way.begin(), under_way.end(),
                                        [](const command& a, const command& b) { return a.time < b.time; });
    const bool arrives = first != under_way.end() && first->time < sample;
    const double next = std::min(arrives ? first->time : sample, end);
    x = u + (x - u) * std::exp(t - next);
    t = next;
    if (next == end && !(sample <= end && !arrives)) return x;
    if (arrives) {
      if (times) times->push_back(t);
      u = first->value;
      under_way.erase(first);
    } else {
      ++samples;
      under_way.push_back({t + transport + jitter * std::sin(samples * samples), -gain * x});
    }
    if (t >= end) return x;
  }
}

TEST(ScheduledEvents, CommandsOfAControllerOvertakeEachOther) {
  std::vector<double> times;
  const double expected = simulate_loop(0.8, 0.25, 0.6, 0.35, 6, &times);
  const auto r = run(loop, with(tight, {"rtol=1e-12", "atol=1e-13"}));
  const auto found = times_of(r, "command");
  ASSERT_EQ(found.size(), times.size());
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(found[k], times[k], 1e-14) << k;
  EXPECT_NEAR(r.final("x"), expected, 1e-11);
  // The commands of some sample must have been overtaken, or the test shows less than it says.
  int overtaken = 0;
  for (int k = 1; k < 24; ++k)
    overtaken += 0.25 * k + 0.35 * std::sin(k * k) > 0.25 * (k + 1) + 0.35 * std::sin((k + 1) * (k + 1));
  EXPECT_GT(overtaken, 3);
}

// ------------------------------------------------------------------------------------------------------- SBML

TEST(ScheduledEvents, TakeValuesOfTheTriggerOrOfTheExecution) {
  // sin(pi t) > 1/2 from 1/6 to 5/6 and so on every 2: the trigger becomes true at 1/6, 13/6, 25/6, and stays so for 2/3.
  const auto slow = run(of_sbml, with(tight, {"parameters.delay=1.0"}));
  const auto quick = run(of_sbml, with(tight, {"parameters.delay=0.5"}));
  for (const auto* r : {&slow, &quick}) {
    const double delay = r == &slow ? 1.0 : 0.5;
    EXPECT_EQ(r->final("kept"), 3);
    EXPECT_EQ(r->final("dropped"), r == &slow ? 0 : 3) << "cancelled if the trigger has become false";
    EXPECT_NEAR(r->final("early"), 25.0 / 6, 1e-9);
    EXPECT_NEAR(r->final("late"), 25.0 / 6 + delay, 1e-9);
  }
  // With a delay of 2/3 the execution is due just when the trigger becomes false, to rounding; longer ones are cancelled.
  EXPECT_EQ(run(of_sbml, with(tight, {"parameters.delay=0.66"})).final("dropped"), 3);
  EXPECT_EQ(run(of_sbml, with(tight, {"parameters.delay=0.67"})).final("dropped"), 0);
}

// ------------------------------------------------------------------------------------------------------- methods and equations

TEST(ScheduledEvents, OfAllMethodsAndOfConstraints) {
  // The source is 1 until 0.75, then 3, -1.5, 0.75, ... for 0.75 each.
  double q = 0, e = 1;
  for (int k = 0; k <= 5; ++k) {
    const double length = k < 5 ? 0.75 : 0.25;
    q = e + (q - e) * std::exp(-length / 2);
    e = k == 0 ? 3 : k < 5 ? -0.5 * e : e;
  }
  for (const char* method : {"method=rodas5p", "method=radau5", "method=radau9"}) {
    const auto r = run(circuit, with(tight, {method}));
    EXPECT_NEAR(r.final("q"), q, 1e-8) << method;
    EXPECT_NEAR(r.final("i"), (e - q) / 2, 1e-8) << method;
    EXPECT_EQ(times_of(r, "pulse"), (std::vector<double>{0.75, 1.5, 2.25, 3, 3.75})) << method;
  }
  for (const char* how : {"detection=certified", "method=radau5", "method=taylor16", "method=tsit5"}) {
    const auto r = run(belt, with(tight, {how}));
    EXPECT_EQ(discrete(r, "order"), 12356) << how;
    EXPECT_NEAR(r.final("bin"),
                1.5 * std::exp(-0.57) + 2.5 * std::exp(-0.47) + 3.5 * std::exp(-0.37) + 5.5 * std::exp(-0.17) +
                    6.5 * std::exp(-0.07),
                1e-7)
        << how;
  }
}

// ------------------------------------------------------------------------------------------------------- bits

TEST(ScheduledEvents, HaveTheSameBitsEverywhere) {
  const auto go = [](std::vector<std::string> more) {
    return run(
        neurons,
        with({"rtol=1e-6", "output.events=true", "t=[0.0, 7.0]", "sweep.weight={from=-0.1, to=0.12, count=37}"}, more));
  };
  const auto reference = go({"run.lanes=1", "run.threads=1"});
  for (const int lanes : {4, 8})
    for (const auto& [threads, chunk] : {std::pair(1, 3), {2, 9}, {1, 1000}}) {
      if (lanes > host::native_lanes()) continue;
      const auto r = go({fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                         fmt::format("run.chunk={}", chunk)});
      for (std::int64_t i = 0; i < 37; ++i) expect_same(reference, i, r, i);
      expect_same_log(reference, r);
    }
}

TEST(ScheduledEvents, SurviveARescue) {
  const std::vector<std::string> all = with(tight, {"sweep.travel={from=2.1, to=4.9, count=200}", "cleared_at=100.0"});
  const auto clean = run(belt, all), r = run(belt, with(all, {"inject_exceptions=0.4"}));
  int rescued = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    rescued += r.exception[i] != 0;
    ASSERT_EQ(name_of(r.status[i]), name_of(clean.status[i])) << i;
    ASSERT_EQ(r.events[i], clean.events[i]) << i;
    ASSERT_NEAR(r.final_state[i], clean.final_state[i], 1e-7) << i;
  }
  EXPECT_GT(rescued, 30);
}

TEST(ScheduledEvents, UnderWayGoOnInAnotherRun) {
  // The queue and all discrete variables of the first half are the start of the second.
  for (const double split : {5.0, 5.21, 6.3}) {
    const auto whole = run(belt, with(tight, {"parameters.travel=3.3"}));
    const auto half = run(belt, with(tight, {"parameters.travel=3.3", fmt::format("t=[0.0, {}]", split)}));
    std::vector<std::string> from = {fmt::format("t=[{}, 10.0]", split), set("initial.bin", half.final("bin"))};
    for (const auto& d : half.plan.model.discretes) from.push_back(set("initial." + d.name, discrete(half, d.name)));
    const auto rest = run(belt, with(with(tight, {"parameters.travel=3.3"}), from));
    EXPECT_NEAR(rest.final("bin"), whole.final("bin"), 1e-8);
    for (const auto& d : whole.plan.model.discretes)
      EXPECT_EQ(discrete(rest, d.name), discrete(whole, d.name)) << d.name;
    auto times = times_of(half);
    for (const double t : times_of(rest)) times.push_back(t);
    EXPECT_EQ(times, times_of(whole)) << split;
  }
}

// ------------------------------------------------------------------------------------------------------- derivatives

TEST(ScheduledEvents, HaveDerivativesOfDelaysAndOfWhatTheyCarry) {
  expect_differences({loop, {}, {{"gain", 0.8}, {"transport", 0.6}, {"jitter", 0.35}}, 1e-6});
  expect_differences({belt, {"output.reduce=['max(bin)', 'integral(bin)']"}, {{"travel", 3.3}, {"loss", 0.1}}, 1e-6});
  expect_differences({neurons, {"t=[0.0, 6.0]"}, {{"delay", 4.7}}, 1e-6});
  expect_differences({of_sbml, {}, {{"delay", 1.0}}, 1e-6});
}

TEST(ScheduledEvents, OfAChainHaveTheClosedFormsDerivatives) {
  // q' = (e - q)/r with the pulses at wait, 2 wait, ...: dq/dwait is the sum over the pulses of k (e_before - e_after)/r exp(-(t - k wait)/r).
  const auto r = run(circuit, with({"rtol=1e-10", "method=radau5", "output.events=true"}, {by({"wait"})}));
  double expected = 0, before = 1, after = 3;
  for (int k = 1; k <= 5; ++k, before = after, after = -0.5 * before)
    expected += k * (before - after) / 2 * std::exp(-(4 - 0.75 * k) / 2);
  EXPECT_STREQ(reason_of(r), "defined");
  EXPECT_NEAR(r.derivative(0), expected, 1e-7);
  EXPECT_NEAR(r.derivative(1), -expected / 2, 1e-7) << "i = (e - q)/r";
  ASSERT_EQ(r.log.size(), 5u);
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(r.log[static_cast<std::size_t>(k)].derivative[0], k + 1, 1e-12);
}

TEST(ScheduledEvents, AtOneTimeWhoseTimesMoveApartHaveNoDerivative) {
  // The item of the start and that of tick 1 are both due at 3.5. The first moves with `first`, the second does not.
  const std::vector<std::string> both = {"first=3.5", "again=1e30", "t=[0.0, 5.0]"};
  const auto apart = run(race, with(with(tight, both), {by({"first"})}));
  EXPECT_STREQ(reason_of(apart), "order");
  EXPECT_TRUE(std::isnan(apart.derivative(0)));
  const auto alone = run(race, with(tight, {"first=3.25", "again=1e30", "t=[0.0, 5.0]", by({"first", "jump"})}));
  EXPECT_STREQ(reason_of(alone), "defined");
  EXPECT_NEAR(alone.derivative(0, 0), 0, 1e-12);
  EXPECT_NEAR(alone.derivative(0, 1), 3, 1e-12) << "items at 3.25, 3.5 and 4.5";
  // Moved by the same parameter by the same amount, they stay together.
  const auto together = run(race, with(with(tight, both), {by({"jump"})}));
  EXPECT_STREQ(reason_of(together), "defined");
  EXPECT_NEAR(together.derivative(0), 3, 1e-12);
  // An item of the start that is due there would be due before it if its delay became shorter.
  EXPECT_STREQ(reason_of(run(race, with(tight, {"first=0.0", by({"first"})}))), "at_start");
  // A tick schedules an item without a delay, whose delay moves.
  EXPECT_STREQ(reason_of(run(race, with(tight, {"parameters.delay=0.0", "t=[0.0, 1.5]", by({"delay"})}))), "order");
}

}  // namespace
}  // namespace saltus::test
