// A few models with a few methods, on one lane and on several, with events logged, rescued or handed over: what the modules do
// under address and undefined-behaviour sanitizers, which the program of the preset `asan` compiles them with. Under others it
// is quick, and says that every instance ends as it should.
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace saltus::test {
namespace {

struct ensemble {
  const char* name;
  std::string model;
  std::vector<std::string> settings;
};

const std::vector<ensemble>& ensembles() {
  static const std::vector<ensemble> list = {
      {"valve_dp5",
       "relief_valve",
       {"rtol=1e-6", "t=[0.0,4.0]", "sample.count=19", "sample.flow={uniform=[0.4,10.0]}", "output.samples.count=5",
        "output.reduce=['max(pressure)','mean(lift)']"}},
      {"rescued_ball_bs3",
       "ball_drag",
       {"rtol=1e-5", "method=bs3", "inject_exceptions=0.4", "sample.count=19", "sample.height={uniform=[0.5,2.0]}"}},
      {"relaxing_rodas5p",
       test_model("relaxing"),
       {"rtol=1e-5", "method=rodas5p", "sample.count=11", "sample.rate={log_uniform=[1.0,1e8]}"}},
      {"orbits_of_index_2_radau5",
       test_model("circle_2"),
       {"rtol=1e-5", "sample.count=5", "sample.stretch={uniform=[0.9,1.1]}"}},
  };
  return list;
}

class Sanitized : public ::testing::TestWithParam<std::tuple<std::size_t, int>> {};

TEST_P(Sanitized, EveryInstanceEnds) {
  const auto& e = ensembles()[std::get<0>(GetParam())];
  const auto r =
      run(e.model, with(e.settings, {"output.events=true", fmt::format("run.lanes={}", std::get<1>(GetParam())),
                                     "run.threads=2", "run.chunk=7"}));
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    const std::string end = name_of(r.status[i]);  // ball_drag stops itself
    EXPECT_TRUE(end == "finished" || end == "stopped" || end == "rescued") << end << ", instance " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Sanitized,
                         ::testing::Combine(::testing::Range(std::size_t{0}, std::size_t{4}), ::testing::Values(1, 2)),
                         [](const auto& info) {
                           return fmt::format("{}_on_{}", ensembles()[std::get<0>(info.param)].name,
                                              std::get<1>(info.param));
                         });

}  // namespace
}  // namespace saltus::test
