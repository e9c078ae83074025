// The commands of the program, and usage errors. Other tests of the program are in cli/.
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "testing/source_folder.hpp"

namespace command_line {
namespace {

// ------------------------------------------------------------------------------------------------------------- the commands

TEST_F(cli, alone_it_prints_its_help_and_counts_as_misused) {
  const auto o = saltus({});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  for (const char* command :
       {"list", "describe", "keys", "check", "run", "bench", "show", "plot", "report", "zarr", "doctor"})
    EXPECT_NE(o.err.find(fmt::format("\n  {} ", command)), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("Exit codes: 0 ok"), std::string::npos) << o.err;
}

TEST_F(cli, every_command_has_a_help) {
  for (const std::string command : {"list", "describe", "keys", "check", "run", "bench", "show", "doctor"}) {
    const auto o = saltus({command, "--help"});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    EXPECT_NE(o.out.find("Usage: saltus " + command), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("--json"), std::string::npos) << o.out;
  }
  EXPECT_NE(saltus({"run", "--help"}).out.find("Usage: saltus run [OPTIONS] SPEC|MODEL"), std::string::npos);
  const auto version = saltus({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(std::regex_match(version.out, std::regex("\\d+\\.\\d+\\.\\d+(\\+[0-9a-f]{7,40}(\\.modified)?)?\n")))
      << version.out;
}

TEST_F(cli, pictures_are_drawn_by_python_which_says_what_is_missing) {
  write(folder() / "says.sh", "#!/bin/sh\n[ \"$1\" = -c ] && shift 2 && printf '%s\\n' \"$@\" && exit 7\n");
  fs::permissions(folder() / "says.sh", fs::perms::owner_all);
  const auto handed_on = saltus({"plot", "run", "--help", "--over", "a b"}, {{"SALTUS_PYTHON", folder() / "says.sh"}});
  EXPECT_EQ(handed_on.code, 7);
  EXPECT_EQ(handed_on.out, "plot\nrun\n--help\n--over\na b\n");
  const auto absent = saltus({"report", "a.nc"}, {{"SALTUS_PYTHON", folder() / "none"}});
  EXPECT_EQ(absent.code, 2);
  EXPECT_NE(absent.err.find("cannot be started"), std::string::npos) << absent.err;
  if (on_path("python3").empty()) GTEST_SKIP() << "no python3";
  write(folder() / "bare.sh", "#!/bin/sh\nexec python3 -I -S \"$@\"\n");  // without any packages
  fs::permissions(folder() / "bare.sh", fs::perms::owner_all);
  const auto bare = saltus({"plot", "a.nc"}, {{"SALTUS_PYTHON", folder() / "bare.sh"}});
  EXPECT_EQ(bare.code, 2);
  EXPECT_NE(bare.err.find("pip install '.[all]'"), std::string::npos) << bare.err;
}

TEST_F(cli, a_misused_command_line_gets_one_sentence_and_the_way_to_the_help) {
  const struct {
    words arguments;
    std::string err;
  } cases[] = {
      {{"rum", "lorenz"},
       "saltus: rum: unknown command; did you mean run? allowed: list, describe, keys, new, check, run, gather, bench, "
       "show, sensitivity, lyapunov, plot, report, zarr, import, doctor\nsaltus --help tells more\n"},
      {{"run"}, "saltus run: SPEC|MODEL is required\nsaltus run --help tells more\n"},
      {{"describe"}, "saltus describe: MODEL is required\nsaltus describe --help tells more\n"},
      {{"show"}, "saltus show: FILE is required\nsaltus show --help tells more\n"},
      {{"run", "lorenz", "mao_1"}, "saltus run: mao_1: one argument too many\nsaltus run --help tells more\n"},
      {{"run", "lorenz", "--set", "sweep.rho=from=1", "sweep.rho=to=2"},  // {from=1,to=2}, expanded by a shell
       "saltus run: sweep.rho=to=2: one argument too many; quote what has { }, which the shell takes apart: --set "
       "'sweep.NAME={from=0,to=1,count=5}'\nsaltus run --help tells more\n"},
      {{"list", "--jsn"},
       "saltus list: --jsn: unknown flag; did you mean --json? allowed: --help, --json\nsaltus list --help tells "
       "more\n"},
      {{"run", "--thread", "2"},
       "saltus run: --thread: unknown flag; did you mean --threads? allowed: --help, --set, --seed, --method, "
       "--backend, --devices, --threads, "
       "--lanes, --chunk, --output, --json, --quiet, --force, --restart, --time-limit, --part, --share, "
       "--instance, --trust\nsaltus run "
       "--help tells more\n"},
      {{"run", "lorenz", "--set"}, "saltus run: --set: 1 required KEY=VALUE missing\nsaltus run --help tells more\n"},
  };
  for (const auto& c : cases) {
    const auto o = saltus(c.arguments);
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, c.err);
  }
}

TEST_F(cli, list_names_every_problem) {
  const auto text = saltus({"list"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("bouncing_ball              Bouncing ball (2 states, 1 guard)\n"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("Izhikevich neuron (2 states, 1 guard, 1 time event)\n"), std::string::npos) << text.out;

  const auto object = saltus({"list", "--json"});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json models(object.out);
  words listed, there;
  for (int i = 0; i < models.number("models#"); ++i) listed.push_back(models[fmt::format("models[{}].model", i)]);
  for (const auto& entry : fs::directory_iterator(fs::path(saltus::test::in_source("problems"))))
    if (entry.path().extension() == ".hpp") there.push_back(entry.path().stem());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(listed, there);
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), models.number("models#"));
}

TEST_F(cli, keys_tells_of_one_of_a_table_and_of_all) {
  const auto one = saltus({"keys", "run.lease"});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out.rfind("run.lease\n  default: 60\n  allowed: > 0, in seconds\n", 0), 0u) << one.out;
  EXPECT_NE(saltus({"keys", "rtol"}).out.find("\n  default: 1e-6\n  allowed: > 0\n"), std::string::npos);
  const auto table = saltus({"keys", "run"}).out;
  EXPECT_NE(table.find("\nrun.backend\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("rtol"), std::string::npos) << table;
  const json all(saltus({"keys", "--json"}).out);
  EXPECT_GE(all.number("keys#"), 60);
  const auto none = saltus({"keys", "lanez"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("did you mean lanes?"), std::string::npos) << none.err;
}

TEST_F(cli, describe_says_what_the_header_says) {
  const auto text = saltus({"describe", model()});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  for (const char* line : {"oscillator: Oscillator, \"soft\" above\\stiff below, by Jörg\n", "t:      0 .. 2\n",
                           "stiffness                     4 1/s2       of the lower spring\n",
                           "centre             both     bilateral   from one spring to the other\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("file:   " + model() + "\n"), std::string::npos) << text.out;

  const auto object = saltus({"describe", "--json", model()});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json model(object.out);
  EXPECT_EQ(model["model"], "oscillator");
  EXPECT_EQ(model["title"], "Oscillator, \"soft\" above\\stiff below, by Jörg");
  EXPECT_EQ(model["states[1].name"], "velocity");
  EXPECT_EQ(model["states[1].unit"], "m/s");
  EXPECT_EQ(model.number("parameters[0].default"), 4.0);
  EXPECT_EQ(model["guards[0].direction"], "both");
  EXPECT_EQ(model["outputs#"], "0");
}

TEST_F(cli, a_mechanical_system_is_described_by_its_constraints) {
  const auto text = saltus({"describe", "heavy_top"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* line : {"0 = Phi; 7 coordinates (1 unit quaternion), 3 constraints, 3 degrees of freedom\n",
                           "\nconstraints (kind, unit, meaning)\n",
                           "  joint_z            holonomic       m      the joint is at the origin, z\n",
                           "  p0                 unit quaternion        is of length one\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  const json object(saltus({"describe", "knife_edge", "--json"}).out);
  EXPECT_EQ(object["constraints#"], "1");
  EXPECT_EQ(object["constraints[0].name"], "blade");
  EXPECT_EQ(object["constraints[0].kind"], "nonholonomic");
}

TEST_F(cli, a_model_of_any_order_is_described_checked_and_run) {
  write(folder() / "rod.hpp",
        "#include <saltus.hpp>\nstruct rod {\n  enum state { x, y, tension };\n"
        "  static constexpr saltus::variable<state> state_list[] = {\n"
        "      {x, 1.0, \"m\", \"\"}, {y, 0.0, \"m\", \"\"}, {tension, 0.0, \"1/s2\", \"\"}};\n"
        "  enum equation { sideways, down, length };\n"
        "  static constexpr saltus::equated<equation> equation_list[] = {\n"
        "      {sideways, \"m/s2\", \"\"}, {down, \"m/s2\", \"\"}, {length, \"m2\", \"\"}};\n"
        "  static void residual(const auto& at, auto& r) {\n"
        "    r[sideways] = at.d(x, 2) + at[x] * at[tension];\n"
        "    r[down] = at.d(y, 2) + at[y] * at[tension] - 9.81;\n"
        "    r[length] = at[x] * at[x] + at[y] * at[y] - 1.0;\n  }\n};\n");
  const auto text = saltus({"describe", "rod.hpp"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* line :
       {"form:   0 = r(t, x, x', x'', ...)\n", "structure: index 3, 2 degrees of freedom, quasilinear\n",
        "    sideways   2*   .        0*   0\n", "    a point is x x' y y'\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  const json object(saltus({"describe", "rod.hpp", "--json"}).out);
  EXPECT_EQ(object["equations"], "any_order");
  EXPECT_EQ(object.number("structure.index"), 3);
  EXPECT_EQ(object.number("structure.degrees_of_freedom"), 2);
  EXPECT_EQ(object["structure.quasilinear"], "true");
  EXPECT_EQ(object.number("structure.c.length"), 2);
  EXPECT_EQ(object.number("structure.d.x"), 2);
  EXPECT_EQ(object["structure.blocks#"], "1");

  EXPECT_EQ(object["states[1].name"], "x_d1");
  EXPECT_EQ(object["states[1].unit"], "m/s");
  EXPECT_EQ(object["states[2].default"], "null");

  const auto checked = saltus({"check", "rod.hpp", "--set", "sweep.x=[0.6, 0.8]"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("taylor12"), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("instances  2"), std::string::npos) << checked.out;
  const auto run = saltus({"run", "rod.hpp", "--set", "sweep.x=[0.6, 0.8]", "-o", "rod.nc"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("finished                    2"), std::string::npos) << run.out;
  const auto refused = saltus({"run", "rod.hpp", "--method", "inflsdirk4"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("which integrates mechanical models alone"), std::string::npos) << refused.err;
}

TEST_F(cli, a_structure_that_is_singular_or_changes_with_the_mode_is_told) {
  const fs::path models = fs::path(saltus::test::in_source("tests/models"));
  const auto singular = saltus({"describe", models / "overdetermined.hpp"});
  EXPECT_EQ(singular.code, 0) << singular.err;
  for (const char* line :
       {"  structurally singular: 3 equations in no more than 2 unknowns: source, divider, ground in u, v\n",
        "  structurally singular: 3 unknowns in no more than 2 equations: i, j, charge in node, capacitor\n"})
    EXPECT_NE(singular.out.find(line), std::string::npos) << singular.out;
  const json object(saltus({"describe", models / "overdetermined.hpp", "--json"}).out);
  EXPECT_EQ(object["structure.structurally_singular"], "true");
  EXPECT_EQ(object["structure.surplus.equations#"], "3");
  EXPECT_EQ(object["structure.lacking.unknowns[2]"], "charge");

  const auto valve = saltus({"describe", models / "check_valve.hpp"});
  EXPECT_EQ(valve.code, 0) << valve.err;
  for (const char* line :
       {"    2 modes of different structure:\n", "      index 1, 1 degree of freedom, quasilinear (open is off)\n",
        "      index 2, 0 degrees of freedom, quasilinear, for which offsets must be its own (open is on)\n"})
    EXPECT_NE(valve.out.find(line), std::string::npos) << valve.out;

  const auto ode = saltus({"describe", model()});
  EXPECT_NE(ode.out.find("  structure: index 0, 2 degrees of freedom, quasilinear\n"), std::string::npos) << ode.out;
}

TEST_F(cli, time_events_and_sliding_are_told) {
  write(folder() / "relay.hpp", relay);
  const auto text = saltus({"describe", "relay.hpp"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* line : {"line               both     bilateral   may slide where the relay switches\n",
                           "\ntime events (meaning)\n  kick               what it must make up for\n"})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;
  const json object(saltus({"describe", "relay.hpp", "--json"}).out);
  EXPECT_EQ(object["guards[0].may_slide"], "true");
  EXPECT_EQ(object["time_events[0].name"], "kick");
  EXPECT_EQ(object["time_events[0].about"], "what it must make up for");
  const auto plan = saltus({"check", "./relay.hpp"});
  EXPECT_NE(plan.out.find("\nguards     line (both)\ntimes      kick\n"), std::string::npos) << plan.out << plan.err;

  // From 1 down to 0.75, up to 0.85, down to 0.35, up to 0.45: zero at 1.2; x slides until 1.25, and again from 1.35 on.
  const auto r = run({"./relay.hpp", "--set", "output.events=true"});
  EXPECT_NEAR(r["final_x"][0], 0.0, 1e-12);
  std::vector<double> kicks, arrivals;
  for (std::size_t k = 0; k < r["event_time"].size(); ++k) {
    if (r["event_guard"][k] == 1) kicks.push_back(r["event_time"][k]);
    if (r["event_guard"][k] == 0) arrivals.push_back(r["event_time"][k]);
  }
  EXPECT_EQ(kicks, (std::vector<double>{0.25, 0.75, 1.25}));
  ASSERT_EQ(arrivals.size(), 2u);
  EXPECT_NEAR(arrivals[0], 1.2, 1e-12);
  EXPECT_NEAR(arrivals[1], 1.35, 1e-12);
}

TEST_F(cli, a_list_entry_may_leave_out_unit_and_meaning) {
  write(folder() / "brief.hpp",
        "#include <saltus.hpp>\nstruct brief {\n  enum state { x };\n"
        "  static constexpr saltus::variable<state> state_list[] = {{x, 1.0}};\n"
        "  static void rhs(const auto& at, auto& dy) { dy[x] = at[x]; }\n};\n");
  const auto o = saltus({"describe", "brief.hpp", "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json(o.out)["states[0].unit"], "");
}

TEST_F(cli, check_prints_the_plan_and_runs_nothing) {
  write(folder() / "sweep.toml",
        "model = \"" + model() +
            "\"\nrtol = 1e-8\n[sweep]\nstiffness = { from = 1.0, to = 9.0, count = 50 }\n"
            "[sample]\ncount = 20\nplace = { uniform = [0.5, 1.5] }\n[output]\nfile = \"sweep.nc\"\n");
  const auto text = saltus({"check", "sweep.toml"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  for (const char* line : {"model      oscillator (2 states, 2 parameters, 0 outputs)\n", "t          0 .. 2\n",
                           "instances  1000 = stiffness (50) x 20 samples, seed 0\n", "guards     centre (both)\n",
                           "output     sweep.nc, "})
    EXPECT_NE(text.out.find(line), std::string::npos) << text.out;

  const auto object = saltus({"check", "sweep.toml", "--json", "-n", "30"});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json plan(object.out);
  EXPECT_EQ(plan.number("instances"), 1500);
  EXPECT_EQ(plan["guards[0]"], "centre");
  // 14 columns of 8 bytes for each instance (two inputs, two finals, t_final, eight counters, switched); status, exception, ok and
  // switched_to of 1; 3 scalars
  EXPECT_EQ(plan.number("bytes"), 1500 * (14 * 8 + 4) + 3 * 8);
  EXPECT_FALSE(fs::exists(folder() / "sweep.nc"));
}

TEST_F(cli, run_keeps_data_on_stdout_and_messages_on_stderr) {
  const words four = {"run", model(), "--set", "sweep.stiffness=[1,4,9,16]", "-o", "four.nc"};
  const auto text = saltus(four);
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(std::regex_search(text.out, std::regex("^4 oscillator in "))) << text.out;
  EXPECT_TRUE(std::regex_search(text.out, std::regex("\n  finished +4   reached the end of its time span\n")))
      << text.out;
  EXPECT_NE(text.out.find("\nwrote four.nc\n"), std::string::npos) << text.out;
  EXPECT_TRUE(std::regex_search(text.err, std::regex("oscillator  4/4  100.0 %"))) << text.err;
  EXPECT_EQ((text.out + text.err).find('\033'), std::string::npos) << "no colour without a terminal";
  EXPECT_FALSE(fs::exists(folder() / "four.nc.part"));

  const auto again = saltus(four);
  EXPECT_EQ(again.code, 2);
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(again.err,
            "saltus: output.file = \"four.nc\": it exists: --force replaces it, -o FILE gives another name\n");

  auto quietly = four;
  quietly.insert(quietly.end(), {"--force", "--quiet"});
  const auto quiet = saltus(quietly);
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, "") << "all instances ended well";

  auto as_json = four;
  as_json.insert(as_json.end(), {"--force", "--json"});
  const auto object = saltus(as_json);
  EXPECT_EQ(object.code, 0);
  EXPECT_TRUE(std::regex_search(object.err, std::regex("oscillator  4/4  100.0 %"))) << "progress is not data";
  const json summary(object.out);
  EXPECT_EQ(summary["model"], "oscillator");
  EXPECT_EQ(summary["method"], "auto");
  EXPECT_EQ(summary["file"], "four.nc");
  EXPECT_EQ(summary.number("instances"), 4);
  EXPECT_EQ(summary.number("ok"), 4);
  EXPECT_EQ(summary.number("failed"), 0);
  EXPECT_EQ(summary.number("status.finished"), 4);
  EXPECT_EQ(summary.number("events"), 4) << "rest is passed once before t = 2";
  EXPECT_EQ(summary.number("exit_code"), 0);
}

TEST_F(cli, derivatives_stand_beside_indices_of_a_design) {
  // x = start exp(-rate t), t = 3.
  const auto run = saltus({"run", saltus::test::in_source("tests/models/decay.hpp"), "--set", "sample.design=saltelli",
                           "--set", "sample.rate={uniform=[0.5,0.9]}", "--set", "sample.start={uniform=[1.0,2.0]}",
                           "-n", "8", "--set", "sensitivity.parameters=['rate']", "--set", "output.indices=['final_x']",
                           "--set", "rtol=1e-8", "-o", "both.nc"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json one(saltus({"show", "both.nc", "--instance", "5", "--json"}).out);
  EXPECT_NEAR(one.number("sensitivity.d_final_x_d_rate"), -3 * one.number("final.final_x"), 1e-6);
  const auto indices = saltus({"sensitivity", "both.nc"});
  EXPECT_NE(indices.out.find("first_order"), std::string::npos) << indices.out << indices.err;
  const auto again = saltus({"run", "both.nc", "--instance", "5"});
  EXPECT_NE(again.out.find("instance 5 of both.nc: the same bits"), std::string::npos) << again.out << again.err;
}

TEST_F(cli, what_is_under_way_goes_on_from_a_file) {
  // Random failures by scheduled events: two halves are the whole, and an instance of the second can run again alone.
  const words of = {"--set", "output.events=true", "--set", "sample.count=7", "--set", "sample.seed=4"};
  const auto made = [&](words all, const words& more) {
    all.insert(all.begin(), {"run", saltus::test::in_source("tests/models/repairs.hpp")});
    all.insert(all.end(), more.begin(), more.end());
    const auto run = saltus(all);
    ASSERT_EQ(run.code, 0) << run.err;
  };
  made(of, {"-o", "whole.nc"});
  made(of, {"--set", "t=[0.0, 4.2]", "-o", "half.nc"});
  made({"--set", "initial.from='half.nc'", "--set", "t=10.0", "--set", "output.events=true"}, {"-o", "rest.nc"});
  const results whole(folder() / "whole.nc"), half(folder() / "half.nc"), rest(folder() / "rest.nc");
  for (const char* name : {"final_failures", "final_noise", "final_change_time_0", "final_random_key_2",
                           "final_motion_draws_0", "final_waiting_times_draws_0"})
    EXPECT_EQ(rest[name], whole[name]) << name;
  EXPECT_EQ(half["event_time"].size() + rest["event_time"].size(), whole["event_time"].size());
  const auto again = saltus({"run", "rest.nc", "--instance", "5"});
  EXPECT_NE(again.out.find("instance 5 of rest.nc: the same bits"), std::string::npos) << again.out << again.err;
  // They are no part of summaries, and the new run cannot begin at another time.
  EXPECT_EQ(saltus({"show", "whole.nc", "--instance", "1"}).out.find("random_key"), std::string::npos);
  const auto anew = saltus({"run", saltus::test::in_source("tests/models/repairs.hpp"), "--set",
                            "initial.from='half.nc'", "--set", "t=[0.0, 5.0]"});
  EXPECT_EQ(anew.code, 2);
  EXPECT_NE(anew.err.find("half.nc has items of change under way"), std::string::npos) << anew.err;
}

TEST_F(cli, a_terminal_gets_a_bar_and_colour_unless_NO_COLOR) {
  const auto on_terminal = [&](const setting& settings) {
    int keyboard = -1, screen = -1;
    EXPECT_EQ(openpty(&keyboard, &screen, nullptr, nullptr, nullptr), 0);
    auto running = start({"run", model()}, settings, screen);
    close(screen);
    std::string seen;
    char piece[4096];
    for (ssize_t n; (n = ::read(keyboard, piece, sizeof piece)) > 0;) seen.append(piece, static_cast<std::size_t>(n));
    close(keyboard);
    EXPECT_EQ(running->wait().code, 0);
    return seen;
  };
  const auto coloured = on_terminal({{"TERM", "xterm"}});
  EXPECT_NE(coloured.find("\033[32m===="), std::string::npos) << coloured;
  const auto plain = on_terminal({{"TERM", "xterm"}, {"NO_COLOR", "1"}});
  EXPECT_EQ(plain.find("\033[32m"), std::string::npos) << plain;
  EXPECT_NE(plain.find("===="), std::string::npos) << plain;
}

TEST_F(cli, show_finds_what_run_has_written) {
  ASSERT_EQ(
      saltus({"run", model(), "-q", "--set", "rtol=1e-10", "--set", "sweep.limit=[-1.0, 3.0, 1.0]", "-o", "three.nc"})
          .code,
      3);
  const auto text = saltus({"show", "three.nc"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("instances  3\n"), std::string::npos) << text.out;
  const json summary(saltus({"show", "three.nc", "--json"}).out);
  const auto failed = saltus({"show", "three.nc", "--failed"});
  EXPECT_EQ(failed.code, 0);
  EXPECT_NE(failed.out.find("three.nc: 2 of 3 instances failed"), std::string::npos) << failed.out;
  const json failures(saltus({"show", "three.nc", "--failed", "--json"}).out);
  EXPECT_EQ(failures["failed"], "2");
  EXPECT_EQ(failures["instances[0].status"], "bad_start");
  EXPECT_EQ(failures["instances[1].status"], "not_finite");

  // From rest at pi/2 with velocity -1 on: place = -sin(2 (t - pi/2)) / 2, at t = 2 that is sin(4) / 2.
  const auto one = saltus({"show", "three.nc", "--instance", "1"});
  EXPECT_EQ(one.code, 0);
  std::smatch m;
  ASSERT_TRUE(std::regex_search(one.out, m, std::regex("final_place +([-0-9.e]+) "))) << one.out;
  EXPECT_NEAR(std::stod(m[1]), std::sin(4.0) / 2, 1e-9);
  const json object(saltus({"show", "three.nc", "--instance", "1", "--json"}).out);

  const struct {
    words arguments;
    int code;
    std::string err;
  } wrong[] = {
      {{"three.nc", "--instance", "3"}, 2, "saltus: --instance 3: three.nc has instances 0 to 2\n"},
      {{"none.nc"}, 1, "saltus: cannot read none.nc: No such file or directory\n"},
      {{model()}, 1, "saltus: cannot read " + model() + ": NetCDF: Unknown file format\n"},
  };
  for (const auto& c : wrong) {
    auto arguments = c.arguments;
    arguments.insert(arguments.begin(), "show");
    const auto o = saltus(arguments);
    EXPECT_EQ(o.code, c.code);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, c.err);
  }
}

TEST_F(cli, the_built_in_models_are_listed_without_a_compiler) {
  const fs::path cache = folder() / "cache";
  const setting none = {{"SALTUS_CXX", "/nonexistent"}, {"SALTUS_CACHE", cache}};
  const auto o = saltus({"list", "--json"}, none);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_GT(json(o.out).number("models#"), 40);
  EXPECT_FALSE(fs::exists(cache)) << "no module was compiled";
}

// The root of the pressure has no derivative at zero, which an implicit method needs.
TEST_F(cli, an_infinite_derivative_is_told_as_the_reason_of_a_singular_matrix) {
  const auto o = saltus({"run", "relief_valve", "--method", "rodas5p", "--json", "-q", "-o", "x.nc"});
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_EQ(
      json(o.out)["first_not_finite"],
      "instance 0: the derivative of the right-hand side of `pressure` by `pressure` is not finite at t = 0, lift = "
      "0.2, velocity = 0, pressure = 0");
}

TEST_F(cli, a_fault_of_the_compiler_is_told_as_one) {
  const fs::path broken = folder() / "broken";
  std::ofstream(broken) << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n"
                           "echo 'module.cpp:1:2: internal compiler error: Segmentation fault' >&2\nexit 1\n";
  fs::permissions(broken, fs::perms::owner_all);
  const auto o =
      saltus({"run", "lorenz", "-q", "-o", "x.nc"}, {{"SALTUS_CXX", broken}, {"SALTUS_CACHE", folder() / "cache"}});
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("internal compiler error: Segmentation fault\n  a fault of the compiler: ask for fewer"),
            std::string::npos)
      << o.err;
}

// Stored descriptions of built-in models are used, in this installation or another, until their files change.
TEST_F(cli, a_built_in_model_that_was_changed_is_what_its_file_says) {
  const fs::path house = folder() / "house", source = saltus::test::in_source();
  fs::create_directories(house);
  for (const char* sub : {"kernels", "problems"})
    fs::copy(source / sub, house / sub, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const setting own = {{"SALTUS_HOME", house}, {"SALTUS_CACHE", folder() / "cache"}};
  const auto of = [&](const std::string& name) {
    const auto o = saltus({"describe", "--json", name}, own);
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  // Each compiled description must equal the one without a compiler: a family of states, a part of its own, guards and outputs.
  for (const std::string name :
       {"marble_jar_8", "ring_modulator_switched", "relief_valve", "robertson", "pulsed_dose"}) {
    const auto known = of(name);
    write(house / "problems" / (name + ".hpp"), "\n" + read(source / "problems" / (name + ".hpp")));
    EXPECT_EQ(known, of(name)) << name;
  }
  EXPECT_EQ(modules(folder() / "cache"), 5u);

  of("marble_jar_4");
  EXPECT_EQ(modules(folder() / "cache"), 5u) << "none of its files has changed";
  const fs::path part = house / "problems/parts/marble_jar.hpp";
  write(part, read(part) + "\n");
  of("marble_jar_4");
  EXPECT_EQ(modules(folder() / "cache"), 6u) << "an included file has changed";
  const fs::path lorenz = house / "problems/lorenz.hpp";
  write(lorenz, std::regex_replace(read(lorenz), std::regex("\\{rho, [0-9.]+"), "{rho, 29.5"));
  EXPECT_EQ(json(of("lorenz")).number("parameters[1].default"), 29.5);
}

TEST_F(cli, doctor_tells_what_works) {
  const auto text = saltus({"doctor"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("\ncompiles   yes\n"), std::string::npos) << text.out;
  const auto object = saltus({"doctor", "--json"});
  EXPECT_EQ(object.code, 0);
  EXPECT_EQ(object.err, "");
  const json healthy(object.out);
  EXPECT_EQ(healthy["compiles"], "true");
  EXPECT_EQ(healthy["troubles#"], "0");
  EXPECT_EQ(healthy["lane_shapes#"], "0");
  EXPECT_EQ(healthy["processor"], "native");
  EXPECT_NE(text.out.find("\nshapes     by rule: "), std::string::npos) << text.out;
  EXPECT_EQ(healthy["cache"], shared_cache().string());
  EXPECT_EQ(healthy.number("cache_files"), static_cast<double>(entries(shared_cache())));

  const json unknown(saltus({"doctor", "--json"}, {{"SALTUS_CPU", "no-such-processor"}}).out);
  EXPECT_EQ(unknown["processor"], "no-such-processor");
  EXPECT_EQ(unknown["compiles"], "false") << "modules are compiled for it";

  // doctor checks everything, even after failures.
  const auto ill = saltus({"doctor"}, {{"SALTUS_CXX", "/nonexistent"}, {"SALTUS_CACHE", "/dev/null/cache"}});
  EXPECT_EQ(ill.code, 1);
  EXPECT_NE(ill.out.find("\ncompiler   no C++ compiler found (tried SALTUS_CXX = /nonexistent)"), std::string::npos)
      << ill.out;
  EXPECT_NE(ill.out.find("\ncache      /dev/null/cache: cannot create the cache folder: Not a directory"),
            std::string::npos)
      << ill.out;
  EXPECT_NE(ill.out.find("\ncompiles   no\n"), std::string::npos) << ill.out;
  const json both(
      saltus({"doctor", "--json"}, {{"SALTUS_CXX", "/nonexistent"}, {"SALTUS_CACHE", "/dev/null/cache"}}).out);
  EXPECT_EQ(both["troubles#"], "2");
  EXPECT_EQ(both["compiles"], "false");
}

// ---------------------------------------------------------------------------------------------------------- errors of usage

TEST_F(cli, an_error_in_the_spec_names_file_line_and_column) {
  write(folder() / "runs.csv", "q,r\n1.0,2.0\nnan,3.0\n");
  const struct {
    const char *spec, *err;
  } cases[] = {
      {"model = \"relief_valve\"\n[parameters]\nflwo = 2.0\n",
       "spec.toml:3:1: parameters.flwo = 2.0: unknown key; did you mean flow? allowed: damping, preload, flow, "
       "compressibility, restitution"},
      {"model = \"relief_valve\"\n[sweep]\nflwo = [1.0]\n",
       "spec.toml:3:1: sweep.flwo = [1.0]: not a parameter, state or discrete variable of relief_valve; did you mean "
       "flow?"},
      {"model = \"relief_valve\"\nrtol = \"small\"\n", "spec.toml:2:8: rtol = \"small\": must be a positive number"},
      {"model = \"relief_valve\"\nrtol = -1\n", "spec.toml:2:8: rtol = -1: must be a positive number"},
      {"model = \"relief_valve\"\n[sweep]\n", "spec.toml:2:1: sweep = {}: must have at least one entry"},
      {"model = \"relief_valve\"\n[sweep]\nflow = []\n",
       "spec.toml:3:8: sweep.flow = []: must have at least one value"},
      {"model = \"relief_valve\"\n[initial]\nlift = nan\n",
       "spec.toml:3:8: initial.lift = nan: must be a finite number"},
      {"model = \"relief_valve\"\n[sweep]\nlift = [0.2, nan]\n",
       "spec.toml:3:14: sweep.lift[1] = nan: must be a finite number"},
      {"model = \"relief_valve\"\n[sweep]\nlift = { csv = \"runs.csv\", column = \"q\" }\n",
       "runs.csv:3:1: q = nan: must be a finite number"},
      {"model = \"relief_valve\"\n[sweep]\nlift = { csv = \"none.csv\", column = \"q\" }\n",
       "cannot read none.csv: No such file or directory"},
      {"model = \"relief_valve\"\nmethod = \"dp6\"\n",
       "spec.toml:2:10: method = \"dp6\": unknown word; did you mean dp5? allowed: kutta3, "},
      {"model = \"relief_valve\"\nmethode = \"dp5\"\n",
       "spec.toml:2:1: methode = \"dp5\": unknown key; did you mean method? allowed: model, method, "},
      {"model = \"relief_vlave\"\n", "spec.toml:1:9: model = \"relief_vlave\": no such built-in model"},
      {"model = \"relief_vlave\"\n", "did you mean relief_valve? allowed: "},
      {"model = \"./none.hpp\"\n", "spec.toml:1:9: model = \"./none.hpp\": no such file"},
      {"method = \"dp5\"\n", "model is missing"},
      {"model = \"relief_valve\nrtol = 1e-6\n", "spec.toml:1:"},
      {"model = \"relief_valve\"\nrtol = \n", "spec.toml:2:"},
  };
  for (const auto& c : cases) {
    write(folder() / "spec.toml", c.spec);
    for (const char* command : {"check", "run"}) {
      const auto o = saltus({command, "spec.toml", "-o", "out.nc"});
      EXPECT_EQ(o.code, 2) << c.spec;
      EXPECT_EQ(o.out, "") << c.spec;
      EXPECT_EQ(o.err.rfind("saltus: ", 0), 0u) << o.err;
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
      EXPECT_NE(o.err.find(c.err), std::string::npos) << o.err << "\n  instead of " << c.err;
    }
    EXPECT_FALSE(fs::exists(folder() / "out.nc") || fs::exists(folder() / "out.nc.part"));
  }
}

TEST_F(cli, an_error_in_a_flag_names_the_flag) {
  const struct {
    words arguments;
    const char* err;
  } cases[] = {
      {{"relief_valve", "--set", "flwo=3"},
       "saltus: --set flwo=3: flwo = 3: unknown key; did you mean flow? allowed: model, "},
      {{"relief_valve", "--set", "samples=5"},
       "saltus: --set samples=5: samples = 5: unknown key; did you mean output.samples?\n"},
      {{"relief_valve", "--set", "flow=fast"},
       "saltus: --set flow=fast: parameters.flow = \"fast\": must be a finite number\n"},
      {{"relief_valve", "--set", "lift=nan"}, "saltus: --set lift=nan: initial.lift = nan: must be a finite number\n"},
      {{"relief_valve", "--set", "rtol"},
       "saltus: --set rtol: must be key=value with a key such as rtol or sweep.flow.count\n"},
      {{"relief_valve", "--set", "sweep.flow=[]"},
       "saltus: --set sweep.flow=[]: sweep.flow = []: must have at least one value\n"},
      {{"relief_valve", "--method", "dp6"},
       "saltus: --method dp6: method = \"dp6\": unknown word; did you mean dp5? allowed: "},
      {{"relief_valve", "-n", "-5"}, "saltus: -n -5: sample.count = -5: must be a whole number from 1 to "},
      {{"relief_valve", "--lanes", "3"},
       "saltus: --lanes 3: run.lanes = 3: must be 0 (as wide as the machine), 1, 2, 4, 8, 16 or 32\n"},
      {{"relief_valve", "--backend", "gpu"},
       "saltus: --backend gpu: run.backend = \"gpu\": unknown word; did you mean cpu? allowed: auto, cpu, cuda, all\n"},
      {{"relief_vlave"},
       "saltus: model relief_vlave: no such built-in model (a model of your own is given as a path, "
       "./relief_vlave.hpp); "
       "did you mean relief_valve? allowed: "},
      {{"./none.hpp"}, "saltus: model ./none.hpp: no such file\n"},
      {{"none.toml"}, "saltus: none.toml: cannot be read: No such file or directory\n"},
      {{"relief_valve", "--share", "--part", "1/2"}, "saltus: --share: leave out --part"},
      {{"valve.nc", "--instance", "0", "--share"}, "saltus: --instance: leave out --share and --part"},
      {{"valve.nc", "--instance", "0", "--part", "1/2"}, "saltus: --instance: leave out --share and --part"},
  };
  for (const auto& c : cases) {
    auto arguments = c.arguments;
    arguments.insert(arguments.begin(), "run");
    const auto o = saltus(arguments);
    EXPECT_EQ(o.code, 2) << c.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err.rfind(c.err, 0), 0u) << o.err << "\n  instead of " << c.err;
  }
}

TEST_F(cli, options_stand_before_and_behind_what_they_are_for) {
  write(folder() / "sweep.toml", "model = " + fmt::format("\"{}\"", model()) + "\n[sweep]\nstiffness = [1.0, 4.0]\n");
  const std::vector<words> options = {{"--set", "place=2"}, {"-n", "1"},          {"--seed", "3"},  {"--method", "dp5"},
                                      {"--backend", "cpu"}, {"--threads", "1"},   {"--lanes", "2"}, {"--chunk", "7"},
                                      {"-o", "z.nc"},       {"--output", "z.nc"}, {"--json"},       {"--quiet"}};
  const auto joined = [](words all, const words& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const auto& option : options) {
    // In front, between other options, and behind.
    const words before = joined(joined({"check", "--no-pilot"}, option), {model(), "--set", "stiffness=5"});
    const words behind = joined({"check", model(), "--no-pilot", "--set", "stiffness=5"}, option);
    const auto one = saltus(before), other = saltus(behind);
    EXPECT_EQ(one.code, 0) << option[0] << ": " << one.err;
    EXPECT_EQ(other.code, 0) << option[0] << ": " << other.err;
    EXPECT_EQ(one.out, other.out) << option[0];
  }
  for (const words& all :
       {words{"run", "--threads", "1", model(), "--set", "stiffness=5"},
        words{"run", "-o", "z.nc", "--set", "stiffness=5", "--set", "place=2", model(), "-q"},
        words{"run", "--threads=1", "--force", "-oz.nc", model()}, words{"check", "--cuda", "sm_90", model()},
        words{"bench", "--backends", "cpu", "--rounds", "1", "--limit", "0.01", model()},
        words{"bench", model(), "--limit", "0.01", "--backends", "cpu", "--rounds", "1"},
        words{"show", "--instance", "0", "z.nc"}, words{"show", "z.nc", "--instance", "0"},
        words{"describe", "--json", model()}}) {
    const auto o = saltus(all);
    // Without CUDA the second line of `check --cuda` reports that, and does not mention the arguments.
    EXPECT_TRUE(o.code == 0 || all[1] == "--cuda") << fmt::format("{}", fmt::join(all, " ")) << ": " << o.err;
    EXPECT_EQ(o.err.find("argument too many"), std::string::npos) << o.err;
  }
  // One argument too many is still an error.
  EXPECT_EQ(saltus({"run", "--threads", "1", model(), "2"}).err,
            "saltus run: 2: one argument too many\nsaltus run --help tells more\n");
}

/// Warmth falls by 1 per unit of time and never rises; a body falls, but its floor has a guard for rising only. `late` can
/// fire only after it was crossed the other way, at t = 1, and fires at t = 3.
const std::string houses = R"(#include <saltus.hpp>

struct houses {
  static constexpr double span[] = {0.0, 4.0};
  enum state { warmth, height };
  static constexpr saltus::variable<state> state_list[] = {{warmth, 20.0, "K", ""}, {height, 1.0, "m", ""}};
  enum guard { cold, hit, late, never, ever };
  static constexpr saltus::event_function<guard> guard_list[] = {
      {cold, saltus::falling, saltus::bilateral, "below 18 K"},
      {hit, saltus::rising, saltus::bilateral, "the floor"},
      {late, saltus::falling, saltus::bilateral, "a parabola"},
      {never, saltus::falling, saltus::bilateral, "far away"},
      {ever, saltus::both, saltus::bilateral, "far away"}};
  static void rhs(const auto&, auto& dy) { dy[warmth] = dy[height] = -1.0; }
  static void guards(const auto& at, auto& g) {
    g[cold]  = at[warmth] - 18.0;
    g[hit]   = at[height];
    g[late]  = (at.t - 1.0) * (3.0 - at.t);
    g[never] = 100.0 - at.t;
    g[ever]  = at.t - 100.0;
  }
};
)";

TEST_F(cli, a_guard_that_can_never_fire_is_told) {
  write(folder() / "houses.hpp", houses);
  // Between 16.5 and 25.5: two instances begin below 18, four pass it within four units of time, four stay above.
  const words asked = {"./houses.hpp", "--set", "sweep.warmth={from=16.5, to=25.5, count=10}"};
  const std::string cold = "guard `cold` began beyond zero in 2 instances and never fired",
                    hit = "guard `hit` was crossed only against its direction, rising, in 10 instances";
  const auto with = [&](words all) {
    all.insert(all.end(), asked.begin(), asked.end());
    return all;
  };
  const setting shaken = {{"SALTUS_INJECT_EXCEPTIONS", "0.5"}};
  for (const auto& [how, variables] : std::vector<std::pair<words, setting>>{{{}, {}},
                                                                             {{}, shaken},
                                                                             {{"--lanes", "1"}, {}},
                                                                             {{"--chunk", "3"}, {}},
                                                                             {{"--set", "t=[0, 3.9]"}, {}},
                                                                             {{"--set", "zeno=0"}, {}},
                                                                             {{"--method", "auto"}, {}},
                                                                             {{"--set", "output.rows=false"}, {}}}) {
    words all = {"run", "--json", "-q"};
    all.insert(all.end(), how.begin(), how.end());
    const auto o = saltus(with(all), variables);
    ASSERT_EQ(o.code, 0) << o.err;
    const json j(o.out);
    EXPECT_EQ(j["remarks#"], "2") << fmt::format("{}", fmt::join(how, " "));
    EXPECT_EQ(j["remarks[0]"], cold);
    EXPECT_EQ(j["remarks[1]"], hit);
    EXPECT_EQ(j["guards.cold.fired"], "4");
    EXPECT_EQ(j["guards.late.fired"], "10");
    EXPECT_EQ(j["guards.never.fired"], "0");
  }
  const auto summary = saltus(with({"run", "-o", "houses.nc"}));
  EXPECT_NE(summary.out.find("  " + cold + "\n  " + hit + "\n"), std::string::npos) << summary.out;
  const auto shown = saltus({"show", "houses.nc"});
  EXPECT_NE(shown.out.find(cold + "\n" + hit + "\n"), std::string::npos) << shown.out;
  const auto checked = saltus(with({"check"}));
  EXPECT_NE(checked.out.find("remark     of 10 tried: " + cold + "\n"), std::string::npos) << checked.out;
  // A guard that behaves normally gets no remark: here all instances begin above.
  const auto good = saltus({"run", "./houses.hpp", "-q", "--set", "height=-1", "--json"});
  EXPECT_EQ(json(good.out)["remarks#"], "0") << good.out;
}

TEST_F(cli, a_warning_goes_to_stderr_and_into_json) {
  const auto said = saltus({"run", model(), "-q", "--set", "rtol=1e-15", "--json"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err.rfind("saltus: warning: --set rtol=1e-15: rtol = 1e-15: below 1e-14 ", 0), 0u) << said.err;
  EXPECT_EQ(json(said.out)["warnings#"], "1");
  const auto silent = saltus({"check", model(), "--no-pilot", "--json"});
  EXPECT_EQ(silent.err, "");
  EXPECT_EQ(json(silent.out)["warnings#"], "0");
}

}  // namespace
}  // namespace command_line
