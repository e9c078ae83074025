// A few models with a few methods, with events logged, certified search or rescue: the program of the preset `asan` compiles the modules
// with address and undefined-behaviour sanitizers. With other presets the test is quick, and checks that every instance ends as it
// should.
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace saltus::test {
namespace {

struct ensemble {
  const char* name;
  std::string model;
  std::vector<std::string> settings;
};

// Each of them needs one or two modules, and compiling a module with sanitizers takes most of a minute: packs of two lanes have masks
// and exchanges of all widths, and one of the ensembles uses one lane.
const std::vector<ensemble>& ensembles() {
  static const std::vector<ensemble> list = {
      {"valve_dp5",
       "relief_valve",
       {"rtol=1e-6", "run.lanes=2", "t=[0.0,4.0]", "sample.count=19", "sample.flow={uniform=[0.4,10.0]}",
        "output.samples.count=5", "output.reduce=['max(pressure)','mean(lift)']"}},
      {"certified_curve_tsit5",
       "bok_1",
       {"rtol=1e-6", "run.lanes=2", "method=tsit5", "detection=certified", "sample.count=19",
        "sample.A={uniform=[0.35,0.45]}"}},
      {"rescued_ball_bs3",
       "ball_drag",
       {"rtol=1e-5", "run.lanes=1", "method=bs3", "inject_exceptions=0.4", "sample.count=19",
        "sample.height={uniform=[0.5,2.0]}"}},
      {"relaxing_rodas5p",
       test_model("relaxing"),
       {"rtol=1e-5", "run.lanes=2", "method=rodas5p", "sample.count=11", "sample.rate={log_uniform=[1.0,1e8]}"}},
      {"orbits_of_index_2_radau5",
       test_model("circle_2"),
       {"rtol=1e-5", "run.lanes=2", "sample.count=5", "sample.turn_at={uniform=[-0.2,0.9]}"}},
  };
  return list;
}

class Sanitized : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Sanitized, EveryInstanceEnds) {
  const auto& e = ensembles()[GetParam()];
  const auto r = run(e.model, with(e.settings, {"output.events=true", "run.threads=2", "run.chunk=7"}));
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    const std::string end = name_of(r.status[i]);  // ball_drag stops itself
    EXPECT_TRUE(end == "finished" || end == "stopped" || end == "rescued") << end << ", instance " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Sanitized, ::testing::Range(std::size_t{0}, ensembles().size()),
                         [](const auto& one) { return std::string(ensembles()[one.param].name); });

}  // namespace
}  // namespace saltus::test
