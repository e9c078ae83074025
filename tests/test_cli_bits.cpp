// Effects of flags on a run, and the inputs on which the bits of its results depend.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace command_line {
namespace {

// ------------------------------------------------------------------------------------------------------- flags and their bits

TEST_F(cli, set_reaches_parameters_states_and_keys) {
  const auto r = run({model(), "--set", "stiffness=9", "--set", "place=2", "--set", "t=[0.0, 2.5]", "--set",
                      "rtol=1e-11", "--method", "tsit5"});
  EXPECT_EQ(r["stiffness"], std::vector<double>{9});
  EXPECT_EQ(r["initial_place"], std::vector<double>{2});
  EXPECT_EQ(r["t_end"], std::vector<double>{2.5});
  // Rest at pi/2 with velocity -2, then place = -2/3 sin(3 (t - pi/2)); at 2.5 the place is -2/3 cos(7.5).
  EXPECT_NEAR(r["final_place"][0], -2.0 / 3 * std::cos(7.5), 1e-9);
  EXPECT_NE(r["steps"], run({model(), "--set", "stiffness=9", "--set", "place=2", "--set", "t=[0.0, 2.5]", "--set",
                             "rtol=1e-11", "--method", "dp5"})["steps"])
      << "another method";
}

TEST_F(cli, a_run_backward_comes_from_where_a_run_forward_went) {
  // Below rest place = sin(2 t) / 2 and velocity = cos(2 t) for a stiffness of 4; above rest place = cos(t).
  const auto r = run({model(), "--set", "t=[2, 0]", "--set", "rtol=1e-11", "--set",
                      fmt::format("place={}", std::sin(4.0) / 2), "--set", fmt::format("velocity={}", std::cos(4.0)),
                      "--set", "output.samples={times=[2.0, 1.8, 1.0, 0.0]}", "--set", "output.events=true"});
  EXPECT_EQ(r["t_final"], std::vector<double>{0});
  EXPECT_NEAR(r["final_place"][0], 1.0, 1e-9);
  EXPECT_NEAR(r["final_velocity"][0], 0.0, 1e-9);
  EXPECT_EQ(r["time"], (std::vector<double>{2, 1.8, 1, 0}));
  for (const auto& [k, place] : {std::pair{0, std::sin(4.0) / 2}, {1, std::sin(3.6) / 2}, {2, std::cos(1.0)}, {3, 1.0}})
    EXPECT_NEAR(r["place"][static_cast<std::size_t>(k)], place, 1e-9) << k;
  ASSERT_EQ(r["event_time"].size(), 1u);
  EXPECT_NEAR(r["event_time"][0], M_PI / 2, 1e-9);
}

TEST_F(cli, what_lanes_give_up_is_rescued) {
  const words sweep = {model(),
                       "--set",
                       "t=[0,20]",
                       "--set",
                       "rtol=1e-10",
                       "--set",
                       "output.events=true",
                       "--set",
                       "output.samples.count=9",
                       "--set",
                       "sweep.stiffness={from=0.5, to=9.0, count=300}"};
  const auto with = [&](const words& more) {
    words all = sweep;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const setting shaken = {{"SALTUS_INJECT_EXCEPTIONS", "0.25"}};
  const auto calm = run(sweep), saved = run(sweep, shaken);
  for (const words& how : {words{"--lanes", "1"}, words{"--lanes", "4", "--threads", "2", "--chunk", "7"}}) {
    expect_same_bits(saved, run(with(how), shaken), fmt::format("{}", fmt::join(how, " ")));
  }
  std::size_t rescued = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    const bool alone = saved["exception"][i] == 0;
    rescued += !alone;
    EXPECT_EQ(saved["status"][i], 0) << i;
    EXPECT_EQ(saved["events"][i], calm["events"][i]) << i;
    for (const char* name : {"final_place", "final_velocity"})
      EXPECT_NEAR(saved[name][i], calm[name][i], alone ? 0.0 : 1e-7) << name << " of " << i;
    for (std::size_t k = 9 * i; k < 9 * i + 9; ++k) EXPECT_NEAR(saved["place"][k], calm["place"][k], 1e-7) << i;
  }
  EXPECT_NEAR(static_cast<double>(rescued), 75, 34) << "4.5 standard deviations of 7.5";
  ASSERT_EQ(saved["event_row_size"], calm["event_row_size"]) << "no event is lost or repeated";
  for (std::size_t k = 0; k < saved["event_time"].size(); ++k)
    EXPECT_NEAR(saved["event_time"][k], calm["event_time"][k], 1e-7);

  auto object = with({"--json", "-q", "-o", "saved.nc"});
  const auto o = saltus((object.insert(object.begin(), "run"), object), shaken);
  const json summary(o.out);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(summary.number("rescued"), static_cast<double>(rescued));
  EXPECT_EQ(summary.number("ok"), static_cast<double>(300 - rescued));
  double by_reason = 0;
  for (const char* why : {"not_located", "step_too_small", "not_finite"})
    by_reason += summary.number(std::string("rescued_from.") + why);
  EXPECT_EQ(by_reason, static_cast<double>(rescued));
  EXPECT_NE(saltus({"show", "saved.nc"}).out.find("of these; lanes gave up: not_located\n"), std::string::npos);

  auto alone = with({"--set", "rescue=false", "--json", "-q"});
  const auto left = saltus((alone.insert(alone.begin(), "run"), alone), shaken);
  EXPECT_EQ(left.code, 3);
  EXPECT_EQ(json(left.out).number("failed"), static_cast<double>(rescued));
  EXPECT_EQ(json(left.out).number("rescued"), 0);
}

TEST_F(cli, a_model_with_constraints_is_described_solved_and_shown) {
  write(folder() / "tank.hpp", tank);
  const auto described = saltus({"describe", "tank.hpp"});
  EXPECT_NE(described.out.find("form:   dy/dt = f(t, y), 0 = g(t, y); 1 algebraic state of index 1\n"),
            std::string::npos)
      << described.out << described.err;
  EXPECT_NE(described.out.find("at the outlet (algebraic, index 1)\n"), std::string::npos) << described.out;
  const json about(saltus({"describe", "--json", "tank.hpp"}).out);
  EXPECT_EQ(about["equations"], "semi_explicit");
  EXPECT_EQ(about["singular_mass"], "false");
  EXPECT_EQ(about.number("states[0].index"), 0);
  EXPECT_EQ(about.number("states[1].index"), 1);
  EXPECT_NE(saltus({"describe", model()}).out.find("form:   dy/dt = f(t, y)\n"), std::string::npos);

  const words sweep = {"tank.hpp",
                       "--set",
                       "rtol=1e-9",
                       "--set",
                       "sweep.outlet=[-3.0, 0.0, 0.36, 2.0]",
                       "--set",
                       "run.allowed_failed=0.25"};
  const auto with = [&](words more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  const auto r = run(with({"--set", "output.events=true"}));
  EXPECT_EQ(r["status"], (std::vector<double>{1, 1, 1, 16})) << "three stopped, one inconsistent";
  for (std::size_t i = 0; i < 3; ++i) {
    const double above = 1.0 - r["outlet"][i];
    EXPECT_NEAR(r["t_final"][i], std::sqrt(above), 1e-7) << i;
    EXPECT_NEAR(r["final_speed"][i], 0.5 * std::sqrt(above), 1e-7) << i;
    EXPECT_NEAR(r["final_level"][i], r["outlet"][i] + 0.25 * above, 1e-7) << i;
    EXPECT_LT(r["residual"][i], 1e-12) << i;
  }
  EXPECT_GE(r["residual"][3], 1.0) << "1 + speed^2 for every speed";
  EXPECT_EQ(r["residual_of"][3], 1);
  EXPECT_EQ(r["event_time"].size(), 3u);
  expect_same_bits(r, run(with({"--lanes", "1", "--chunk", "3", "--set", "output.events=true"})), "lanes 1");

  const auto command = [&](const words& more) {
    words all = with(more);
    all.insert(all.begin(), "run");
    return saltus(all);
  };
  EXPECT_EQ(command({"-q", "-o", "tank.nc"}).code, 0);
  const auto lost = saltus({"show", "tank.nc", "--instance", "3"}).out;
  EXPECT_NE(lost.find("  status   inconsistent: "), std::string::npos) << lost;
  EXPECT_NE(lost.find(" in the equation of speed, the worst\n"), std::string::npos) << lost;
  EXPECT_NE(saltus({"show", "tank.nc", "--instance", "0"}).out.find(" in the equation of speed, the largest"),
            std::string::npos);

  // With given starts, a speed of 0.3 is inconsistent with every level; a speed of 1 is right for an outlet at zero.
  EXPECT_EQ(json(command({"--set", "consistency=given", "--json", "-q"}).out).number("status.inconsistent"), 4);
  const json given(command({"--set", "consistency=given", "--set", "speed=1.0", "--json", "-q"}).out);
  EXPECT_EQ(given.number("status.inconsistent"), 3);
  EXPECT_EQ(given.number("status.stopped"), 1);
  const auto refused = command({"--method", "dp5"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(
      refused.err,
      "saltus: --method dp5: method = \"dp5\": must be an implicit method, as tank has algebraic states; allowed: "
      "trapezoid, sdirk4, esdirk4, rodas4, rodas5p, radau5, radau9, radau13\n");
}

TEST_F(cli, auto_hands_stiff_instances_over_to_the_implicit_method) {
  write(folder() / "chase.hpp", chase);
  const words sweep = {"chase.hpp",
                       "--method",
                       "auto",
                       "--set",
                       "rtol=1e-7",
                       "--set",
                       "output.events=true",
                       "--set",
                       "sweep.eagerness=[1.0, 1e5, 3.0, 1e7, 1e6]"};
  const auto with = [&](words more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  const auto r = run(with({}));
  for (std::size_t i = 0; i < 5; ++i) {
    const bool stiff = r["eagerness"][i] > 1e4;
    EXPECT_EQ(r["status"][i], 0) << i;
    EXPECT_NEAR(r["final_y"][i], std::cos(10.0), 1e-6) << i;
    EXPECT_EQ(!std::isnan(r["switched"][i]), stiff) << i;
    if (!stiff) continue;
    EXPECT_TRUE(0.0 < r["switched"][i] && r["switched"][i] < 0.1) << i;
    EXPECT_LT(r["steps"][i], 300) << "an explicit method needs " << 3 * r["eagerness"][i];
  }
  ASSERT_EQ(r["event_time"].size(), 15u);
  for (std::size_t k = 0; k < 15; ++k)
    EXPECT_NEAR(r["event_time"][k], (static_cast<double>(k % 3) + 0.5) * M_PI, 1e-6) << "zeros of the cosine";
  expect_same_bits(r, run(with({"--lanes", "1", "--threads", "2", "--chunk", "2"})), "lanes 1");

  auto object = with({"--json", "-q", "-o", "auto.nc"});
  const json summary(saltus((object.insert(object.begin(), "run"), object)).out);
  EXPECT_EQ(summary["method"], "auto");
  EXPECT_EQ(summary.number("switched"), 3);
  EXPECT_EQ(summary.number("ok"), 5);
  const auto told = saltus({"show", "auto.nc"}).out;
  EXPECT_NE(told.find("of these; went over to rodas5p or radau5\n"), std::string::npos) << told;
  EXPECT_NE(saltus({"show", "auto.nc", "--instance", "3"}).out.find("  stiff    went over to rodas5p at t = "),
            std::string::npos);
  EXPECT_EQ(saltus({"show", "auto.nc", "--instance", "0"}).out.find("went over to rodas5p at"), std::string::npos);

  // Instances that give up, before or after the change of method, are rescued; without rescue stiff instances still change the method.
  const auto shaken = run(sweep, {{"SALTUS_INJECT_EXCEPTIONS", "1"}});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(shaken["final_y"][i], std::cos(10.0), 1e-6) << i;
  EXPECT_GT(*std::max_element(shaken["exception"].begin(), shaken["exception"].end()), 0);
  expect_same_bits(r, run(with({"--set", "rescue=false"})), "without rescue");
}

TEST_F(cli, the_bits_do_not_depend_on_how_a_run_is_cut_up) {
  const words sweep = {model(), "--set", "t=[0,20]", "--set", "sweep.stiffness={from=0.5, to=9.0, count=61}"};
  const auto with = [&](const words& more) {
    words all = sweep;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto reference = with({"--lanes", "1", "--threads", "1"});
  ASSERT_EQ(reference["final_place"].size(), 61u);
  EXPECT_GT(*std::max_element(reference["events"].begin(), reference["events"].end()),
            *std::min_element(reference["events"].begin(), reference["events"].end()))
      << "instances differ in their events";
  for (const words& how :
       {words{"--lanes", "4"}, words{"--lanes", "8"}, words{"--lanes", "4", "--threads", "2", "--chunk", "1"},
        words{"--lanes", "8", "--threads", "2", "--chunk", "7"},
        words{"--lanes", "4", "--threads", "1", "--chunk", "1000"}})
    expect_same_bits(reference, with(how), fmt::format("{}", fmt::join(how, " ")));

  // The same instances in another order.
  words values;
  for (const double stiffness : reference["stiffness"]) values.push_back(fmt::format("{}", stiffness));
  std::reverse(values.begin(), values.end());
  const auto backwards = run({model(), "--lanes", "4", "--chunk", "7", "--set", "t=[0,20]", "--set",
                              fmt::format("sweep.stiffness=[{}]", fmt::join(values, ", "))});
  for (const auto& name : reference.outcomes()) {
    auto turned = backwards[name];
    std::reverse(turned.begin(), turned.end());
    EXPECT_TRUE(same_bits(turned, reference[name])) << name << ", backwards";
  }
}

TEST_F(cli, samples_depend_on_seed_and_instance_alone) {
  const auto sampled = [&](const char* n, const char* seed, const words& more = {}) {
    words all = {model(), "--set", "sample.stiffness={uniform=[0.5, 9.0]}", "-n", n, "--seed", seed};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto few = sampled("20", "7"), again = sampled("20", "7", {"--lanes", "1", "--chunk", "3", "--threads", "2"}),
             many = sampled("50", "7"), other = sampled("20", "8");
  ASSERT_EQ(few["stiffness"].size(), 20u);
  ASSERT_EQ(many["stiffness"].size(), 50u);
  expect_same_bits(few, again, "the same seed");
  EXPECT_TRUE(same_bits(few["stiffness"], again["stiffness"]));
  for (const char* name : {"stiffness", "final_place", "steps"})
    EXPECT_TRUE(std::equal(few[name].begin(), few[name].end(), many[name].begin())) << name << " of the first of many";
  EXPECT_NE(few["stiffness"], other["stiffness"]);
  EXPECT_TRUE(
      std::all_of(few["stiffness"].begin(), few["stiffness"].end(), [](double s) { return 0.5 <= s && s <= 9.0; }));
}

}  // namespace
}  // namespace command_line
