// Every system call that writes a result may fail, be cut short or be the last of its process. Afterwards the result is complete and right,
// or it does not exist and the same command makes it.
//
// SALTUS_FAULTS: number of calls of each function tried in each way, spread evenly over the run; 0: all calls.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "preloaded/recording.hpp"
#include "variables_of.hpp"

namespace {

using namespace command_line;

using variables = std::map<std::string, std::string>;

struct fault {
  const char *call, *how;
  int error;
  bool when_continued = false;  ///< in a run that continues from what another one has left
};

class Faults : public cli {
 protected:
  /// A short run with everything that is kept of instances, and a journal from the beginning.
  words line() const {
    words all{"run",
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
              "run={chunk=100, checkpoint=0.0001, order=\"id\", lease=0.3}"};
    if (file_.ends_with(".csv")) all.insert(all.end(), {"--set", "output={reduce=\"max(height)\"}"});
    all.insert(all.end(), {"-o", file_});
    if (shares_) all.insert(all.end(), {"--share", "-n", "60"});  // each batch has its own lease
    return all;
  }
  outcome run_with(const std::string& call, long at, const std::string& how, int error) const {
    return saltus(line(), {{"LD_PRELOAD", SALTUS_FAILING_CALLS},
                           {"FAULT_CALL", call},
                           {"FAULT_AT", std::to_string(at)},
                           {"FAULT_HOW", how},
                           {"FAULT_ERRNO", std::to_string(error)},
                           {"FAULT_COUNT", folder() / "count"}});
  }
  /// Runs with malloc failing once, at its first call in this way; 0: without failure, but with all ways recorded.
  outcome run_along(unsigned long long way) const {
    return saltus(line(), {{"LD_PRELOAD", SALTUS_FAILING_CALLS},
                           {"FAULT_CALL", "malloc"},
                           {"FAULT_WAYS", folder() / "ways"},
                           {"FAULT_WAY", std::to_string(way)},
                           {"FAULT_ERRNO", std::to_string(ENOMEM)}});
  }
  std::vector<unsigned long long> known_ways() const {
    std::ifstream file(folder() / "ways", std::ios::binary);
    std::vector<unsigned long long> all;
    for (unsigned long long way; file.read(reinterpret_cast<char*>(&way), sizeof way);) all.push_back(way);
    return all;
  }
  /// Runs the program under another one.
  outcome run_as(const std::string& starter, const words& arguments) const {
    return child(starter, arguments, folder(), {{"SALTUS_CACHE", shared_cache()}}, "").wait();
  }
  void clean() const {
    for (const auto& entry : fs::directory_iterator(folder())) fs::remove_all(entry.path());
  }
  /// Makes an empty folder, or the files of a run that was killed in its middle.
  void begin(bool continued) const {
    clean();
    if (!continued) return;
    EXPECT_EQ(run_with("pwrite", 70, "kills", 0).signal, SIGKILL);
    EXPECT_TRUE(fs::exists(folder() / (file_ + ".journal") / "run.json"));
    fs::remove(folder() / "count");
  }
  long calls_of(const std::string& call, bool continued) const {
    begin(continued);
    EXPECT_EQ(run_with(call, 0, "fails", EIO).code, 0);
    return fs::exists(folder() / "count") ? static_cast<long>(fs::file_size(folder() / "count")) : 0;
  }
  static long asked() {
    const char* text = std::getenv("SALTUS_FAULTS");
    return text ? std::atol(text) : 3;
  }

  /// The result of an undisturbed run.
  variables whole() const {
    EXPECT_EQ(saltus(line()).code, 0) << "compiles";
    return variables_of(folder() / file_);
  }
  /// Checks that the files after a run are right, or that the same command makes a missing result.
  void expect_right_now_or_by_the_next(const variables& whole, const outcome& o, const std::string& what) const {
    const bool is_there = fs::exists(folder() / file_);
    EXPECT_TRUE(is_there || o.code != 0) << what;
    EXPECT_TRUE(o.code == 0 || o.signal != 0 || !o.err.empty()) << what << ": no message";
    if (is_there) { EXPECT_EQ(differing(whole, variables_of(folder() / file_)), "") << what << "\n" << o.err; }
    const auto again = saltus(line());
    EXPECT_EQ(again.code, is_there && !shares_ ? 2 : 0) << what << "\n" << o.err << "then\n" << again.err;
    EXPECT_EQ(differing(whole, variables_of(folder() / file_)), "") << what << "\n" << o.err << "then\n" << again.err;
    EXPECT_FALSE(fs::exists(folder() / (file_ + ".journal"))) << what;
  }
  /// Tries all faults and prints statistics.
  void try_all(const std::vector<fault>& faults) const;

  std::string file_ = "a.nc";
  bool shares_ = false;  ///< the run shares its work, with no other runs present
};

void Faults::try_all(const std::vector<fault>& faults) const {
  const variables right = whole();
  ASSERT_GT(right.size(), 20u);
  std::map<std::string, long> calls;  // names of continued runs end in "when continued"
  long tried = 0, harmless = 0, ended = 0, complete = 0;
  for (const auto& [call, how, error, continued] : faults) {
    const std::string in_run = std::string(call) + (continued ? " when continued" : "");
    if (!calls.count(in_run)) calls[in_run] = calls_of(call, continued);
    // A thousand of the many thousands of calls of malloc.
    const long all = calls[in_run], most = asked() > 0 ? asked() : 1000, some = std::min(all, most);
    for (long i = 0; i < some; ++i) {
      const long at = 1 + (2 * i + 1) * all / (2 * some);
      begin(continued);
      const auto o = run_with(call, at, how, error);
      const bool is_there = fs::exists(folder() / file_);
      ++tried, (o.code == 0 ? harmless : is_there ? complete : ended) += 1;
      expect_right_now_or_by_the_next(right, o, fmt::format("{} {} at call {} of {}", in_run, how, at, all));
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

TEST_F(Faults, LeaveTheResultRightOrToBeContinued) {
  try_all({{"write", "fails", ENOSPC},   {"write", "is_cut", ENOSPC},     {"write", "kills", 0},
           {"pwrite", "fails", ENOSPC},  {"pwrite", "is_cut", ENOSPC},    {"pwrite", "lasts", ENOSPC},
           {"pwrite", "kills", 0},       {"fsync", "fails", EIO},         {"fsync", "kills", 0},
           {"fdatasync", "fails", EIO},  {"fdatasync", "kills", 0},       {"ftruncate", "fails", EIO},
           {"ftruncate", "kills", 0},    {"fallocate", "fails", ENOSPC},  {"fallocate", "kills", 0},
           {"rename", "fails", EACCES},  {"rename", "kills", 0},          {"link", "fails", EPERM},
           {"unlink", "fails", EACCES},  {"unlink", "kills", 0},          {"mkdir", "fails", ENOSPC},
           {"mkdir", "kills", 0},        {"pread", "fails", EIO, true},   {"pread", "is_cut", EIO, true},
           {"mmap", "fails", ENOMEM},    {"malloc", "fails", ENOMEM},     {"pthread_create", "fails", EAGAIN},
           {"pwrite", "kills", 0, true}, {"fdatasync", "kills", 0, true}, {"ftruncate", "fails", EIO, true},
           {"rename", "kills", 0, true}, {"unlink", "kills", 0, true},    {"malloc", "fails", ENOMEM, true}});
}

TEST_F(Faults, OfCsvFilesToo) {
  file_ = "a.csv";
  try_all({{"write", "fails", ENOSPC},
           {"write", "is_cut", ENOSPC},
           {"write", "kills", 0},
           {"pwrite", "kills", 0},
           {"fsync", "fails", EIO},
           {"ftruncate", "fails", EIO},
           {"ftruncate", "kills", 0},
           {"rename", "fails", EACCES},
           {"rename", "kills", 0},
           {"unlink", "kills", 0}});
}

/// Files as a power failure may leave them: for each inode, the bytes written and the bytes on the disk, and likewise for the names.
class disk {
 public:
  void apply(const recorded_call& call, const std::string& name, const std::string& other, const std::string& bytes) {
    switch (call.what) {
      case 'c': written_[name] = call.inode; break;
      case 'm': written_[name] = 0; break;
      case 'w': {
        std::string& file = now_[call.inode];
        const auto at = static_cast<std::size_t>(call.at);
        file.resize(std::max(file.size(), at + bytes.size()));
        file.replace(at, bytes.size(), bytes);
        break;
      }
      case 't': now_[call.inode].resize(static_cast<std::size_t>(call.at)); break;
      case 's': kept_[call.inode] = now_[call.inode]; break;
      case 'D':
        std::erase_if(lasting_, [&](const auto& one) { return folder_of(one.first) == name; });
        for (const auto& one : written_)
          if (folder_of(one.first) == name) lasting_.insert(one);
        break;
      case 'r':
        written_[other] = written_.at(name);
        written_.erase(name);
        break;
      case 'l': written_[other] = written_.at(name); break;
      case 'u': written_.erase(name); break;
    }
  }

  enum class left { all, synced, zeros, synced_names };
  /// The state after a power failure: everything (only the process has ended); the bytes on the disk, or zeros in place of the others; or
  /// also only the names on the disk.
  std::map<std::string, std::string> after(left how) const {
    std::map<std::string, std::string> files;
    for (const auto& [name, inode] : how == left::synced_names ? lasting_ : written_) {
      const auto in = [&](const auto& all) { return all.contains(inode) ? all.at(inode) : std::string(); };
      std::string content = in(how == left::all ? now_ : kept_);
      if (how == left::zeros) content.resize(in(now_).size());
      files[name] = inode == 0 ? "folder" : content;
    }
    // The contents of a folder that does not exist do not exist either.
    std::erase_if(
        files, [&](const auto& one) { return !folder_of(one.first).empty() && !files.contains(folder_of(one.first)); });
    return files;
  }

 private:
  static std::string folder_of(const std::string& name) {
    const auto slash = name.rfind('/');
    return slash == name.npos ? std::string() : name.substr(0, slash);
  }
  std::map<std::string, unsigned long long> written_, lasting_;  ///< names; 0 denotes a folder
  std::map<unsigned long long, std::string> now_, kept_;
};

/// If any call that changes files is the last before a power failure, with any state of the disk, the same command makes the bits of an
/// undisturbed run, or the result exists and has these bits.
TEST_F(Faults, OfPowerLeaveNothingThatIsTakenForWhatItIsNot) {
  const variables right = whole();
  clean();
  const fs::path recording = workplace() / "recording";
  ASSERT_EQ(saltus(line(), {{"LD_PRELOAD", SALTUS_RECORDED_CALLS}, {"RECORDING", recording}}).code, 0);
  ASSERT_EQ(differing(right, variables_of(folder() / "a.nc")), "");
  const std::string all = read(recording);
  disk files;
  std::set<std::map<std::string, std::string>> states;
  long calls = 0, syncs = 0;
  for (std::size_t at = 0; at < all.size(); ++calls) {
    recorded_call call{};
    std::memcpy(&call, all.data() + at, sizeof call);
    at += sizeof call;
    const auto take = [&](std::size_t size) {
      at += size;
      return all.substr(at - size, size);
    };
    const std::string name = take(call.name), other = take(call.other), bytes = take(call.bytes);
    files.apply(call, name, other, bytes);
    syncs += call.what == 's' || call.what == 'D';
    for (const auto how : {disk::left::all, disk::left::synced, disk::left::zeros, disk::left::synced_names})
      states.insert(files.after(how));
  }
  ASSERT_GT(calls, 50);
  ASSERT_GT(syncs, 8);
  const auto most = static_cast<std::size_t>(asked() > 0 ? 40 * asked() : 1000000);
  std::size_t tried = 0, made = 0, there = 0, number = 0;
  for (const auto& state : states) {
    const auto part = number++ * most / states.size();
    if (states.size() > most && part == number * most / states.size()) continue;  // spread evenly over them
    clean();
    for (const auto& [name, content] : state) {
      if (content == "folder") fs::create_directories(folder() / name);
      else write(folder() / name, content);
    }
    const auto o = saltus(line());
    std::string names;
    for (const auto& [name, content] : state) names += fmt::format(" {} ({} bytes)", name, content.size());
    ++tried;
    if (o.code == 2 && o.err.find("a.nc\": it exists") != o.err.npos) ++there;
    else if (o.code == 0) ++made;
    else FAIL() << o.code << ": " << o.err << "of" << names;
    ASSERT_EQ(differing(right, variables_of(folder() / "a.nc")), "") << o.err << "of" << names;
  }
  fmt::print(
      "{} calls, {} of them put something on the disk: {} states, of {} tried {} were gone on with, and in {} the "
      "result was "
      "there\n",
      calls, syncs, states.size(), tried, made, there);
}

/// Leases are files, too, and are covered as well.
TEST_F(Faults, OfARunThatSharesLeaveItToBeContinued) {
  shares_ = true;
  try_all({{"write", "fails", ENOSPC},
           {"write", "kills", 0},
           {"pwrite", "fails", ENOSPC},
           {"pwrite", "kills", 0},
           {"mkdir", "fails", ENOSPC},
           {"rename", "fails", EACCES},
           {"rename", "kills", 0},
           {"unlink", "kills", 0},
           {"pthread_create", "fails", EAGAIN}});
}

/// malloc has many thousands of calls from some hundreds of places: the test fails the first call from each chain of callers.
TEST_F(Faults, OfMallocWhereverItIsCalledFromAreMadeGood) {
  const variables right = whole();
  long tried = 0, harmless = 0, ended = 0, complete = 0;
  for (const bool continued : {false, true}) {
    begin(continued);
    EXPECT_EQ(run_along(0).code, 0);
    auto ways = known_ways();
    ASSERT_GT(ways.size(), 100u);
    const std::size_t step =
        asked() > 0 ? std::max<std::size_t>(ways.size() / static_cast<std::size_t>(asked()), 1) : 1;
    for (std::size_t i = step / 2; i < ways.size(); i += step) {
      begin(continued);
      const auto o = run_along(ways[i]);
      ++tried, (o.code == 0 ? harmless : fs::exists(folder() / "a.nc") ? complete : ended) += 1;
      expect_right_now_or_by_the_next(right, o, fmt::format("way {} of {}: {}", i, ways.size(), ways[i]));
      if (HasFailure()) return;
    }
  }
  fmt::print(
      "{} faults of malloc, each way in which it is called: {} did no harm, {} ended the run and were made good by the "
      "next, {} came when "
      "the result was complete\n",
      tried, harmless, ended, complete);
  EXPECT_GT(ended, 0);
}

/// Too little memory for the program to begin, for its threads, for its chunks, for the library of its result: the limit decreases from the
/// least amount that is enough.
TEST_F(Faults, OfMemoryAreTold) {
  const variables right = whole();
  std::map<int, std::string> messages;
  const auto run_in = [&](int kibibytes) {
    clean();
    words limited{"-c", "ulimit -v \"$0\" && exec \"$@\"", std::to_string(kibibytes), SALTUS_PROGRAM};
    for (const auto& word : line()) limited.push_back(word);
    const auto o = run_as("/bin/sh", limited);
    // HDF5 1.10.8 frees memory that it was not given (H5FL_blk_free): this crash is not one of saltus.
    EXPECT_TRUE(o.signal == 0 || o.signal == SIGSEGV) << o.signal << " at " << kibibytes << "\n" << o.err;
    if (o.code != 0 && o.signal == 0) messages[kibibytes] = o.err;
    expect_right_now_or_by_the_next(right, o, fmt::format("{} KiB", kibibytes));
    return o.code == 0;
  };
  int too_little = 16 << 10, enough = 4 << 20;
  EXPECT_FALSE(run_in(too_little));
  EXPECT_TRUE(run_in(enough));
  while (enough - too_little > 64) {
    const int between = (too_little + enough) / 2;
    (run_in(between) ? enough : too_little) = between;
  }
  for (int less = 64; less <= 32 << 10; less += less / 2) run_in(enough - less);
  for (const auto& [kibibytes, message] : messages)
    EXPECT_TRUE(std::regex_search(
        message,
        std::regex("not enough memory|no thread can be started|lack of memory|too little memory|Cannot allocate memory|"
                   "^out of memory|loading shared libraries")))  // the latter two come from the loader
        << kibibytes << ": " << message;
}

/// A separate file system for the result: without room for it, with room for it but not for a journal, read-only, or large enough.
/// It ends with its process. Only a user with the right to mount can run this test.
TEST_F(Faults, OfTheFileSystemAreTold) {
  const variables right = whole();
  struct {
    const char *options, *message;
  } const all[] = {{"size=16k", "16.4 kB are free in small"},
                   {"size=400k", "cannot write small/a.nc.journal: No space left on device"},
                   {"ro", "cannot write small/a.nc.journal: Read-only file system"},
                   {"size=8m", nullptr}};
  for (const auto& [options, message] : all) {
    clean();
    fs::create_directories(folder() / "small");
    words mounted{"--map-root-user",
                  "--mount",
                  "/bin/sh",
                  "-c",
                  "mount -t tmpfs -o \"$0\" none small || exit 99; \"$@\"; code=$?; cp -r small kept; exit $code",
                  options,
                  SALTUS_PROGRAM};
    for (const auto& word : line()) mounted.push_back(word == "a.nc" ? "small/a.nc" : word);
    const auto o = run_as(on_path("unshare"), mounted);
    if (o.err.starts_with("unshare: ") || o.code == 99) GTEST_SKIP() << "no right to mount: " << o.err;
    EXPECT_EQ(o.code, message ? 1 : 0) << options << "\n" << o.err;
    if (message) { EXPECT_NE(o.err.find(message), o.err.npos) << options << "\n" << o.err; }
    EXPECT_EQ(fs::exists(folder() / "kept" / "a.nc"), message == nullptr) << options;
    if (!message) { EXPECT_EQ(differing(right, variables_of(folder() / "kept" / "a.nc")), ""); }
  }
}

/// The time of day may be set during a run: limits, intervals and ages of leases use monotonic clocks.
TEST_F(Faults, OfTheTimeOfDayDoNoHarm) {
  for (const bool shares : {false, true}) {
    shares_ = shares;
    clean();
    const variables right = whole();
    clean();
    auto limited = line();
    limited.insert(limited.end(), {"--time-limit", "1h"});
    const auto o = saltus(limited, {{"LD_PRELOAD", SALTUS_FAILING_CALLS},
                                    {"FAULT_CALL", "clock"},
                                    {"FAULT_HOW", "lasts"},
                                    {"FAULT_AT", "1"},
                                    {"FAULT_COUNT", folder() / "count"}});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(differing(right, variables_of(folder() / "a.nc")), "");
    EXPECT_TRUE(fs::exists(folder() / "count") && fs::file_size(folder() / "count") > 0) << "the clock is read";
  }
}

/// The second of two runs of one file reports an error and leaves it alone.
TEST_F(Faults, OfTwoRunsOfOneFileAreTold) {
  auto slowly = line();
  slowly.insert(slowly.end(), {"--set", "max_events=1e15", "--set", "max_steps=1e15", "--set",
                               "sample.restitution={uniform=[0.9999, 1.0]}", "--set", "t=[0.0, 1e6]"});
  auto first = start(slowly);
  ASSERT_TRUE(first->wait_for([&] { return fs::exists(folder() / "a.nc.journal" / "run.json"); })) << first->wait().err;
  for (const auto& second : {slowly, line()}) {
    const auto o = saltus(second);
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.err,
              "saltus: cannot write a.nc.journal: another run is writing it: wait for it, or give another name with -o "
              "FILE\n");
  }
  EXPECT_TRUE(first->runs());
  first->signal(SIGTERM);
  EXPECT_EQ(first->wait().code, 143);
  EXPECT_TRUE(fs::exists(folder() / "a.nc.journal" / "run.json"));
}

}  // namespace
