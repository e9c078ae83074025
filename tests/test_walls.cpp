// Landing on the right side: a unilateral guard is never beyond zero at the end of a run that it has stopped, also if it is flat
// behind its root or no solution exists behind it; a bilateral guard has its new side whenever it has fired.
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace {

using namespace saltus;
using namespace saltus::test;

class Wall : public testing::TestWithParam<const char*> {};

TEST_P(Wall, ThatIsADoubleRootIsReachedAndNotPassed) {
  for (const char* beyond : {"beyond=1", "beyond=0"})
    for (const double floor : {0.0, 0.7})
      for (const double rtol : {1e-4, 1e-6, 1e-9}) {
        const auto r = run(test_model("drain"),
                           {std::string("method=") + GetParam(), set("rtol", rtol), beyond, set("floor", floor),
                            "sweep.level={from=0.8,to=1.5,count=200}", "output.events=true", "max_steps=3000"});
        const auto about = fmt::format("{} rtol {} floor {}", beyond, rtol, floor);
        for (std::int64_t i = 0; i < 200; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const auto name = name_of(r.status[at]);
          ASSERT_GE(r.final("level", i), floor) << about << ", instance " << i;
          // If the level's rounding exceeds its depth, and no solution exists behind the bottom, an instance may end there with a
          // failure status, but not as finished.
          if (floor > 0.0 && beyond == std::string("beyond=0")) {
            ASSERT_NE(name, "finished") << about << ", instance " << i;
            continue;
          }
          ASSERT_EQ(name, "stopped") << about << ", instance " << i;
          ASSERT_EQ(r.events[at], 1) << about << ", instance " << i;
          ASSERT_EQ(r.exception[at], 0) << about << ", instance " << i;
          ASSERT_LE(r.final("level", i), floor + 10.0 * rtol) << about << ", instance " << i;
          // The error in the level is of the order of rtol, so the error in the time is of the order of its square root.
          const double level = 0.8 + 0.7 * static_cast<double>(i) / 199.0, exact = 2.0 * std::sqrt(level - floor);
          ASSERT_NEAR(r.t_final[at], exact, 30.0 * std::sqrt(rtol)) << about << ", instance " << i;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Methods, Wall, testing::Values("dp5", "tsit5", "dop853", "rodas5p"));

// An explicit step at the limit of stability: the end of a step of Robertson's reactions, a shorter step to the root and a move
// along the slope differ by more than the guard's own slope covers. Each instance has one event, with y3 at its threshold.
TEST(Threshold, BesideAFastModeFiresOnceAndNotBefore) {
  for (const char* method : {"tsit5", "bs3", "dp5"}) {
    const auto r = run("robertson", {std::string("method=") + method, "rtol=1e-6", "t=[0.0, 20.0]", "sample.count=400",
                                     "sample.k1={log_uniform=[0.01,0.1]}", "output.events=true"});
    for (std::size_t i = 0; i < 400; ++i) ASSERT_EQ(r.events[i], 1) << method << ", instance " << i;
    for (const auto& e : r.log) ASSERT_GT(e.before[2], 0.01) << method << ", instance " << e.instance;
  }
}

}  // namespace
