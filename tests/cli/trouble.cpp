// Behaviour of the program in failures: of instances, of files and disks, of compilers, of the cache.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include "program.hpp"

namespace command_line {
namespace {

// ----------------------------------------------------------------------------------------------------- instances that fail

TEST_F(cli, instances_that_are_not_finite_leave_the_others_alone) {
  const std::string good = "0.9, 1.1, 1.3, 1.5, 1.7, 1.9, 2.1, 2.3, 2.5", bad_stiffness = "4.0, 4.0, 4.0";
  const auto alone = run({model(), "--set", "sweep.stiffness=[" + good + "]"});

  // The same nine instances, and between them three that fail: one at the start, two on the way.
  write(folder() / "mixed.toml", "model = \"" + model() +
                                     "\"\n[sweep.zip]\n"
                                     "stiffness = [0.9, 4.0, 1.1, 1.3, 1.5, 4.0, 1.7, 1.9, 2.1, 2.3, 4.0, 2.5]\n"
                                     "limit     = [1e9, -1.0, 1e9, 1e9, 1e9, 0.5, 1e9, 1e9, 1e9, 1e9, 1.75, "
                                     "1e9]\n[output]\nfile = \"mixed.nc\"\n");
  const auto o = saltus({"run", "mixed.toml"});
  EXPECT_EQ(o.code, 3);
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\n  finished +9 "))) << o.out;
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\n  not_finite +2 "))) << o.out;
  EXPECT_TRUE(std::regex_search(o.out, std::regex("\n  bad_start +1 "))) << o.out;
  EXPECT_NE(o.err.find("3 of 12 instances failed, 0 % allowed (run.allowed_failed): 2 not_finite, 1 bad_start\n"),
            std::string::npos)
      << o.err;

  const results mixed(folder() / "mixed.nc");
  std::size_t next = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    const double limit = mixed["limit"][i];
    if (limit == 1e9) {
      for (const auto& name : alone.outcomes()) {
        const double got = mixed[name][i], want = alone[name][next];
        EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << name << " of " << i << ": " << got;
      }
      ++next;
    } else if (limit < 0) {
      EXPECT_EQ(mixed["status"][i], 6) << "bad_start";
      EXPECT_EQ(mixed["t_final"][i], 0);
    } else {
      EXPECT_EQ(mixed["status"][i], 5) << "not_finite";
      EXPECT_LE(mixed["t_final"][i], limit);
      EXPECT_GT(mixed["t_final"][i], limit - 1e-6) << "the instance ends where the right-hand side becomes NaN";
      EXPECT_TRUE(std::isfinite(mixed["final_place"][i]));
    }
  }
  EXPECT_EQ(next, 9u);

  EXPECT_EQ(saltus({"run", "mixed.toml", "--force", "--set", "run.allowed_failed=0.25"}).code, 0) << "3 of 12";
  EXPECT_EQ(saltus({"run", "mixed.toml", "--force", "--set", "run.allowed_failed=0.24"}).code, 3);
}

// -------------------------------------------------------------------------------------------------------- a system that fails

TEST_F(cli, an_output_that_cannot_be_written_is_found_out_at_once) {
  fs::create_directories(folder() / "taken.nc");
  write(folder() / "notes.txt", "notes");
  const struct {
    std::string file;
    int code;
    std::string err;
  } cases[] = {
      {"none/out.nc", 1, "cannot write none/out.nc.part: No such file or directory"},
      {"taken.nc", 2, "output.file = \"taken.nc\": it exists and is not a regular file: give another name"},
      {"/dev/full", 2, "output.file = \"/dev/full\": it exists and is not a regular file: give another name"},
      {model() + "/out.nc", 1, "cannot write " + model() + "/out.nc.part: Not a directory"},
      {model(), 2, "output.file = \"" + model() + "\": this run reads it: give another name"},
      {"notes.txt", 2,
       "output.file = \"notes.txt\": it exists and is not a result of saltus: give another name, or remove it"},
  };
  for (const auto& c : cases) {
    const auto o = saltus({"run", model(), "-q", "--force", "-o", c.file});
    EXPECT_EQ(o.code, c.code);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "saltus: " + c.err + "\n");
  }
  EXPECT_EQ(read(model()), oscillator);
  EXPECT_TRUE(fs::is_empty(folder() / "taken.nc"));
}

/// While it lives, files of this process and of its children cannot grow beyond `bytes`, which a writer sees as a full disk.
class file_limit {
 public:
  explicit file_limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~file_limit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(cli, a_disk_that_is_full_costs_nothing_that_was_finished) {
  const words many = {"run", model(),   "-q",     "--set", "sweep.stiffness={from=1.0, to=9.0, count=200000}",
                      "-o",  "many.nc", "--force"};
  ASSERT_EQ(saltus({"run", model(), "-q", "-o", "many.nc"}).code, 0) << "makes an older result";
  const std::string older = read(folder() / "many.nc");
  // 200000 instances make 21 MB, in chunks of 65536.
  for (const rlim_t limit : {0, 40'000, 16'000'000}) {
    std::unique_ptr<child> running;
    {
      const file_limit full(limit);
      running = start(many);
    }
    const auto o = running->wait();
    EXPECT_EQ(o.code, 1) << "at " << limit << ", signal " << o.signal;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(read(folder() / "many.nc"), older);
    if (limit < 1'000'000) {
      EXPECT_FALSE(fs::exists(folder() / "many.nc.part"));
      if (limit > 0) {
        EXPECT_TRUE(std::regex_match(o.err, std::regex("saltus: cannot write many.nc: .+\n"))) << o.err;
      }
      continue;
    }
    std::smatch m;
    ASSERT_TRUE(std::regex_match(o.err, m,
                                 std::regex("saltus: (\\d+) of 200000 instances are kept in many.nc.part\n"
                                            "saltus: cannot write many.nc: File too large\n")))
        << o.err;
    const results kept(folder() / "many.nc.part");
    EXPECT_EQ(std::count(kept["status"].begin(), kept["status"].end(), 0), std::stol(m[1]));
    EXPECT_GT(std::stol(m[1]), 60000);
  }
  // The next run does not remove the kept instances either.
  const auto next = saltus(many);
  EXPECT_EQ(next.code, 0);
  EXPECT_EQ(next.err, "a run that did not end has left finished instances: they are now in many.nc.part.1\n");
  EXPECT_EQ(results(folder() / "many.nc")["status"], std::vector<double>(200000, 0.0));
  EXPECT_EQ(saltus({"show", "many.nc.part.1"}).code, 0);
  EXPECT_FALSE(fs::exists(folder() / "many.nc.part"));
}

TEST_F(cli, a_file_that_the_disk_has_no_room_for_is_refused_beforehand) {
  const words huge = {"run", "relief_valve", "--set", "sweep.flow={from=1, to=2, count=1e12}",
                      "-o",  "huge.nc",      "--set"};
  const auto with = [&](words list, const char* more) { return list.push_back(more), list; };
  const auto o = saltus(with(huge, "rtol=1e-6"));
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(std::regex_match(o.err, std::regex("saltus: cannot write huge.nc: it will have \\d+.\\d TB, and .* are "
                                                 "free in \\.; fewer instances or samples, .*\n")))
      << o.err;
  const auto beyond = with(huge, "output.samples={count=1e7}");
  EXPECT_NE(saltus(beyond).err.find("it will have more than 9.2 EB (2^63 bytes), and "), std::string::npos);
  auto checked = beyond;
  checked[0] = "check";
  checked.push_back("--no-pilot");
  const auto plan = saltus(checked);
  EXPECT_EQ(plan.code, 0);
  EXPECT_NE(plan.out.find("output     huge.nc, more than 9.2 EB (2^63 bytes); "), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find(" are free in .: it does not fit\n"), std::string::npos) << plan.out;
  checked.push_back("--json");
  EXPECT_GT(json(saltus(checked).out).number("bytes"), 9.2e18);
  EXPECT_TRUE(!fs::exists(folder() / "huge.nc") && !fs::exists(folder() / "huge.nc.part"));
}

TEST_F(cli, two_runs_into_one_file_do_not_meet) {
  ASSERT_EQ(saltus({"check", model()}).code, 0) << "compiles";
  auto first = start(endless());
  ASSERT_TRUE(first->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << first->wait().err;
  auto other = endless();
  other.push_back("--force");
  const auto second = saltus(other);
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.err.find("saltus: cannot write long.nc: another run is writing long.nc.part: wait for it, or give "
                            "another name\n"),
            std::string::npos)
      << second.err;
  EXPECT_TRUE(fs::exists(folder() / "long.nc.part"));
  first->signal(SIGINT);
  const auto interrupted = first->wait();
  EXPECT_EQ(interrupted.code, 130);
  // On a busy machine the signal may come before any instance has ended; then nothing is kept.
  if (interrupted.out.find("no instance had ended") == std::string::npos) {
    EXPECT_EQ(results(folder() / "long.nc.part")["status"].size(), 100000u);
    fs::remove(folder() / "long.nc.part");
  }
  EXPECT_FALSE(fs::exists(folder() / "long.nc.part"));

  // A run killed before it has written anything leaves a part that blocks no other run.
  auto killed = start(other);
  ASSERT_TRUE(killed->wait_for([&] { return fs::exists(folder() / "long.nc.part"); })) << killed->wait().err;
  killed->signal(SIGKILL);
  killed->wait();
  EXPECT_TRUE(fs::exists(folder() / "long.nc.part"));
  EXPECT_EQ(saltus({"run", model(), "-q", "--force", "-o", "long.nc"}).code, 0);
  EXPECT_FALSE(fs::exists(folder() / "long.nc.part"));
}

TEST_F(cli, commands_that_read_results_name_what_reads_csv) {
  ASSERT_EQ(saltus({"run", model(), "-q", "-o", "x.csv"}).code, 0);
  const words commands[] = {{"show", "x.csv"}, {"zarr", "x.csv"}};
  for (const words& command : commands) {
    const auto o = saltus(command);
    EXPECT_EQ(o.code, 1) << command[0];
    EXPECT_NE(o.err.find("saltus: x.csv is a CSV file: in Python, "), std::string::npos) << command[0] << ": " << o.err;
    EXPECT_NE(o.err.find("here NetCDF files are read"), std::string::npos) << o.err;
  }
}

TEST_F(cli, a_run_does_not_write_over_what_it_reads) {
  const std::string spec = "model = \"" + model() + "\"\n[sweep]\nstiffness = { csv = \"runs.csv\", column = \"q\" }\n";
  write(folder() / "spec.toml", spec);
  write(folder() / "runs.csv", "q\n1.0\n2.0\n");
  for (const char* file : {"spec.toml", "./runs.csv"}) {
    const auto o = saltus({"run", "spec.toml", "--force", "-o", file});
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_EQ(o.err, fmt::format("saltus: output.file = \"{}\": this run reads it: give another name\n", file));
  }
  EXPECT_EQ(read(folder() / "spec.toml"), spec);
  EXPECT_EQ(read(folder() / "runs.csv"), "q\n1.0\n2.0\n");
}

/// A text of a result file, by the name of the attribute.
std::string attribute(const fs::path& path, const char* name) {
  int file = -1;
  std::size_t length = 0;
  if (nc_open(path.c_str(), NC_NOWRITE, &file) != NC_NOERR) return {};
  std::string text;
  if (nc_inq_attlen(file, NC_GLOBAL, name, &length) == NC_NOERR) {
    text.resize(length);
    nc_get_att_text(file, NC_GLOBAL, name, text.data());
  }
  nc_close(file);
  return text;
}

TEST_F(cli, a_result_says_all_that_it_was_made_from) {
  const std::string spec = "model = \"" + model() + "\"\n[sweep]\nstiffness = { csv = \"runs.csv\", column = \"q\" }\n";
  write(folder() / "it's a spec.toml", spec);
  write(folder() / "runs.csv", "q\n1.0\n2.0\n");
  ASSERT_EQ(saltus({"run", "it's a spec.toml", "-q", "--set", "rtol=1e-7", "--set", "limit=5.0", "-o", "a b.nc"}).code,
            0);
  const auto first = folder() / "a b.nc";
  EXPECT_EQ(attribute(first, "model_text"), oscillator);
  const std::string sources = attribute(first, "sources");
  for (const std::string& file : {model(), std::string("it's a spec.toml"), std::string("runs.csv")})
    EXPECT_TRUE(std::regex_search(sources, std::regex("(^|\n)[0-9a-f]{32}  " + file + "\n"))) << sources;
  EXPECT_NE(attribute(first, "settings").find("\nrtol = 1e-07\natol = 1e-07\n"), std::string::npos);
  EXPECT_EQ(attribute(first, "saltus_version") + "\n", saltus({"--version"}).out);

  // The command line in `history` runs again with the same result.
  const std::string history = attribute(first, "history");
  const std::string line = history.substr(history.find(": ") + 2);
  fs::rename(first, folder() / "first.nc");
  const auto again = child("/bin/sh", {"-c", line}, folder(), {{"SALTUS_CACHE", shared_cache()}}, {}).wait();
  EXPECT_EQ(again.code, 0) << line << "\n" << again.err;
  expect_same_bits(results(folder() / "first.nc"), results(first), line);
  for (const char* name : {"model_hash", "module_hash", "settings", "sources", "spec"})
    EXPECT_EQ(attribute(folder() / "first.nc", name), attribute(first, name)) << name;

  // The model's hash is that of its text; the module's hash covers all its inputs.
  ASSERT_EQ(saltus({"run", model(), "-q", "--method", "bs3", "-o", "other.nc"}).code, 0);
  EXPECT_EQ(attribute(folder() / "other.nc", "model_hash"), attribute(first, "model_hash"));
  EXPECT_NE(attribute(folder() / "other.nc", "module_hash"), attribute(first, "module_hash"));
  fs::create_directories(folder() / "copy");
  write(folder() / "copy/oscillator.hpp", oscillator);
  ASSERT_EQ(saltus({"run", "copy/oscillator.hpp", "-q", "-o", "copy.nc"}).code, 0);
  EXPECT_EQ(attribute(folder() / "copy.nc", "model_hash"), attribute(first, "model_hash"));
}

TEST_F(cli, a_stdout_that_cannot_be_written_is_an_error) {
  stdout_ = "/dev/full";
  for (const words& command :
       {words{"list"}, words{"describe", "relief_valve"}, words{"doctor", "--json"}, words{"run", model()}}) {
    const auto o = saltus(command);
    EXPECT_EQ(o.code, 1) << command[0];
    EXPECT_NE(o.err.find("No space left on device"), std::string::npos) << command[0] << ": " << o.err;
  }
}

TEST_F(cli, all_without_a_device_is_the_cpu_and_says_so_but_a_device_that_is_named_must_be_there) {
  const json health(saltus({"doctor", "--json"}).out);
  if (health["cuda_absent"].empty()) GTEST_SKIP() << "there is a device: " << health["cuda_device"];
  const auto o = saltus({"run", model(), "--backend", "all", "--json", "-q"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(json(o.out)["device"].find("; no CUDA device: " + health["cuda_absent"]), std::string::npos) << o.out;
  const auto named = saltus({"run", model(), "--backend", "all", "--devices", "0"});
  EXPECT_EQ(named.code, 5);
  EXPECT_EQ(named.err, "saltus: backend = \"all\": there is no device to use: " + health["cuda_absent"] + "\n");
}

TEST_F(cli, check_says_what_kernels_need_on_a_device_that_is_not_there) {
  const auto wrong = saltus({"check", "lorenz", "--cuda", "h200"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "saltus: --cuda h200: must be an architecture such as sm_90\n");
  const auto o = saltus({"check", "lorenz", "--cuda", "sm_90"});
  if (o.err.find("built without CUDA") != std::string::npos) GTEST_SKIP() << o.err;
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* kernel : {"begin", "sail", "land"})
    EXPECT_NE(o.out.find(std::string("\n  ") + kernel), std::string::npos) << o.out;
}

TEST_F(cli, cuda_without_a_device_says_why) {
  const json health(saltus({"doctor", "--json"}).out);
  if (health["cuda_absent"].empty()) GTEST_SKIP() << "there is a device: " << health["cuda_device"];
  for (const char* command : {"run", "check"}) {
    const auto o = saltus({command, model(), "--backend", "cuda", "-o", "out.nc"});
    EXPECT_EQ(o.code, 5);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "saltus: backend = \"cuda\": there is no device to use: " + health["cuda_absent"] + "\n");
  }
  EXPECT_FALSE(fs::exists(folder() / "out.nc"));
}

TEST_F(cli, a_compiler_that_is_missing_or_none_is_named) {
  const struct {
    setting settings;
    std::string err;  ///< a regular expression
  } cases[] = {
      {{{"SALTUS_CXX", "/nonexistent"}},
       "saltus: no C\\+\\+ compiler found \\(tried SALTUS_CXX = /nonexistent\\): install g\\+\\+ or clang\\+\\+, or "
       "set SALTUS_CXX to one\n"},
      {{{"SALTUS_CXX", "no-such-compiler"}},
       "saltus: no C\\+\\+ compiler found \\(tried SALTUS_CXX = no-such-compiler\\): [^\n]*\n"},
      {{{"SALTUS_CXX", on_path("false")}}, "saltus: no C\\+\\+ compiler found [^\n]*\n"},
      {{{"SALTUS_CXX", on_path("true")}},
       "saltus: [^\n]*/true compiles nothing: set SALTUS_CXX to a C\\+\\+ compiler\n"},
      {{{"SALTUS_CXX", on_path("cat")}},
       "saltus: [^\n]*/cat failed: [^\n]*/cat: [^\n]*\n  all of the compiler's output: [^\n]*\n"},
  };
  for (const auto& c : cases) {
    const auto o = saltus({"run", model()}, c.settings);
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(std::regex_match(o.err, std::regex(c.err))) << o.err;
  }
  ASSERT_EQ(saltus({"describe", model()}).code, 0);
  EXPECT_EQ(saltus({"describe", model()}, {{"PATH", ""}}).code, 0) << "a compiled module needs no tools";
}

TEST_F(cli, a_cache_that_cannot_be_written_is_named) {
  write(folder() / "file", "");
  for (const fs::path& cache : {fs::path("/proc/none"), folder() / "file", fs::path("/dev/null/cache")}) {
    const auto o = saltus({"run", model()}, {{"SALTUS_CACHE", cache}});
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.out, "");
    EXPECT_TRUE(std::regex_match(
        o.err, std::regex(fmt::format(
                   "saltus: {}: cannot create the cache folder: [^\n]* \\(set SALTUS_CACHE to a writable one\\)\n",
                   cache.string()))))
        << o.err;
  }
  // The folder exists, but no user can create a file in it, not even root.
  const auto o = saltus({"run", model()}, {{"SALTUS_CACHE", "/proc/self"}});
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(std::regex_match(
      o.err,
      std::regex(
          "saltus: /proc/self: cannot write to the cache folder: [^\n]* \\(set SALTUS_CACHE to a writable one\\)\n")))
      << o.err;
}

// A damaged or exchanged module would give a wrong result, or a signal once it is loaded.
TEST_F(cli, a_damaged_module_is_made_anew) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  write(folder() / "decay.hpp", decay);
  write(folder() / "factor.hpp", "#pragma once\ninline constexpr double factor = 1.0;\n");
  const words arguments = {"./decay.hpp", "--set", "rtol=1e-10"};
  const results sound = run(arguments, own);
  ASSERT_EQ(modules(cache), 2u) << "the description and the integrator";
  const auto files = modules_in(cache);
  const std::map<std::string, std::function<std::string(std::string)>> damages = {
      {"cut in half", [](std::string code) { return code.substr(0, code.size() / 2); }},
      {"without its last byte", [](std::string code) { return code.substr(0, code.size() - 1); }},
      {"empty", [](std::string) { return std::string(); }},
      {"one bit flipped in its code",
       [](std::string code) {
         code[code.size() / 2] = static_cast<char>(code[code.size() / 2] ^ 4);
         return code;
       }},
      {"200 bytes flipped",
       [](std::string code) {
         for (std::size_t i = 0; i < 200; ++i) code[i * (code.size() / 200)] = '\xcc';
         return code;
       }},
      {"the other one of the two", [other = std::pair(read(files[0]), read(files[1]))](
                                       std::string code) { return code == other.first ? other.second : other.first; }},
      {"a text", [](std::string) { return std::string("half of a module"); }},
  };
  for (const auto& [what, damage] : damages) {
    for (const auto& file : files) write(file, damage(read(file)));
    expect_same_bits(sound, run(arguments, own), what);
    EXPECT_EQ(modules(cache), 2u);
    EXPECT_EQ(debris(cache), words{}) << what;
  }
  // A link to a sound module elsewhere is treated like a file of another user.
  const fs::path elsewhere = folder() / "elsewhere.so";
  fs::rename(files[0], elsewhere);
  fs::create_symlink(elsewhere, files[0]);
  expect_same_bits(sound, run(arguments, own), "a link");
  EXPECT_FALSE(fs::is_symlink(files[0]));
}

TEST_F(cli, a_cache_that_somebody_else_may_write_to_is_refused) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  ASSERT_EQ(saltus({"describe", model()}, own).code, 0);
  EXPECT_EQ(fs::status(cache).permissions(), fs::perms::owner_all) << "the folder is created for this user alone";
  const auto refusal = [&](const char* why) {
    const auto o = saltus({"describe", model()}, own);
    EXPECT_EQ(o.code, 1) << why;
    EXPECT_EQ(o.out, "") << why;
    return o.err;
  };
  for (const auto others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(cache, fs::perms::owner_all | others);
    EXPECT_EQ(
        refusal("writable").find(fmt::format("saltus: {0}: others may write to this cache folder", cache.string())),
        0u);
    EXPECT_NE(refusal("writable").find(fmt::format(": chmod go-w \"{}\"", cache.string())), std::string::npos);
  }
  fs::permissions(cache, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(saltus({"describe", model()}, own).code, 0) << "the remedy";

  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown(cache.c_str(), 65534, 65534), 0);
  const auto text = refusal("of somebody else");
  EXPECT_EQ(text.find(fmt::format("saltus: {}: this cache folder belongs to nobody", cache.string())), 0u) << text;
  EXPECT_NE(text.find("set SALTUS_CACHE to a folder of your own"), std::string::npos) << text;
  ASSERT_EQ(chown(cache.c_str(), 0, 0), 0);
  // A module that another user could have replaced in the meantime is not loaded, whatever its contents.
  const auto file = modules_in(cache).at(0);
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(saltus({"describe", model()}, own).code, 0);
  struct stat about {};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0u) << "made anew";
}

TEST_F(cli, doctor_clears_the_cache_of_what_is_saltus_own) {
  const fs::path cache = folder() / "cache";
  const setting own = {{"SALTUS_CACHE", cache}};
  ASSERT_EQ(saltus({"describe", model()}, own).code, 0);
  ASSERT_EQ(saltus({"doctor"}, own).code, 0) << "compiles";
  write(cache / "notes.txt", "mine");
  fs::create_directory(cache / "folder");
  const json before(saltus({"doctor", "--json"}, own).out);
  ASSERT_GT(before.number("cache_files"), 1);
  EXPECT_EQ(before.number("cache_files"), static_cast<double>(entries(cache) - 2)) << "all files of saltus";
  const auto o = saltus({"doctor", "--clear-cache", "--json"}, own);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(json(o.out)["removed_files"], before["cache_files"]);
  EXPECT_EQ(json(o.out)["removed_bytes"], before["cache_bytes"]);
  words left = debris(cache);
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (words{"folder", "notes.txt"}));
  EXPECT_EQ(modules(cache), 0u);
  EXPECT_EQ(saltus({"describe", model()}, own).code, 0);
  EXPECT_EQ(modules(cache), 1u);
}

}  // namespace
}  // namespace command_line
