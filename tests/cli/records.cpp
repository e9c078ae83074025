// Records on the way through the program: parts, a run that is cut short, a run that goes on from another, one instance again.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netcdf.h>

#include "program.hpp"

namespace command_line {
namespace {

/// A medicine that decays; a dose adds to it.
const std::string patient = R"(#include <saltus.hpp>

struct patient {
  static constexpr double span[] = {0.0, 48.0};
  enum state { blood };
  static constexpr saltus::variable<state> state_list[] = {{blood, 0.0, "mg", "in the blood"}};
  enum parameter { decay };
  static constexpr saltus::variable<parameter> parameter_list[] = {{decay, 0.1, "1/h", "rate of decay"}};
  enum discrete { doses };
  static constexpr saltus::variable<discrete> discrete_list[] = {{doses, 0.0, "1", "so far"}};
  enum time_event { dose };
  static constexpr saltus::timed<time_event> time_event_list[] = {
      saltus::timed<time_event>{dose, "a dose is given"}.recorded()};
  enum column { amount };
  static constexpr saltus::recorded<column> column_list[] = {{amount, dose, "mg", "given"}};
  static void rhs(const auto& at, auto& dy) { dy[blood] = -at[decay] * at[blood]; }
  static void transition(auto& now) {
    now.each_due(dose, [&](const auto& row) {
      now[blood] += row[amount];
      now[doses] += 1.0;
    });
  }
};
)";

constexpr std::size_t people = 400;

class records : public cli {
 protected:
  void SetUp() override {
    cli::SetUp();
    write(folder() / "patient.hpp", patient);
    std::string doses = "id,time,amount\n", table = "id,decay\n";
    for (std::size_t k = 0; k < people; ++k) {
      const std::size_t id = 7 * k + 3;
      table += fmt::format("{},{}\n", id, 0.05 + 0.001 * static_cast<double>(k));
      for (std::size_t j = 0; j < k % 5; ++j) doses += fmt::format("{},{},{}\n", id, 12 * j, 10 + k + j);
    }
    write(folder() / "doses.csv", doses);
    write(folder() / "people.csv", table);
    write(folder() / "study.toml",
          "model = \"./patient.hpp\"\nrtol = 1e-10\n[sweep]\ntable = \"people.csv\"\n[records]\ndose = \"doses.csv\"\n"
          "[output]\nevents = true\nreduce = [\"max(blood)\"]\n[run]\nchunk = 37\n");
  }
  void run_to(const std::string& file, words more = {}) {
    words all = {"run", "study.toml", "-q", "-o", file};
    all.insert(all.end(), more.begin(), more.end());
    const auto o = saltus(all);
    ASSERT_EQ(o.code, 0) << o.err;
  }
  void expect_same(const std::string& a, const std::string& b) {
    const results x(folder() / a), y(folder() / b);
    for (const auto& name : x.outcomes()) EXPECT_TRUE(same_bits(x[name], y[name])) << name;
    EXPECT_TRUE(same_bits(x["event_time"], y["event_time"]));
    EXPECT_TRUE(same_bits(x["record_id"], y["record_id"]));
  }
};

TEST_F(records, of_parts_and_of_a_whole_run_are_the_same) {
  run_to("whole.nc");
  const results whole(folder() / "whole.nc");
  for (std::size_t k = 0; k < people; ++k) {
    const double decay = 0.05 + 0.001 * static_cast<double>(k);
    double blood = 0;
    for (std::size_t j = 0; j < k % 5; ++j)
      blood += static_cast<double>(10 + k + j) * std::exp(-decay * (48.0 - 12.0 * static_cast<double>(j)));
    EXPECT_NEAR(whole["final_blood"][k], blood, 1e-6) << k;
    EXPECT_EQ(whole["record_id"][k], static_cast<double>(7 * k + 3));
    EXPECT_EQ(whole["final_doses"][k], static_cast<double>(k % 5));
  }
  for (const auto& part : {"1/3", "2/3", "3/3"}) {
    const auto o = saltus({"run", "study.toml", "-q", "-o", "parts.nc", "--part", part});
    ASSERT_EQ(o.code, 0) << o.err;
  }
  ASSERT_EQ(saltus({"gather", "study.toml", "-o", "parts.nc"}).code, 0);
  expect_same("whole.nc", "parts.nc");
  run_to("lanes.nc", {"--lanes", "1", "--threads", "1", "--chunk", "400"});
  expect_same("whole.nc", "lanes.nc");
}

TEST_F(records, let_a_run_go_on_from_another) {
  // The first part ends at the time of a dose, which it gives.
  run_to("whole.nc");
  run_to("a.nc", {"--set", "t=[0.0, 24.0]"});
  write(
      folder() / "on.toml",
      "model = \"./patient.hpp\"\nrtol = 1e-10\nt = 48.0\n[initial]\nfrom = \"a.nc\"\n[records]\ndose = \"doses.csv\"\n"
      "[output]\nfile = \"b.nc\"\nevents = true\n");
  const auto o = saltus({"run", "on.toml", "-q"});
  ASSERT_EQ(o.code, 0) << o.err;
  const results whole(folder() / "whole.nc"), b(folder() / "b.nc");
  EXPECT_EQ(b["final_doses"], whole["final_doses"]);
  EXPECT_EQ(b["record_id"], whole["record_id"]);
  for (std::size_t k = 0; k < people; ++k) EXPECT_NEAR(b["final_blood"][k], whole["final_blood"][k], 1e-6) << k;
  EXPECT_EQ(std::count(b["event_time"].begin(), b["event_time"].end(), 24.0), 0);
  // An instance of it is made again: rows up to its start were given before.
  const auto again = saltus({"run", "b.nc", "--instance", "399", "-q"});
  EXPECT_NE(again.out.find("instance 399 of b.nc: the same bits\n"), std::string::npos) << again.out << again.err;
}

TEST_F(records, are_found_again_for_one_instance) {
  run_to("whole.nc");
  run_to("sums.nc", {"--set", "output.events=false", "--set", "output.rows=false"});
  for (const auto& k : {"0", "4", "399"}) {
    const auto o = saltus({"run", "whole.nc", "--instance", k, "-q"});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.err, "");
    EXPECT_EQ(o.out, fmt::format("instance {} of whole.nc: the same bits\n", k));
  }
  const auto of_sums = saltus({"run", "sums.nc", "--instance", "399", "-q", "-o", "one.nc"});
  ASSERT_EQ(of_sums.code, 0) << of_sums.err;
  const results whole(folder() / "whole.nc"), one(folder() / "one.nc");
  EXPECT_TRUE(same_bits({one["final_blood"].at(0)}, {whole["final_blood"].at(399)}));
  // Other data would give other numbers without a word.
  write(folder() / "doses.csv", read(folder() / "doses.csv") + "4000,1,2\n");
  const auto changed = saltus({"run", "whole.nc", "--instance", "4", "-q"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_EQ(changed.err,
            fmt::format("saltus: whole.nc: the rows of its records are in {}, which has changed since the run, or "
                        "is gone\n",
                        (folder() / "doses.csv").string()));
}

TEST_F(records, are_read_from_the_sources_of_a_result_alone) {
  run_to("whole.nc");
  int id;
  ASSERT_EQ(nc_open((folder() / "whole.nc").c_str(), NC_WRITE, &id), NC_NOERR);
  ASSERT_EQ(nc_put_att_text(id, NC_GLOBAL, "sources", 0, ""), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  const auto o = saltus({"run", "whole.nc", "--instance", "4", "-q"});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err, fmt::format("saltus: whole.nc: its records are in {}, which is not among its sources\n",
                               (folder() / "doses.csv").string()));
}

TEST_F(records, of_a_journal_must_be_those_of_the_run) {
  run_to("whole.nc");
  ASSERT_EQ(saltus({"run", "study.toml", "-q", "-o", "two.nc", "--part", "1/2"}).code, 0);
  const std::string before = read(folder() / "doses.csv");
  write(folder() / "doses.csv", before + "4000,1,2\n");
  const auto other = saltus({"run", "study.toml", "-q", "-o", "two.nc", "--part", "2/2"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("doses.csv"), std::string::npos) << other.err;
  write(folder() / "doses.csv", before);
  ASSERT_EQ(saltus({"run", "study.toml", "-q", "-o", "two.nc", "--part", "2/2"}).code, 0);
  ASSERT_EQ(saltus({"gather", "study.toml", "-o", "two.nc"}).code, 0);
  expect_same("whole.nc", "two.nc");
}

/// The instance is sought by integrating each candidate alone, with its own rows.
TEST_F(records, of_an_instance_that_crashes_name_it) {
  std::string fragile = patient;
  const std::string before = "now[blood] += row[amount];";
  fragile.replace(fragile.find(before), before.size(), before + " if (row[amount] > 411.5) __builtin_trap();");
  write(folder() / "patient.hpp", fragile);
  const auto o = saltus({"run", "study.toml", "-q", "-o", "whole.nc"});
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find(fmt::format("in instance {}, ", people - 1)), std::string::npos) << o.err;
}

}  // namespace
}  // namespace command_line
