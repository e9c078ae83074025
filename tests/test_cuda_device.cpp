// With a CUDA device: it gives every instance of every problem the bits that the CPU gives it, by the same path as the
// program, plug-in included. Without one: the reason for its absence.
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/cuda/devices.hpp"
#include "backend/make.hpp"
#include "base/error.hpp"
#include "chunk_difference.hpp"
#include "ensemble/sampler.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

/// Instances of a problem, with its parameters (or states if it has none) scattered by 2 % about their defaults, with
/// events and samples, and further settings.
host::plan scattered(const std::string& problem, const std::string& method, std::int64_t count,
                     const std::vector<std::string>& more = {}) {
  const auto m = host::describe_model(host::find_model(problem));
  std::vector<std::string> settings = {
      "rtol=1e-8",          "method=" + method,        "max_steps=3000",
      "output.events=true", "output.samples.count=11", fmt::format("sample.count={}", count),
      "sample.seed=5"};
  const auto scatter = [&](const host::quantity& q) {
    const double far = 0.02 * std::abs(q.value);
    if (far > 0)
      settings.push_back(fmt::format("sample.{}={{uniform=[{:.17g},{:.17g}]}}", q.name, q.value - far, q.value + far));
  };
  for (const auto& q : m.parameters) scatter(q);
  if (m.parameters.empty())
    for (const auto& q : m.states) scatter(q);
  settings.insert(settings.end(), more.begin(), more.end());
  return plan_of(problem, settings);
}

host::chunk_data filled(const host::plan& p) {
  host::chunk_data chunk(p, 0, p.count);
  host::sampler(p).fill(0, p.count, chunk);
  return chunk;
}

class cuda_device : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = host::cuda_absent(); !reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  }
  static void expect_same(const host::plan& p) {
    auto on_cpu = filled(p), on_device = on_cpu;
    abi::usage used{};
    host::make_cpu_backend(p)->integrate(
        on_cpu, [](std::int64_t) { return true; }, used);
    host::make_cuda_backend(p)->integrate(
        on_device, [](std::int64_t) { return true; }, used);
    EXPECT_EQ("", differences(on_cpu, on_device))
        << p.model.name << " with " << p.method << " in " << host::word_of(p.precision);
  }
};

class problems : public cuda_device, public testing::WithParamInterface<std::tuple<std::string, std::string>> {};

/// NVRTC takes minutes for larger models (docs/cuda.md).
bool is_large(const host::model& m) { return m.states.size() + m.guards.size() > 16; }

TEST_P(problems, have_the_bits_of_the_cpu) {
  const auto& [problem, method] = GetParam();
  if (is_large(host::describe_model(host::find_model(problem)))) GTEST_SKIP() << "too large for a thread's registers";
  // More instances than a warp, and not a whole number of warps.
  std::optional<host::plan> p;
  try {
    p = scattered(problem, method, 1000);
  } catch (const host::error& e) { GTEST_SKIP() << e.what(); }
  expect_same(*p);
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, std::string>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(all, problems,
                         testing::Combine(testing::ValuesIn(host::builtin_names()), testing::Values("dp5", "dop853")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(implicit, problems,
                         testing::Combine(testing::Values("robertson", "oregonator", "van_der_pol", "pendulum",
                                                          "two_tanks", "rectifier_dae", "saturating_choke"),
                                          testing::Values("rodas5p", "esdirk4", "radau5")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(partitioned, problems,
                         testing::Combine(testing::Values("compound_pendulum", "slider_crank"),
                                          testing::Values("inflsdirk4", "inflesdirk4", "infltrap")),
                         name_of);

TEST_F(cuda_device, gives_the_bits_of_the_cpu_when_places_are_refilled) {
  expect_same(scattered("relief_valve", "dp5", 500'000));
}

TEST_F(cuda_device, reduces_and_logs_within_windows) {
  expect_same(scattered("relief_valve", "dp5", 1000,
                        {"output.reduce=['max(pressure) from 1 to 3', 'time(min(lift)) from 1 to 3', 'std(velocity)', "
                         "'median(pressure)', 'value(lift at 2)', 'count(impact) from 1 to 3']",
                         "output.events={from=1.0, first=3, last=2}", "output.samples={times=[0.5, 1.5, 4.0]}"}));
  expect_same(scattered("robertson", "rodas5p", 1000,
                        {"t=[0.0,1e3]", "output.reduce=['max(y2) from 1 to 30', 'mean(y3) from 1 to 30']"}));
}

TEST_F(cuda_device, two_chunks_at_once_do_not_disturb_each_other) {
  const auto p = scattered("relief_valve", "dp5", 50'000);
  const auto device = host::make_cuda_backend(p);
  auto one = filled(p), other = one, alone = one;
  abi::usage used[3] = {};
  const auto run = [&](host::chunk_data& chunk, abi::usage& u) {
    device->integrate(
        chunk, [](std::int64_t) { return true; }, u);
  };
  run(alone, used[0]);
  std::thread beside([&] { run(other, used[1]); });
  run(one, used[2]);
  beside.join();
  EXPECT_EQ("", differences(alone, one));
  EXPECT_EQ("", differences(alone, other));
}

}  // namespace
}  // namespace saltus::test
