// Settings of a plan as its result records them.
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "result/provenance.hpp"
#include "valve.hpp"

namespace saltus::host::spec_test {
namespace {

// ---- the settings in a result

/// The keys that a message about an unknown key lists, without those that have no default.
std::vector<std::string> keys_allowed(const std::string& complaint) {
  std::vector<std::string> keys;
  std::istringstream list(complaint.substr(complaint.find("allowed: ") + 9));
  for (std::string key; std::getline(list, key, ',');) {
    key.erase(0, key.find_first_not_of(' '));
    const std::vector<std::string> without = {"model", "parameters", "initial", "sweep", "sample", "output", "run"};
    if (std::find(without.begin(), without.end(), key) == without.end()) keys.push_back(key);
  }
  return keys;
}

TEST_F(spec, settings_of_a_plan_have_every_key) {
  const std::string settings = settings_text(planned("model = \"relief_valve\"\n"));
  std::size_t count = 0;
  for (const char* unknown : {"nope = 1\n", "[output]\nnope = 1\n", "[run]\nnope = 1\n"})
    for (const std::string& key : keys_allowed(refused(std::string("model = \"relief_valve\"\n") + unknown))) {
      ++count;
      EXPECT_TRUE(settings.find("\n" + key + " = ") != settings.npos || settings.rfind(key + " = ", 0) == 0 ||
                  settings.find("\n# " + key + ": none\n") != settings.npos)
          << key << " is not in\n"
          << settings;
    }
  EXPECT_GE(count, 30u);
  EXPECT_NE(settings.find("\nrtol = 1e-06\natol = 1e-06\n"), settings.npos) << settings;
  EXPECT_NE(settings.find("\ncontroller = \"pi\"\n"), settings.npos) << settings;
  EXPECT_NE(settings.find("\ndetection = \"hermite\"\n"), settings.npos) << settings;
}

TEST_F(spec, settings_of_a_plan_are_a_spec_of_the_same_settings) {
  for (const char* text : {
           "",
           "rtol = 1e-9\natol = { default = 1e-8, pressure = 3e-7 }\nstep = 0.125\nt = [3.0, -1.0]\n",
           "method = \"auto\"\nmax_step = 0.1\nconcurrency = { time = 1e-7, value = 1e-6 }\nzeno = 0.0\n"
           "[output]\nfile = \"a \\\"b\\\".nc\"\nevents = true\nreduce = [\"max(lift)\", \"mean(power)\"]\n"
           "samples = { step = 10.0 }\nhistogram = { final_lift = { from = 0.0, to = 2.0, bins = 4 } }\n"
           "[run]\nbackend = \"all\"\ndevices = [1, 0]\nthreads = 3\nlanes = 4\norder = \"id\"\n",
           "[sensitivity]\nparameters = [\"flow\"]\nerror_control = true\n",
           "[lyapunov]\nexponents = 2\nfrom = 0.5\n",
           "[gradient]\nof = { misfit = 2.0, \"mean(power)\" = -1.0 }\nparameters = [\"flow\"]\n"
           "[gradient.data]\nlift = { times = [0.5, 0.25], values = [1.0, 2.0], sigma = [0.5, 0.25] }\n",
           "[run]\nbackend = \"cpu\"\n",
           "[run]\ninstance_time_limit = 2.0\n",
       }) {
    auto valve = relief_valve();
    valve.arithmetic = true;  // for the backend all
    const std::string head = "model = \"relief_valve\"\n", once = settings_text(planned(head + text, {}, valve));
    EXPECT_EQ(settings_text(planned(head + once, {}, valve)), once);
  }
}

TEST_F(spec, plan_knows_the_files_that_it_was_read_from) {
  write("runs.csv", "q,r\n1,2\n2,3\n");
  const plan p = planned(
      "model = \"relief_valve\"\n[sweep.zip]\nflow = { csv = \"runs.csv\", column = \"q\" }\n"
      "preload = { csv = \"runs.csv\", column = \"r\" }\n");
  EXPECT_EQ(p.inputs, (std::vector<std::filesystem::path>{"spec.toml", "runs.csv"}));
  EXPECT_TRUE(validate(from_model("relief_valve"), relief_valve()).inputs.empty());
}

TEST(shell_line, is_read_back_by_a_shell_as_it_was) {
  const std::vector<std::string> words = {"saltus",  "it's", "",     "a b", "$HOME `x` \"\\n\"",
                                          "x=[1,2]", "-o",   "*.nc", "\n"};
  std::string said;
  std::FILE* const shell = ::popen(("printf '%s|' " + shell_line(words)).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  for (int c; (c = std::fgetc(shell)) != EOF;) said += static_cast<char>(c);
  ::pclose(shell);
  std::string expected;
  for (const std::string& word : words) expected += word + "|";
  EXPECT_EQ(said, expected);
  EXPECT_EQ(shell_line({"saltus", "run", "./a.toml", "-n", "10"}), "saltus run ./a.toml -n 10")
      << "plain words need no quotes";
}

TEST_F(spec, a_pipe_is_refused_rather_than_waited_for) {
  ASSERT_EQ(::mkfifo("pipe.toml", 0600), 0);
  try {
    read_spec("pipe.toml", {});
    ADD_FAILURE();
  } catch (const error& e) { EXPECT_STREQ(e.what(), "pipe.toml: is a pipe: write it to a file, not a spec"); }
  EXPECT_EQ(refused(valve + "[sweep]\nflow = { csv = \"pipe.toml\", column = \"q\" }\n"),
            "spec.toml:3:8: sweep.flow = { csv = \"pipe.toml\", column = \"q\" }: cannot read pipe.toml: it is a pipe: "
            "write it to a file");
}

TEST_F(spec, keys_of_very_many_parts_are_refused_before_anything_walks_through_them) {
  const auto dotted = [](int parts) {
    std::string key = "a";
    for (int k = 1; k < parts; ++k) key += k % 2 ? " . 'b.c'" : ".a";
    return key;
  };
  for (const int parts : {17, 20'000}) {
    EXPECT_EQ(refused(valve + "# a.b.c\n" + dotted(parts) + " = 1\n"), "spec.toml:3: a key has more than 16 parts");
    EXPECT_EQ(refused(valve + "[" + dotted(parts) + "]\n"), "spec.toml:2: a key has more than 16 parts");
    EXPECT_EQ(refused(valve + "sample = { x = { " + dotted(parts) + " = 1 } }\n"),
              "spec.toml:2: a key has more than 16 parts");
  }
  std::string key = "sample";
  for (int k = 0; k < 20'000; ++k) key += ".a";
  EXPECT_EQ(refused(valve, {{"--set", key + "=1"}}),
            "--set " + key.substr(0, 54) + "...: a key has more than 16 parts");
  // Numbers and the contents of strings and comments are not keys.
  EXPECT_EQ(refused(valve + "# " + std::string(100, '.') + "\nt = [0.0, 1.0] # '\n[output]\nfile = \"" +
                    std::string(100, '.') + "\\\"" + std::string(100, '.') + "\"\n"),
            "accepted");
  EXPECT_EQ(refused(valve + "atol = [1.0, 1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0]\n")
                .find("parts"),
            std::string::npos);
}

TEST_F(spec, more_threads_than_four_per_core_are_refused) {
  const std::string cores = std::to_string(std::thread::hardware_concurrency());
  const std::string most = std::to_string(4 * std::thread::hardware_concurrency());
  EXPECT_EQ(refused(valve, {{"--threads", most}}), "accepted");
  EXPECT_EQ(refused(valve, {{"--threads", "4096"}}), "--threads 4096: run.threads = 4096: must be at most " + most +
                                                         ", 4 for each of the " + cores + " cores here; 0: all cores");
}

TEST_F(spec, a_time_limit_for_instances_is_for_lanes) {
  const plan p = planned(valve + "[run]\ninstance_time_limit = 2.5\n");
  EXPECT_EQ(p.instance_time_limit, 2.5);
  EXPECT_EQ(p.backend, backend_kind::cpu) << "instead of auto";
  EXPECT_EQ(planned(valve).instance_time_limit, 0.0);
  EXPECT_EQ(planned(valve).backend, backend_kind::automatic);
  EXPECT_EQ(refused(valve + "[run]\ninstance_time_limit = 0\n"),
            "spec.toml:3:23: run.instance_time_limit = 0: must be a positive number");
  model same_bits = relief_valve();
  same_bits.arithmetic = true;  // the backend all needs this
  for (const std::string backend : {"cuda", "all"})
    EXPECT_EQ(
        refused(valve + "[run]\ninstance_time_limit = 1\n", {{"--backend", backend}}, same_bits),
        "spec.toml:3:23: run.instance_time_limit = 1: must be left out with a device, which cannot end one instance "
        "of many: use max_steps");
}

}  // namespace
}  // namespace saltus::host::spec_test
