// Conditions: guards whose signs only matter to `mode` (Mao and Petzold 3.2). Along x = sin t, v = cos t of
// tests/models/logic.hpp every crossing and every change of mode is known; a crossing that changes no mode is no event.
#include <cstring>

#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "event_runs.hpp"

namespace saltus::test {
namespace {

const std::string logic = test_model("logic");
constexpr double pi = 3.14159265358979323846;

const std::vector<std::string> no_crossings = {"high=5.0", "upper=5.0", "lower=-5.0"};

std::vector<std::string> without(std::vector<std::string> names, const std::string& what) {
  names.erase(std::remove(names.begin(), names.end(), what), names.end());
  return names;
}

TEST(Conditions, ModesChangeWhenTheirLogicDoes) {
  // x > 1/2 and v > 0 from pi/6 to pi/2 in each period; the relay from asin 0.8 to pi + asin 0.8.
  const auto r = run(logic, {"rtol=1e-12", "output.events=true"});
  const double on = std::asin(0.8);
  const double at[] = {pi / 6, on, pi / 2, pi + on, 5.0, 2 * pi + pi / 6, 2 * pi + on, 2 * pi + pi / 2, 10.0};
  const std::vector<std::string> names = {"is_high", "is_upper", "is_rising", "is_lower", "tick",
                                          "is_high", "is_upper", "is_rising", "tick"};
  EXPECT_EQ(names_of(r), names);
  ASSERT_EQ(r.log.size(), 9u);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(r.log[k].time, at[k], 1e-10) << k;
  EXPECT_NEAR(r.final("both_time"), 2 * pi / 3, 1e-10);
  EXPECT_NEAR(r.final("relay_time"), pi + (10 - 2 * pi - on), 1e-10);
}

TEST(Conditions, SilentCrossingsCostNoRestart) {
  // With the modes disabled every crossing is silent: about twenty of them, and the run equals that without crossings bit for bit.
  const auto silent = run(logic, with(tight, {"enabled=0.0"}));
  const auto none = run(logic, with(tight, with(no_crossings, {"enabled=0.0"})));
  EXPECT_EQ(names_of(silent), (std::vector<std::string>{"tick", "tick"}));
  EXPECT_EQ(silent.root_finding_steps[0], 0);
  EXPECT_EQ(silent.steps[0], none.steps[0]);
  EXPECT_EQ(silent.rejected[0], none.rejected[0]);
  EXPECT_EQ(std::memcmp(silent.final_state.data(), none.final_state.data(), 4 * sizeof(double)), 0);
  // Each step with a crossing is evaluated once more: six evaluations again, no more.
  EXPECT_GT(silent.rhs_evaluations[0], none.rhs_evaluations[0]);
  EXPECT_LE(silent.rhs_evaluations[0], none.rhs_evaluations[0] + 6 * 16);
}

TEST(Conditions, SilentCrossingsJustBeforeATimeEvent) {
  // A crossing anywhere in the step that ends at the time events t = 5 and t = 10, and at these times: only the ticks fire.
  std::vector<double> high;
  for (double t : {5.0, 10.0})
    for (double before : {0.3, 0.1, 0.03, 0.01, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0, -1e-12, -1e-3})
      high.push_back(std::sin(t - before));
  const auto r = run(logic, with(tight, {"enabled=0.0", set("sweep.high", high)}));
  for (std::int64_t i = 0; i < r.plan.count; ++i)
    EXPECT_EQ(names_of(r, i), (std::vector<std::string>{"tick", "tick"})) << high[static_cast<std::size_t>(i)];
}

TEST(Conditions, SeveralInOneStep) {
  // Five crossings within 0.1 in steps of half a unit: of the relay at 0.50 and 0.45, and of the AND at 0.55.
  for (const char* method : {"dp5", "dop853"}) {
    const auto r = run(logic, {"rtol=1e-5", "output.events=true", "high=0.55", "upper=0.5", "lower=0.45",
                               std::string("method=") + method});
    const double both = pi / 2 - std::asin(0.55);
    const double off = pi - std::asin(0.45), on = std::asin(0.5);
    EXPECT_NEAR(r.final("both_time"), 2 * both, 1e-4) << method;
    EXPECT_NEAR(r.final("relay_time"), (off - on) + (off - on), 1e-4) << method;
    EXPECT_EQ(without(names_of(r), "tick"), (std::vector<std::string>{"is_upper", "is_high", "is_rising", "is_lower",
                                                                      "is_upper", "is_high", "is_rising", "is_lower"}))
        << method;
  }
}

TEST(Conditions, AModeMayLastAnInstantOnly) {
  // x > 1 - 1e-9 and v > 0 hold for acos(1 - 1e-9) = 4.5e-5 before each maximum.
  const auto r = run(logic, {"rtol=1e-13", "output.events=true", set("high", 1 - 1e-9), "upper=5.0"});
  EXPECT_NEAR(r.final("both_time"), 2 * std::acos(1 - 1e-9), 1e-8);
  EXPECT_EQ(without(names_of(r), "tick"), (std::vector<std::string>{"is_high", "is_rising", "is_high", "is_rising"}));
}

TEST(Conditions, TheNextModeMayDependOnTheLast) {
  // At x = 0.9 the history decides whether the relay is on or off: initially off there, and on after a turn.
  const auto start = run(logic, with(tight, {"initial.x=0.79", "initial.v=0.0", "t=[0.0, 1.0]"}));
  EXPECT_EQ(discrete(start, "relay"), 0);  // an amplitude of 0.79 never gets above 0.8
  const auto on = run(logic, with(tight, {"initial.x=0.9", "initial.v=0.0", "t=[0.0, 2.4]"}));
  EXPECT_EQ(discrete(on, "relay"), 1);  // x = 0.9 cos t is -0.66 at the end, not yet below -0.8
  EXPECT_NEAR(on.final("relay_time"), 2.4, 1e-12);
  const auto off = run(logic, with(tight, {"initial.x=0.9", "initial.v=0.0", "t=[0.0, 4.0]"}));
  EXPECT_EQ(discrete(off, "relay"), 0);
  EXPECT_NEAR(off.final("relay_time"), std::acos(-0.8 / 0.9), 1e-9);
}

TEST(Conditions, AtRandom) {
  // Random thresholds. All crossings are known, and so is every sign between two of them, which determines the modes.
  const auto r = run(logic, {"rtol=1e-10", "output.events=true", "sample.count=3000", "sample.seed=8",
                             "sample.high={uniform=[-1.0, 1.0]}", "sample.upper={uniform=[-1.0, 1.0]}",
                             "sample.lower={uniform=[-1.0, 1.0]}"});
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  std::vector<int> logged(3000);
  for (const auto& e : r.log) logged[static_cast<std::size_t>(e.instance)] += e.guard != "tick";
  int wrong = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const double high = in.parameters[i], upper = in.parameters[3000 + i], lower = in.parameters[6000 + i];
    std::vector<double> at = {0.0, 10.0};
    for (int k = -1; k < 3; ++k)
      for (const double t : {std::asin(high), pi - std::asin(high), std::asin(upper), pi - std::asin(upper),
                             std::asin(lower), pi - std::asin(lower), pi / 2, 3 * pi / 2})
        if (t + 2 * pi * k > 0 && t + 2 * pi * k < 10) at.push_back(t + 2 * pi * k);
    std::sort(at.begin(), at.end());
    double both_time = 0, relay_time = 0;
    bool both = false, relay = false;
    int changes = -1;  // the first mode is not an event
    for (std::size_t k = 1; k < at.size(); ++k) {
      const double middle = (at[k - 1] + at[k]) / 2, x = std::sin(middle);
      const bool was_both = both, was_relay = relay;
      both = x > high && std::cos(middle) > 0;
      if (x > upper) relay = true;
      if (x < lower) relay = false;
      both_time += both ? at[k] - at[k - 1] : 0;
      relay_time += relay ? at[k] - at[k - 1] : 0;
      changes += k == 1 || both != was_both || relay != was_relay;
    }
    const auto id = static_cast<std::int64_t>(i);
    if (std::fabs(r.final("both_time", id) - both_time) < 1e-6 &&
        std::fabs(r.final("relay_time", id) - relay_time) < 1e-6 && logged[i] == changes)
      continue;
    if (++wrong <= 3)
      ADD_FAILURE() << fmt::format(
          "instance {}: high {:.17g} upper {:.17g} lower {:.17g}: {:.9f} for {:.9f}, {:.9f} for {:.9f}, {} events for "
          "{}",
          i, high, upper, lower, r.final("both_time", id), both_time, r.final("relay_time", id), relay_time, logged[i],
          changes);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace saltus::test
