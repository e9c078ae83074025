// Delays of states. Expected numbers are closed forms, series of this file in long double, and numbers of tests/reference/delays.py.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "same_bits.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"
#include "variables_of.hpp"

namespace saltus::test {
namespace {

const std::string growth = test_model("delayed_growth"), relay = test_model("delayed_relay"),
                  steps = test_model("delayed_steps"), leukaemia = test_model("wheldon");

/// y' = a y(t - tau) - decay y with y(t) = before for t < 0 and y(0) = start.
struct linear {
  double a = -1, tau = 1, before = 1, start = 1, decay = 0;

  /// Without decay: sums of powers (C. A. H. Paul, A Test Set of Functional Differential Equations (1994), equation 1.1.1).
  double by_powers(double t) const {
    const auto sum = [&](int first) {
      long double all = 0;  // its terms cancel
      for (int k = 0; k <= static_cast<int>(std::floor(t / tau)) - first; ++k) {
        long double term = 1;
        for (int j = 1; j <= k; ++j)
          term *= static_cast<long double>(a) *
                  (static_cast<long double>(t) - (k + first) * static_cast<long double>(tau)) / j;
        all += term;
      }
      return all;
    };
    return static_cast<double>(before * sum(-1) + (start - before) * sum(0));
  }

  /// By the method of steps, each interval of length tau with a series of 60 terms.
  double by_series(double t) const {
    constexpr int terms = 60;
    std::vector<long double> past(terms, 0.0L), now(terms);
    past[0] = before;
    long double y = start;
    for (double begin = 0;; begin += tau) {
      now[0] = y;
      for (std::size_t j = 0; j + 1 < terms; ++j)
        now[j + 1] = (static_cast<long double>(a) * past[j] - static_cast<long double>(decay) * now[j]) /
                     static_cast<long double>(j + 1);
      const double end = std::fmin(tau, t - begin);
      y = 0;
      for (std::size_t j = terms; j-- > 0;) y = y * end + now[j];
      if (begin + tau >= t) return static_cast<double>(y);
      past = now;
    }
  }
  std::vector<std::string> settings() const {
    return {set("a", a), set("before", before), set("decay", decay), set("initial.y", start)};
  }
};

// ------------------------------------------------------------------------------------------------------- closed forms

TEST(Delays, OfALinearEquationGivePolynomials) {
  for (const char* method : {"dp5", "dop853"}) {
    const std::vector<double> delays = {0.31, 0.7, 1.0, 1.7, 6.0};
    for (const linear& l : {linear{}, linear{.a = -2, .before = 2}, linear{.a = 0.5, .before = -1, .start = 0}}) {
      const auto r = run(growth, with(l.settings(), {"rtol=1e-11", "t=[0.0, 5.3]", set("sweep.tau", delays),
                                                     std::string("method=") + method}));
      for (std::size_t i = 0; i < delays.size(); ++i) {
        linear one = l;
        one.tau = delays[i];
        const double y = one.by_powers(5.3);
        EXPECT_EQ(name_of(r.status[i]), "finished");
        EXPECT_NEAR(r.final_state[i], y, 1e-9 * std::fmax(1, std::fabs(y)))
            << method << ", a = " << l.a << ", tau = " << delays[i];
      }
    }
  }
}

TEST(Delays, AreSeenBetweenSteps) {
  // Samples of the output y(t - tau), in the history, in the records, and at the jump of the start, which it shows from 0.7 on.
  const linear l{.tau = 0.7, .before = 2};
  const auto r = run(growth, with(l.settings(), {"rtol=1e-11", "t=[0.0, 3.0]", "tau=0.7",
                                                 "output.samples.times=[0.0, 0.3, 0.69, 0.7, 0.71, 1.0, 2.9, 3.0]"}));
  const double times[] = {0.0, 0.3, 0.69, 0.7, 0.71, 1.0, 2.9, 3.0};
  for (int k = 0; k < 8; ++k) {
    // A sample where a step ends belongs to the next step, which begins there.
    const double past = times[k] < 0.7 ? 2.0 : l.by_powers(times[k] - 0.7);
    EXPECT_NEAR(r.sample(0, 0, k), times[k] == 0 ? 1.0 : l.by_powers(times[k]), 1e-9) << times[k];
    EXPECT_NEAR(r.sample(1, 0, k), past, 1e-9) << times[k];
  }
}

/// The slope of the error by the step, between two steps that do not divide the delay.
double observed_order(const char* method, double coarse) {
  const linear l{.a = -2, .before = 1.5, .decay = 1};
  constexpr double t = 4.6;
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const auto r = run(growth, with(l.settings(), {std::string("method=") + method, set("step", coarse / (k + 1)),
                                                   "t=[0.0, 4.6]", "rtol=1e-13"}));
    EXPECT_EQ(name_of(r.status[0]), "finished") << method;
    error[k] = std::fabs(r.final_state[0] - l.by_series(t));
  }
  return std::log2(error[0] / error[1]);
}

TEST(Delays, ConvergeWithTheOrderOfTheMethod) {
  EXPECT_NEAR(observed_order("bs3", 0.05), 3, 0.35);
  EXPECT_NEAR(observed_order("dp5", 0.1), 5, 0.6);
  EXPECT_NEAR(observed_order("dop853", 0.25), 8, 1.0);
}
TEST(Delays, ConvergeWithTheOrderOfOtherMethods) {
  EXPECT_NEAR(observed_order("tsit5", 0.05), 5, 0.6);
  EXPECT_NEAR(observed_order("rk4", 0.1), 4, 0.5);
  EXPECT_NEAR(observed_order("rodas5p", 0.1), 5, 0.7);
  EXPECT_NEAR(observed_order("esdirk4", 0.1), 4, 0.5);
  EXPECT_NEAR(observed_order("radau5", 0.1), 5, 0.6);
}

TEST(Delays, MeetTheToleranceByEveryMethod) {
  const linear l{.a = -2, .before = 1.5, .decay = 1};
  for (const char* method : {"bs3", "rkf45", "rkf78", "dp5", "tsit5", "dop853", "rdpk510", "trapezoid", "sdirk4",
                             "esdirk4", "rodas4", "rodas5p", "radau5", "radau9"}) {
    const auto r = run(
        growth, with(l.settings(), {"rtol=1e-7", "t=[0.0, 6.0]", "history=16384", std::string("method=") + method}));
    EXPECT_EQ(name_of(r.status[0]), "finished") << method;
    EXPECT_NEAR(r.final_state[0], l.by_series(6.0), 2e-6) << method;
  }
}

// ------------------------------------------------------------------------------------------------------- known problems

TEST(Delays, OfWheldonsModel) {
  for (const char* method : {"dp5", "rodas5p"}) {
    const auto r = run(leukaemia, {"rtol=1e-10", "t=[0.0, 100.0]", "history=8192", std::string("method=") + method});
    EXPECT_EQ(name_of(r.status[0]), "finished");
    EXPECT_NEAR(r.final("marrow") / 0.08768011074439106, 1, 1e-8) << method;
    EXPECT_NEAR(r.final("blood") / 0.29376859433354, 1, 1e-8) << method;
  }
}

// ------------------------------------------------------------------------------------------------------- events

TEST(Delays, OfARelaysSensorMakeALimitCycle) {
  // x' = u - x, u = -sign x(t - tau). From x = 1/2 with u = -1: x = 0 at ln 3/2. A switch tau after a zero of x finds it at
  // 1 - exp(-tau); the next zero comes ln(1 + that) later.
  for (const char* method : {"dp5", "rodas5p"}) {
    const std::vector<double> delays = {0.2, 0.75, 1.5};
    const auto r = run(relay, with(tight, {"rtol=1e-12", set("sweep.dead_time", delays),
                                           std::string("method=") + method, "output.reduce=['max(x) from 10 to 20']"}));
    for (std::size_t i = 0; i < delays.size(); ++i) {
      const double tau = delays[i], amplitude = 1 - std::exp(-tau), half = tau + std::log1p(amplitude);
      const auto times = times_of(r, "", static_cast<std::int64_t>(i));
      ASSERT_EQ(times.size(), static_cast<std::size_t>((20 - std::log(1.5) - tau) / half) + 1);
      for (std::size_t k = 0; k < times.size(); ++k)
        EXPECT_NEAR(times[k], std::log(1.5) + tau + static_cast<double>(k) * half, 1e-9) << method << ", tau = " << tau;
      EXPECT_NEAR(r.reductions[i], amplitude, 1e-9);
    }
  }
}

TEST(Delays, BringAJumpLaterToTheGuard) {
  // The pool jumps at 1. A short delay later its delayed value jumps, and the guard on it fires, at that very time.
  const std::vector<double> brief = {0.3, 0.5, 1.0, 0.123456789};
  const auto r = run(steps, with(tight, {set("sweep.brief", brief), "output.events={outputs=true}"}));
  for (std::size_t i = 0; i < brief.size(); ++i) {
    const auto id = static_cast<std::int64_t>(i);
    EXPECT_EQ(name_of(r.status[i]), "finished");
    EXPECT_EQ(times_of(r, "arrives", id), std::vector<double>{1 + brief[i]}) << "bit for bit";
    EXPECT_EQ(discrete(r, "arrived", id), 1);
    EXPECT_EQ(discrete(r, "seen_before", id), 0) << "in a transition a delayed value is that of the past";
    EXPECT_EQ(discrete(r, "seen_there", id), 1) << "and at a jump the one from here on";
    const double first = 5 - 1 - brief[i], late = std::fmax(0, first - brief[i] - 0.4);
    EXPECT_NEAR(r.final("first", id), first, 1e-12);
    EXPECT_NEAR(r.final("second", id), late * late / 2, 1e-12);
    EXPECT_EQ(r.output(0, id), 1);
  }
}

// ------------------------------------------------------------------------------------------------------- faults and refusals

TEST(Delays, ThatAreNoneEndTheInstanceAlone) {
  // The delay is tau / pace.
  const auto r = run(growth, {"rtol=1e-8", "sweep.zip.tau=[0.5, -1.0, 0.0, 1e-300, 1.0, 0.0, 1e30]",
                              "sweep.zip.pace=[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]"});
  for (const std::size_t i : {1u, 2u, 3u, 4u, 5u}) EXPECT_EQ(name_of(r.status[i]), "bad_delay") << i;
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_NEAR(r.final_state[0], linear{.tau = 0.5}.by_powers(5), 1e-6);
  EXPECT_EQ(name_of(r.status[6]), "finished") << "it never leaves the history";
  EXPECT_NEAR(r.final_state[6], -4, 1e-6);
  const auto fixed = run(growth, {"step=0.25", "sweep.tau=[0.2, 0.25, 0.26]"});
  EXPECT_EQ(name_of(fixed.status[0]), "bad_delay");
  EXPECT_EQ(name_of(fixed.status[1]), "bad_delay");
  EXPECT_EQ(name_of(fixed.status[2]), "finished");
}

TEST(Delays, NeedRoomForTheStepsWithinThem) {
  const auto r = run(growth, {"step=0.01", "t=[0.0, 3.0]", "history=60", "sweep.tau=[0.5, 0.7, 5.0]"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.status[1]), "history_full") << "60 is rounded up to 64, and there are 70 steps";
  EXPECT_EQ(name_of(r.status[2]), "finished") << "within the history nothing is read";
  EXPECT_EQ(name_of(run(growth, {"step=0.01", "t=[0.0, 3.0]", "history=100", "tau=0.7"}).status[0]), "finished");
}

TEST(Delays, RefuseWhatTheyDoNotHave) {
  const auto refusal = [](const std::string& model, const std::vector<std::string>& settings) -> std::string {
    try {
      plan_of(model, settings);
    } catch (const std::exception& e) { return e.what(); }
    return "none";
  };
  for (const auto& [setting, words] : std::vector<std::pair<std::string, std::string>>{
           {"method=taylor", "finds no series of delayed states"},
           {"precision=float", "must be double: delayed_growth has delays (lag)"},
           {"detection=certified", "no enclosure is known of delayed states"},
           {"sensitivity.parameters=['a']", "no derivatives are taken"},
           {"lyapunov.exponents=1", "no derivatives are taken"},
           {"t=[5.0, 0.0]", "its runs go forward in time"},
           {"initial.from='some.nc'", "a result has no history"}})
    EXPECT_NE(refusal(growth, {setting}).find(words), std::string::npos) << refusal(growth, {setting});
  EXPECT_NE(refusal("lorenz", {"history=64"}).find("lorenz has no delays"), std::string::npos);
}

TEST(Delays, OfAStiffEquationGoOverToAnImplicitMethod) {
  // A history is no part of a snapshot: the implicit method begins afresh.
  const linear l{.a = 5e3, .tau = 0.5, .decay = 1e4};
  const auto r = run(growth, with(l.settings(), {"rtol=1e-6", "method=auto", "t=[0.0, 4.0]", "tau=0.5"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(r.switched_to[0], 1);
  // Far beyond the boundary layers y = (a/decay) y(t - tau), to 1/decay.
  EXPECT_NEAR(r.final_state[0], std::pow(0.5, 8), 1e-3 * std::pow(0.5, 8));
}

TEST(Delays, BeginAfreshWhereTheyAreRescued) {
  const std::vector<std::string> settings =
      with(tight, {"t=[0.0, 8.0]", "sample.count=20", "sample.dead_time={uniform=[0.2, 1.5]}"});
  const auto whole = run(relay, settings), rescued = run(relay, with(settings, {"inject_exceptions=0.5"}));
  int exceptions = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    exceptions += rescued.exception[static_cast<std::size_t>(i)] != 0 ? 1 : 0;
    const auto expected = times_of(whole, "", i), times = times_of(rescued, "", i);
    ASSERT_EQ(times.size(), expected.size()) << "no event is logged twice";
    for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(times[k], expected[k], 1e-8);
    EXPECT_NEAR(rescued.final("x", i), whole.final("x", i), 1e-8);
  }
  EXPECT_GT(exceptions, 2);
}

// ------------------------------------------------------------------------------------------------------- bits

TEST(Delays, HaveTheSameBitsWhateverRunsBeside) {
  struct ensemble {
    std::string model;
    std::vector<std::string> settings;
  };
  const std::vector<ensemble> all = {
      {relay,
       {"rtol=1e-7", "t=[0.0, 8.0]", "sample.count=67", "sample.seed=3", "sample.dead_time={uniform=[0.2, 1.5]}",
        "output.samples.count=7", "output.events=true", "output.reduce=['max(x)', 'mean(seen)']"}},
      {"mackey_glass",
       {"rtol=1e-6", "method=dop853", "t=[0.0, 60.0]", "sample.count=33", "sample.ripening={uniform=[5.0, 20.0]}"}}};
  for (const auto& e : all) {
    const outcome reference = run(e.model, with(e.settings, {"run.lanes=1", "run.threads=1"}));
    EXPECT_EQ(reference.summary.counts.ok(), reference.plan.count);
    for (const auto& [lanes, threads, chunk] : {std::tuple(1, 2, 7), {4, 1, 9}, {8, 2, 33}, {8, 1, 1000}}) {
      if (lanes > host::native_lanes()) continue;
      const outcome r = run(
          e.model, with(e.settings, {fmt::format("run.lanes={}", lanes), lanes == 4 ? "run.groups=3" : "run.groups=1",
                                     fmt::format("run.threads={}", threads), fmt::format("run.chunk={}", chunk)}));
      for (std::int64_t i = 0; i < reference.plan.count && !HasFatalFailure(); ++i) expect_same(reference, i, r, i);
      expect_same_log(reference, r);
    }
  }
}

TEST(Delays, GoOnFromAJournalWithTheSameBits) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("saltus_delays_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto run_to = [&](const char* name, std::int64_t instances) {
    const host::cancellation stop;
    host::run_listener listener;
    std::int64_t ended = 0;
    listener.progress = [&](std::int64_t some) {
      if ((ended += some) >= instances && instances >= 0) stop.cancel();
    };
    const std::vector<host::flag> flags = {{"--set", "sample={count=300, seed=3, dead_time={uniform=[0.2, 1.5]}}"},
                                           {"--set", "t=[0.0, 8.0]"},
                                           {"--set", "output={samples={count=7}, events=true}"},
                                           {"--set", "run={chunk=30, threads=1, checkpoint=0.001}"},
                                           {"-o", (folder / name).string()}};
    return host::run(host::plan_of({relay, flags}), {}, stop, listener);
  };
  run_to("whole.nc", -1);
  EXPECT_EQ(host::exit_interrupted, run_to("cut.nc", 100).exit_code);
  EXPECT_GE(run_to("cut.nc", -1).continued, 60);
  EXPECT_EQ(variables_of(folder / "whole.nc"), variables_of(folder / "cut.nc"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace saltus::test
