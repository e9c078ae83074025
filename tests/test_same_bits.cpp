// An instance has the same bits for every batch size, order, number of threads, lanes and groups, chunk size and
// compiler.
#include "same_bits.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "spec/methods.hpp"
#include "testing/source_folder.hpp"

namespace saltus::test {
namespace {

struct ensemble {
  std::string model;
  std::vector<std::string> settings;
};

/// Settings for groups that take turns: each number of lanes has one number of groups.
std::string groups_of(int lanes) { return fmt::format("run.groups={}", lanes == 4 ? 3 : lanes > 4 ? 2 : 1); }

/// Random order, samples, reductions and events at once; models with elementary functions, discrete variables, many roots; time
/// events, sliding, rest and conditions; certified search, guards in the error control, exceptions and rescue.
std::vector<ensemble> ensembles() {
  return {
      {"relief_valve",
       {"rtol=1e-7", "t=[0.0,12.0]", "sample.count=205", "sample.seed=3", "sample.flow={uniform=[0.4,10.0]}",
        "sample.restitution={normal=[0.8,0.05],max=1.0}", "output.samples.count=7", "output.events=true",
        "output.reduce=['max(pressure)','mean(lift)']"}},
      {"keller_miksis",
       {"rtol=1e-6", "method=dop853", "sample.count=33", "sample.frequency_1={log_uniform=[5e4,5e5]}",
        "output.events=true"}},
      {"bok_1",
       {"rtol=1e-6", "method=tsit5", "detection=certified", "sample.count=205", "sample.A={uniform=[0.35,0.45]}",
        "output.events=true"}},
      {"thermostat",
       {"rtol=1e-6", "method=bs3", "guards_in_error=true", "t=[10.0,0.0]", "sample.count=33",
        "sample.temperature={uniform=[15.0,25.0]}", "output.events=true"}},
      {saltus::test::in_source("tests/models/everything.hpp"),
       {"rtol=1e-6", "sample.count=67", "sample.restitution={uniform=[0.3,0.8]}", "sample.period={uniform=[1.0,5.0]}",
        "sample.belt_speed={uniform=[0.1,0.5]}", "output.samples.count=9", "output.reduce=['max(height)','mean(load)']",
        "output.events=true"}},
      {"ball_drag",
       {"rtol=1e-6", "inject_exceptions=0.4", "sample.count=205", "sample.height={uniform=[0.5,2.0]}",
        "output.events=true"}},
      // Events are so dense that lanes wait for each other, but for the rooms that never get warm: their neighbours must not wait for them.
      {"thermostat",
       {"rtol=1e-6", "max_step=0.5", "t=[0.0,100.0]", "sample.count=205", "sample.heating={uniform=[1.0,8.0]}",
        "output.events=true"}},
  };
}

/// Implicit methods: an ODE, constraints of index 1 (with inexact guesses, so that lanes need different numbers of
/// iterations), a residual, and constraints of index 2; all with events, with one method of every family.
std::vector<ensemble> implicit_ensembles() {
  const std::string models = saltus::test::in_source("tests/models/");
  return {
      {models + "relaxing.hpp",
       {"rtol=1e-6", "method=rodas5p", "sample.count=67", "sample.rate={log_uniform=[1.0,1e8]}",
        "sample.mark={uniform=[-0.8,0.8]}", "sample.kick={uniform=[-0.5,0.0]}", "output.samples.count=5",
        "output.events=true"}},
      {models + "cubic_semi.hpp",
       {"rtol=1e-5", "method=esdirk4", "sample.count=133", "sample.z_begin={uniform=[-2.0,0.4]}", "level=0.6",
        "bump=1.5", "sample.speed={uniform=[0.5,1.5]}", "sample.z={uniform=[-0.5,0.5]}", "new_slope=1.7",
        "output.samples.count=5", "output.reduce=['max(w)','mean(square)']", "output.events=true"}},
      {models + "cubic_residual.hpp",
       {"rtol=1e-5", "method=sdirk4", "sample.count=67", "sample.z_begin={uniform=[-2.0,0.4]}", "level=0.6", "bump=1.5",
        "sample.nan_from={uniform=[1.5,3.0]}", "rescue=false", "output.events=true"}},
      {models + "circle_2.hpp",
       {"rtol=1e-6", "sample.count=67", "sample.turn_at={uniform=[-0.2,0.9]}", "output.samples.count=5",
        "output.events=true"}},
  };
}

class SameBits : public ::testing::TestWithParam<std::size_t> {
 protected:
  /// The ensemble with further settings.
  outcome go(const std::vector<std::string>& more) const {
    auto e = ensembles()[GetParam()];
    e.settings.insert(e.settings.end(), more.begin(), more.end());
    return run(e.model, e.settings);
  }
};

TEST_P(SameBits, WhateverLanesThreadsAndChunks) {
  const outcome reference = go({"run.lanes=1", "run.threads=1"});
  const int native = host::native_lanes();
  for (int lanes : {1, 4, 8}) {
    if (lanes > native) continue;  // a pack never exceeds the machine's register
    for (int threads : {1, 2})
      for (int chunk : {1, 3, 7, 8, 9, 33, 1000}) {
        SCOPED_TRACE(
            fmt::format("{}: lanes {}, threads {}, chunk {}", reference.plan.model.name, lanes, threads, chunk));
        const outcome r = go({fmt::format("run.lanes={}", lanes), groups_of(lanes),
                              fmt::format("run.threads={}", threads), fmt::format("run.chunk={}", chunk)});
        for (std::int64_t i = 0; i < reference.plan.count; ++i) expect_same(reference, i, r, i);
        expect_same_log(reference, r);
        if (HasFatalFailure()) return;
      }
  }
}

TEST_P(SameBits, WhateverTheBatchSize) {
  const outcome reference = go({"run.lanes=1"});
  const int native = host::native_lanes();
  for (int count : {1, native - 1, native, native + 1, 31}) {
    SCOPED_TRACE(count);
    const outcome r = go({fmt::format("sample.count={}", count)});
    for (std::int64_t i = 0; i < r.plan.count; ++i) expect_same(reference, i, r, i);
    if (HasFatalFailure()) return;
  }
}

class SameBitsImplicit : public ::testing::TestWithParam<std::size_t> {
 protected:
  outcome go(const std::vector<std::string>& more) const {
    auto e = implicit_ensembles()[GetParam()];
    e.settings.insert(e.settings.end(), more.begin(), more.end());
    return run(e.model, e.settings);
  }
};

// Packs of one register, and of two.
TEST_P(SameBitsImplicit, WhateverLanesThreadsAndChunks) {
  const outcome reference = go({"run.lanes=1", "run.threads=1"});
  EXPECT_EQ(reference.summary.counts.not_finished(), 0);
  EXPECT_GE(reference.summary.counts.ok(), reference.plan.count / 3);
  for (int lanes : {1, 4, 16})
    for (const auto& [threads, chunk] : {std::pair(1, 1), {1, 7}, {1, 1000}, {2, 17}}) {
      SCOPED_TRACE(fmt::format("{}: lanes {}, threads {}, chunk {}", reference.plan.model.name, lanes, threads, chunk));
      const outcome r = go({fmt::format("run.lanes={}", lanes), groups_of(lanes),
                            fmt::format("run.threads={}", threads), fmt::format("run.chunk={}", chunk)});
      for (std::int64_t i = 0; i < reference.plan.count; ++i) expect_same(reference, i, r, i);
      expect_same_log(reference, r);
      if (HasFatalFailure()) return;
    }
}

// ---- models that select, at random -----------------------------------------------------------------------------------

/// A form of equations whose right-hand sides, constraints and guards select by modes and by states, and a method for it.
struct chooser {
  std::string form, method;
};
void PrintTo(const chooser& c, std::ostream* out) { *out << c.form << " by " << c.method; }

/// Every form with every method that integrates it.
std::vector<chooser> choosers() {
  struct form {
    const char* name;
    bool explicitly, by_series, implicitly, by_rosenbrock, by_mechanical;
    int index;
  };
  constexpr form forms[] = {
      {"plain", true, true, true, true, false, 0},       {"semi", false, false, true, true, false, 1},
      {"index_2", false, false, true, true, false, 2},   {"residual", false, false, true, false, false, 0},
      {"mass", false, false, true, true, false, 0},      {"mixed", false, false, true, true, false, 0},
      {"mechanical", true, false, true, true, false, 0}, {"rod_bodies", false, false, false, false, true, 0},
      {"any_order", true, true, true, true, false, 0},   {"array", true, false, false, false, false, 0}};
  std::vector<chooser> all;
  for (const form& f : forms)
    for (const auto& m : host::known_methods()) {
      const bool serves = m.for_mechanics ? f.by_mechanical
                          : m.is_series   ? f.by_series
                          : m.is_explicit ? f.explicitly
                                          : f.implicitly && (f.by_rosenbrock || !m.is_rosenbrock);
      if (serves && m.highest_index >= f.index) all.push_back({f.name, std::string(m.name)});
    }
  return all;
}

class Choosers : public ::testing::TestWithParam<chooser> {
 protected:
  outcome go(std::int64_t count, const std::vector<std::string>& more) const {
    const auto& [form, method] = GetParam();
    std::vector<std::string> settings = {fmt::format("sample.count={}", count), "sample.seed=5", "method=" + method,
                                         "sample.power={discrete=[0.0,0.5,1.0,1.5,2.0]}", "rescue=false"};
    for (int k = 0; k < 8; ++k) settings.push_back(fmt::format("sample.c_{}={{uniform=[-1.0,1.0]}}", k));
    const bool has_error = host::method_called(method).embedded_order > 0 || host::method_called(method).is_series;
    settings.push_back(has_error ? "rtol=1e-6" : "step=0.01");
    if (form == "array") settings.push_back("structure=array");
    settings.insert(settings.end(), more.begin(), more.end());
    return run(saltus::test::in_source("tests/models/selecting_") + form + ".hpp", settings);
  }
  void compare(std::int64_t count) const {
    const outcome one = go(count, {"run.lanes=1"}), wide = go(count, {"run.threads=2", "run.chunk=37"});
    std::size_t events = 0;
    for (const long long of_one : one.events) events += static_cast<std::size_t>(of_one);
    EXPECT_GT(events, static_cast<std::size_t>(count)) << "branches change during the run";
    for (std::int64_t i = 0; i < count && !HasFatalFailure(); ++i) expect_same(one, i, wide, i);
  }
};

TEST_P(Choosers, HaveTheSameBitsWhateverRunsBeside) { compare(1'000); }

class ManyChoosers : public Choosers {};
TEST_P(ManyChoosers, HaveTheSameBitsWhateverRunsBeside) { compare(100'000); }

const auto name_of_chooser = [](const auto& of) { return of.param.form + "_by_" + of.param.method; };
INSTANTIATE_TEST_SUITE_P(Daily, Choosers, ::testing::Values(chooser{"any_order", "taylor16"}), name_of_chooser);
INSTANTIATE_TEST_SUITE_P(OfEachForm, Choosers,
                         ::testing::Values(chooser{"plain", "taylor12"}, chooser{"semi", "rodas5p"},
                                           chooser{"index_2", "radau5"}, chooser{"residual", "radau5"},
                                           chooser{"mass", "rodas4"}, chooser{"mixed", "radau9"},
                                           chooser{"mechanical", "dop853"}, chooser{"rod_bodies", "inflsdirk4"},
                                           chooser{"array", "dp5"}),
                         name_of_chooser);
INSTANTIATE_TEST_SUITE_P(All, Choosers, ::testing::ValuesIn(choosers()), name_of_chooser);
INSTANTIATE_TEST_SUITE_P(All, ManyChoosers, ::testing::ValuesIn(choosers()), name_of_chooser);

/// A hash of every final value of an ensemble (FNV-1a).
std::uint64_t digest(const outcome& r) {
  std::uint64_t h = 14695981039346656037u;
  for (double x : r.final_state) h = (h ^ bits(x)) * 1099511628211u;
  for (double x : r.t_final) h = (h ^ bits(x)) * 1099511628211u;
  return h;
}

std::string digests() {
  std::string all;
  for (const auto& list : {ensembles(), implicit_ensembles()})
    for (const auto& e : list) all += fmt::format("{:016x} ", digest(run(e.model, e.settings)));
  return all;
}

/// Starts this program with another compiler or processor and expects the digests of this process.
void expect_digests_with(const std::string& variable) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::FILE* out =
      ::popen(fmt::format("SALTUS_PRINT_DIGESTS=1 {} '{}' --gtest_filter='Digests.*'", variable, self).c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
  ASSERT_EQ(::pclose(out), 0) << text;
  static const std::string expected = digests();
  EXPECT_NE(text.find("digests: " + expected), std::string::npos) << variable << ": " << text;
}

TEST(Digests, ArePrinted) {
  if (std::getenv("SALTUS_PRINT_DIGESTS") == nullptr) GTEST_SKIP() << "another test starts this one";
  fmt::print("digests: {}\n", digests());
}

TEST(Compilers, AgreeOnEveryBit) {
  for (const char* compiler : {"g++", "clang++"}) {
    if (std::system(fmt::format("command -v {} > /dev/null 2>&1", compiler).c_str()) != 0) {
      fmt::print("{} is not installed here\n", compiler);
      continue;
    }
    expect_digests_with(fmt::format("SALTUS_CXX={}", compiler));
  }
}

// Registers of two numbers without a fused multiply-add, which the C library then computes, and of four with it.
TEST(Processors, AgreeOnEveryBit) {
#if defined(__x86_64__)
  expect_digests_with("SALTUS_CPU=x86-64");
  if (host::native_lanes() >= 4) expect_digests_with("SALTUS_CPU=x86-64-v3");
#else
  expect_digests_with("SALTUS_CPU=generic");
#endif
}

// The instances that ask for a term with corners do not change the others, which skip it where they are among themselves.
TEST(Branches, OfNeighboursAreIrrelevant) {
  const auto go = [](const std::vector<std::string>& more) {
    std::vector<std::string> settings = {"method=taylor12", "sample.count=300", "sample.w={uniform=[1.0,9.0]}",
                                         "sample.phase={uniform=[0.0,6.0]}", "sample.asks={discrete=[0.0,1.0]}"};
    settings.insert(settings.end(), more.begin(), more.end());
    return run(saltus::test::in_source("tests/models/skipped_corner.hpp"), settings);
  };
  const outcome one = go({"run.lanes=1"}), wide = go({"run.threads=2", "run.chunk=37"});
  for (std::int64_t i = 0; i < 300 && !HasFatalFailure(); ++i) expect_same(one, i, wide, i);
}

/// A step across a corner is judged by its own lane alone.
TEST(Corners, OfNeighboursAreIrrelevant) {
  for (const char* form : {"plain", "mechanical"})
    for (const char* method : {"dp5", "sdirk4"}) {
      const auto go = [&](const std::vector<std::string>& more) {
        std::vector<std::string> settings = {std::string("method=") + method, "rtol=1e-6", "sample.count=203",
                                             "sample.w={uniform=[1.0,9.0]}", "sample.phase={uniform=[0.0,6.0]}"};
        settings.insert(settings.end(), more.begin(), more.end());
        return run(saltus::test::in_source("tests/models/rectified_") + form + ".hpp", settings);
      };
      const outcome one = go({"run.lanes=1"}), wide = go({"run.threads=2", "run.chunk=37"});
      for (std::int64_t i = 0; i < 203 && !HasFatalFailure(); ++i) expect_same(one, i, wide, i);
    }
}

TEST(Order, IsIrrelevantToEverything) {
  const auto go = [](const char* range) {
    return run(saltus::test::in_source("tests/models/everything.hpp"),
               {"rtol=1e-6", std::string("sweep.toss_speed=") + range, "output.samples.count=9", "output.events=true",
                "output.reduce=['max(height)','mean(load)']"});
  };
  const outcome up = go("{from=2.0,to=6.0,count=65}"), down = go("{from=6.0,to=2.0,count=65}");
  for (std::int64_t i = 0; i < 65; ++i) expect_same(up, i, down, 64 - i);  // 4 / 64 is a binary fraction
}

TEST(Order, IsIrrelevant) {
  const outcome up =
      run("relief_valve", {"rtol=1e-7", "t=[0.0,12.0]", "sweep.flow={from=0.5,to=9.0,count=65}", "output.events=true"});
  const outcome down =
      run("relief_valve", {"rtol=1e-7", "t=[0.0,12.0]", "sweep.flow={from=9.0,to=0.5,count=65}", "output.events=true"});
  for (std::int64_t i = 0; i < 65; ++i) {
    // from + (to - from) i / 64: the same 65 numbers, as 8.5 / 64 is a binary fraction.
    expect_same(up, i, down, 64 - i);
  }
}

TEST(Order, IsIrrelevantToConstraints) {
  const auto go = [](const char* range) {
    return run(saltus::test::in_source("tests/models/cubic_semi.hpp"),
               {"rtol=1e-5", "method=esdirk4", std::string("sweep.z_begin=") + range, "level=0.6", "bump=1.5",
                "output.samples.count=5", "output.reduce=['max(w)','mean(square)']", "output.events=true"});
  };
  const outcome up = go("{from=-2.0,to=0.0,count=65}"), down = go("{from=0.0,to=-2.0,count=65}");
  for (std::int64_t i = 0; i < 65; ++i) expect_same(up, i, down, 64 - i);  // 2 / 64 is a binary fraction
}

INSTANTIATE_TEST_SUITE_P(All, SameBitsImplicit, ::testing::Range<std::size_t>(0, implicit_ensembles().size()));
INSTANTIATE_TEST_SUITE_P(All, SameBits, ::testing::Range<std::size_t>(0, ensembles().size()));

}  // namespace
}  // namespace saltus::test
