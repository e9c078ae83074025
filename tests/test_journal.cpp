// The journal of a run: after any interruption at any place, the same command continues, and the result has the bits of an
// undisturbed run.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/show_command.hpp"
#include "result/journal.hpp"
#include "result/reader.hpp"
#include "study/prepare.hpp"
#include "study/run.hpp"
#include "variables_of.hpp"

namespace saltus::host {
namespace {

namespace fs = std::filesystem;

class Journal : public testing::Test {
 protected:
  Journal() {
    folder_ = fs::temp_directory_path() / ("saltus_journal_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Journal() override { fs::remove_all(folder_); }

  fs::path file(const char* name) const { return folder_ / name; }

  /// 1000 balls with rows, samples, events and statistics, in chunks that are not multiples of a block.
  std::vector<flag> flags(const fs::path& to, std::vector<flag> more = {}) const {
    std::vector<flag> all{{"--set", "sample={count=1000, seed=3, restitution={uniform=[0.3, 0.9]}}"},
                          {"--set", "t=[0.0, 3.0]"},
                          {"--set",
                           "output={samples={count=7}, events=true, statistics=true, reduce=[\"max(height)\"], "
                           "histogram={t_final={from=0.0, to=3.0, bins=5}}}"},
                          {"--set", "run={chunk=100, threads=2, checkpoint=0.001}"},
                          {"-o", to.string()}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Runs, and is cancelled when `instances` have ended; a negative number means no cancellation.
  run_report run_to(const fs::path& to, int instances = -1, const std::vector<flag>& more = {}, run_options how = {}) {
    const cancellation stop;
    run_listener listener;
    std::atomic<std::int64_t> ended{0};
    listener.progress = [&](std::int64_t some) {
      if ((ended += some) >= instances && instances >= 0) stop.cancel();
    };
    listener.say = [&](const std::string& text) { said_ += text; };
    return run(plan_of({"bouncing_ball", flags(to, more)}), how, stop, listener);
  }

  fs::path folder_;
  std::string said_;
};

TEST_F(Journal, ARunThatIsCutShortGoesOnWithTheSameBits) {
  run_to(file("whole.nc"));
  EXPECT_FALSE(fs::exists(journal::folder_of(file("whole.nc")))) << "a complete result needs no journal";
  const auto whole = variables_of(file("whole.nc"));
  const auto cut = run_to(file("cut.nc"), 250);
  EXPECT_EQ(exit_interrupted, cut.exit_code);
  EXPECT_EQ(journal::folder_of(file("cut.nc")), cut.journal);
  EXPECT_FALSE(fs::exists(file("cut.nc")));
  const auto again = run_to(file("cut.nc"), 600);
  EXPECT_GE(again.continued, 200);
  EXPECT_FALSE(fs::exists(file("cut.nc")));
  const auto last = run_to(file("cut.nc"));
  EXPECT_GT(last.continued, again.continued);
  EXPECT_EQ(exit_ok, last.exit_code);
  EXPECT_EQ(1000, last.summary.counts.ok());
  EXPECT_EQ(whole, variables_of(file("cut.nc")));
  EXPECT_FALSE(fs::exists(last.what.file + ".journal"));
  EXPECT_FALSE(fs::exists(last.what.file + ".part"));
}

TEST_F(Journal, LinesOfACsvFileGoOnToo) {
  const auto to = [&](const char* name) -> std::vector<flag> {
    return {{"--set", "output={reduce=\"max(height)\"}"}, {"-o", file(name).string()}};
  };
  run_to(file("whole.csv"), -1, to("whole.csv"));
  EXPECT_EQ(exit_interrupted, run_to(file("cut.csv"), 250, to("cut.csv")).exit_code);
  EXPECT_FALSE(fs::exists(file("cut.csv")));
  const auto last = run_to(file("cut.csv"), -1, to("cut.csv"));
  EXPECT_GE(last.continued, 100);
  EXPECT_EQ(read_file(file("whole.csv")), read_file(file("cut.csv")));
  EXPECT_FALSE(fs::exists(file("cut.csv.journal")) || fs::exists(file("cut.csv.part")));
  run_options limited;
  limited.time_limit = 1e-3;
  EXPECT_EQ(exit_time_limit, run_to(file("late.csv"), -1, to("late.csv"), limited).exit_code);
  EXPECT_EQ(exit_ok, run_to(file("late.csv"), -1, to("late.csv")).exit_code);
  EXPECT_EQ(read_file(file("whole.csv")), read_file(file("late.csv")));
}

TEST_F(Journal, OfPartsMakesACsvFile) {
  const auto lines = [&](const fs::path& to) -> std::vector<flag> {
    return {{"--set", "output={reduce=\"max(height)\"}"}, {"-o", to.string()}};
  };
  const auto run_part = [&](const char* name, const char* part, int instances = -1) {
    run_options how;
    how.mode = one_part(part_called(part));
    return run_to(file(name), instances, lines(file(name)), how);
  };
  const auto refused = [&](const std::string& words, auto&& what) {
    try {
      what();
      ADD_FAILURE() << words;
    } catch (const error& e) {
      EXPECT_EQ(exit_usage, e.exit_code);
      EXPECT_NE(std::string::npos, std::string(e.what()).find(words)) << e.what();
    }
  };
  run_to(file("whole.csv"), -1, lines(file("whole.csv")));
  const std::string whole = read_file(file("whole.csv"));
  run_options gather, some, samples;
  gather.mode = gathering();

  // Parts at the same time, one of which is cut short; then what there is so far, the rest, and the whole.
  {
    std::vector<std::jthread> all;
    for (const char* part : {"1/3", "2/3", "3/3"})
      all.emplace_back([&, part] {
        const cancellation stop;
        run_listener listener;
        if (part[0] == '2') listener.progress = [&](std::int64_t) { stop.cancel(); };
        run_options how;
        how.mode = one_part(part_called(part));
        run(plan_of({"bouncing_ball", flags(file("a.csv"), lines(file("a.csv")))}), how, stop, listener);
      });
  }
  EXPECT_FALSE(fs::exists(file("a.csv")));
  EXPECT_THROW(run_to(file("a.csv"), -1, lines(file("a.csv")), gather), error) << "part 2 has not ended";
  some.mode = so_far_into(file("some.csv").string());
  run_to(file("a.csv"), -1, lines(file("a.csv")), some);
  std::istringstream known(read_file(file("some.csv")));
  std::int64_t not_run = 0, as_whole = 0;
  for (std::string line; std::getline(known, line);) {
    not_run += line.find(",not_run,") != line.npos;
    as_whole += whole.find(line + '\n') != whole.npos;
  }
  EXPECT_EQ(1001, not_run + as_whole);
  EXPECT_GT(not_run, 100);
  EXPECT_GT(as_whole, 600);
  EXPECT_EQ(exit_ok, run_part("a.csv", "2/3").exit_code);
  EXPECT_EQ(exit_ok, run_to(file("a.csv"), -1, lines(file("a.csv")), gather).exit_code);
  EXPECT_EQ(whole, read_file(file("a.csv")));
  EXPECT_FALSE(fs::exists(journal::folder_of(file("a.csv"))) || fs::exists(file("a.csv.part")));

  // Begun in parts and continued alone.
  run_part("b.csv", "1/2", 200);
  run_part("b.csv", "2/2");
  EXPECT_GT(run_to(file("b.csv"), -1, lines(file("b.csv"))).continued, 500);
  EXPECT_EQ(whole, read_file(file("b.csv")));

  refused("--share: a CSV file does not tell which run has made it: use --part", [&] {
    run_with_others(plan_of({"bouncing_ball", flags(file("c.csv"), lines(file("c.csv")))}), {});
  });
  EXPECT_FALSE(fs::exists(journal::folder_of(file("c.csv"))));
  run_options part;
  part.mode = one_part(part_called("1/2"));
  run_to(file("d.nc"), -1, {}, part);
  samples.mode = so_far_into(file("d.csv").string());
  refused("output.samples: must be left out: a CSV file has one line for each instance",
          [&] { run_to(file("d.nc"), -1, {}, samples); });
  EXPECT_FALSE(fs::exists(file("d.csv")) || fs::exists(file("d.csv.part")));
}

TEST_F(Journal, StatisticsWithoutRowsGoOnWithTheSameBits) {
  const auto without = [&](const fs::path& to) -> std::vector<flag> {
    return {{"--set",
             "output={rows=false, samples={count=7}, statistics=true, reduce=[\"max(height)\", \"count(impact)\"], "
             "histogram={t_final={from=0.0, to=3.0, bins=5}}}"},
            {"-o", to.string()}};
  };
  run_to(file("whole.nc"), -1, without(file("whole.nc")));
  EXPECT_EQ(exit_interrupted, run_to(file("cut.nc"), 250, without(file("cut.nc"))).exit_code);
  const auto last = run_to(file("cut.nc"), -1, without(file("cut.nc")));
  EXPECT_GE(last.continued, 100);
  EXPECT_EQ(1000, last.summary.counts.ok());
  EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("cut.nc")));
}

/// Keys of a spec may need quotes, and the journal's text of the spec must be valid TOML again.
TEST_F(Journal, IsOfASpecWhoseKeysStandInQuotes) {
  const std::vector<flag> quoted = {
      {"--set", "output={reduce=[\"max(height)\"], histogram={\"max(height)\"={from=0.0, to=2.0, bins=4}}}"},
      {"-o", file("cut.nc").string()}};
  EXPECT_EQ(exit_interrupted, run_to(file("cut.nc"), 250, quoted).exit_code);
  const auto last = run_to(file("cut.nc"), -1, quoted);
  EXPECT_EQ(exit_ok, last.exit_code);
  EXPECT_GE(last.continued, 100);
}

TEST_F(Journal, WhatIsTornOrDamagedIsIntegratedAgain) {
  run_to(file("whole.nc"));
  const auto whole = variables_of(file("whole.nc"));
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    const fs::path to = file("cut.nc");
    fs::remove(to);
    run_to(to, 700);
    const fs::path chunks = journal::folder_of(to) / "chunks";
    const auto size = fs::file_size(chunks);
    ASSERT_GT(size, 1000u);
    const auto at = random() % size;
    if (round % 3 == 0) fs::resize_file(chunks, at);
    else {
      std::string bytes = read_file(chunks);
      if (round % 3 == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      else bytes.replace(at, std::string::npos, size - at, '\0');
      write_file(chunks, bytes);
    }
    said_.clear();
    const auto last = run_to(to);
    EXPECT_EQ(exit_ok, last.exit_code);
    EXPECT_LT(last.continued, 1000);
    EXPECT_EQ(whole, variables_of(to)) << "round " << round << ", byte " << at << " of " << size << "\n" << said_;
  }
}

/// A bit error costs only its own record, both in the record's head, whose length is then unreliable, and behind the head.
TEST_F(Journal, ADamagedRecordCostsNoOther) {
  run_to(file("whole.nc"));
  const auto whole = variables_of(file("whole.nc"));
  const fs::path to = file("cut.nc"), chunks = journal::folder_of(to) / "chunks";
  for (const std::size_t at : {0, 5, 9, 17, 25, 33, 45, 1000}) {
    fs::remove(to);
    const auto cut = run_to(to, 700);
    std::string bytes = read_file(chunks);
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    write_file(chunks, bytes);
    said_.clear();
    const auto last = run_to(to);
    EXPECT_EQ(exit_ok, last.exit_code);
    EXPECT_GE(last.continued, cut.summary.counts.ok() - 100) << "of a chunk of 100, byte " << at;
    EXPECT_LT(last.continued, cut.summary.counts.ok());
    EXPECT_NE(std::string::npos, said_.find("damaged")) << said_;
    EXPECT_EQ(whole, variables_of(to)) << said_;
  }
}

/// The texts that describe the run of a journal may be lost: its records identify it.
TEST_F(Journal, WithoutItsTextsGoesOnWithItsRecords) {
  run_to(file("whole.nc"));
  for (const char* text : {"run.json", "spec.json"})
    for (const bool is_empty : {true, false}) {
      fs::remove(file("cut.nc"));
      const auto cut = run_to(file("cut.nc"), 500);
      const fs::path lost = fs::path(cut.journal) / text;
      if (is_empty) write_file(lost, "");
      else fs::remove(lost);
      const auto last = run_to(file("cut.nc"));
      EXPECT_EQ(cut.summary.counts.ok(), last.continued) << text;
      EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("cut.nc")));
      // Records of another run do not belong to this one.
      fs::remove(file("cut.nc"));
      const auto other = run_to(file("cut.nc"), 500, {{"--set", "rtol=1e-9"}});
      if (std::string(text) != "run.json") break;
      fs::remove(fs::path(other.journal) / text);
      EXPECT_EQ(0, run_to(file("cut.nc")).continued);
      EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("cut.nc")));
    }
}

/// Files with a journal's name that are not a journal are neither emptied nor written to, nor are the targets of links.
TEST_F(Journal, TakesNothingThatIsNotItsOwn) {
  const fs::path folder = journal::folder_of(file("cut.nc")), thesis = folder / "thesis.tex";
  const auto refused = [&](const run_options& how = {}) -> std::string {
    try {
      run_to(file("cut.nc"), -1, {}, how);
    } catch (const error& e) {
      EXPECT_EQ(exit_usage, e.exit_code);
      return e.what();
    }
    return {};
  };
  run_options anew;
  anew.restart = true;
  const auto expect_refusal = [&](const std::string& why) {
    for (const auto& how : {run_options(), anew}) EXPECT_NE(std::string::npos, refused(how).find(why)) << refused(how);
  };
  fs::create_directory(folder);
  write_file(thesis, "of years");
  write_file(folder / "run.json", "{\"saltus\": \"0.1.0\"}");
  expect_refusal("there is `thesis.tex` in it");
  EXPECT_EQ("of years", read_file(thesis));
  fs::remove_all(folder);
  fs::create_directory(folder);
  write_file(folder / "chunks", "of another program");
  expect_refusal("its chunks are no records of saltus");
  EXPECT_EQ("of another program", read_file(folder / "chunks"));
  fs::remove_all(folder);
  write_file(folder, "a file");
  expect_refusal("it is no folder");
  fs::remove(folder);
  // A folder that is a link, and files that are links.
  fs::create_directory(file("elsewhere"));
  write_file(file("elsewhere") / "chunks", "");
  fs::create_symlink(file("elsewhere"), folder);
  expect_refusal("it is a symbolic link");
  journal::sweep(file("cut.nc"));
  EXPECT_TRUE(fs::is_symlink(folder));
  fs::remove(folder);
  write_file(file("secret"), "secret");
  for (const char* name : {"chunks", "run.json", "complete", "leases"}) {
    fs::create_directory(folder);
    fs::create_symlink(std::string(name) == "leases" ? file("elsewhere") : file("secret"), folder / name);
    expect_refusal(std::string("there is `") + name + "` in it");
    fs::remove_all(folder);
  }
  EXPECT_EQ("secret", read_file(file("secret")));
  EXPECT_TRUE(fs::exists(file("elsewhere") / "chunks"));
  // An empty folder that a run left at its start is taken over.
  fs::create_directory(folder);
  write_file(folder / "chunks", "");
  EXPECT_EQ(exit_ok, run_to(file("cut.nc")).exit_code);
  EXPECT_FALSE(fs::exists(folder));
}

/// All counts of instances, by name, from the attributes of a result.
std::map<std::string, long long> counts_in(const fs::path& result) {
  std::map<std::string, long long> all;
  if (result.extension() == ".zarr") {
    const json attributes = json::parse(read_file(result / "zarr.json"))["attributes"];
    for (const auto& [name, value] : attributes.items())
      if (name.starts_with("count_")) all[name] = value.get<long long>();
    return all;
  }
  const result_file f(result);
  for (const status_row& row : status_table)
    if (const auto n = f.whole_numbers(("count_" + std::string(row.name)).c_str()); !n.empty())
      all["count_" + std::string(row.name)] = n.front();
  for (const char* name : {"count_ok", "count_rescued", "count_failed", "count_not_finished"})
    if (const auto n = f.whole_numbers(name); !n.empty()) all[name] = n.front();
  return all;
}

/// A chunk that is read back without rows has no statuses of its instances, so counts must not come from there. The expected counts are
/// those of the run with rows, status by status.
TEST_F(Journal, CountsWithoutRowsAreThoseOfAllThatHaveEnded) {
  // Balls that bounce more than 10 times within 3 s end in event_budget.
  const std::vector<flag> few_events = {{"--set", "max_events=10"}};
  run_to(file("rows.nc"), -1, few_events);
  std::map<std::string, long long> expected;
  {
    const result_file rows(file("rows.nc"));
    const auto statuses = rows.integers(rows.at("status"), 0, 1000);
    for (const auto s : statuses) ++expected["count_" + std::string(row_of(s).name)];
    long long failed = 0;
    for (const auto s : statuses) failed += row_of(s).group == status_group::failed;
    ASSERT_GT(failed, 50);
    ASSERT_LT(failed, 950);
    expected["count_failed"] = failed, expected["count_not_finished"] = 0;
  }
  const auto expect_counts = [&](const fs::path& result, const char* how) {
    auto counted = counts_in(result);
    for (const auto& [name, n] : expected) EXPECT_EQ(n, counted[name]) << name << ", " << how;
    EXPECT_EQ(0, counted["count_not_run"]) << how;
  };
  for (const char* ending : {"nc", "zarr"}) {
    const fs::path to = file("sums").string() + "." + ending;
    const auto run_sums = [&](int instances, run_options how = {}) {
      auto more = few_events;
      more.push_back({"--set", "output={rows=false, statistics=true}"});
      more.push_back({"-o", to.string()});
      how.in_memory = true;
      return run_to(to, instances, more, how);
    };
    run_sums(-1);
    expect_counts(to, "at once");
    fs::remove_all(to);
    EXPECT_EQ(exit_interrupted, run_sums(400).exit_code);
    const auto last = run_sums(-1);
    EXPECT_GE(last.continued, 300);
    expect_counts(to, "continued");
    for (const attribute& a : last.arrays->attributes()) {
      if (a.name != "count_failed") continue;
      EXPECT_EQ(expected["count_failed"], std::get<long long>(a.value)) << "in memory";
    }
    EXPECT_EQ(exit_failed_instances, last.exit_code);
    fs::remove_all(to);
    for (const char* part : {"1/3", "2/3", "3/3"}) {
      run_options how;
      how.mode = one_part(part_called(part));
      run_sums(-1, how);
    }
    const auto so_far = file("so_far.nc");
    fs::remove(so_far);
    host::so_far(journal::folder_of(to), so_far.string());
    expect_counts(so_far, "so far");
    run_options gather;
    gather.mode = gathering();
    EXPECT_EQ(exit_failed_instances, run_sums(-1, gather).exit_code);
    expect_counts(to, "gathered");
    fs::remove_all(to);
    auto more = few_events;
    more.push_back({"--set", "output={rows=false, statistics=true}"});
    more.push_back({"-o", to.string()});
    EXPECT_EQ(exit_failed_instances, run_with_others(plan_of({"bouncing_ball", flags(to, more)}), {}).exit_code);
    expect_counts(to, "shared");
    fs::remove_all(to);
  }
}

/// The journal keeps the messages of instances.
TEST_F(Journal, WordsOfInstancesAreKept) {
  write_file(file("shy.hpp"), R"(#include <saltus.hpp>
#include <stdexcept>
struct shy {
  static constexpr double span[] = {0.0, 1.0};
  enum state { y };
  static constexpr saltus::variable<state> state_list[] = {{y, 1.0}};
  enum parameter { least };
  static constexpr saltus::variable<parameter> parameter_list[] = {{least, 0.0}};
  enum guard { reached };
  static constexpr saltus::event_function<guard> guard_list[] = {{reached, saltus::rising, saltus::bilateral, "1.5"}};
  static void rhs(const auto& at, auto& dy) { dy[y] = sqrt(at[y] - at[least]); }
  static void guards(const auto& at, auto& g) { g[reached] = at[y] - 1.5; }
  static void transition(auto& now) {
    if (static_cast<double>(now[least].v) < -0.5) throw std::runtime_error("not with such a parameter");
  }
};
)");
  const auto run_shy = [&](int instances) {
    const cancellation stop;
    run_listener listener;
    std::atomic<std::int64_t> ended{0};
    listener.progress = [&](std::int64_t some) {
      if ((ended += some) >= instances && instances >= 0) stop.cancel();
    };
    const std::vector<flag> flags = {{"--set", "sweep.least={from=-1.0, to=2.0, count=300}"},
                                     {"--set", "run={chunk=50, threads=1, checkpoint=0.001, order=\"id\"}"},
                                     {"-o", file("shy.nc").string()}};
    return run(plan_of({file("shy.hpp").string(), flags}), {}, stop, listener);
  };
  const auto whole = run_shy(-1).summary;
  EXPECT_NE(std::string::npos, whole.trouble.find("not with such a parameter")) << whole.trouble;
  EXPECT_FALSE(whole.counts.not_finite.text.empty());
  fs::remove(file("shy.nc"));
  EXPECT_EQ(exit_interrupted, run_shy(250).exit_code);
  const auto last = run_shy(-1);
  EXPECT_GE(last.continued, 200);
  EXPECT_EQ(whole.trouble, last.summary.trouble);
  EXPECT_EQ(text_of(whole.counts.not_finite), text_of(last.summary.counts.not_finite));
}

TEST_F(Journal, AnotherRunIsRefusedByWhatDiffers) {
  run_to(file("cut.nc"), 100);
  const auto refusal = [&](const std::vector<flag>& more) -> std::string {
    try {
      run_to(file("cut.nc"), -1, more);
    } catch (const error& e) {
      EXPECT_EQ(exit_usage, e.exit_code);
      return e.what();
    }
    return "";
  };
  EXPECT_NE(std::string::npos, refusal({{"--set", "rtol=1e-9"}}).find("rtol is 1e-09 and was 1e-06"));
  EXPECT_NE(std::string::npos, refusal({{"--set", "sample.seed=4"}}).find("sample.seed is 4 and was 3"));
  EXPECT_NE(std::string::npos, refusal({{"--set", "gravity=9.0"}}).find("gravity is 9.0 and was not there"));
  EXPECT_NE(std::string::npos, refusal({{"--set", "sample.count=999"}}).find("--restart begins anew"));
  EXPECT_TRUE(journal::is_there(file("cut.nc"))) << "the journal keeps everything";
  EXPECT_EQ(exit_ok, run_to(file("cut.nc"), -1, {{"--set", "run.threads=1"}}).exit_code) << "threads may differ";
}

TEST_F(Journal, RestartBeginsAnew) {
  run_to(file("cut.nc"), 500);
  run_options how;
  how.restart = true;
  const auto r = run_to(file("cut.nc"), -1, {{"--set", "rtol=1e-9"}}, how);
  EXPECT_EQ(0, r.continued);
  EXPECT_EQ(exit_ok, r.exit_code);
}

TEST_F(Journal, GoesWhenItsResultIsFoundComplete) {
  run_to(file("cut.nc"), 500);
  const fs::path folder = journal::folder_of(file("cut.nc")), kept = file("kept");
  fs::copy(folder, kept, fs::copy_options::recursive);
  run_to(file("cut.nc"));
  // The state after a kill in the last but one step: first of another result, then of this one.
  fs::copy(kept, folder, fs::copy_options::recursive);
  write_file(folder / "complete", "1 2\n");
  EXPECT_THROW(run_to(file("cut.nc")), error) << "the result exists";
  EXPECT_TRUE(fs::exists(folder)) << "the result may not be that of this journal";
  struct stat about {};
  ASSERT_EQ(0, ::stat(file("cut.nc").c_str(), &about));
  write_file(folder / "complete", std::to_string(about.st_dev) + " " + std::to_string(about.st_ino) + "\n");
  EXPECT_THROW(run_to(file("cut.nc")), error);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Journal, IsOfOneRunAtATime) {
  run_to(file("cut.nc"), 500);
  const plan p = plan_of({"bouncing_ball", flags(file("cut.nc"))});
  const int other = ::open((journal::folder_of(file("cut.nc")) / "chunks").c_str(), O_RDWR);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(0, ::fcntl(other, F_OFD_SETLK, &whole));
  EXPECT_THROW(run_to(file("cut.nc")), error);
  ::close(other);
  EXPECT_EQ(exit_ok, run_to(file("cut.nc")).exit_code);
}

TEST_F(Journal, ATimeLimitLeavesIt) {
  EXPECT_EQ(exit_ok, run_to(file("whole.nc")).exit_code) << "compiles now, since the time limit would include it";
  run_options how;
  how.time_limit = 1e-3;
  const auto r = run_to(file("cut.nc"), -1, {{"--set", "t=[0.0, 300.0]"}, {"--set", "max_events=100000000"}}, how);
  EXPECT_EQ(exit_time_limit, r.exit_code);
  EXPECT_FALSE(r.journal.empty());
  EXPECT_EQ(exit_ok,
            run_to(file("cut.nc"), -1, {{"--set", "t=[0.0, 300.0]"}, {"--set", "max_events=100000000"}}).exit_code);
}

TEST_F(Journal, OfPartsMakesTheResultOfTheWhole) {
  const std::vector<flag> with_rows,
      without = {
          {"--set",
           "output={rows=false, samples={count=7}, statistics=true, reduce=[\"max(height)\", \"count(impact)\"], "
           "histogram={t_final={from=0.0, to=3.0, bins=5}}}"}};
  for (const auto& more : {with_rows, without}) {
    const fs::path whole = file("whole.nc"), of_parts = file("parts.nc");
    fs::remove(whole), fs::remove(of_parts);
    auto of = [&](const fs::path& to) {
      auto all = more;
      all.push_back({"-o", to.string()});
      return all;
    };
    run_to(whole, -1, of(whole));
    const auto run_part = [&](const char* name, int instances = -1) {
      run_options how;
      how.mode = one_part(part_called(name));
      return run_to(of_parts, instances, of(of_parts), how);
    };
    run_options gather;
    gather.mode = gathering();
    EXPECT_THROW(run_to(of_parts, -1, of(of_parts), gather), error) << "no part has been run";
    EXPECT_EQ(exit_ok, run_part("2/3").exit_code);
    EXPECT_EQ(exit_interrupted, run_part("3/3", 100).exit_code);
    EXPECT_EQ(exit_ok, run_part("1/3").exit_code);
    EXPECT_FALSE(fs::exists(of_parts));
    try {
      run_to(of_parts, -1, of(of_parts), gather);
      ADD_FAILURE() << "part 3 has not ended";
    } catch (const error& e) {
      EXPECT_NE(std::string::npos, std::string(e.what()).find(" of 1000 instances: ")) << e.what();
    }
    const auto last = run_part("3/3");
    EXPECT_GE(last.continued, 100 - 11) << "its own instances";
    EXPECT_EQ(last.summary.instances + last.continued, instances_in(ranges_of(last.part, 1000)));
    const auto all = run_to(of_parts, -1, of(of_parts), gather);
    EXPECT_EQ(exit_ok, all.exit_code);
    EXPECT_EQ(1000, all.continued);
    EXPECT_EQ(1000, all.summary.counts.ok());
    EXPECT_EQ(variables_of(whole), variables_of(of_parts));
    EXPECT_FALSE(fs::exists(journal::folder_of(of_parts)));
  }
}

/// The files of a Zarr store by their paths in it, without those entries that contain its time and name.
std::map<std::string, std::string> lasting(const fs::path& store) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(store))
    if (entry.is_regular_file()) all[fs::relative(entry.path(), store).string()] = read_file(entry.path());
  json root = json::parse(all.at("zarr.json"));
  for (const char* name : {"created", "history", "wall_time_s", "settings", "spec"}) root["attributes"].erase(name);
  all["zarr.json"] = root.dump();
  return all;
}

TEST_F(Journal, PartsWriteTheirOwnChunksOfAZarrStoreAndTheLastOneCompletesIt) {
  const auto stored = [&](const fs::path& to) -> std::vector<flag> {
    return {{"-o", to.string()}, {"--set", "output.store_chunk=90"}};  // 12 chunks, the last one of 10 instances
  };
  const auto run_part = [&](const char* name, const char* part, int instances = -1) {
    run_options how;
    how.mode = one_part(part_called(part));
    return run_to(file(name), instances, stored(file(name)), how);
  };
  run_to(file("whole.zarr"), -1, stored(file("whole.zarr")));
  const auto whole = lasting(file("whole.zarr"));
  ASSERT_GT(whole.size(), 12u * 30u);

  // Parts one after another, one of which is cut short; the store is readable from the beginning.
  const fs::path part = file("a.zarr.part");
  EXPECT_EQ(part, run_part("a.zarr", "2/3").store);
  EXPECT_EQ("unfinished", json::parse(read_file(part / "zarr.json"))["attributes"]["state"]);
  EXPECT_EQ(whole.at("final_height/c/1"), read_file(part / "final_height/c/1"));
  EXPECT_FALSE(fs::exists(part / "final_height/c/0")) << "belongs to part 1";
  EXPECT_EQ(exit_interrupted, run_part("a.zarr", "3/3", 100).exit_code);
  EXPECT_EQ(part, run_part("a.zarr", "1/3").store);
  EXPECT_FALSE(fs::exists(file("a.zarr")));
  const auto last = run_part("a.zarr", "3/3");
  EXPECT_EQ(file("a.zarr"), last.file);
  EXPECT_EQ(exit_ok, last.exit_code);
  EXPECT_EQ(1000, last.summary.counts.ok());
  EXPECT_EQ(whole, lasting(file("a.zarr")));
  EXPECT_FALSE(fs::exists(part) || fs::exists(journal::folder_of(file("a.zarr"))));

  // Parts at the same time: one of them, it does not matter which, completes the store.
  {
    std::atomic<int> completed{0};
    std::vector<std::jthread> all;
    for (const char* name : {"1/4", "2/4", "3/4", "4/4"})
      all.emplace_back([&, name] {
        const cancellation stop;
        run_options how;
        how.mode = one_part(part_called(name));
        const auto r = run(plan_of({"bouncing_ball", flags(file("b.zarr"), stored(file("b.zarr")))}), how, stop, {});
        EXPECT_EQ(exit_ok, r.exit_code);
        completed += !r.file.empty();
      });
    all.clear();
    EXPECT_EQ(1, completed);
  }
  EXPECT_EQ(whole, lasting(file("b.zarr")));

  // A store cut short and continued alone; a store begun in parts of other numbers, and gathered.
  EXPECT_EQ(exit_interrupted, run_to(file("c.zarr"), 250, stored(file("c.zarr"))).exit_code);
  EXPECT_EQ(exit_ok, run_to(file("c.zarr"), -1, stored(file("c.zarr"))).exit_code);
  EXPECT_EQ(whole, lasting(file("c.zarr")));
  run_part("d.zarr", "1/2");
  run_part("d.zarr", "2/4");
  run_part("d.zarr", "4/4");
  EXPECT_FALSE(fs::exists(file("d.zarr")));
  run_options gather;
  gather.mode = gathering();
  EXPECT_EQ(exit_ok, run_to(file("d.zarr"), -1, stored(file("d.zarr")), gather).exit_code);
  EXPECT_EQ(whole, lasting(file("d.zarr")));

  // Work begun by another run is not mixed with this one.
  run_part("e.zarr", "1/2");
  fs::remove_all(journal::folder_of(file("e.zarr")));
  auto other = stored(file("e.zarr"));
  other.push_back({"--set", "rtol=1e-9"});
  run_options second;
  second.mode = one_part(part_called("2/2"));
  try {
    run_to(file("e.zarr"), -1, other, second);
    ADD_FAILURE() << "rtol differs";
  } catch (const error& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("is of another run than this one")) << e.what();
  }
}

TEST_F(Journal, BegunInTwoPartsGoesOnInThreeAndInOne) {
  run_to(file("whole.nc"));
  const auto run_part = [&](const char* name, int instances) {
    run_options how;
    how.mode = one_part(part_called(name));
    return run_to(file("parts.nc"), instances, {}, how);
  };
  run_part("1/2", 200);
  run_part("2/2", 100);
  const auto third = run_part("3/3", -1);
  EXPECT_GT(third.continued, 0);
  EXPECT_LT(third.continued, 333);
  const auto last = run_to(file("parts.nc"));
  EXPECT_GT(last.continued, 500);
  EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("parts.nc")));
}

/// Settings for 1000 instances without rows.
const std::vector<flag> no_rows = {{"--set",
                                    "output={rows=false, statistics=true, reduce=[\"max(height)\"], "
                                    "histogram={t_final={from=0.0, to=3.0, bins=5}}}"}};

TEST_F(Journal, IsSharedByRunsAtOnceAndOneOfThemMakesTheResult) {
  for (const auto& what : {std::vector<flag>(), no_rows}) {
    const auto to = [&](const char* name) {
      auto more = what;
      more.push_back({"--set", "run={chunk=100, threads=1, checkpoint=0.001}"});
      more.push_back({"-o", file(name).string()});
      return flags(file(name), more);
    };
    fs::remove(file("whole.nc")), fs::remove(file("shared.nc"));
    run(plan_of({"bouncing_ball", to("whole.nc")}));
    std::atomic<int> results = 0;
    {
      // A process that checks for the result removes its journal, which others are about to begin.
      const std::jthread looks([&](const std::stop_token& over) {
        while (!over.stop_requested()) journal::sweep(file("shared.nc"));
      });
      std::vector<std::jthread> runs;
      for (int i = 0; i < 3; ++i)
        runs.emplace_back([&] {
          const auto r = run_with_others(plan_of({"bouncing_ball", to("shared.nc")}), {});
          EXPECT_EQ(exit_ok, r.exit_code);
          results += !r.file.empty();
        });
    }
    EXPECT_EQ(1, results);
    EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("shared.nc")));
    EXPECT_FALSE(fs::exists(journal::folder_of(file("shared.nc"))));
  }
}

TEST_F(Journal, IsSharedByOthersThanBeganIt) {
  run_to(file("whole.nc"));
  run_options half;
  half.mode = one_part(part_called("2/2"));
  run_to(file("shared.nc"), 200, {}, half);
  const cancellation stop;
  run_listener listener;
  std::atomic<std::int64_t> ended{0};
  listener.progress = [&](std::int64_t some) {
    if ((ended += some) >= 200) stop.cancel();
  };
  const plan p = plan_of({"bouncing_ball", flags(file("shared.nc"))});
  const auto cut = run_with_others(p, {}, stop, listener);
  EXPECT_EQ(exit_interrupted, cut.exit_code);
  EXPECT_FALSE(cut.journal.empty());
  EXPECT_GT(cut.continued, 100);
  const auto last = run_with_others(p, {});
  EXPECT_EQ(exit_ok, last.exit_code);
  EXPECT_EQ(file("shared.nc"), last.file);
  EXPECT_EQ(1000, last.summary.counts.ok());
  EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("shared.nc")));
  const auto late = run_with_others(p, {});
  EXPECT_EQ(exit_ok, late.exit_code);
  EXPECT_EQ(0, late.summary.instances) << "the result exists";
  const plan other = plan_of({"bouncing_ball", flags(file("shared.nc"), {{"--set", "rtol=1e-9"}})});
  EXPECT_THROW(run_with_others(other, {}), error) << "the journal is that of another run";
  run_options anew;
  anew.restart = true;
  EXPECT_THROW(run_with_others(p, anew), error);
}

/// Two runs that have each taken some instances: one is dead, and the test of life must find out about the other.
TEST_F(Journal, LeasesOfTheDeadAreTakenOver) {
  run_to(file("whole.nc"));
  const std::vector<flag> soon{{"--set", "run={chunk=100, threads=2, checkpoint=0.001, lease=0.3}"}};
  run_to(file("shared.nc"), 0, soon);
  const fs::path folder = journal::folder_of(file("shared.nc")) / "leases";
  fs::create_directories(folder);
  const std::string boot = read_file("/proc/sys/kernel/random/boot_id").substr(0, 36);
  write_file(folder / "alive.here", boot + " 7\n");  // nobody has locked it
  write_file(folder / "alive.there", "another-machine 1\n");
  for (int ticket = 0; ticket < 100; ++ticket) write_file(folder / std::to_string(ticket), "here");
  for (int ticket = 300; ticket < 350; ++ticket) write_file(folder / std::to_string(ticket), "there");
  for (const char* ticket : {"400", "result"}) write_file(folder / ticket, "");  // died while taking them
  constexpr auto lives_for = std::chrono::milliseconds(600);
  const auto begin = std::chrono::steady_clock::now();
  const std::jthread there([&](const std::stop_token& over) {
    for (int n = 2; std::chrono::steady_clock::now() - begin < lives_for && !over.stop_requested(); ++n) {
      write_at_once(folder / "alive.there", "another-machine " + std::to_string(n) + "\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const auto r = run_with_others(plan_of({"bouncing_ball", flags(file("shared.nc"), soon)}), {});
  EXPECT_GT(std::chrono::steady_clock::now() - begin, lives_for) << "a living run is waited for";
  EXPECT_EQ(exit_ok, r.exit_code);
  EXPECT_EQ(1000, r.summary.counts.ok());
  EXPECT_EQ(variables_of(file("whole.nc")), variables_of(file("shared.nc")));
}

/// The run that makes the result stands still, is taken for dead, and continues: its successor finds the result complete.
TEST_F(Journal, ASuccessorWaitsForAMakerThatStoodStill) {
  const plan p = plan_of({"bouncing_ball", flags(file("shared.nc"))});
  EXPECT_EQ(exit_ok, run_with_others(p, {}).exit_code);
  fs::rename(file("shared.nc"), file("kept.nc"));
  for (const char* part : {"1/2", "2/2"}) {
    run_options how;
    how.mode = one_part(part_called(part));
    run_to(file("shared.nc"), -1, {}, how);
  }
  const fs::path folder = journal::folder_of(file("shared.nc"));
  const int maker = ::open((folder / "chunks").c_str(), O_RDWR | O_CREAT, 0666);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(0, ::fcntl(maker, F_OFD_SETLK, &whole));
  constexpr auto stands = std::chrono::milliseconds(600);
  const std::jthread goes_on([&] {
    std::this_thread::sleep_for(stands);
    fs::rename(file("kept.nc"), file("shared.nc"));
    // The successor may create a file in the folder while it is emptied.
    for (std::error_code failure; fs::exists(folder);) fs::remove_all(folder, failure);
    ::close(maker);
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto r = run_with_others(p, {});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, stands);
  EXPECT_EQ(exit_ok, r.exit_code);
  EXPECT_EQ("", r.file) << "another run has made it";
}

TEST_F(Journal, OfAPartIsThereWhateverCheckpointSays) {
  const std::vector<flag> never{{"--set", "run={chunk=100, threads=2, checkpoint=0}"}};
  for (const char* name : {"1/2", "2/2"}) {
    run_options how;
    how.mode = one_part(part_called(name));
    const auto r = run_to(file("parts.nc"), -1, never, how);
    EXPECT_EQ(journal::folder_of(file("parts.nc")), r.journal);
    EXPECT_EQ("", r.file);
  }
  run_options gather;
  gather.mode = gathering();
  EXPECT_EQ(1000, run_to(file("parts.nc"), -1, never, gather).continued);
}

TEST_F(Journal, CanBeReadWhileItGrows) {
  run_options part;
  part.mode = one_part(part_called("1/2"));
  run_to(file("parts.nc"), -1, {}, part);
  const int at_work = ::open((journal::folder_of(file("parts.nc")) / "chunks.2of2").c_str(), O_RDWR | O_CREAT, 0666);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(0, ::fcntl(at_work, F_OFD_SETLK, &whole));
  run_options so_far;
  so_far.mode = so_far_into(file("some.nc").string());
  const auto r = run_to(file("parts.nc"), -1, {}, so_far);
  EXPECT_EQ(exit_ok, r.exit_code);
  EXPECT_EQ(file("some.nc"), r.file);
  const auto mine = instances_in(ranges_of(part.mode->part(), 1000));
  EXPECT_EQ(mine, r.summary.counts.ok());
  const auto seen = host::so_far(journal::folder_of(file("parts.nc")), file("more.nc").string());
  EXPECT_EQ(file("parts.nc"), seen.what.file);
  EXPECT_EQ(mine, seen.summary.counts.ok()) << "seen from the journal alone";
  EXPECT_EQ(variables_of(file("some.nc")), variables_of(file("more.nc")));
  EXPECT_THROW(host::so_far(folder_, file("none.nc").string()), error) << "no journal";
  EXPECT_EQ(1000 - mine, r.summary.counts.not_finished());
  EXPECT_TRUE(fs::exists(file("some.nc")));
  EXPECT_TRUE(journal::is_there(file("parts.nc")));
  EXPECT_THROW(run_to(file("parts.nc")), error) << "a part is running";
  so_far.mode = so_far_into(file("parts.nc").string());
  EXPECT_THROW(run_to(file("parts.nc"), -1, {}, so_far), error) << "the name is that of the result itself";
  EXPECT_FALSE(fs::exists(file("parts.nc")));
  ::close(at_work);
  EXPECT_EQ(exit_ok, run_to(file("parts.nc")).exit_code);
}

/// Output of `saltus show` for a journal.
std::string shown(show_options how) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = ::open_memstream(&text, &size);
  EXPECT_EQ(exit_ok, show_journal(std::move(how), out));
  std::fclose(out);
  std::string all(text, size);
  std::free(text);
  return all;
}

TEST_F(Journal, IsShownAsAResultOfWhatHasEnded) {
  run_to(file("whole.nc"));
  const auto cut =
      run_to(file("cut.nc"), 250, {{"--set", "run={chunk=100, threads=2, checkpoint=0.001, order=\"id\"}"}});
  EXPECT_EQ(cut.journal, journal::named(cut.journal + "/"));
  EXPECT_TRUE(journal::named(file("whole.nc")).empty() && journal::named(folder_).empty());
  const json all = json::parse(shown({.file = cut.journal, .json = true}));
  EXPECT_EQ(cut.journal, all["file"]);
  EXPECT_EQ(1000, all["instances"]);
  const int ended = all["status"].value("finished", 0) + all["status"].value("stopped", 0);
  EXPECT_EQ(cut.summary.counts.ok(), ended);
  EXPECT_EQ(1000 - ended, all["status"]["not_run"]);
  EXPECT_NE(std::string::npos, shown({.file = cut.journal}).find("saltus.so_far(\"" + cut.journal + "\")"));
  // A finished instance is shown as in the result of an undisturbed run.
  const result_file whole(file("whole.nc"));
  const json one = json::parse(shown({.file = cut.journal + "/", .instance = 7, .json = true}));
  EXPECT_EQ(whole.value(whole.at("final_velocity"), 7), one["final"]["final_velocity"]);
  EXPECT_EQ(whole.value(whole.at("t_final"), 7), one["final"]["t_final"]);
  EXPECT_EQ("not_run", json::parse(shown({.file = cut.journal, .instance = 999, .json = true}))["status"]["name"]);
  EXPECT_THROW(shown({.file = cut.journal, .instance = 1000}), error);
  EXPECT_THROW(shown({.file = folder_}), error) << "no journal";
  EXPECT_EQ(exit_ok, run_to(file("cut.nc")).exit_code) << "the journal is unchanged";
}

TEST(Parts, AreAllInstancesOnce) {
  for (const std::int64_t count : {1, 2, 31, 1000, 4096, 1'000'003})
    for (const std::int64_t parts : {1, 2, 3, 16, 100}) {
      std::vector<int> taken(static_cast<std::size_t>(count));
      for (std::int64_t k = 1; k <= parts; ++k) {
        const auto ranges = ranges_of({k, parts}, count);
        for (const id_range& range : ranges)
          for (std::int64_t id = range.first; id < range.end(); ++id) ++taken[static_cast<std::size_t>(id)];
        const auto others = complement(ranges, count);
        EXPECT_EQ(count, instances_in(ranges) + instances_in(others));
        EXPECT_TRUE(intersection(ranges, others).empty());
        EXPECT_EQ(ranges, complement(others, count));
        if (count < 1000 * parts) continue;
        EXPECT_NEAR(1.0 / double(parts), double(instances_in(ranges)) / double(count), 0.04 / double(parts));
      }
      EXPECT_EQ(std::vector<int>(taken.size(), 1), taken) << count << " in " << parts;
    }
}

TEST(Parts, HaveWholeChunksOfAStore) {
  for (const std::int64_t count : {1, 30, 1000, 100'003})
    for (const std::int64_t parts : {2, 3, 100}) {
      std::int64_t all = 0;
      for (std::int64_t k = 1; k <= parts; ++k)
        for (const id_range& range : ranges_of({k, parts}, count, 30)) {
          EXPECT_EQ(0, range.first % 30);
          EXPECT_TRUE(range.count % 30 == 0 || range.end() == count);
          all += range.count;
        }
      EXPECT_EQ(count, all) << parts;
    }
}

TEST(Parts, AreNamedByTwoNumbers) {
  EXPECT_EQ(3, part_called("3/16").number);
  EXPECT_EQ(16, part_called("3/16").of);
  EXPECT_TRUE(part_called("1/1").is_all());
  for (const char* wrong :
       {"", "3", "/", "3/", "/16", "0/16", "17/16", "3/16 ", "3/-16", "x/16", "1/99999999999999999999", "1/1000001"})
    EXPECT_THROW(part_called(wrong), error) << wrong;
}

TEST_F(Journal, AShortRunHasNone) {
  const std::vector<flag> usual{{"--set", "run={chunk=100, threads=2}"}};
  const auto r = run_to(file("cut.nc"), 250, usual);
  EXPECT_EQ(exit_interrupted, r.exit_code);
  EXPECT_TRUE(r.journal.empty());
  EXPECT_EQ(file("cut.nc.part"), r.unfinished);
  EXPECT_FALSE(fs::exists(file("cut.nc"))) << "the result is not complete";
  EXPECT_EQ("cut short: interrupted", result_file(r.unfinished).text("state"));
  EXPECT_EQ(exit_ok, run_to(file("cut.nc"), -1, usual).exit_code);
  EXPECT_TRUE(fs::exists(file("cut.nc.part.1"))) << "finished instances are kept";
}

}  // namespace
}  // namespace saltus::host
