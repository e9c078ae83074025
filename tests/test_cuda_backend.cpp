// The host's half of the CUDA backend: bits, copies, rounds, errors of the driver. Other tests of it are in cuda_backend/.
#include <gtest/gtest.h>

#if !defined(SALTUS_WITH_CUDA)

TEST(cuda_backend, runs_chunks) { GTEST_SKIP() << "the CUDA toolkit was not found when this was built"; }

#else

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compile/nvrtc.hpp"
#include "cuda_backend/valves.hpp"
#include "models/delayed_relay.hpp"
#include "testing/source_folder.hpp"

namespace saltus::test {

template void emulate<valve_engine>(std::string_view, int, void**);
template void emulate<shaken_engine>(std::string_view, int, void**);
template void on_lanes<valve_engine, 8>(const abi::settings&, host::chunk_data&);
template void on_lanes<shaken_engine, 8>(const abi::settings&, host::chunk_data&);

namespace {

/// Returns how many instances ended with which status.
template <class E>
std::map<int, int> expect_same_as_lanes(host::plan p, int swept, double from, double to,
                                        std::size_t memory = std::size_t{1} << 30) {
  p.count = 900;
  // The quantities that scattered_chunk scatters.
  p.random = {{{host::target::kind::parameter, swept, "swept"}, {}}, {{host::target::kind::t_end, 0, "t_end"}, {}}};
  const auto device = backend_for<E>(p, memory);
  std::map<int, int> seen;
  abi::usage used{};
  // A chunk of 900 takes several rounds of the fake device's 256 places; smaller and larger chunks follow in its memory.
  for (const std::int64_t count : {900, 1, 300, 1000}) {
    auto reference = scattered_chunk(p, swept, from, to, count), here = reference;
    on_lanes<E, 8>(host::settings_of(p), reference);
    EXPECT_EQ(count, finished_of(*device, here, used));
    EXPECT_EQ("", differences(reference, here)) << count;
    for (const unsigned char s : here.status) seen[s] += 1;
  }
  EXPECT_GT(used.turns, 0);
  EXPECT_GE(used.turns, used.lane_turns);
  return seen;
}

TEST(cuda_backend, relief_valve_with_everything_has_the_bits_of_lanes) {
  expect_same_as_lanes<valve_engine>(valve_plan(), relief_valve::flow, 0.2, 10.0);
  EXPECT_EQ(0, fake_cuda_done().blocks_held);
}
TEST(cuda_backend, given_sample_times_have_the_bits_of_lanes) {
  auto p = valve_plan();
  p.sample_times = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 9.0};
  expect_same_as_lanes<valve_engine>(p, relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_backend, lorenz_in_float_has_the_bits_of_lanes) {
  auto p = lorenz_plan();
  p.log_events = false;
  expect_same_as_lanes<lorenz_engine>(p, lorenz::rho, 0.0, 28.0);
}

TEST(cuda_backend, histories_take_half_of_a_chunks_memory_at_most) {
  using relay_engine = engine<form_of<delayed_relay>, methods::by_name<"dp5">, double, options{}>;
  auto p = plan_of<delayed_relay>(6.0, 1e-6);
  p.model.name = "delayed_relay";
  p.model.header = saltus::test::in_source("tests/models/delayed_relay.hpp");
  // A history of 1024 steps takes 66 kB. In the smaller memory a chunk has 5 MB, so there are 38 places instead of 256.
  for (const std::size_t memory : {std::size_t{1} << 30, std::size_t{1} << 25})
    expect_same_as_lanes<relay_engine>(p, delayed_relay::dead_time, 0.2, 1.5, memory);
  EXPECT_EQ(0, fake_cuda_done().blocks_held);
}

TEST(cuda_backend, an_instance_that_fails_leaves_others_unharmed_and_its_samples_empty) {
  auto p = valve_plan();
  p.max_steps = 400;
  const auto seen = expect_same_as_lanes<valve_engine>(p, relief_valve::flow, 0.2, 10.0);
  EXPECT_GT(seen.at(static_cast<int>(status::finished)), 0);
  EXPECT_GT(seen.at(static_cast<int>(status::step_budget)), 0);
}

TEST(cuda_backend, a_short_event_log_is_emptied_in_time) {
  // An eighth of a chunk's 115 kB has room for some 200 rows of the log, while a landing of 256 places may log 4096.
  expect_same_as_lanes<valve_engine>(valve_plan(), relief_valve::flow, 0.2, 10.0, 1 << 18);
}

TEST(cuda_backend, stopped_early_each_instance_is_finished_interrupted_or_not_run) {
  auto p = valve_plan();
  p.count = 900;
  const auto device = backend_for<valve_engine>(p);
  auto whole = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count), cut = whole;
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
  // The fake device has 256 places, and the host checks first after one round.
  EXPECT_GT(seen[static_cast<int>(status::interrupted)], 0);
  EXPECT_GE(seen[static_cast<int>(status::not_run)], 900 - 256);
  // Remains of a stopped chunk must not get into the next one.
  auto again = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  device->integrate(again, go_on, used);
  EXPECT_EQ("", differences(whole, again));
}

// ---- copies

TEST(cuda_backend, what_is_copied_while_a_chunk_is_integrated_goes_through_pinned_memory) {
  const auto p = valve_plan();
  const auto device = backend_for<valve_engine>(p);
  auto first = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, 900), second = first;
  abi::usage used{};
  device->integrate(first, go_on, used);
  const long long pageable = fake_cuda_done().pageable_bytes;
  const int allocations = fake_cuda_done().allocations;
  device->integrate(second, go_on, used);
  EXPECT_EQ(pageable, fake_cuda_done().pageable_bytes);
  EXPECT_EQ(allocations, fake_cuda_done().allocations) << "an allocation would wait for other work";
  EXPECT_EQ("", differences(first, second));
}

TEST(cuda_backend, columns_that_are_the_same_for_all_are_copied_once) {
  auto p = shaken_plan(0.0, 900);
  p.samples = p.count = 1800;  // the flow varies, another five parameters do not
  p.axes.clear();
  p.random = {
      {{host::target::kind::parameter, relief_valve::flow, "flow"}, {host::distribution::kind::uniform, 2.0, 10.0, 0}}};
  p.chunk = 900;
  const auto device = backend_for<shaken_engine>(p);
  const auto bytes_up_for = [&](std::int64_t first) {
    host::chunk_data c(p, first, 900);
    host::sampler(p).fill(first, 900, c);
    auto lanes = c;
    const auto before = fake_cuda_done().up_bytes.load();
    abi::usage used{};
    device->integrate(c, go_on, used);
    on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
    EXPECT_EQ("", differences(lanes, c));
    return fake_cuda_done().up_bytes - before;
  };
  const auto first = bytes_up_for(0), second = bytes_up_for(900);
  const auto columns = static_cast<long long>(p.model.parameters.size() + p.model.states.size() + 2);
  EXPECT_GE(first - second, (columns - 1) * 900 * 8) << "all inputs but the flow";
  EXPECT_LT(second, 4 * 900 * 8) << "the flow, the list of places, the progress";
}

// ---- rounds

TEST(cuda_backend, the_first_round_is_short) {
  // A device that drives a display ends kernels after some seconds, and the duration of a turn is still unknown.
  auto p = valve_plan();
  p.count = 900;
  const auto device = backend_for<valve_engine>(p);
  std::vector<int> turns;
  the_fake_cuda().run_kernel = [&](std::string_view kernel, int threads, void** arguments) {
    if (kernel == "saltus_sail") turns.push_back(static_cast<const abi::device_chunk*>(arguments[0])->turn_budget);
    emulate<valve_engine>(kernel, threads, arguments);
  };
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  device->integrate(chunk, go_on, used);
  ASSERT_GT(turns.size(), 3u);
  EXPECT_GE(turns[0], 128);
  EXPECT_LE(turns[0], 256);
  for (std::size_t i = 1; i < turns.size(); ++i) EXPECT_TRUE(turns[i] == turns[i - 1] || turns[i] == 2 * turns[i - 1]);
  EXPECT_GE(turns.back(), 1024) << "a launch of the fake device takes no time";

  // If rounds take longer than the intended interval between checks, they get fewer turns, but at least 64.
  // Each short chunk ends with one check.
  the_fake_cuda().seconds_per_launch = 0.1;
  for (int i = 0; i < 20; ++i) device->integrate(chunk, go_on, used);
  EXPECT_EQ(64, turns.back());
}

TEST(cuda_backend, time_in_kernels_is_measured_by_the_device) {
  auto p = valve_plan();
  p.count = p.chunk = 900;
  const auto device = backend_for<valve_engine>(p);
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  ASSERT_TRUE(device->busy_seconds());
  EXPECT_EQ(0.0, *device->busy_seconds());
  // Times that overlap are counted once, and rounds end by the host's clock: a launch must take far less time on the device
  // than the host takes to emulate it.
  const double per_launch = 1e-8;
  the_fake_cuda().seconds_per_launch = per_launch;
  const int before = fake_cuda_done().launches[0];
  device->integrate(chunk, go_on, used);
  // Only launches of rounds count: the module's description came before.
  const double expected = per_launch * (fake_cuda_done().launches[0] - before);
  EXPECT_NEAR(expected, *device->busy_seconds(), 0.01 * expected)
      << "the clock of a machine that runs for months has 2 ns";
}

TEST(cuda_backend, rows_for_which_the_event_log_has_no_room_are_an_error_and_not_written) {
  auto p = valve_plan();
  p.count = 900;
  const auto device = backend_for<valve_engine>(p, 1 << 18);
  // Simulates landings that log more rows than they announce.
  the_fake_cuda().run_kernel = [&](std::string_view kernel, int threads, void** arguments) {
    const auto& chunk = *static_cast<const abi::device_chunk*>(arguments[0]);
    if (kernel == "saltus_land") chunk.progress->landable = chunk.pool.places;
    const auto slots = [&] { return std::vector(chunk.exceptions.slot, chunk.exceptions.slot + chunk.in.count); };
    // In the device's memory the exceptions follow the log.
    if (kernel == "saltus_begin" && chunk.progress->stored == 0) std::fill_n(chunk.exceptions.slot, chunk.in.count, -1);
    const auto before = slots();
    emulate<valve_engine>(kernel, threads, arguments);
    EXPECT_EQ(before, slots());
  };
  auto chunk = scattered_chunk(p, relief_valve::flow, 0.2, 10.0, p.count);
  abi::usage used{};
  try {
    device->integrate(chunk, go_on, used);
    FAIL() << "no error";
  } catch (const host::error& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("rows of an event log")) << e.what();
  }
}

// ---- drivers and architectures

TEST(cuda_backend, a_driver_that_is_too_old_for_what_nvrtc_makes_is_named) {
  the_fake_cuda() = {};
  the_fake_cuda().version = 12080;
  std::string reason;
  std::vector<std::string> names;
  saltus_cuda_absent(reason, names);
  EXPECT_NE(std::string::npos, reason.find("CUDA 12.8")) << reason;
  EXPECT_NE(std::string::npos, reason.find(host::nvrtc_version())) << reason;
  EXPECT_NE(std::string::npos, reason.find("driver R580 or newer")) << reason;
  // A newer driver with the same major version, and one with the next.
  for (const int version : {13000, 13020, 14000}) {
    the_fake_cuda().version = version;
    reason.clear(), names.clear();
    saltus_cuda_absent(reason, names);
    EXPECT_EQ("", reason) << version;
  }
}

TEST(cuda_backend, a_device_newer_than_nvrtc_is_given_ptx) {
  const auto p = lorenz_plan();
  the_fake_cuda() = {};
  the_fake_cuda().run_kernel = emulate<lorenz_engine>;
  const int before = fake_cuda_done().ptx_modules;
  the_fake_cuda().capability = 97;  // runs the code of 9.0
  std::unique_ptr<host::backend>(saltus_cuda_backend(p, 0));
  EXPECT_EQ(before, fake_cuda_done().ptx_modules);
  the_fake_cuda().capability = 990;
  std::unique_ptr<host::backend> device(saltus_cuda_backend(p, 0));
  EXPECT_EQ(before + 3, fake_cuda_done().ptx_modules) << "begin, sail, land";
  EXPECT_NE(std::string::npos, device->device().find("as PTX for the driver")) << device->device();
  // The driver cannot compile PTX of a minor version that it does not know.
  the_fake_cuda().version = 13000 - 10;
  EXPECT_THROW(std::unique_ptr<host::backend>(saltus_cuda_backend(p, 0)), host::error);
}

TEST(cuda_backend, an_error_of_the_driver_names_the_call_and_the_error) {
  const auto p = lorenz_plan();
  const auto device = backend_for<lorenz_engine>(p);
  auto chunk = scattered_chunk(p, lorenz::rho, 0.0, 28.0, 10);
  abi::usage used{};
  the_fake_cuda().failing = "cuMemAlloc";
  the_fake_cuda().failure = CUDA_ERROR_OUT_OF_MEMORY;
  try {
    device->integrate(chunk, go_on, used);
    FAIL() << "no error";
  } catch (const host::error& e) {
    EXPECT_EQ(host::exit_failure, e.exit_code);
    EXPECT_EQ(0u, std::string(e.what()).find("CUDA: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (as the test wants)"));
    EXPECT_NE(std::string::npos, std::string(e.what()).find("too little for 10 instances")) << e.what();
  }
}

TEST(cuda_backend, absence_of_a_device_has_a_reason) {
  the_fake_cuda() = {};
  std::string reason;
  std::vector<std::string> names;
  the_fake_cuda().devices = 2;
  saltus_cuda_absent(reason, names);
  EXPECT_EQ("", reason);
  EXPECT_EQ((std::vector<std::string>{"fake device", "other fake device"}), names);
  the_fake_cuda().failing = "cuInit";
  the_fake_cuda().failure = CUDA_ERROR_NO_DEVICE;
  saltus_cuda_absent(reason, names);
  EXPECT_EQ("CUDA: cuInit: CUDA_ERROR_NO_DEVICE (as the test wants)", reason);
}

TEST(cuda_backend, chunks_fit_into_memory) {
  auto p = valve_plan();
  p.count = 100'000'000;
  // The fake device has 1 GiB; a chunk gets an eighth of it, less a reserve.
  auto device = backend_for<valve_engine>(p);
  EXPECT_EQ(8, device->concurrency());
  EXPECT_GT(device->chunk_size(), 100'000);
  EXPECT_LE(device->chunk_size(), 1 << 17);
  device.reset();
  p.sample_count = 100'000;  // 2.4 MB each
  const auto few = backend_for<valve_engine>(p)->chunk_size();
  EXPECT_GT(few, 25);
  EXPECT_LT(few, 75);  // a sixth of 1 GiB / 2.4 MB
}

}  // namespace
}  // namespace saltus::test

#endif
