// The lane shape of a run: by measurements of its model, otherwise by those of the machine, otherwise by a rule. Times are given
// by hand here, so no result depends on the load of the machine. Shapes change no bit: test_same_bits.cpp.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/make.hpp"
#include "base/by_turns.hpp"
#include "base/paths.hpp"
#include "compile/chosen_shape.hpp"
#include "compile/compiler.hpp"
#include "compile/machine_shapes.hpp"
#include "spec/spec.hpp"
#include "study/tune.hpp"

namespace {

namespace fs = std::filesystem;
namespace host = saltus::host;

const host::cancellation go_on;
const host::cancellation at_once = [] {
  const host::cancellation token;
  token.cancel();
  return token;
}();

// ----------------------------------------------------------------------------------------------------------- by turns

TEST(by_turns, every_round_has_every_way_and_begins_with_another) {
  std::vector<std::size_t> order;
  const auto t = host::time_by_turns(
      3, 4,
      [&](std::size_t way) {
        order.push_back(way);
        return 1.0 + static_cast<double>(way);
      },
      go_on);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2}));
  EXPECT_EQ(t, (host::times_by_turns{{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}));
}

TEST(by_turns, a_round_cut_short_is_left_out) {
  const host::cancellation stop;
  int times = 0;
  const auto t = host::time_by_turns(
      2, 5,
      [&](std::size_t) {
        if (++times == 4) stop.cancel();
        return 1.0;
      },
      stop);
  EXPECT_EQ(times, 4);
  EXPECT_EQ(t, (host::times_by_turns{{1}, {1}}));
}

TEST(by_turns, a_median_is_one_of_the_times) {
  EXPECT_EQ(host::median_of({5, 1, 3}), 3);
  EXPECT_EQ(host::median_of({4, 1, 3, 2}), 3);
  EXPECT_EQ(host::median_of({7}), 7);
}

TEST(by_turns, what_is_faster_beyond_doubt_is_taken) {
  EXPECT_EQ(host::fastest_beyond_doubt({{10, 11, 10}, {9, 9, 9}, {8, 8, 8}}), 2u);
  EXPECT_EQ(host::fastest_beyond_doubt({{10, 11, 10}, {8, 8, 8}, {9, 9, 9}}), 1u);
  EXPECT_NEAR(host::times_as_long({{10, 11, 10}, {8, 8, 8}}, 0, 1), 1.25, 1e-15);
}

TEST(by_turns, ties_go_to_the_first) {
  EXPECT_EQ(host::fastest_beyond_doubt({{10, 10, 10}, {10, 10, 10}}), 0u);
  EXPECT_EQ(host::fastest_beyond_doubt({{100, 100, 100}, {96, 96, 96}}), 0u);  // faster by less than a twentieth
  // Compared with the best before it, not with the first: 90 is chosen, and 87 is not clearly faster than that.
  EXPECT_EQ(host::fastest_beyond_doubt({{100, 100, 100}, {90, 90, 90}, {87, 87, 87}}), 1u);
  EXPECT_EQ(host::fastest_beyond_doubt({{}, {}}), 0u);  // no measurements
}

TEST(by_turns, one_wild_round_decides_nothing) {
  // Once faster by a factor of 100, once slower in a comparison where the other rounds leave no doubt.
  EXPECT_EQ(host::fastest_beyond_doubt({{10, 10, 10, 10, 10}, {10, 0.1, 10, 10, 10}}), 0u);
  EXPECT_EQ(host::fastest_beyond_doubt({{10, 10, 10, 10, 10}, {8, 8, 1000, 8, 8}}), 1u);
  // A better median is not enough if two of five rounds contradict it.
  EXPECT_EQ(host::fastest_beyond_doubt({{10, 10, 10, 10, 10}, {8, 8, 8, 11, 11}}), 0u);
}

TEST(by_turns, disturbance_of_whole_rounds_changes_no_verdict) {
  // A machine whose speed varies by a factor of four between rounds, with 3 % of noise: alternating measurements cancel this.
  std::mt19937 random(1);
  std::uniform_real_distribution<double> slower(1, 4), noise(0.97, 1.03);
  int ties_kept = 0, found = 0;
  constexpr int times = 1000;
  for (int k = 0; k < times; ++k) {
    host::times_by_turns tie(3), clear(3);
    for (int round = 0; round < 9; ++round) {
      const double busy = slower(random);
      for (auto& way : tie) way.push_back(busy * noise(random));
      for (std::size_t way = 0; way < 3; ++way) clear[way].push_back(busy * noise(random) * (way == 1 ? 0.8 : 1.0));
    }
    ties_kept += host::fastest_beyond_doubt(tie) == 0;
    found += host::fastest_beyond_doubt(clear) == 1;
  }
  EXPECT_EQ(ties_kept, times);
  EXPECT_EQ(found, times);
}

// ------------------------------------------------------------------------------------------------------ which is taken

/// Tests with an empty cache.
class lanes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* now = std::getenv("SALTUS_CACHE")) before_ = now;
    char name[] = "/tmp/saltus_test_lanes.XXXXXX";
    folder_ = ::mkdtemp(name);
    ::setenv("SALTUS_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty()) ::unsetenv("SALTUS_CACHE");
    else ::setenv("SALTUS_CACHE", before_.c_str(), 1);
    fs::remove_all(folder_);
  }

  fs::path file_of_machine() const {
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().extension() == ".machine") return entry.path();
    return {};
  }

  fs::path folder_;
  std::string before_;
};

host::plan plan_of(const std::string& model, const std::string& method, std::vector<std::string> settings = {}) {
  std::vector<host::flag> flags = {{"--method", method}};
  for (const auto& s : settings) flags.push_back({"--set", s});
  return host::validate(host::from_model(model, flags), host::describe_model(host::find_model(model)));
}

/// Two registers for each number, which no rule chooses for an explicit method.
host::lane_shape doubled(host::precision_kind precision = host::precision_kind::double_precision) {
  return {2 * host::native_lanes(precision), 1};
}

TEST_F(lanes, what_is_measured_of_the_machine_is_for_all_models_of_its_kind_and_method) {
  const auto smooth = plan_of("lorenz", "dp5"), like_it = plan_of("oregonator", "dp5");
  const auto rule = host::shape_by_rule(smooth);
  ASSERT_NE(rule, doubled());
  ASSERT_EQ(host::lane_shape_of(smooth), rule);
  host::keep({"dp5", "double", host::work_kind::smooth, doubled(), 1.3});
  EXPECT_EQ(host::lane_shape_of(smooth), doubled());
  EXPECT_EQ(host::lane_shape_of(like_it), doubled());
  // Another method, precision or kind: no measurements exist for them.
  EXPECT_EQ(host::lane_shape_of(plan_of("lorenz", "tsit5")), rule);
  const auto single = plan_of("lorenz", "dp5", {"precision=float"});
  EXPECT_EQ(host::lane_shape_of(single), host::shape_by_rule(single));
  const auto with_events = plan_of("bouncing_ball", "dp5");
  EXPECT_EQ(host::lane_shape_of(with_events), host::shape_by_rule(with_events));
  // A setting in the plan wins.
  EXPECT_EQ(host::lane_shape_of(plan_of("lorenz", "dp5", {"run.lanes=4"})), (host::lane_shape{4, 1}));
  EXPECT_EQ(host::lane_shape_of(plan_of("lorenz", "dp5", {"run.groups=2"})), (host::lane_shape{doubled().lanes, 2}));
}

TEST_F(lanes, kinds_are_kept_side_by_side_and_the_last_measurement_counts) {
  const host::lane_shape single{host::native_lanes(), 1};
  host::keep({"dp5", "double", host::work_kind::smooth, doubled(), 1.3});
  host::keep({"dp5", "double", host::work_kind::with_events, single, 1.2});
  EXPECT_EQ(host::lane_shape_of(plan_of("lorenz", "dp5")), doubled());
  EXPECT_EQ(host::lane_shape_of(plan_of("bouncing_ball", "dp5")), single);
  host::keep({"dp5", "double", host::work_kind::smooth, single, 1.1});
  EXPECT_EQ(host::lane_shape_of(plan_of("lorenz", "dp5")), single);
  EXPECT_EQ(host::machine_shapes().size(), 2u);
}

TEST_F(lanes, implicit_methods_are_one_kind_with_events_or_without) {
  EXPECT_EQ(host::kind_of(plan_of("robertson", "rodas5p")), host::work_kind::implicit);
  EXPECT_EQ(host::kind_of(plan_of("lorenz", "radau5")), host::work_kind::implicit);
  EXPECT_EQ(host::kind_of(plan_of("lorenz", "dp5")), host::work_kind::smooth);
  EXPECT_EQ(host::kind_of(plan_of("bouncing_ball", "dp5")), host::work_kind::with_events);
  EXPECT_EQ(host::kind_of(plan_of("pulsed_dose", "dp5")), host::work_kind::with_events);  // time events
}

TEST_F(lanes, large_models_and_constant_steps_keep_to_the_rule) {
  host::keep({"dp5", "double", host::work_kind::with_events, doubled(), 1.3});
  host::keep({"rodas5p", "double", host::work_kind::implicit, {host::native_lanes(), 2}, 1.3});
  const auto many = plan_of("bouncing_balls_100", "dp5"), eight = plan_of("hires", "rodas5p"),
             constant = plan_of("bouncing_ball", "dp5", {"step=0.01"});
  for (const auto& p : {many, eight, constant}) {
    EXPECT_FALSE(host::follows_machine(p));
    EXPECT_EQ(host::lane_shape_of(p), host::shape_by_rule(p));
  }
}

TEST_F(lanes, another_machine_has_a_file_of_its_own) {
  host::keep({"dp5", "double", host::work_kind::smooth, doubled(), 1.3});
  const auto file = file_of_machine();
  ASSERT_FALSE(file.empty());
  fs::rename(file, folder_ / (std::string(32, '0') + ".machine"));
  EXPECT_TRUE(host::machine_shapes().empty());
}

TEST_F(lanes, a_damaged_file_is_as_good_as_none) {
  const auto p = plan_of("lorenz", "dp5");
  host::keep({"dp5", "double", host::work_kind::smooth, doubled(), 1.3});
  const auto file = file_of_machine();
  ASSERT_FALSE(file.empty());
  for (const char* text :
       {"", "\n", "dp5", "dp5 double 0", "dp5 double 7 8 2 1.3", "dp5 double 0 3 5 1.3", "dp5 double 0 8 2 nan"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(host::lane_shape_of(p), host::shape_by_rule(p)) << text;
  }
  std::ofstream(file) << "rubbish\ndp5 double 0 " << doubled().lanes << " 1 1.3\n";  // a valid line after it
  EXPECT_EQ(host::lane_shape_of(p), doubled());
}

TEST_F(lanes, references_have_the_plans_method_precision_and_kind) {
  for (const auto& p : {plan_of("lorenz", "dop853"), plan_of("bouncing_ball", "tsit5", {"precision=float"}),
                        plan_of("lorenz", "radau5")}) {
    const auto r = host::reference_plan(p);
    EXPECT_EQ(r.method, p.method);
    EXPECT_EQ(r.precision, p.precision);
    EXPECT_EQ(host::kind_of(r), host::kind_of(p));
    EXPECT_TRUE(host::follows_machine(r));
    EXPECT_EQ(r.lanes, 0);
  }
}

TEST_F(lanes, measuring_the_machine_keeps_one_of_the_shapes) {
  const auto p = plan_of("bouncing_ball", "bs3");
  const auto all = host::tune_machine(p, go_on);
  ASSERT_GE(all.size(), 2u);
  EXPECT_GE(all.front().gain, 1);
  for (std::size_t k = 2; k < all.size(); ++k) EXPECT_LE(all[k - 1].seconds, all[k].seconds);
  const auto kept = host::machine_shape_of(p);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->shape, all.front().shape);
  EXPECT_EQ(host::lane_shape_of(p), all.front().shape);
  // A stopped measurement measures nothing and keeps nothing.
  const auto q = plan_of("lorenz", "bs3");
  EXPECT_TRUE(host::tune_machine(q, at_once).empty());
  EXPECT_FALSE(host::machine_shape_of(q).has_value());
}

TEST_F(lanes, a_measured_model_goes_before_the_machine) {
  const auto p = plan_of("lorenz", "bs3", {"sweep.rho={from=0.0, to=21.0, count=256}", "t=[0.0, 1.0]"});
  const auto all = host::tune_lanes(p, go_on);
  ASSERT_FALSE(all.empty());
  const auto other = all.back().shape;
  host::keep({"bs3", "double", host::work_kind::smooth, other, 1.3});
  ASSERT_NE(other, all.front().shape);
  EXPECT_EQ(host::lane_shape_of(p), all.front().shape);
  EXPECT_TRUE(host::tune_lanes(plan_of("lorenz", "bs3", {"run.lanes=4"}), go_on).empty()) << "given lanes need none";
}

}  // namespace
