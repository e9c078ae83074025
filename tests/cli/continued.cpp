// Runs that continue from other runs' results, new models from `saltus new`, and warnings about suspicious models and runs.
#include <cmath>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program.hpp"
#include "testing/source_folder.hpp"

namespace command_line {
namespace {

/// A height that falls at the speed of its gear; each mark changes the gear. Three parameters can make one of its functions NaN.
const std::string ladder = R"(#include <saltus.hpp>

struct ladder {
  static constexpr double span[] = {0.0, 4.0};
  enum state { height, clock };
  static constexpr saltus::variable<state> state_list[] = {{height, 10.0, "m", ""}, {clock, 0.0, "s", ""}};
  enum parameter { speed, end, guard_end, broken };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {speed, 1.0, "m/s", ""}, {end, 1e9, "s", ""}, {guard_end, 1e9, "s", ""}, {broken, 0.0, "1", ""}};
  enum discrete { gear };
  static constexpr saltus::variable<discrete> discrete_list[] = {{gear, 1.0, "1", ""}};
  enum guard { mark };
  static constexpr saltus::event_function<guard> guard_list[] = {{mark, saltus::falling, saltus::bilateral, ""}};
  enum output { root };
  static constexpr saltus::derived<output> output_list[] = {{root, "m^0.5", ""}};
  static void rhs(const auto& at, auto& dy) {
    dy[height] = -at[gear] * at[speed] * (1.0 + 0.1 * sin(at.t)) + 0.0 * sqrt(at[end] - at[clock]);
    dy[clock]  = 1.0;
  }
  static void guards(const auto& at, auto& g) { g[mark] = at[height] - 8.0 + 0.0 * sqrt(at[guard_end] - at[clock]); }
  static void transition(auto& now) {
    now[gear] += 1.0;
    if (now[broken] > 0.0) now[height] = sqrt(now[height] - 100.0);
  }
  static void outputs(const auto& at, auto& out) { out[root] = sqrt(at[height] - 3.0); }
};
)";

class data_in : public cli {
 protected:
  void SetUp() override {
    cli::SetUp();
    write(folder() / "ladder.hpp", ladder);
  }
  outcome run_ladder(words more) {
    words all = {"run", "./ladder.hpp", "--set", "rtol=1e-10"};
    all.insert(all.end(), more.begin(), more.end());
    return saltus(all);
  }
};

TEST_F(data_in, discrete_variables_begin_as_they_are_told_and_a_run_goes_on_where_another_ended) {
  ASSERT_EQ(run_ladder({"--set", "sweep.gear=[1, 2, 3]", "-o", "gears.nc"}).code, 0);
  const results gears(folder() / "gears.nc");
  EXPECT_EQ(gears["initial_gear"], (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(gears["final_gear"], (std::vector<double>{2, 3, 4}));
  // height' = -gear (1 + sin(t)/10): the mark is 2 below the start, and beyond it the gear is one higher.
  const auto way = [](double t) { return t + 0.1 * (1 - std::cos(t)); };
  for (std::size_t i = 0; i < 3; ++i) {
    const double gear = gears["initial_gear"][i];
    EXPECT_NEAR(gears["final_height"][i], 8 - (gear + 1) * (way(4) - 2 / gear), 1e-8);
  }

  // In two parts: the second run begins with exactly the numbers that ended the first.
  const words sweep = {"--set", "sweep.speed={from=0.5,to=2.0,count=20}"};
  ASSERT_EQ(run_ladder({"--set", "t=[0,1.5]", "-o", "a.nc", sweep[0], sweep[1]}).code, 0);
  ASSERT_EQ(run_ladder({"--set", "initial.from=a.nc", "--set", "t=4", "-o", "b.nc"}).code, 0);
  ASSERT_EQ(run_ladder({"-o", "whole.nc", sweep[0], sweep[1]}).code, 0);
  const results a(folder() / "a.nc"), b(folder() / "b.nc"), whole(folder() / "whole.nc");
  EXPECT_TRUE(same_bits(b["speed"], a["speed"]));
  EXPECT_EQ(b["t_begin"], std::vector<double>{1.5});
  for (const auto& name : {"height", "clock", "gear"})
    EXPECT_TRUE(same_bits(b[std::string("initial_") + name], a[std::string("final_") + name])) << name;
  EXPECT_EQ(b["final_gear"], whole["final_gear"]);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(b["final_height"][i], whole["final_height"][i], 1e-8);
    EXPECT_EQ(a["events"][i] + b["events"][i], whole["events"][i]);
  }
  // The result that the run continues from is never overwritten.
  const auto over = run_ladder({"--set", "initial.from=a.nc", "--set", "t=4", "-o", "a.nc", "--force"});
  EXPECT_EQ(over.code, 2) << over.err;

  // A table may come from standard input.
  const auto piped = fmt::format(
      "cd '{}' && printf 'speed,gear\\n1,1\\n1.5,2\\n' | SALTUS_CACHE='{}' '{}' run ./ladder.hpp -q --set rtol=1e-10 "
      "--set sweep.table=- -o in.nc > in.out",
      folder().string(), shared_cache().string(), SALTUS_PROGRAM);
  ASSERT_EQ(std::system(piped.c_str()), 0);
  const results in(folder() / "in.nc");
  EXPECT_EQ(in["speed"], (std::vector<double>{1, 1.5}));
  EXPECT_EQ(in["initial_gear"], (std::vector<double>{1, 2}));

  // A warning names one instance far outside the range of the others.
  const std::string list = "sweep.height=[1, 2, 3, 4, 5, 6, 7, 8.5, 3e9, 9, 10, 11]";
  EXPECT_NE(run_ladder({"--set", list}).out.find("state `height` ended at 3e+09 in size in instance 8, and at "),
            std::string::npos);
  EXPECT_EQ(run_ladder({"--set", replaced(list, "3e9", "3e4")}).out.find("in size in instance"), std::string::npos);
}

TEST_F(data_in, an_instance_is_made_again_from_its_file_alone) {
  write(folder() / "study.toml",
        "model = \"./ladder.hpp\"\nrtol = 1e-9\n[sweep]\ngear = [1, 2]\n[sample]\ncount = 10\nseed = 3\n"
        "speed = { uniform = [0.5, 2] }\n[output]\nfile = \"study.nc\"\nreduce = [\"max(height)\"]\n");
  ASSERT_EQ(saltus({"run", "study.toml", "-q"}).code, 0);
  ASSERT_EQ(saltus({"run", "study.toml", "-q", "--set", "output.rows=false", "-o", "sums.nc"}).code, 0);
  const std::string before = read(folder() / "study.nc");
  // Without rows in the file, its spec regenerates the inputs.
  ASSERT_EQ(saltus({"run", "sums.nc", "--instance", "4", "-q", "-o", "four.nc"}).code, 0);
  fs::remove(folder() / "study.toml");  // only the result file remains
  const auto o =
      saltus({"run", "study.nc", "--instance", "13", "-q", "--set", "output.samples={count=50}", "-o", "one.nc"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("instance 13 of study.nc: the same bits\n"), std::string::npos) << o.out;
  const results study(folder() / "study.nc"), one(folder() / "one.nc");
  for (const auto& name : study.outcomes()) EXPECT_TRUE(same_bits({one[name].at(0)}, {study[name].at(13)})) << name;
  EXPECT_EQ(one["max(height)"].at(0), study["max(height)"].at(13));
  const results four(folder() / "four.nc");
  for (const auto& name : study.outcomes()) EXPECT_TRUE(same_bits({four[name].at(0)}, {study[name].at(4)})) << name;
  EXPECT_EQ(one["height"].size(), 50u);
  EXPECT_EQ(one["height"].back(), study["final_height"].at(13));
  EXPECT_EQ(read(folder() / "study.nc"), before);

  // Other settings give another result, and a message says so.
  const auto other = saltus({"run", "study.nc", "--instance", "13", "-q", "--set", "speed=1", "--json"});
  EXPECT_NE(json(other.out)["differences#"], "0");
  // The file contains the model, too; the model at its old path has changed.
  write(folder() / "ladder.hpp", replaced(ladder, "0.1 * sin", "0.2 * sin"));
  EXPECT_NE(saltus({"run", "study.nc", "--instance", "13", "-q"}).out.find("the same bits"), std::string::npos);

  const auto refused = [&](const words& all) {
    const auto r = saltus(all);
    EXPECT_EQ(r.code, 2) << r.err;
    return r.err;
  };
  EXPECT_EQ(refused({"run", "study.nc", "--instance", "20"}),
            "saltus: --instance 20: study.nc has 20 instances, from 0 on\n");
  EXPECT_EQ(refused({"run", "study.nc"}),
            "saltus: study.nc: is a result, and no spec: --instance I makes one of its instances again; a run goes on "
            "from all of them by --set 'initial.from=\"study.nc\"'\n");
  EXPECT_EQ(refused({"run", "study.nc", "--instance", "1", "-o", "study.nc", "--force", "-q"}),
            "saltus: output.file = \"study.nc\": this run reads it: give another name\n");
}

TEST_F(data_in, an_instance_is_made_again_with_its_curve) {
  fs::copy_file(saltus::test::in_source("tests/models/curved.hpp"), folder() / "curved.hpp");
  write(folder() / "study.toml",
        "model = \"./curved.hpp\"\n[sweep]\nnumber = [0, 1, 2]\n[tables]\n"
        "line = { times = [0, 1, 4], values = [[0, 1, 2], [3, 1, 0], [1, 1, 5]] }\n"
        "steps = { times = [0, 2, 4], values = [[1, 3, 1], [3, 0, 3], [0, 1, 0]] }\n"
        "common = { times = [0, 4], values = [1, 2] }\n[output]\nfile = \"study.nc\"\n");
  ASSERT_EQ(saltus({"run", "study.toml", "-q"}).code, 0);
  for (const char* instance : {"0", "2"}) {
    const auto o = saltus({"run", "study.nc", "--instance", instance, "-q", "--trust"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("the same bits\n"), std::string::npos) << o.out;
  }
}

TEST_F(data_in, the_first_number_that_is_none_is_told_with_function_and_time) {
  const auto told = [&](const words& more) { return run_ladder(more).out; };
  const auto has = [](const std::string& text, const std::string& form) {
    EXPECT_TRUE(std::regex_search(text, std::regex(form))) << text;
  };
  has(told({"--set", "sweep.end=[1e9, 1.25, 0.5]"}),
      "not_finite +2 [^]*instance 1: the right-hand side of `height` is not finite just beyond t = 1.25, height = ");
  has(told({"--set", "guard_end=0.5"}), "instance 0: guard `mark` is not finite just beyond t = 0.5, ");
  has(told({"--set", "end=-1"}),
      "bad_start +1 [^]*instance 0: the right-hand side of `height` is not finite at t = 0, ");
  has(told({"--set", "broken=1"}),
      "instance 0: state `height` is not finite at t = 1.87[0-9]*: a transition has made it so");
  has(told({"--set", "sweep.gear=[1, 3, 2]"}),
      "output `root` was not finite at the end of 2 instances, the first is 1\n");
}

TEST_F(data_in, a_new_model_compiles_and_runs_and_nothing_is_written_over) {
  const auto made = saltus({"new", "toy"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out,
            "wrote toy.hpp\n  read it:   saltus describe ./toy.hpp\n  check it:  saltus check ./toy.hpp --lint\n"
            "  run it:    saltus run ./toy.hpp\n");
  const auto lint = saltus({"check", "./toy.hpp", "--lint", "--no-pilot"});
  EXPECT_EQ(lint.code, 0) << lint.err;
  EXPECT_TRUE(lint.out.ends_with("lint       nothing found\n")) << lint.out;
  ASSERT_EQ(saltus({"run", "./toy.hpp", "-q", "--set", "rtol=1e-10", "-o", "toy.nc"}).code, 0);
  // A ball dropped from h: impacts at t0 = sqrt(2 h/g), and 2 r^k t0 later.
  const results toy(folder() / "toy.nc");
  const double t0 = std::sqrt(2 / 9.81);
  int impacts = 0;
  for (double t = t0, r = 0.8; t < 3; t += 2 * r * t0, r *= 0.8) ++impacts;
  EXPECT_EQ(toy["final_bounces"], std::vector<double>{static_cast<double>(impacts)});

  write(folder() / "mine.hpp", "// mine\n");
  const auto refused = [&](const std::string& name) {
    const auto r = saltus({"new", name});
    EXPECT_EQ(r.code, 2) << name;
    return r.err;
  };
  EXPECT_EQ(refused("mine"), "saltus: mine.hpp: is there already, and is left as it is\n");
  EXPECT_EQ(refused("mine.hpp"), "saltus: mine.hpp: is there already, and is left as it is\n");
  EXPECT_EQ(read(folder() / "mine.hpp"), "// mine\n");
  for (const auto& none : {"2fast", "a-b", "double", ".hpp"})
    EXPECT_NE(refused(none).find("must be a letter and then letters, digits or _, and no word of C++"),
              std::string::npos);
  EXPECT_NE(refused("lorenz").find("there is a built-in model of that name"), std::string::npos);
  fs::create_symlink(folder() / "elsewhere.hpp", folder() / "link.hpp");
  EXPECT_EQ(refused("link"), "saltus: link.hpp: is there already, and is left as it is\n");
}

TEST_F(data_in, lint_finds_what_looks_like_a_mistake) {
  const auto path = folder() / "suspect.hpp";
  std::string text = replaced(ladder, "struct ladder", "struct suspect");
  text = replaced(text, "-at[gear] *", "-(1/2) * 3 / 4 * at[gear] * /* 1/2 */");
  text = replaced(text, "{speed, 1.0, \"m/s\", \"\"}", "{speed, 1.0, \"how fast it falls\", \"m/s\"}");
  text = replaced(text, "broken, 0.0", "broken, 10.0 / 4");
  text = replaced(text, "struct suspect {",
                  "struct suspect {\n  static constexpr double spam[] = {0.0, 1.0};\n"
                  "  static double transitions(double x) { return x; }\n"
                  "  static double rests(double x) { return x; }  // used: of the model's own\n"
                  "  static double twice_that(double x) { return 2 * rests(x); }");
  text = replaced(text, "if (now[broken] > 0.0)", "if (now.t > 1e9)  // 7/2 of it, \"3/4\"\n      ");
  write(path, text);
  const auto o = saltus({"check", "./suspect.hpp", "--lint", "--no-pilot", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const json found(o.out);
  ASSERT_EQ(found["lint#"], "5") << o.out;
  EXPECT_EQ(found["lint[1]"], fmt::format("{}:{}: spam is a member that nothing uses; did you mean span?",
                                          path.string(), line_of(text, "spam")));
  EXPECT_EQ(found["lint[2]"], fmt::format("{}:{}: transitions is a member that nothing uses; did you mean transition?",
                                          path.string(), line_of(text, "transitions")));
  EXPECT_EQ(found["lint[0]"], fmt::format("{}:{}: 1/2 is 0, as whole numbers are divided: write 1.0/2", path.string(),
                                          line_of(text, "(1/2)")));
  EXPECT_EQ(
      found["lint[3]"],
      fmt::format("{}:{}: the unit of parameter speed reads like a sentence, \"how fast it falls\": a row has the "
                  "value, the unit, \"1\" if there is none, and then the meaning",
                  path.string(), line_of(text, "parameter_list")));
  EXPECT_EQ(found["lint[4]"],
            fmt::format("{}:{}: parameter broken is listed and never read", path.string(), line_of(text, "broken")));
  // Algebraic states whose index is higher than declared: x is given, so v = x' and l = -v' follow by two differentiations.
  write(folder() / "deep.hpp", R"(#include <saltus.hpp>
struct deep {
  enum state { x, v, l };
  static constexpr saltus::variable<state> state_list[] = {
      {x, 1.0, "m", ""}, {v, 0.0, "m/s", ""}, saltus::variable<state>{l, 0.0, "m/s2", ""}.algebraic()};
  static void rhs(const auto& at, auto& dy) {
    dy[x] = at[v];
    dy[v] = -at[l];
    dy[l] = at[x] - cos(at.t);
  }
};
)");
  const auto deep = saltus({"check", "./deep.hpp", "--no-pilot"});
  EXPECT_EQ(deep.code, 0);
  EXPECT_EQ(
      deep.err,
      "saltus: warning: deep: its algebraic states are declared as of index 1, and its equations have the structural "
      "index 3: write them as they stand, static void residual(const auto& at, auto& r), which taylor solves\n");

  // `check` warns in advance of a budget that a pilot run exhausts.
  const auto budget = saltus({"check", "./ladder.hpp", "--set", "max_steps=3"});
  EXPECT_NE(budget.out.find("ended as step_budget: used up its budget of trial steps; raise max_steps"),
            std::string::npos)
      << budget.out;
}

TEST_F(data_in, built_in_models_have_nothing_to_lint) {
  for (const auto& name :
       {"relief_valve", "rectifier_dae", "bouncing_balls_100", "house", "ring_modulator", "four_bar"})
    EXPECT_EQ(json(saltus({"check", name, "--lint", "--no-pilot", "--json"}).out)["lint#"], "0") << name;
}

}  // namespace
}  // namespace command_line
