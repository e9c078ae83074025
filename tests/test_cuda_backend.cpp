// The host's half of the CUDA backend - memory, copies, launches, rounds, errors - on a driver that has no device
// (fake_cuda_driver.hpp). Kernels are emulated, so that results must have the bits of CPU lanes.
#include <gtest/gtest.h>

#if !defined(SALTUS_WITH_CUDA)

TEST(cuda_backend, runs_chunks) { GTEST_SKIP() << "the CUDA toolkit was not found when this was built"; }

#else

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "../problems/lorenz.hpp"
#include "../problems/relief_valve.hpp"
#include "backend.hpp"
#include "cuda_plugin.hpp"
#include "emulated_cuda.hpp"
#include "fake_cuda_driver.hpp"
#include "install.hpp"
#include "scheduler.hpp"

// What the program would find by dlsym.
extern "C" saltus::host::cuda_absent_function  saltus_cuda_absent;
extern "C" saltus::host::cuda_backend_function saltus_cuda_backend;

namespace saltus::test {
namespace {

template <options Options>
using valve_engine_of = engine<relief_valve, methods::by_name<"dp5">, double, Options,
                               reduction<reduce::max, false, relief_valve::pressure> >;

using valve_engine  = valve_engine_of<options{.samples = true}>;
using shaken_engine = valve_engine_of<options{.samples = true, .inject = true}>;
using lorenz_engine = engine<lorenz, methods::by_name<"dp5">, float, options{}>;

host::plan valve_plan() {
  host::plan p   = plan_of<relief_valve>(6.0, 1e-8);
  p.model.name   = "relief_valve";
  p.model.header = host::find_model("relief_valve");
  p.sample_count = 9;
  p.reductions   = {{host::reduction::kind::max, false, relief_valve::pressure, "max(pressure)"}};
  return p;
}
host::plan lorenz_plan() {
  host::plan p   = plan_of<lorenz>(2.0, 1e-4);
  p.model.name   = "lorenz";
  p.model.header = host::find_model("lorenz");
  p.precision    = "float";
  return p;
}

template <class E>
std::unique_ptr<host::backend> backend_for(const host::plan& p, std::size_t memory = std::size_t{1} << 30) {
  the_fake_cuda()            = {};
  the_fake_cuda().run_kernel = emulate<E>;
  the_fake_cuda().memory     = memory;
  return std::unique_ptr<host::backend>(saltus_cuda_backend(p));
}

const auto go_on = [](std::int64_t) { return true; };

/// Returns how many instances ended with which status.
template <class E>
std::map<int, int> expect_same_as_lanes(host::plan p, int swept, double from, double to,
                                        std::size_t memory = std::size_t{1} << 30) {
  p.count                   = 900;
  const auto         device = backend_for<E>(p, memory);
  std::map<int, int> seen;
  abi::usage         used{};
  // A chunk of 900 takes several rounds of the fake device's 256 places; smaller and larger ones follow in its memory.
  for (const std::int64_t count : {900, 1, 300, 1000}) {
    auto reference = scattered_chunk(p, swept, from, to, count), here = reference;
    on_lanes<E, 8>(host::settings_of(p), reference);
    std::int64_t finished = 0;
    device->integrate(
        here,
        [&](std::int64_t more) {
          finished += more;
          return true;
        },
        used);
    EXPECT_EQ("", differences(reference, here)) << count;
    EXPECT_EQ(count, finished);
    for (const unsigned char s : here.status) seen[s] += 1;
  }
  EXPECT_GT(used.turns, 0);
  EXPECT_GE(used.turns, used.lane_turns);
  return seen;
}

TEST(cuda_backend, relief_valve_with_everything_has_the_bits_of_lanes) {
  expect_same_as_lanes<valve_engine>(valve_plan(), relief_valve::flow, 0.2, 10.0);
  EXPECT_EQ(0, the_fake_cuda().blocks_held);
}
TEST(cuda_backend, given_sample_times_have_the_bits_of_lanes) {
  auto p         = valve_plan();
  p.sample_times = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 9.0};
  expect_same_as_lanes<valve_engine>(p, relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_backend, lorenz_in_float_has_the_bits_of_lanes) {
  auto p       = lorenz_plan();
  p.log_events = false;
  expect_same_as_lanes<lorenz_engine>(p, lorenz::rho, 0.0, 28.0);
}

TEST(cuda_backend, an_instance_that_fails_leaves_others_unharmed_and_its_samples_empty) {
  auto p          = valve_plan();
  p.max_steps     = 400;
  const auto seen = expect_same_as_lanes<valve_engine>(p, relief_valve::flow, 0.2, 10.0);
  EXPECT_GT(seen.at(static_cast<int>(status::finished)), 0);
  EXPECT_GT(seen.at(static_cast<int>(status::step_budget)), 0);
}

TEST(cuda_backend, a_short_event_log_is_emptied_in_time) {
  // An eighth of a chunk's 115 kB has room for some 200 rows of the log, where a landing of 256 places may log 4096.
  expect_same_as_lanes<valve_engine>(valve_plan(), relief_valve::flow, 0.2, 10.0, 1 << 18);
}

TEST(cuda_backend, stopped_early_each_instance_is_finished_interrupted_or_not_run) {
  auto p            = valve_plan();
  p.count           = 900;
  const auto device = backend_for<valve_engine>(p);
  auto       whole = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count), cut = whole;
  on_lanes<valve_engine, 8>(host::settings_of(p), whole);
  abi::usage used{};
  device->integrate(
      cut, [](std::int64_t) { return false; }, used);
  std::map<int, int> seen;
  for (std::size_t i = 0; i < cut.status.size(); ++i) {
    seen[cut.status[i]] += 1;
    if (cut.status[i] == static_cast<int>(status::not_run)) {
      EXPECT_TRUE(std::isnan(cut.t_final[i]));
      EXPECT_EQ(0, cut.steps[i]);
    } else if (cut.status[i] == static_cast<int>(status::interrupted)) {
      EXPECT_LT(cut.t_final[i], cut.t_end[i]);
      EXPECT_LT(cut.steps[i], whole.steps[i]);
    } else {
      EXPECT_EQ(whole.status[i], cut.status[i]);
      EXPECT_EQ(whole.t_final[i], cut.t_final[i]);
      EXPECT_EQ(whole.steps[i], cut.steps[i]);
      EXPECT_EQ(whole.final_state[i], cut.final_state[i]);
    }
  }
  // The fake device has 256 places and the first look is after one round.
  EXPECT_GT(seen[static_cast<int>(status::interrupted)], 0);
  EXPECT_GE(seen[static_cast<int>(status::not_run)], 900 - 256);
  // What is left of a stopped chunk must not get into the next one.
  auto again = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  device->integrate(again, go_on, used);
  EXPECT_EQ("", differences(whole, again));
}

// ---- what lanes cannot settle

/// Flows without chaos, of which a share is given up somewhere.
host::plan shaken_plan(double share, std::int64_t count) {
  auto p = valve_plan();
  for (const auto& q : p.model.parameters) p.parameters.push_back(q.value);
  p.initial.assign(p.model.states.size(), std::nan(""));
  p.axes = {
      {{{{host::target::kind::parameter, relief_valve::flow, "flow"}, host::ranged{2.0, 10.0, count, false}}}, count}};
  p.count = p.chunk   = count;
  p.inject_exceptions = share;
  p.seed              = 7;
  return p;
}

/// The only chunk of a run.
host::chunk_data only_chunk(const host::plan& p, host::backend& where) {
  host::chunk_data        all;
  const std::atomic<bool> stop{false};
  const auto              s = host::run_ensemble(
                   p, where, [&](const host::chunk_data& c) { all = c; }, [](std::int64_t) {}, stop);
  EXPECT_EQ(p.count, s.counts.ok() + s.counts.rescued());
  return all;
}

std::map<long long, std::pair<std::vector<double>, std::vector<long long> > > by_slot(const host::exception_list& list,
                                                                                      const abi::cuda_unit& unit) {
  std::map<long long, std::pair<std::vector<double>, std::vector<long long> > > rows;
  for (std::size_t i = 0; i < list.slot.size(); ++i) {
    const auto part = [i](const auto& v, int width) {
      const auto first = v.begin() + static_cast<long>(i) * width;
      return std::vector(first, first + width);
    };
    rows[list.slot[i]] = {part(list.reals, unit.record_reals), part(list.integers, unit.record_integers)};
  }
  EXPECT_EQ(rows.size(), list.slot.size()) << "one exception for each";
  return rows;
}

TEST(cuda_backend, exceptions_are_the_snapshots_of_lanes) {
  const auto p      = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto       lanes = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 900), here = lanes;
  abi::usage used{};
  on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
  device->integrate(here, go_on, used);
  EXPECT_EQ("", differences(lanes, here));
  const auto expected = by_slot(lanes.exceptions, cuda_unit_of<shaken_engine>);
  EXPECT_EQ(expected, by_slot(here.exceptions, cuda_unit_of<shaken_engine>));
  std::size_t stopped = 0;
  for (const unsigned char s : here.status) stopped += rescuable(static_cast<status>(s));
  EXPECT_EQ(stopped, expected.size());
  EXPECT_NEAR(static_cast<double>(stopped), 0.25 * 900, 60) << "four and a half standard deviations, 13 each";

  // What is given up depends on the id of an instance, not on its place.
  auto late     = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 900);
  late.first_id = 900;
  device->integrate(late, go_on, used);
  EXPECT_NE(here.status, late.status);

  auto q          = p;
  q.rescue        = false;
  auto left_alone = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 900);
  backend_for<shaken_engine>(q)->integrate(left_alone, go_on, used);
  EXPECT_EQ(here.status, left_alone.status);
  EXPECT_TRUE(left_alone.exceptions.slot.empty());
}

TEST(cuda_backend, the_host_rescues_what_a_device_gives_up_as_what_lanes_give_up) {
  const auto p         = shaken_plan(0.25, 900);
  const auto device    = backend_for<shaken_engine>(p);
  const auto on_device = only_chunk(p, *device), on_cpu = only_chunk(p, *host::make_cpu_backend(p));
  EXPECT_EQ("", differences(on_cpu, on_device));
  EXPECT_EQ(on_cpu.exception, on_device.exception);
  EXPECT_EQ(900, std::count_if(on_device.status.begin(), on_device.status.end(),
                               [](unsigned char s) { return is_ok(static_cast<status>(s)); }));
}

TEST(cuda_backend, what_a_device_has_no_room_for_begins_afresh) {
  const auto p      = shaken_plan(1.0, 1500);
  const auto device = backend_for<shaken_engine>(p);
  auto       raw    = scattered_chunk(p, relief_valve::flow, 2.0, 10.0, 1500);
  abi::usage used{};
  device->integrate(raw, go_on, used);
  EXPECT_EQ(1024u, raw.exceptions.slot.size());
  EXPECT_EQ(1024u, by_slot(raw.exceptions, cuda_unit_of<shaken_engine>).size());

  const auto rescued     = only_chunk(p, *device);
  auto       calm        = p;
  calm.inject_exceptions = 0;
  const auto undisturbed = only_chunk(calm, *host::make_cpu_backend(calm));
  // All but those that were to be given up at an event and have none.
  EXPECT_GT(std::count_if(rescued.exception.begin(), rescued.exception.end(), [](int e) { return e != 0; }), 1024);
  for (std::size_t i = 0; i < 1500; ++i) {
    EXPECT_EQ(undisturbed.events[i], rescued.events[i]) << i;
    EXPECT_EQ(undisturbed.t_final[i], rescued.t_final[i]) << i;
  }
  EXPECT_EQ(undisturbed.log.slot.size(), rescued.log.slot.size()) << "no event twice";
}

TEST(cuda_backend, an_error_of_the_driver_names_the_call_and_the_error) {
  const auto p      = lorenz_plan();
  const auto device = backend_for<lorenz_engine>(p);
  auto       chunk  = scattered_chunk(p, lorenz::rho, 0.0, 28.0, 10);
  abi::usage used{};
  the_fake_cuda().failing = "cuMemAlloc";
  the_fake_cuda().failure = CUDA_ERROR_OUT_OF_MEMORY;
  try {
    device->integrate(chunk, go_on, used);
    FAIL() << "no error";
  } catch (const host::error& e) {
    EXPECT_EQ(host::exit_failure, e.exit_code);
    EXPECT_STREQ("CUDA: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (as the test wants)", e.what());
  }
}

TEST(cuda_backend, absence_of_a_device_has_a_reason) {
  the_fake_cuda() = {};
  std::string reason, name;
  saltus_cuda_absent(reason, name);
  EXPECT_EQ("", reason);
  EXPECT_EQ("fake device", name);
  the_fake_cuda().failing = "cuInit";
  the_fake_cuda().failure = CUDA_ERROR_NO_DEVICE;
  saltus_cuda_absent(reason, name);
  EXPECT_EQ("CUDA: cuInit: CUDA_ERROR_NO_DEVICE (as the test wants)", reason);
}

TEST(cuda_backend, chunks_fit_into_memory) {
  auto p  = valve_plan();
  p.count = 100'000'000;
  // The fake device has 1 GiB; half of it, less a reserve, is for one chunk.
  const auto device = backend_for<valve_engine>(p);
  EXPECT_EQ(2, device->concurrency());
  EXPECT_GT(device->chunk_size(), 100'000);
  EXPECT_LE(device->chunk_size(), 1 << 20);
  p.sample_count = 100'000;  // 2.4 MB each
  const auto few = backend_for<valve_engine>(p)->chunk_size();
  EXPECT_GT(few, 50);
  EXPECT_LT(few, 447);  // 1 GiB / 2.4 MB
}

}  // namespace
}  // namespace saltus::test

#endif
