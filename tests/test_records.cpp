// Recorded time events: rows of data of each instance. The solutions of the compartments of tests/models/patients.hpp are sums of
// exponentials, written down below.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "derivative_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

namespace fs = std::filesystem;

const std::string patients = test_model("patients");

/// A file in a folder of its own, which is removed at the end.
class file {
 public:
  file(const std::string& name, const std::string& text)
      : folder_(fs::temp_directory_path() / fmt::format("saltus_records_{}_{}", ::getpid(), number_++)),
        path_(folder_ / name) {
    fs::create_directories(folder_);
    std::ofstream(path_) << text;
  }
  ~file() { fs::remove_all(folder_); }
  std::string path() const { return path_.string(); }
  std::string setting() const { return fmt::format("records.dose='{}'", path()); }

 private:
  static inline int number_ = 0;
  fs::path folder_, path_;
};

struct row {
  double t, amount, rate;
};
using rows = std::vector<row>;

std::string csv(const std::vector<rows>& all) {
  std::string text = "id,time,amount,rate\n";
  for (std::size_t id = 0; id < all.size(); ++id)
    for (const row& r : all[id]) text += fmt::format("{},{},{},{}\n", id, r.t, r.amount, r.rate);
  return text;
}

/// Rows at random: some instances have none, some times are equal, infusions overlap.
std::vector<rows> ragged(std::size_t instances) {
  std::mt19937 random(7);
  const auto below = [&](double high) { return std::uniform_real_distribution<double>(0.0, high)(random); };
  std::vector<rows> all(instances);
  for (rows& one : all) {
    const auto count = static_cast<int>(below(12.9)) - 2;
    double t = below(1.0) < 0.3 ? 0.0 : below(4.0);
    for (int k = 0; k < count; ++k, t += below(1.0) < 0.25 ? 0.0 : below(8.0))
      one.push_back({t, below(1.0) < 0.3 ? 0.0 : below(200.0), below(1.0) < 0.5 ? 0.0 : below(20.0) - 5.0});
  }
  return all;
}

struct constants {
  double absorption = 1.1, elimination = 0.15, to_tissue = 0, to_blood = 0, bioavailability = 0.8, lag = 0;
};

/// The amount in the blood at t: a dose in the gut, or an infusion, that began at 0.
struct compartments {
  constants c;

  double of_dose(double t) const {
    const double a = c.absorption;
    if (c.to_tissue == 0) return a / (a - c.elimination) * (std::exp(-c.elimination * t) - std::exp(-a * t));
    const auto [x, y] = rates();
    const auto part = [&](double r, double s, double u) {
      return a * (c.to_blood - r) / ((s - r) * (u - r)) * std::exp(-r * t);
    };
    return part(x, y, a) + part(y, x, a) + part(a, x, y);
  }
  double of_infusion(double t) const {
    if (c.to_tissue == 0) return (1 - std::exp(-c.elimination * t)) / c.elimination;
    const auto [x, y] = rates();
    return (x - c.to_blood) / (x - y) * (1 - std::exp(-x * t)) / x +
           (c.to_blood - y) / (x - y) * (1 - std::exp(-y * t)) / y;
  }
  double at(double t, const rows& all) const {
    double sum = 0;
    for (const row& r : all)
      if (const double since = t - (r.t + c.lag); since >= 0)
        sum += c.bioavailability * r.amount * of_dose(since) + r.rate * of_infusion(since);
    return sum;
  }

 private:
  /// The rates of decay of the two compartments.
  std::pair<double, double> rates() const {
    const double sum = c.elimination + c.to_tissue + c.to_blood, product = c.elimination * c.to_blood;
    const double root = std::sqrt(sum * sum - 4 * product);
    return {(sum + root) / 2, (sum - root) / 2};
  }
};

const constants one_compartment{}, two_compartments{1.1, 0.15, 0.35, 0.2, 0.8, 0};

std::vector<std::string> settings_of(const constants& c) {
  return {set("absorption", c.absorption),
          set("elimination", c.elimination),
          set("to_tissue", c.to_tissue),
          set("to_blood", c.to_blood),
          set("lag", c.lag),
          set("bioavailability", c.bioavailability)};
}

const std::vector<double> sampled = {0.0, 1.0, 5.5, 8.0, 13.0, 24.0, 36.25, 48.0};

/// Runs all instances with their rows and compares the blood at the sample times.
void expect_closed_form(const constants& c, const std::vector<rows>& all, const std::vector<std::string>& more,
                        double tolerance) {
  const file data("doses.csv", csv(all));
  const auto settings = with(with(settings_of(c), more), {data.setting(), fmt::format("sample.count={}", all.size()),
                                                          set("output.samples.times", sampled)});
  const auto r = run(patients, settings);
  const compartments exact{c};
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << i;
    EXPECT_EQ(discrete(r, "given", static_cast<std::int64_t>(i)),
              std::count_if(all[i].begin(), all[i].end(), [&](const row& one) { return one.t + c.lag <= 48.0; }));
    for (std::size_t k = 0; k < sampled.size(); ++k)
      EXPECT_NEAR(r.sample(1, static_cast<std::int64_t>(i), static_cast<std::int64_t>(k)), exact.at(sampled[k], all[i]),
                  tolerance)
          << more[0] << ", instance " << i << " at " << sampled[k];
  }
}

TEST(Records, OfOneCompartmentGiveSumsOfExponentials) {
  const auto all = ragged(60);
  expect_closed_form(one_compartment, all, {"rtol=1e-10", "atol=1e-10"}, 1e-6);
  expect_closed_form(one_compartment, all, {"rtol=1e-12", "atol=1e-12", "method=dop853"}, 2e-9);
  expect_closed_form(one_compartment, all, {"method=taylor", "rtol=1e-10", "atol=1e-10"}, 1e-7);
}

TEST(Records, OfTwoCompartmentsGiveSumsOfExponentials) {
  const auto all = ragged(60);
  auto late = two_compartments;
  late.lag = 1.75;
  expect_closed_form(two_compartments, all, {"rtol=1e-10", "atol=1e-10"}, 1e-6);
  expect_closed_form(late, all, {"rtol=1e-10", "atol=1e-10"}, 1e-6);
  expect_closed_form(two_compartments, all, {"method=radau5", "rtol=1e-10", "atol=1e-10"}, 1e-6);
  expect_closed_form(two_compartments, all, {"method=rodas5p", "rtol=1e-9", "atol=1e-9"}, 1e-5);
  expect_closed_form(two_compartments, all, {"method=auto", "rtol=1e-10", "atol=1e-10"}, 1e-6);
  expect_closed_form(two_compartments, all, {"precision=float", "rtol=1e-5", "atol=1e-4"}, 0.2);
}

TEST(Records, AreGivenThroughRescuesAsWithoutThem) {
  // Every third instance is handed to the fallback integrator at random places of its way.
  expect_closed_form(two_compartments, ragged(60), {"rtol=1e-10", "atol=1e-10", "inject_exceptions=0.3"}, 1e-6);
}

TEST(Records, AtOneTimeComeInTheOrderOfTheDataAndAreOneEvent) {
  const file data("doses.csv", csv({{{1, 10, 0}, {1, 30, 0}, {1, 20, 0}, {2, 5, 0}, {7, 1, 0}, {7, 2, 0}}}));
  const auto r = run(patients, with(tight, {data.setting(), "t=[0.0,7.0]"}));
  EXPECT_EQ(times_of(r, "dose"), (std::vector<double>{1, 2, 7}));
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"dose", "dose", "dose", "check"})) << "with another at the end";
  EXPECT_EQ(discrete(r, "given"), 6);
  EXPECT_EQ(discrete(r, "last"), 2);
  EXPECT_EQ(plan_of(patients, {data.setting(), "sample.count=3"}).warnings, std::vector<std::string>{})
      << "instances differ by their records";
  const auto before = run(patients, with(tight, {data.setting(), "t=[0.0,1.5]"}));
  EXPECT_EQ(discrete(before, "last"), 20);
  EXPECT_EQ(discrete(before, "given"), 3);
  EXPECT_EQ(before.log[0].after[0] - before.log[0].before[0], 0.8 * 60);
}

TEST(Records, AtTheStartAreGivenAndSeenByReductionsAndSamples) {
  const file data("doses.csv", csv({{{0, 100, 0}, {0, 50, 0}, {5, 1, 0}}}));
  const auto r = run(patients, with(tight, {data.setting(), "output.samples.times=[0.0, 1.0]",
                                            "output.reduce=['max(gut)', 'count(dose)', 'first(dose)', 'last(dose)']"}));
  EXPECT_EQ(r.sample(0, 0, 0), 120.0);
  EXPECT_NEAR(r.sample(0, 0, 1), 120.0 * std::exp(-1.1), 1e-7);
  EXPECT_EQ(r.reductions[0], 120.0);
  EXPECT_EQ(r.reductions[1], 2.0);
  EXPECT_EQ(r.reductions[2], 0.0);
  EXPECT_EQ(r.reductions[3], 5.0);
  EXPECT_EQ(times_of(r, "dose"), (std::vector<double>{0, 5}));
  EXPECT_EQ(times_of(r, "check")[0], 7.0) << "no other time event fires at the start";
  // A run that continues another one has had its rows up to the start.
  const auto on = run(patients, with(tight, {data.setting(), "records.past='given'", "t=[5.0, 20.0]"}));
  EXPECT_EQ(discrete(on, "given"), 0);
  const auto late = run(patients, with(tight, {data.setting(), "records.past='given'", "t=[5.0, 20.0]", "lag=2.0"}));
  EXPECT_EQ(times_of(late, "dose"), std::vector<double>{7.0});
}

TEST(Records, BeforeTheStartEndAnInstance) {
  const file data("doses.csv", csv({{{2, 100, 0}}}));
  const auto r = run(patients, with(tight, {data.setting(), "sweep.t_begin=[1.0, 2.0, 3.0]", "records.id=[0]"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.status[1]), "finished");
  EXPECT_EQ(name_of(r.status[2]), "bad_schedule");
  EXPECT_EQ(times_of(r, "dose", 1), std::vector<double>{2.0});
}

TEST(Records, AreDelayed) {
  const file data("doses.csv", csv({{{0, 100, 0}, {3, 50, 0}}}));
  const auto r =
      run(patients, with(tight, {data.setting(), "sweep.lag=[0.0, 0.5, 45.5, 48.5, -0.1]", "records.id=[0]"}));
  EXPECT_EQ(times_of(r, "dose", 0), (std::vector<double>{0, 3}));
  EXPECT_EQ(times_of(r, "dose", 1), (std::vector<double>{0.5, 3.5}));
  EXPECT_EQ(times_of(r, "dose", 2), std::vector<double>{45.5});
  EXPECT_EQ(times_of(r, "dose", 3), std::vector<double>{});
  EXPECT_EQ(name_of(r.status[3]), "finished");
  EXPECT_EQ(name_of(r.status[4]), "bad_schedule");
}

/// Two files that are to give the same bits.
void expect_same_rows(const std::string& a, const std::string& b, int instances = 1) {
  const file one("a.csv", a), other("b.csv", b);
  const auto count = fmt::format("sample.count={}", instances);
  const auto x = run(patients, with(tight, {one.setting(), count})),
             y = run(patients, with(tight, {other.setting(), count}));
  expect_same_log(x, y);
  for (int i = 0; i < instances; ++i) expect_same(x, i, y, i);
}

// blood(T) is the sum of a e^(-k (T - t - delay)) over the rows that have arrived, and its derivative by the delay is k blood(T).
TEST(Records, ScheduleWhatArrivesLater) {
  const auto all = ragged(60);
  const file data("doses.csv", csv(all));
  const auto r = run(test_model("delayed_doses"),
                     {"rtol=1e-11", "atol=1e-11", data.setting(), "sample.count=60", by({"delay", "elimination"})});
  const double k = 0.15, delay = 9.5, end = 48.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << i;
    double sum = 0, by_rate = 0;
    for (const row& one : all[i])
      if (const double since = end - one.t - delay; since >= 0) {
        sum += one.amount * std::exp(-k * since);
        by_rate -= since * one.amount * std::exp(-k * since);
      }
    const auto at = static_cast<std::int64_t>(i);
    EXPECT_NEAR(r.final_state[i], sum, 1e-7) << i;
    EXPECT_NEAR(r.derivative(0, 0, at), k * sum, 1e-7) << i;
    EXPECT_NEAR(r.derivative(0, 1, at), by_rate, 1e-6) << i;
  }
}

TEST(Records, UnderstandTheColumnsOfPharmacometrics) {
  expect_same_rows(
      "ID,TIME,AMT,RATE,II,ADDL,EVID,DV\n"
      "0,0,100,.,12,2,1,.\n"
      "0,1,.,.,.,.,0,3.5\n"
      "0,13,60,20,,0,1,\n"
      "1,2,50,0,0,0,1,0\n",
      "id,time,amount,rate\n0,0,100,0\n0,12,100,0\n0,13,0,20\n0,16,0,-20\n0,24,100,0\n1,2,50,0\n", 2);
  // An infusion that is repeated, and ends when the next one begins: the order of the data holds.
  expect_same_rows("ID,TIME,AMT,DUR,II,ADDL\n0,1,40,8,8,1\n0,9,10,0,0,0\n",
                   "id,time,amount,rate\n0,1,0,5\n0,9,0,-5\n0,9,0,5\n0,9,10,0\n0,17,0,-5\n");
}

TEST(Records, HaveTheSameBitsHoweverTheyAreRun) {
  const auto all = ragged(50);
  const file data("doses.csv", csv(all));
  const auto settings = with(tight, {data.setting(), set("to_tissue", 0.35), set("to_blood", 0.2), "lag=0.5",
                                     "sample.count=50", "sample.seed=3", "sample.elimination={uniform=[0.1,0.3]}",
                                     "output.reduce=['max(blood)', 'integral(blood)']"});
  for (const char* method : {"method=dp5", "method=radau5", "precision=float"}) {
    const auto one = run(patients, with(settings, {method, "run.lanes=1", "run.threads=1"}));
    for (const auto& how : {std::vector<std::string>{"run.lanes=8", "run.chunk=7", "run.threads=2"},
                            std::vector<std::string>{"run.lanes=4", "run.groups=2", "run.chunk=50"}}) {
      const auto r = run(patients, with(with(settings, {method}), how));
      expect_same_log(one, r);
      for (int i = 0; i < 50; ++i) expect_same(one, i, r, i);
    }
  }
}

std::string refused_settings(const std::string& model, const std::vector<std::string>& settings) {
  try {
    plan_of(model, settings);
  } catch (const host::error& e) { return e.what(); }
  return "accepted";
}

TEST(Records, AreFoundByTheIdsOfTheSweep) {
  const file data("doses.csv", "id,time,amount,rate\n17,0,100,0\n3,0,300,0\n99,0,5,0\n");
  const file table("people.csv", "patient,elimination\n3,0.1\n8,0.2\n17,0.3\n3,0.4\n");
  const auto r = run(patients, {data.setting(), fmt::format("sweep.table='{}'", table.path()), "sweep.lag=[0.0, 1.0]",
                                "records.id='patient'", "sample.count=2", "t=[0.0, 2.0]"});
  ASSERT_EQ(r.plan.count, 16);
  const std::vector<double> last = {300, 0, 100, 300};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(discrete(r, "last", i), last[static_cast<std::size_t>(i / 4)]) << i;
  ASSERT_EQ(r.plan.warnings.size(), 1u);
  EXPECT_EQ(r.plan.warnings[0], data.path() +
                                    ": ids that match no instance, and whose rows are not used: 1; the first is 99 (" +
                                    data.path() + ":4:1)");
  EXPECT_EQ(
      refused_settings(patients, {data.setting(), "sweep.lag=[0.0, 1.0]", "records.id=[3, 17, 99]"}),
      "--set records.id=[3, 17, 99]: records.id = [3, 17, 99]: must have one id for all instances, or one for each of "
      "the 2 instances; it has 3");
  EXPECT_NE(refused_settings(patients, {data.setting(), fmt::format("sweep.table='{}'", table.path()),
                                        "records.id='patient'", "sweep.zip={lag=[0.0, 1.0], absorption=[1.0, 1.1]}"})
                .find("must have the key id with an id for each instance: rows of more than one table are combined"),
            std::string::npos);
  // A column that is called id needs no mention; rows without one are those of all instances.
  const file named("people.csv", "id,elimination\n3,0.1\n17,0.3\n");
  const auto s = run(patients, {data.setting(), fmt::format("sweep.table='{}'", named.path()), "t=[0.0, 2.0]"});
  EXPECT_EQ(discrete(s, "last", 0), 300);
  EXPECT_EQ(discrete(s, "last", 1), 100);
  const file common("doses.csv", "time,amount,rate\n0,7,0\n1,8,0\n");
  const auto t = run(patients, {common.setting(), "sample.count=3", "t=[0.0, 2.0]"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(discrete(t, "given", i), 2);
}

std::string refused(const std::string& text, const std::vector<std::string>& more = {}) {
  const file data("doses.csv", text);
  try {
    plan_of(patients, with({data.setting()}, more));
  } catch (const host::error& e) {
    std::string what = e.what();
    for (auto at = what.find(data.path()); at != what.npos; at = what.find(data.path()))
      what.replace(at, data.path().size(), "F");
    return what;
  }
  return "accepted";
}

TEST(Records, RefuseDataByLineAndColumn) {
  const std::string head = "id,time,amount,rate\n", dose = "ID,TIME,AMT,RATE,DUR,II,ADDL,EVID,SS,CMT\n";
  EXPECT_EQ(refused(head + "0,1,2,0\n0,0.5,2,0\n"),
            "F:3:3: time = 0.5: must not be before 1, the time of the row before: the rows of an id ascend in time");
  EXPECT_EQ(refused(head + "0,1,nan,0\n"), "F:2:5: amount = nan: must be a finite number");
  EXPECT_EQ(refused(head + "0,1,2\n"), "F:2:6: rate = : must be a finite number");
  EXPECT_EQ(refused(head + "0,,2,0\n"), "F:2:3: time = : must be a finite number");
  EXPECT_EQ(refused(head + "0,-1,2,0\n"), "F:2:3: time = -1: must not be before the start, 0");
  EXPECT_EQ(refused(head + "0,1,2,0\n1,1,2,0\n0,2,2,0\n", {"sample.count=2"}),
            "F:4:1: id = 0: its rows must stand together: sort the data by id, and then by time");
  EXPECT_EQ(refused(head + "1,1,2,0\n2,1,2,0\n", {"sample.count=2"}),
            "F:3:1: id 2: matches no instance, and 0 other ids do not either; the ids are 0 .. 1, the numbers of the "
            "instances; a column id of the swept table, or records.id, may name others");
  EXPECT_EQ(refused(head), "F: must have at least one row");
  EXPECT_EQ(refused("id,time,rate\n0,1,2\n"),
            "--set records.dose='F': records.dose = \"F\": F has no column amount; allowed: id, time, rate");
  EXPECT_EQ(refused("time,amount,rate\n1,2,0\n0,2,0\n"),
            "F:3:1: time = 0: must not be before 1, the time of the row before: the rows of all instances, without a "
            "column id, ascend in time");
  EXPECT_EQ(
      refused(dose + "0,0,1,0,0,0,0,3,0,1\n"),
      "F:2:15: EVID = 3: must be 1 (a dose) or 0 (an observation, which is skipped): other events, 2, and resets, 3 "
      "and 4, are not understood");
  EXPECT_EQ(
      refused(dose + "0,0,1,0,0,12,0,1,1,1\n"),
      "F:2:18: SS = 1: must be 0: a steady state is not understood; give the doses that lead to it, by ADDL and II");
  EXPECT_EQ(
      refused(dose + "0,0,1,-2,0,0,0,1,0,1\n"),
      "F:2:7: RATE = -2: must not be negative: rates and durations that are parameters, -1 and -2, are not understood");
  EXPECT_EQ(refused(dose + "0,0,1,2,3,0,0,1,0,1\n"),
            "F:2:9: DUR = 3: must be 0, as RATE is positive: one follows from the other");
  EXPECT_EQ(refused(dose + "0,0,0,2,0,0,0,1,0,1\n"), "F:2:5: AMT = 0: must be positive, as the dose is an infusion");
  EXPECT_EQ(refused(dose + "0,0,1,0,0,0,2,1,0,1\n"), "F:2:11: II = 0: must be positive, as ADDL is");
  EXPECT_EQ(refused(dose + "0,0,1,0,0,12,1.5,1,0,1\n"), "F:2:14: ADDL = 1.5: must be a whole number from 0 to 1000000");
  EXPECT_EQ(
      refused(dose + "0,0,1,0,0,0,0,1,0,1\n0,1,1,0,0,0,0,1,0,2\n"),
      "F:3:19: CMT = 2: must be 1, as in the first dose: a model with a column CMT of its own may tell compartments "
      "apart");
  EXPECT_EQ(refused(head + "0,1,2,0\n", {"t=[48.0, 0.0]"}),
            "--set records.dose='F': records = { dose = \"F\" }: must go with a run forward in time: recorded time "
            "events do not "
            "run backward");
}

TEST(Records, MustBeGivenByTheSpec) {
  EXPECT_NE(refused_settings(patients, {})
                .find("records.dose is missing: the rows of dose (a dose is given, or an infusion "
                      "changes) are data; it must be the path of a CSV file"),
            std::string::npos);
  EXPECT_NE(refused_settings(test_model("timetable"), {"records.dose='a.csv'"})
                .find("must be left out, as timetable has no recorded time event"),
            std::string::npos);
  EXPECT_NE(refused_settings(patients, {"records.dos='a.csv'"}).find("unknown key; did you mean dose?"),
            std::string::npos);
  EXPECT_NE(refused_settings(patients, {"records.dose='-'"}).find("must be a file, not standard input"),
            std::string::npos);
}

/// A central difference of order 4.
double slope(const std::function<double(double)>& f, double at) {
  const double d = 1e-3;
  return (f(at - 2 * d) - 8 * f(at - d) + 8 * f(at + d) - f(at + 2 * d)) / (12 * d);
}

TEST(Records, HaveDerivativesByParametersAndDelays) {
  const rows all = {{0, 100, 0}, {3.5, 50, 10}, {3.5, 20, 0}, {9, 0, -10}, {20, 80, 0}};
  auto c = two_compartments;
  c.lag = 0.75;
  const file data("doses.csv", csv({all}));
  for (const char* method : {"method=dop853", "method=radau5"}) {
    const auto r = run(patients, with(settings_of(c), {data.setting(), "rtol=1e-11", "atol=1e-11", method,
                                                       by({"lag", "bioavailability", "elimination", "absorption"})}));
    ASSERT_STREQ(reason_of(r), "defined");
    const auto blood = [&](double constants::*of) {
      return slope(
          [&](double value) {
            auto other = c;
            other.*of = value;
            return compartments{other}.at(48.0, all);
          },
          c.*of);
    };
    EXPECT_NEAR(r.derivative(1, 0), blood(&constants::lag), 1e-7) << method;
    EXPECT_NEAR(r.derivative(1, 1), blood(&constants::bioavailability), 1e-7) << method;
    EXPECT_NEAR(r.derivative(1, 2), blood(&constants::elimination), 1e-6) << method;
    EXPECT_NEAR(r.derivative(1, 3), blood(&constants::absorption), 1e-7) << method;
  }
}

TEST(Records, HaveTheDerivativeOfADelayAtTheStart) {
  // The dose is at the start, and comes later with the delay: the derivative is the one to the right.
  const file data("doses.csv", csv({{{0, 100, 0}}}));
  const auto r =
      run(patients, {data.setting(), "rtol=1e-11", "atol=1e-11", "method=dop853", by({"lag"}), "t=[0.0, 6.0]"});
  ASSERT_STREQ(reason_of(r), "defined");
  // d/dlag 80 exp(-1.1 (6 - lag))
  EXPECT_NEAR(r.derivative(0, 0), 80 * 1.1 * std::exp(-1.1 * 6), 1e-8);
}

}  // namespace
}  // namespace saltus::test
