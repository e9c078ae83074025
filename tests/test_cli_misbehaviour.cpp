// Interruptions, and models that throw, crash or never return.
#include <pty.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "variables_of.hpp"

namespace command_line {
namespace {

/// 60 instances in chunks of 10, with number 25 of another kind.
words with_one(const std::string& kind) {
  std::string kinds;
  for (int i = 0; i < 60; ++i) kinds += (i ? "," : "") + (i == 25 ? kind : std::string("0"));
  return {"./unruly.hpp", "--force",
          "--set",        "sweep.kind=[" + kinds + "]",
          "--chunk",      "10",
          "--set",        "output.events=true",
          "--set",        "output.reduce=['max(height)']"};
}

// ------------------------------------------------------------------------------------------------------------- interruptions

TEST_F(cli, an_interrupted_run_keeps_what_is_finished) {
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    auto running = start(endless());
    ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << running->wait().err;
    std::this_thread::sleep_for(1s);
    running->signal(number);
    if (number == SIGHUP) running->signal(number);  // a closing terminal may signal twice
    const auto sent = std::chrono::steady_clock::now();
    const auto o = running->wait();
    EXPECT_LT(std::chrono::steady_clock::now() - sent, 20s);
    EXPECT_EQ(o.code, 128 + number);
    EXPECT_TRUE(std::regex_search(o.err, std::regex("\ninterrupted: \\d+ instances did not finish\n$"))) << o.err;
    EXPECT_NE(o.out.find("\nwhat has ended is in long.nc.part: saltus show long.nc.part\n"), std::string::npos)
        << o.out;
    EXPECT_FALSE(fs::exists(folder() / "long.nc")) << "the result is not complete";

    const results r(folder() / "long.nc.part");
    std::array<std::size_t, 11> by_status{}, as_expected{};
    for (std::size_t i = 0; i < 100000; ++i) {
      const auto status = static_cast<std::size_t>(r["status"][i]);
      const double t = r["t_final"][i];
      const bool started = std::isfinite(r["final_place"][i]);
      ++by_status.at(status);
      // x passes rest at least once in every span of pi.
      if (status == 0) as_expected[status] += started && t == 5000 && r["events"][i] >= std::floor(5000 / M_PI);
      if (status == 9) as_expected[status] += !started && std::isnan(t) && r["steps"][i] == 0;
      if (status == 10) as_expected[status] += started && t >= 0 && t < 5000;
    }
    EXPECT_EQ(as_expected, by_status) << "finished, not_run and interrupted match their names";
    EXPECT_GT(by_status[0], 0u) << "finished";
    EXPECT_GT(by_status[9], 0u) << "not_run";
    EXPECT_GT(by_status[10], 0u) << "interrupted";
    EXPECT_EQ(by_status[0] + by_status[9] + by_status[10], 100000u);
    fs::remove(folder() / "long.nc.part");
  }
}

TEST_F(cli, lines_of_an_interrupted_run_stay) {
  ASSERT_EQ(
      saltus({"run", model(), "-o", "whole.csv", "--set", "t=[0,50]", "--set", "sweep.stiffness=[1.0, 2.0]"}).code, 0);
  auto line = endless();
  line.back() = "long.csv";
  auto running = start(line);
  ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "long.csv.part"); })) << running->wait().err;
  std::this_thread::sleep_for(1s);
  running->signal(SIGINT);
  const auto o = running->wait();
  EXPECT_EQ(o.code, 130);
  EXPECT_NE(o.out.find("\nwhat has ended is in long.csv.part\n"), std::string::npos) << o.out;
  EXPECT_FALSE(fs::exists(folder() / "long.csv"));
  const auto lines = read(folder() / "long.csv.part");
  const auto header = read(folder() / "whole.csv");
  EXPECT_EQ(lines.substr(0, lines.find('\n')), header.substr(0, header.find('\n')));
  EXPECT_TRUE(std::regex_search(lines, std::regex("\n\\d+,[-+.e0-9,]+,5000,finished,true,none,")))
      << lines.substr(0, 1000);
  EXPECT_TRUE(lines.ends_with('\n'));
  const auto next = saltus({"run", model(), "-o", "long.csv"});
  EXPECT_NE(next.err.find("they are now in long.csv.part.1\n"), std::string::npos) << next.err;
  EXPECT_EQ(lines, read(folder() / "long.csv.part.1"));
}

class cli_formats : public cli, public testing::WithParamInterface<const char*> {};

TEST_P(cli_formats, a_result_that_is_to_be_replaced_stays_until_the_new_one_is_complete) {
  const std::string file = GetParam();
  ASSERT_EQ(saltus({"run", model(), "-o", file}).code, 0);
  const auto old = read(folder() / file);
  auto line = endless();
  line.back() = file;
  line.push_back("--force");
  const auto interrupted = [&](const words& more, const fs::path& sign) {
    auto all = line;
    all.insert(all.end(), more.begin(), more.end());
    auto running = start(all);
    EXPECT_TRUE(running->wait_for([&] { return fs::exists(folder() / sign); }));
    std::this_thread::sleep_for(500ms);
    running->signal(SIGINT);
    EXPECT_EQ(running->wait().code, 130);
    EXPECT_EQ(old, read(folder() / file)) << sign;
  };
  interrupted({}, file + ".part");
  EXPECT_TRUE(fs::exists(folder() / (file + ".part"))) << "the instances that had ended";
  fs::remove(folder() / (file + ".part"));
  interrupted({"--set", "run.checkpoint=1"}, file + ".journal/run.json");
  EXPECT_FALSE(fs::exists(folder() / (file + ".part"))) << "the instances that had ended are in the journal";
  fs::remove_all(folder() / (file + ".journal"));
  const auto limited = [&](const words& more) {
    auto all = line;
    all.insert(all.end(), more.begin(), more.end());
    return saltus(all);
  };
  EXPECT_EQ(limited({"--time-limit", "1s"}).code, 75);
  EXPECT_EQ(old, read(folder() / file));
}

INSTANTIATE_TEST_SUITE_P(results, cli_formats, testing::Values("long.nc", "long.csv"),
                         [](const auto& of) { return std::string(of.param).substr(5); });

TEST_F(cli, a_time_limit_ends_compiling_too) {
  const words line{"run", model(), "-q", "-o", "late.nc", "--time-limit", "0.05s"};
  const auto o = saltus(line, {{"SALTUS_CACHE", folder() / "fresh"}});
  EXPECT_EQ(o.code, 75) << o.err;
  EXPECT_NE(o.err.find("late.nc: the time limit came while"), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(folder() / "late.nc"));
}

/// 2^40 instances would take months: the time to stop must not depend on the remaining work.
TEST_F(cli, a_run_stops_in_time_however_much_is_left) {
  for (const words& how :
       {words{"--set", "output.rows=false", "--set", "output.statistics=true"}, words{"--set", "output.rows=false"}}) {
    const auto line = [&](const char* count, const words& more) {
      words all = {
          "run", model(), "-q",     "--lanes", "8",  "--threads", "2", "--set", "sample.stiffness={uniform=[1.0, 9.0]}",
          "-n",  count,   "--seed", "1",       "-o", "all.nc"};
      all.insert(all.end(), how.begin(), how.end());
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    ASSERT_EQ(saltus(line("1000", {})).code, 0) << "compiles";
    fs::remove(folder() / "all.nc");
    for (const char* count : {"1000000000", "1099511627776"}) {
      for (const bool again : {false, true}) {
        const auto o = saltus(line(count, {"--time-limit", "2s"}));
        EXPECT_EQ(o.code, 75) << o.err;
        EXPECT_LT(o.seconds, 2 + 1 + 3) << "the limit, a second, and the start on a busy machine";
        EXPECT_EQ(o.err.find("goes on with all.nc.journal") != o.err.npos, again) << o.err;
        EXPECT_TRUE(fs::exists(folder() / "all.nc.journal"));
        EXPECT_FALSE(fs::exists(folder() / "all.nc"));
      }
      fs::remove_all(folder() / "all.nc.journal");
    }
  }
}

TEST_F(cli, a_second_signal_ends_the_program_at_once) {
  write(folder() / "unruly.hpp", unruly);
  auto line = with_one("6");  // one of them loops and has two seconds to return
  line.insert(line.begin(), "run");
  line.insert(line.end(), {"-q", "-o", "long.nc", "--set", "run.checkpoint=0"});
  auto running = start(line);
  ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << running->wait().err;
  std::this_thread::sleep_for(500ms);
  running->signal(SIGINT);
  std::this_thread::sleep_for(200ms);
  ASSERT_TRUE(running->runs()) << "the run still waits for the model";
  running->signal(SIGINT);
  EXPECT_EQ(running->wait().signal, SIGINT);
  EXPECT_FALSE(fs::exists(folder() / "long.nc"));
}

/// SALTUS_KILLS sets the number of kills, every third of which is an interruption; a few if it is not set.
TEST_F(cli, runs_that_are_killed_go_on_with_the_same_bits) {
  const char* asked = std::getenv("SALTUS_KILLS");
  const int kills = asked ? std::atoi(asked) : 24;
  const words common = {"run",
                        "bouncing_ball",
                        "-q",
                        "--threads",
                        "2",
                        "--seed",
                        "5",
                        "--set",
                        "sample.restitution={uniform=[0.3, 0.9]}",
                        "--set",
                        "t=[0.0, 5.0]",
                        "--set",
                        "run.chunk=256",
                        "--set",
                        "run.checkpoint=0.02"};
  const std::map<std::string, words> specs = {
      {"lines", {"-n", "20000", "--set", "output.reduce=['median(height)']"}},
      {"rows", {"-n", "20000"}},
      {"samples", {"-n", "5000", "--set", "output.samples={count=50}"}},
      {"events", {"-n", "5000", "--set", "output.events=true"}},
      {"statistics",
       {"-n", "30000", "--set",
        "output={rows=false, statistics=true, histogram={t_final={from=0.0, to=5.0, bins=7}}}"}}};
  std::mt19937 random(1);
  for (const auto& [name, own] : specs) {
    const std::string ending = name == "lines" ? ".csv" : ".nc", first = "first" + ending, uncut = "whole" + ending,
                      cut = "cut" + ending;
    const auto line = [&](const std::string& file) {
      words all = common;
      all.insert(all.end(), own.begin(), own.end());
      all.insert(all.end(), {"-o", file});
      return all;
    };
    ASSERT_EQ(saltus(line(first)).code, 0) << "compiles";
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(saltus(line(uncut)).code, 0);
    const std::chrono::duration<double> lasts = std::chrono::steady_clock::now() - begin;
    const auto whole = variables_of(folder() / uncut);
    std::uniform_real_distribution<double> when(0, 0.7 * lasts.count());
    int killed = 0, results = 0;
    bool is_complete = false;
    while (killed < (kills + 3) / 4 || !is_complete) {
      auto running = start(line(cut));
      if (killed < (kills + 3) / 4) {
        std::this_thread::sleep_for(std::chrono::duration<double>(when(random)));
        running->signal(killed % 3 == 1 ? SIGINT : SIGKILL);
        ++killed;
      }
      const auto o = running->wait();
      is_complete = o.signal == 0 && o.code != 130;
      if (!is_complete) continue;
      // Unless the last run was killed after all work was done.
      const bool is_there = o.code == 2 && o.err.find("it exists") != std::string::npos;
      ASSERT_TRUE(o.code == 0 || is_there) << name << ": " << o.err;
      ++results;
      EXPECT_EQ(whole, variables_of(folder() / cut)) << name << " after " << killed << " kills";
      fs::remove(folder() / cut);
    }
    for (const char* left : {".journal", ".part", ".part.1"})
      EXPECT_FALSE(fs::exists(folder() / (cut + left))) << cut << left;
    std::printf("%s: %d kills, %d results\n", name.c_str(), killed, results);
    for (const auto& file : {first, uncut}) fs::remove(folder() / file);
  }
}

TEST_F(cli, a_signal_that_is_ignored_stays_so) {  // as under nohup
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  std::string command = "trap '' HUP; exec " SALTUS_PROGRAM;
  for (const auto& word : endless()) command += " '" + word + "'";
  child running("/bin/sh", {"-c", command}, folder(), {{"SALTUS_CACHE", shared_cache()}}, "");
  ASSERT_TRUE(running.wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << running.wait().err;
  running.signal(SIGHUP);
  std::this_thread::sleep_for(1s);
  EXPECT_TRUE(running.runs());
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().code, 143);
}

// ------------------------------------------------------------------------------------------- models that misbehave

TEST_F(cli, an_instance_whose_model_throws_fails_alone) {
  write(folder() / "unruly.hpp", unruly);
  const results good = run(with_one("0"));
  auto arguments = with_one("1");
  for (const words& shape : {words{"--lanes", "8"}, words{"--lanes", "1"}, words{"--threads", "1"}}) {
    auto line = arguments;
    line.insert(line.begin(), "run");
    line.insert(line.end(), {"-q", "-o", "a.nc"});
    line.insert(line.end(), shape.begin(), shape.end());
    const auto o = saltus(line);
    EXPECT_EQ(o.code, 3) << "more failed than allowed";
    EXPECT_NE(o.out.find("instance 25: three bounces are enough"), std::string::npos) << o.out;
    const results r(folder() / "a.nc");
    EXPECT_EQ(r["status"][25], 20) << "model_threw";
    EXPECT_EQ(r["event_row_size"][25], 0);
    std::size_t row = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      for (const char* name :
           {"status", "final_height", "t_final", "steps", "events", "rhs_evaluations", "event_row_size", "max(height)"})
        EXPECT_TRUE(i == 25 || r[name][i] == good[name][i]) << name << " of " << i;
      for (std::size_t k = 0; k < static_cast<std::size_t>(r["event_row_size"][i]); ++k, ++row)
        EXPECT_EQ(r["event_instance"][row], i) << "each event occurs once";
    }
    EXPECT_EQ(row, r["event_time"].size());
  }
}

TEST_F(cli, where_every_instance_throws_all_are_told) {
  write(folder() / "shy.hpp", shy("throw std::runtime_error(\"not today\");"));
  const auto o = saltus({"run", "./shy.hpp", "-q", "--set", "sweep.y={from=1.0,to=2.0,count=100}", "--json"});
  EXPECT_EQ(o.code, 3) << o.err;
  const json all(o.out);
  EXPECT_EQ(all["status.model_threw"], "100");
  EXPECT_NE(all["model_threw"].find("not today"), std::string::npos);
}

TEST_F(cli, a_model_that_crashes_is_told_with_its_instance_and_function_and_the_rest_is_kept) {
  write(folder() / "unruly.hpp", unruly);
  const results good = run(with_one("0"));
  struct bad {
    const char *kind, *how, *function, *code;
  };
  for (const bad& b :
       {bad{"2", "SIGSEGV (Segmentation fault)", "transition", "*nowhere"},
        bad{"3", "exit was called", "transition", "std::exit"}, bad{"7", "exit was called", "transition", "::_exit"},
        bad{"4", "SIGSEGV (Segmentation fault)", "deeper", nullptr},
        bad{"5", "SIGABRT (Aborted)", "transition", "std::abort"}}) {
    auto line = with_one(b.kind);
    line.insert(line.begin(), "run");
    // No journal is begun before the crash, even on a busy machine.
    line.insert(line.end(), {"-q", "-o", "a.nc", "--threads", "1", "--set", "run.checkpoint=0"});
    const auto o = saltus(line);
    EXPECT_EQ(o.code, 1) << "signal " << o.signal << o.err;
    const auto expected =
        fmt::format("saltus: the model unruly crashed: {} in instance 25, in {}, {}/unruly.hpp:", b.how, b.function,
                    folder().string());
    EXPECT_EQ(o.err.find(expected), 0u) << o.err;
    if (b.code) { EXPECT_EQ(std::stoi(o.err.substr(expected.size())), line_of(unruly, b.code)) << o.err; }
    EXPECT_NE(o.err.find("those that did are in a.nc.part"), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(folder() / "a.nc"));
    const results r(folder() / "a.nc.part");
    EXPECT_EQ(r["status"][25], 21) << "model_crashed";
    int kept = 0;
    for (std::size_t i = 0; i < 60; ++i)
      if (r["status"][i] == good["status"][i]) {
        ++kept;
        EXPECT_EQ(r["final_height"][i], good["final_height"][i]) << i;
        EXPECT_EQ(r["steps"][i], good["steps"][i]) << i;
      }
    EXPECT_GE(kept, 20) << "the chunks before the crash";
    fs::remove(folder() / "a.nc.part");
  }
}

TEST_F(cli, a_model_that_loops_can_be_interrupted_and_has_a_time_limit) {
  write(folder() / "unruly.hpp", unruly);
  const results good = run(with_one("0"));
  auto line = with_one("6");
  line.insert(line.begin(), "run");
  line.insert(line.end(), {"-q", "-o", "a.nc", "--set", "run.checkpoint=0"});
  {
    auto running = start(line);
    // All other chunks finish much sooner; the first seconds belong to the pilot.
    ASSERT_TRUE(running->wait_for([&] { return fs::exists(folder() / "a.nc.part"); })) << running->wait().err;
    std::this_thread::sleep_for(2s);
    ASSERT_TRUE(running->runs());
    const auto sent = std::chrono::steady_clock::now();
    running->signal(SIGTERM);
    const auto o = running->wait();
    EXPECT_LT(std::chrono::steady_clock::now() - sent, 20s);
    EXPECT_EQ(o.code, 143) << "signal " << o.signal << o.err;
    const results r(folder() / "a.nc.part");
    EXPECT_EQ(r["status"][25], 10) << "interrupted";
    for (std::size_t i = 0; i < 60; ++i)
      if (i / 10 != 2) {
        EXPECT_EQ(r["status"][i], good["status"][i]) << i << ", of another chunk";
        EXPECT_EQ(r["final_height"][i], good["final_height"][i]) << i;
      }
  }
  line.insert(line.end(), {"--set", "run.instance_time_limit=1"});
  const auto o = saltus(line);
  EXPECT_EQ(o.code, 3) << "signal " << o.signal << o.err;
  const results r(folder() / "a.nc");
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(r["status"][i], i == 25 ? 19 : good["status"][i]) << i << ": time_limit, and all others";
    if (i == 25) continue;
    for (const char* name : {"final_height", "t_final", "steps", "events", "event_row_size", "max(height)"})
      EXPECT_EQ(r[name][i], good[name][i]) << name << " of " << i;
  }
}

TEST_F(cli, one_slow_instance_does_not_hold_up_the_others) {
  constexpr std::size_t count = 600, slow = 123;
  const auto line = [&](double end, const words& more) {
    std::string spans = "end\n";
    for (std::size_t i = 0; i < count; ++i) spans += i == slow ? fmt::format("{}\n", end) : "2.0\n";
    write(folder() / "ends.csv", spans);
    words all = {model(),
                 "--set",
                 "sweep.t_end={csv='ends.csv',column='end'}",
                 "--set",
                 "max_steps=1e15",
                 "--set",
                 "max_events=1e15",
                 "--chunk",
                 "10",
                 "--threads",
                 "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const results good = run(line(2.0, {}));
  auto with = line(1e12, {"-o", "a.nc", "--set", "run.checkpoint=0"});
  with.insert(with.begin(), "run");
  const auto expect_others_as_before = [&](int status_of_slow, const char* file) {
    const results r(folder() / file);
    EXPECT_EQ(r["status"][slow], status_of_slow);
    EXPECT_GT(r["t_final"][slow], 2.0) << "the instance had advanced";
    for (std::size_t i = 0; i < count; ++i)
      for (const char* name : {"status", "final_place", "final_velocity", "t_final", "steps", "events"})
        EXPECT_TRUE(i == slow || r[name][i] == good[name][i]) << name << " of " << i;
  };
  {  // a terminal redraws its line several times a second
    int keyboard = -1, screen = -1;
    ASSERT_EQ(openpty(&keyboard, &screen, nullptr, nullptr, nullptr), 0);
    auto running = start(with, {{"TERM", "xterm"}}, screen);
    close(screen);
    std::string seen;
    char piece[4096];
    bool told = false;
    const auto begin = std::chrono::steady_clock::now();
    for (ssize_t n; (n = ::read(keyboard, piece, sizeof piece)) > 0;) {
      seen.append(piece, static_cast<std::size_t>(n));
      if (!told && (seen.find("599/600  99.8 %  1 instance (123) for 0:1") != seen.npos ||
                    std::chrono::steady_clock::now() - begin > 60s)) {
        running->signal(SIGTERM);
        told = true;
      }
    }
    close(keyboard);
    EXPECT_EQ(running->wait().code, 143);
    EXPECT_NE(seen.find("1 instance (123) for 0:1"), std::string::npos) << seen.substr(0, 2000);
    expect_others_as_before(10, "a.nc.part");
  }
  with.insert(with.end(), {"--set", "run.instance_time_limit=0.5", "-q", "--force"});
  const auto o = saltus(with);
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_NE(o.out.find("time_limit                  1"), std::string::npos) << o.out;
  expect_others_as_before(19, "a.nc");
}

TEST_F(cli, a_pilot_of_a_bad_model_ends) {
  write(folder() / "unruly.hpp", unruly);
  const auto crash = saltus({"check", "./unruly.hpp", "--set", "kind=2"});
  EXPECT_EQ(crash.code, 1);
  EXPECT_EQ(crash.err,
            "saltus: the model unruly crashed in a pilot of a few instances: SIGSEGV (Segmentation fault); "
            "saltus run tells in which instance, and where\n");
  const auto leave = saltus({"check", "./unruly.hpp", "--set", "kind=3"});
  EXPECT_EQ(leave.code, 1) << "exit(0) does not count as success";
  EXPECT_NE(leave.err.find("exit was called"), std::string::npos) << leave.err;
  const auto loop = saltus({"check", "./unruly.hpp", "--set", "kind=6"});
  EXPECT_EQ(loop.code, 0) << loop.err;
  EXPECT_NE(loop.out.find("which had not ended: a guess"), std::string::npos) << loop.out;
  EXPECT_LT(loop.seconds, 60);
}

TEST_F(cli, a_model_that_does_not_bear_to_be_looked_at_is_described_all_the_same) {
  for (const char* how : {"throw std::runtime_error(\"no\");", "*static_cast<volatile int*>(nullptr) = 1;",
                          "std::exit(0);", "std::abort();"}) {
    write(folder() / "shy.hpp", shy(how));
    const auto o = saltus({"describe", "./shy.hpp"});
    EXPECT_EQ(o.code, 0) << how << o.err;
    EXPECT_NE(o.out.find("grows"), std::string::npos) << o.out;
    EXPECT_EQ(o.out.find("shy:"), 0u) << "the message must occur once: " << o.out;
  }
}

TEST_F(cli, an_interrupted_compilation_leaves_nothing) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  ASSERT_EQ(saltus({"describe", model()}, own).code, 0);
  ASSERT_EQ(modules(cache), 1u);
  for (const int number : {SIGINT, SIGTERM}) {
    auto running = start({"run", model()}, own);
    ASSERT_TRUE(running->wait_for([&] { return !debris(cache).empty(); })) << running->wait().err;
    running->signal(number);
    const auto o = running->wait();
    EXPECT_EQ(o.code, 128 + number);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "saltus: interrupted while compiling\n");
    EXPECT_EQ(debris(cache), words{});
    EXPECT_EQ(modules(cache), 1u);
  }
}

}  // namespace
}  // namespace command_line
