// Every call into the system that writes a result may fail, be cut short or be the last of its process: afterwards the result is
// complete and right, or is not there, and the same command makes it so.
//
// SALTUS_FAULTS: how many calls of each function are tried in each way, spread evenly over the run; 0: every one.
#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "variables_of.hpp"

namespace {

using namespace command_line;

class Faults : public cli {
 protected:
  /// A short run with all that is kept of instances, and a journal from the beginning.
  words line() const {
    words all = whole_line();
    if (shares_) all.push_back("--share");
    return all;
  }
  words whole_line() const {
    return {"run",
            "bouncing_ball",
            "-q",
            "--threads",
            "2",
            "--seed",
            "5",
            "-n",
            "600",
            "--set",
            "sample.restitution={uniform=[0.3, 0.9]}",
            "--set",
            "t=[0.0, 3.0]",
            "--set",
            "output={samples={count=5}, events=true, statistics=true}",
            "--set",
            "run={chunk=100, checkpoint=0.0001, order=\"id\"}",
            "-o",
            "a.nc"};
  }
  outcome run_with(const std::string& call, long at, const std::string& how, int error) const {
    return saltus(line(), {{"LD_PRELOAD", SALTUS_FAILING_CALLS},
                           {"FAULT_CALL", call},
                           {"FAULT_AT", std::to_string(at)},
                           {"FAULT_HOW", how},
                           {"FAULT_ERRNO", std::to_string(error)},
                           {"FAULT_COUNT", folder() / "count"}});
  }
  void clean() const {
    for (const auto& entry : fs::directory_iterator(folder())) fs::remove_all(entry.path());
  }
  /// Nothing, or what a run has left that was killed in its middle.
  void begin(bool continued) const {
    clean();
    if (!continued) return;
    EXPECT_EQ(run_with("pwrite", 70, "kills", 0).signal, SIGKILL);
    EXPECT_TRUE(fs::exists(folder() / "a.nc.journal" / "run.json"));
    fs::remove(folder() / "count");
  }
  long calls_of(const std::string& call, bool continued) const {
    begin(continued);
    EXPECT_EQ(run_with(call, 0, "fails", EIO).code, 0);
    return fs::exists(folder() / "count") ? static_cast<long>(fs::file_size(folder() / "count")) : 0;
  }
  bool shares_ = false;  ///< the run, with others, of whom there are none

  static long asked() {
    const char* text = std::getenv("SALTUS_FAULTS");
    return text ? std::atol(text) : 3;
  }
};

using variables = std::map<std::string, std::string>;

struct fault {
  const char *call, *how;
  int error;
  bool when_continued = false;  ///< in a run that goes on with what another one has left
};

/// Memory that is limited, in MiB: too little for the program to begin, or to compile its plan, or its chunks; or enough.
TEST_F(Faults, OfMemoryAreTold) {
  ASSERT_EQ(saltus(line()).code, 0) << "compiles";
  const variables whole = variables_of(folder() / "a.nc");
  int ended = 0, went_well = 0;
  for (const int limit : {100, 160, 220, 280, 340, 400, 500, 700, 2000}) {
    clean();
    std::string command = fmt::format("ulimit -v {}; exec {}", limit * 1024, SALTUS_PROGRAM);
    for (const auto& word : line()) command += " '" + word + "'";
    const setting settings{{"SALTUS_CACHE", shared_cache()}, {"SALTUS_MEASURE", "never"}};
    const auto o = child("/bin/sh", {"-c", command}, folder(), settings, "").wait();
    EXPECT_EQ(o.signal, 0) << limit << "\n" << o.err;
    EXPECT_TRUE(o.code == 0 || !o.err.empty()) << limit;
    const bool is_there = fs::exists(folder() / "a.nc");
    EXPECT_EQ(is_there, o.code == 0) << limit << "\n" << o.err;
    (is_there ? went_well : ended) += 1;
    if (!is_there) { EXPECT_EQ(saltus(line()).code, 0) << limit; }
    EXPECT_EQ(whole, variables_of(folder() / "a.nc")) << limit;
  }
  EXPECT_GT(ended, 0);
  EXPECT_GT(went_well, 0);
}

/// A file system that is small: too small for the journal, for the result beside it, or for neither.
TEST_F(Faults, OfASmallFileSystemAreTold) {
  ASSERT_EQ(saltus(line()).code, 0) << "compiles";
  const variables whole = variables_of(folder() / "a.nc");
  const fs::path small = folder() / "small";
  fs::create_directory(small);
  words here = line();
  here.back() = "small/a.nc";
  for (const char* size : {"size=16k", "size=128k", "size=400k", "size=8m"}) {
    if (::mount("tmpfs", small.c_str(), "tmpfs", 0, size) != 0) GTEST_SKIP() << "only root may mount a file system";
    const auto o = saltus(here);
    EXPECT_TRUE(o.code == 0 || (o.code == 1 && o.err.find("No space left on device") != o.err.npos) ||
                o.err.find(" are free in small") != o.err.npos)
        << size << ": " << o.code << " " << o.err;
    EXPECT_EQ(o.code == 0, fs::exists(small / "a.nc")) << size;
    EXPECT_EQ(o.code == 0, std::string(size) == "size=8m") << size;
    if (o.code == 0) { EXPECT_EQ(whole, variables_of(small / "a.nc")); }
    EXPECT_EQ(::umount(small.c_str()), 0);
  }
}

/// The time of day may be set while a run lasts: limits and intervals are of clocks that only run forward.
TEST_F(Faults, OfTheTimeOfDayDoNoHarm) {
  ASSERT_EQ(saltus(line()).code, 0);
  const variables whole = variables_of(folder() / "a.nc");
  fs::remove(folder() / "a.nc");
  auto limited = line();
  limited.insert(limited.end(), {"--time-limit", "1h"});
  const auto o = saltus(limited, {{"LD_PRELOAD", SALTUS_FAILING_CALLS},
                                  {"FAULT_CALL", "clock"},
                                  {"FAULT_HOW", "lasts"},
                                  {"FAULT_AT", "1"},
                                  {"FAULT_COUNT", folder() / "count"}});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(whole, variables_of(folder() / "a.nc"));
}

/// Leases are files, too.
TEST_F(Faults, OfARunThatSharesLeaveItToBeContinued) {
  ASSERT_EQ(saltus(line()).code, 0) << "compiles";
  const variables whole = variables_of(folder() / "a.nc");
  shares_ = true;
  long ended = 0;
  for (const auto& [call, how, error, continued] : std::vector<fault>{{"write", "fails", ENOSPC},
                                                                      {"write", "kills", 0},
                                                                      {"pwrite", "fails", ENOSPC},
                                                                      {"pwrite", "kills", 0},
                                                                      {"mkdir", "fails", ENOSPC},
                                                                      {"rename", "fails", EACCES},
                                                                      {"rename", "kills", 0},
                                                                      {"unlink", "kills", 0},
                                                                      {"pthread_create", "fails", EAGAIN}}) {
    const long all = calls_of(call, continued), some = std::min(all, asked() > 0 ? asked() : all);
    for (long i = 0; i < some; ++i) {
      const long at = 1 + (2 * i + 1) * all / (2 * some);
      const std::string what = fmt::format("{} {} at call {} of {}", call, how, at, all);
      begin(continued);
      const auto o = run_with(call, at, how, error);
      const bool is_there = fs::exists(folder() / "a.nc");
      ended += !is_there;
      EXPECT_TRUE(is_there || o.code != 0) << what;
      if (is_there) { EXPECT_EQ(whole, variables_of(folder() / "a.nc")) << what << "\n" << o.err; }
      const auto again = saltus(line());
      EXPECT_EQ(again.code, 0) << what << "\n" << o.err << "then\n" << again.err;
      EXPECT_EQ(whole, variables_of(folder() / "a.nc")) << what << "\n" << o.err << "then\n" << again.err;
      EXPECT_FALSE(fs::exists(folder() / "a.nc.journal")) << what;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(ended, 5);
}

TEST_F(Faults, LeaveTheResultRightOrToBeContinued) {
  ASSERT_EQ(saltus(line()).code, 0) << "compiles";
  const variables whole = variables_of(folder() / "a.nc");
  ASSERT_GT(whole.size(), 20u);
  const std::vector<fault> faults = {
      {"write", "fails", ENOSPC},   {"write", "is_cut", ENOSPC},     {"write", "kills", 0},
      {"pwrite", "fails", ENOSPC},  {"pwrite", "is_cut", ENOSPC},    {"pwrite", "lasts", ENOSPC},
      {"pwrite", "kills", 0},       {"fsync", "fails", EIO},         {"fsync", "kills", 0},
      {"fdatasync", "fails", EIO},  {"fdatasync", "kills", 0},       {"ftruncate", "fails", EIO},
      {"ftruncate", "kills", 0},    {"fallocate", "fails", ENOSPC},  {"fallocate", "kills", 0},
      {"rename", "fails", EACCES},  {"rename", "kills", 0},          {"link", "fails", EPERM},
      {"unlink", "fails", EACCES},  {"unlink", "kills", 0},          {"mkdir", "fails", ENOSPC},
      {"mkdir", "kills", 0},        {"pread", "fails", EIO, true},   {"pread", "is_cut", EIO, true},
      {"mmap", "fails", ENOMEM},    {"malloc", "fails", ENOMEM},     {"pthread_create", "fails", EAGAIN},
      {"pwrite", "kills", 0, true}, {"fdatasync", "kills", 0, true}, {"ftruncate", "fails", EIO, true},
      {"rename", "kills", 0, true}, {"unlink", "kills", 0, true},    {"malloc", "fails", ENOMEM, true}};
  std::map<std::string, long> calls;  // "when continued" behind the names of those
  long tried = 0, harmless = 0, ended = 0, complete = 0;
  for (const auto& [call, how, error, continued] : faults) {
    const std::string in_run = std::string(call) + (continued ? " when continued" : "");
    if (!calls.count(in_run)) calls[in_run] = calls_of(call, continued);
    // Of many thousands of calls of malloc, a thousand.
    const long all = calls[in_run], most = asked() > 0 ? asked() : 1000, some = std::min(all, most);
    for (long i = 0; i < some; ++i) {
      const long at = 1 + (2 * i + 1) * all / (2 * some);
      const std::string what = fmt::format("{} {} at call {} of {}", in_run, how, at, all);
      begin(continued);
      const auto o = run_with(call, at, how, error);
      ++tried;
      const bool is_there = fs::exists(folder() / "a.nc");
      EXPECT_TRUE(is_there || o.code != 0) << what;
      EXPECT_TRUE(o.code == 0 || o.signal != 0 || !o.err.empty()) << what << ": says nothing";
      if (is_there) { EXPECT_EQ(whole, variables_of(folder() / "a.nc")) << what << "\n" << o.err; }
      (o.code == 0 ? harmless : is_there ? complete : ended) += 1;
      const auto again = saltus(line());
      EXPECT_EQ(again.code, is_there ? 2 : 0) << what << "\n" << o.err << "then\n" << again.err;
      EXPECT_EQ(whole, variables_of(folder() / "a.nc")) << what << "\n" << o.err << "then\n" << again.err;
      EXPECT_FALSE(fs::exists(folder() / "a.nc.journal")) << what;
      if (HasFailure()) return;
    }
  }
  std::string counts;
  for (const auto& [call, n] : calls) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, call);
  fmt::print(
      "{} faults: {} did no harm, {} ended the run and were made good by the next, {} came when the result was "
      "complete; calls of a run: {}\n",
      tried, harmless, ended, complete, counts);
  EXPECT_GT(ended, tried / 4);
}

}  // namespace
