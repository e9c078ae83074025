// Device memory that runs out, and device memory shared by two backends.
#ifdef SALTUS_WITH_CUDA

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "valves.hpp"

namespace saltus::test {
namespace {

// ---- memory

/// Kernels that record how a device divides its chunk: first id -> number of instances.
struct in_pieces {
  std::map<long long, long long> count;
  std::mutex mutex;

  template <class E>
  auto kernels() {
    return [this](std::string_view kernel, int threads, void** arguments) {
      if (kernel == "saltus_begin") {
        const auto& chunk = *static_cast<const abi::device_chunk*>(arguments[0]);
        const std::lock_guard lock(mutex);
        count[chunk.in.first_id] = chunk.in.count;
      }
      emulate<E>(kernel, threads, arguments);
    };
  }
};

/// Integrates 900 valves, a quarter of them given up, on a device whose memory shrinks after its chunk size is chosen.
std::map<long long, long long> integrate_in(std::size_t memory, bool in_order = true) {
  const auto p = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto lanes = host::chunk_data(p, 0, 900);
  host::sampler(p).fill(0, 900, lanes);
  auto here = lanes;
  on_lanes<shaken_engine, 8>(host::settings_of(p), lanes);
  if (!in_order)
    for (int i = 0; i < 900; ++i) here.order.push_back(i * 7 % 900);
  in_pieces seen;
  the_fake_cuda().memory = memory;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  abi::usage used{};
  EXPECT_EQ(900, finished_of(*device, here, used));
  EXPECT_EQ("", differences(lanes, here));
  const auto& module = cuda_module_of<shaken_engine>;
  EXPECT_TRUE(same_rows(by_slot(lanes.exceptions, module), by_slot(here.exceptions, module)));
  return seen.count;
}

/// Device memory that `count` of these valves take at once.
std::size_t bytes_of(std::int64_t count) {
  const auto p = shaken_plan(0.25, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto chunk = host::chunk_data(p, 0, count);
  host::sampler(p).fill(0, count, chunk);
  abi::usage used{};
  device->integrate(chunk, go_on, used);
  return static_cast<std::size_t>(fake_cuda_done().bytes_held);
}

TEST(cuda_backend, where_memory_runs_out_a_chunk_goes_in_halves_with_the_same_bits) {
  EXPECT_GT(bytes_of(900), bytes_of(450));
  EXPECT_EQ((std::map<long long, long long>{{0, 900}}), integrate_in(std::size_t{1} << 30));
  EXPECT_EQ((std::map<long long, long long>{{0, 450}, {450, 450}}), integrate_in(bytes_of(450)));
  // The last part has the remaining instances.
  EXPECT_EQ((std::map<long long, long long>{{0, 225}, {225, 225}, {450, 225}, {675, 225}}),
            integrate_in(bytes_of(450) - 1));
  EXPECT_EQ(8u, integrate_in(bytes_of(113), false).size()) << "in shuffled order";
  EXPECT_EQ(0, fake_cuda_done().blocks_held);
}

TEST(cuda_backend, a_piece_that_is_stopped_leaves_the_others_as_not_run) {
  const auto enough = bytes_of(225);
  auto p = shaken_plan(0.0, 900);
  p.inject_exceptions = 1e-9;
  const auto device = backend_for<shaken_engine>(p);
  auto chunk = host::chunk_data(p, 0, 900);
  host::sampler(p).fill(0, 900, chunk);
  the_fake_cuda().memory = enough;
  abi::usage used{};
  device->integrate(
      chunk, [](std::int64_t) { return false; }, used);
  std::map<int, int> first, others;
  for (std::size_t i = 0; i < 900; ++i) (i < 225 ? first : others)[chunk.status[i]] += 1;
  EXPECT_EQ((std::map<int, int>{{static_cast<int>(status::not_run), 675}}), others);
  EXPECT_GT(first[static_cast<int>(status::interrupted)], 0);
}

TEST(cuda_backend, statistics_of_a_chunk_in_pieces_have_the_bits_of_the_host) {
  const auto p = summed_plan(0.001);
  const auto device = backend_for<shaken_engine>(p);
  auto q = p;
  q.rows = true;
  in_pieces seen;
  the_fake_cuda().memory = 600'000;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  const auto here = run_summed(p, *device);
  expect_same_statistics(run_summed(q, *host::make_cpu_backend(q)).summary, here.summary);
  EXPECT_GT(seen.count.size(), 6u) << "more parts than chunks";
}

TEST(cuda_backend, memory_that_runs_out_at_a_launch_is_given_back_and_tried_with_less) {
  const auto p = shaken_plan(0.0, 900);
  const auto device = backend_for<shaken_engine>(p);
  auto chunk = host::chunk_data(p, 0, 900);
  host::sampler(p).fill(0, 900, chunk);
  in_pieces seen;
  auto& fake = the_fake_cuda();
  fake.run_kernel = seen.kernels<shaken_engine>();
  fake.failing = "cuLaunchKernel", fake.failure = CUDA_ERROR_OUT_OF_MEMORY, fake.fails = 1;
  abi::usage used{};
  device->integrate(chunk, go_on, used);
  EXPECT_EQ((std::map<long long, long long>{{0, 450}, {450, 450}}), seen.count);
  // Another error is not retried.
  fake.failure = CUDA_ERROR_ILLEGAL_ADDRESS, fake.fails = 1;
  EXPECT_THROW(device->integrate(chunk, go_on, used), host::error);
}

/// More instances than fit; three chunks of them must fit at once.
host::plan endless_plan() {
  auto p = shaken_plan(0.0, 1'000'000);
  p.inject_exceptions = 1e-9;
  p.chunk = 0;
  return p;
}
void expect_whole_chunks(const host::plan& p, host::backend& device, in_pieces& seen) {
  seen.count.clear();
  const std::int64_t size = device.chunk_size();
  std::map<long long, long long> whole;
  std::vector<std::thread> at_once;
  for (int i = 0; i < device.concurrency(); ++i) {
    whole[i * size] = size;
    at_once.emplace_back([&, i] {
      auto chunk = host::chunk_data(p, i * size, size);
      host::sampler(p).fill(i * size, size, chunk);
      abi::usage used{};
      device.integrate(chunk, go_on, used);
    });
  }
  for (auto& t : at_once) t.join();
  EXPECT_EQ(whole, seen.count);
}

TEST(cuda_backend, local_memory_of_kernels_is_planned_for) {
  const auto p = endless_plan();
  auto device = backend_for<shaken_engine>(p, 2'000'000);
  const auto ample = device->chunk_size();
  device.reset();
  // The driver takes 1000 bytes for each of the 2048 threads that the device can hold.
  the_fake_cuda().memory = 4'048'000;
  the_fake_cuda().local_bytes = 1000;
  device.reset(saltus_cuda_backend(p, 0));
  EXPECT_NEAR(static_cast<double>(ample), static_cast<double>(device->chunk_size()), 2);
  in_pieces seen;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  expect_whole_chunks(p, *device, seen);
}

TEST(cuda_backend, two_backends_share_the_memory_of_a_device) {
  const auto p = endless_plan();
  auto first = backend_for<shaken_engine>(p, 8'000'000);
  in_pieces seen;
  the_fake_cuda().run_kernel = seen.kernels<shaken_engine>();
  std::unique_ptr<host::backend> second(saltus_cuda_backend(p, 0));
  EXPECT_LT(second->chunk_size(), first->chunk_size()) << "the first backend has reserved most of the memory";
  for (int i = 0; i < 2; ++i) {
    expect_whole_chunks(p, *second, seen);
    expect_whole_chunks(p, *first, seen);
  }
  const auto size = first->chunk_size();
  first.reset(), second.reset();
  first.reset(saltus_cuda_backend(p, 0));
  EXPECT_EQ(size, first->chunk_size()) << "reserved memory is given back";
  // A small run leaves the rest to other backends.
  first.reset(saltus_cuda_backend(shaken_plan(0.25, 300), 0));
  second.reset(saltus_cuda_backend(p, 0));
  EXPECT_GT(second->chunk_size(), size / 2);
}

}  // namespace
}  // namespace saltus::test

#endif
