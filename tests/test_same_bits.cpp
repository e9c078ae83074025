// One instance has the same bits whatever ran beside it: batch size, order, threads, lanes, chunks, compiler.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ensemble.hpp"

namespace saltus::test {
namespace {

std::uint64_t bits(double x) {
  std::uint64_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

/// Instance i of `a` and instance j of `b` agree in everything a result file would hold.
void expect_same(const outcome& a, std::int64_t i, const outcome& b, std::int64_t j) {
  const auto at_i = static_cast<std::size_t>(i), at_j = static_cast<std::size_t>(j);
  const auto column = [&](const std::vector<double>& x, const std::vector<double>& y, std::size_t row = 1) {
    const std::size_t na = static_cast<std::size_t>(a.plan.count), nb = static_cast<std::size_t>(b.plan.count);
    if (na == 0 || x.size() % (na * row) != 0) return;
    for (std::size_t q = 0; q < x.size() / (na * row); ++q)
      for (std::size_t k = 0; k < row; ++k)
        ASSERT_EQ(bits(x[(q * na + at_i) * row + k]), bits(y[(q * nb + at_j) * row + k])) << "instance " << i;
  };
  column(a.final_state, b.final_state), column(a.final_output, b.final_output),
      column(a.final_discrete, b.final_discrete);
  column(a.t_final, b.t_final), column(a.reductions, b.reductions);
  if (a.plan.sample_count > 0) column(a.samples, b.samples, static_cast<std::size_t>(a.plan.sample_count));
  ASSERT_EQ(a.status[at_i], b.status[at_j]);
  ASSERT_EQ(a.steps[at_i], b.steps[at_j]);
  ASSERT_EQ(a.rejected[at_i], b.rejected[at_j]);
  ASSERT_EQ(a.evaluations[at_i], b.evaluations[at_j]);
  ASSERT_EQ(a.events[at_i], b.events[at_j]);
}

void expect_same_log(const outcome& a, const outcome& b) {
  ASSERT_EQ(a.log.size(), b.log.size());
  for (std::size_t e = 0; e < a.log.size(); ++e) {
    ASSERT_EQ(a.log[e].instance, b.log[e].instance);
    ASSERT_EQ(a.log[e].guard, b.log[e].guard);
    ASSERT_EQ(bits(a.log[e].time), bits(b.log[e].time));
    for (std::size_t q = 0; q < a.log[e].before.size(); ++q) {
      ASSERT_EQ(bits(a.log[e].before[q]), bits(b.log[e].before[q]));
      ASSERT_EQ(bits(a.log[e].after[q]), bits(b.log[e].after[q]));
    }
  }
}

struct ensemble {
  const char*              model;
  std::vector<std::string> settings;
};

/// Random order, samples, reductions and events at once; models with libm-like functions, discrete variables, many roots.
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
       {"rtol=1e-6", "method=tsit5", "sample.count=205", "sample.A={uniform=[0.35,0.45]}", "output.events=true"}},
      {"thermostat",
       {"rtol=1e-6", "method=bs3", "sample.count=33", "sample.temperature={uniform=[15.0,25.0]}",
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
  const int     native    = host::native_lanes("double");
  for (int lanes : {1, 4, 8}) {
    if (lanes > native) continue;  // a pack never exceeds the machine's register
    for (int threads : {1, 2})
      for (int chunk : {1, 3, 7, 8, 9, 33, 1000}) {
        SCOPED_TRACE(
            fmt::format("{}: lanes {}, threads {}, chunk {}", reference.plan.model.name, lanes, threads, chunk));
        const outcome r = go({fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                              fmt::format("run.chunk={}", chunk)});
        for (std::int64_t i = 0; i < reference.plan.count; ++i) expect_same(reference, i, r, i);
        expect_same_log(reference, r);
        if (HasFatalFailure()) return;
      }
  }
}

TEST_P(SameBits, WhateverTheBatchSize) {
  const outcome reference = go({"run.lanes=1"});
  const int     native    = host::native_lanes("double");
  for (int count : {1, native - 1, native, native + 1, 31}) {
    SCOPED_TRACE(count);
    const outcome r = go({fmt::format("sample.count={}", count)});
    for (std::int64_t i = 0; i < r.plan.count; ++i) expect_same(reference, i, r, i);
    if (HasFatalFailure()) return;
  }
}

/// A hash of every final value of an ensemble (FNV-1a).
std::uint64_t digest(const outcome& r) {
  std::uint64_t h = 14695981039346656037u;
  for (double x : r.final_state) h = (h ^ bits(x)) * 1099511628211u;
  for (double x : r.t_final) h = (h ^ bits(x)) * 1099511628211u;
  return h;
}

std::string digests() {
  std::string all;
  for (const auto& e : ensembles()) all += fmt::format("{:016x} ", digest(run(e.model, e.settings)));
  return all;
}

TEST(Compilers, AgreeOnEveryBit) {
  if (std::getenv("SALTUS_PRINT_DIGESTS") != nullptr) {  // called by itself, below
    fmt::print("digests: {}\n", digests());
    return;
  }
  for (const char* compiler : {"g++", "clang++"}) {
    if (std::system(fmt::format("command -v {} > /dev/null 2>&1", compiler).c_str()) != 0) {
      fmt::print("{} is not installed here\n", compiler);
      continue;
    }
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::FILE* out  = ::popen(
         fmt::format("SALTUS_PRINT_DIGESTS=1 SALTUS_CXX={} '{}' --gtest_filter='Compilers.*'", compiler, self).c_str(),
         "r");
    std::string text;
    for (int c; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
    ASSERT_EQ(::pclose(out), 0) << text;
    EXPECT_NE(text.find("digests: " + digests()), std::string::npos) << compiler << ": " << text;
  }
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

INSTANTIATE_TEST_SUITE_P(All, SameBits, ::testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace saltus::test
