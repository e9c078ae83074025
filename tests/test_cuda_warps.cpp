// The kernels of the CUDA backend in whole warps, on a grid whose threads continue in random order (emulated_grid.hpp), so that
// device_warp's own code performs the joint operations of lanes. Every instance must have the bits of CPU lanes.
#include <gtest/gtest.h>

#include "../problems/bouncing_ball.hpp"
#include "../problems/lorenz.hpp"
#include "emulated_grid.hpp"
#include "emulated_run.hpp"

namespace saltus::test {
namespace {

using ball_engine = engine<form_of<bouncing_ball>, methods::by_name<"dp5">, double, options{}>;
using lorenz_engine = engine<form_of<lorenz>, methods::by_name<"dp5">, double, options{}>;

/// Runs a kernel like those of a module (SALTUS_CUDA_KERNEL).
template <class E>
typename emulated_run<E>::runner on(grid& device) {
  return [&device](std::string_view kernel, int threads, void** arguments) {
    const auto& chunk = *static_cast<const abi::device_chunk*>(arguments[0]);
    const auto& tol = *static_cast<const tolerances<E, pack<typename E::T, 1>>*>(arguments[1]);
    const int block = std::min(threads, abi::device_block);
    const auto thread = [&] {
      const device_warp warp;
      emulate_thread<E>(kernel, chunk, tol, warp);
    };
    device.run(threads / block, block, thread);
  };
}

void skip_where_jumps_are_not_followed() {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer does not follow jumps from stack to stack";
#endif
}

class cuda_warps : public testing::Test {
 protected:
  void SetUp() override { skip_where_jumps_are_not_followed(); }
};

/// Spreads with fewer places than lanes, about as many, and so many that a warp keeps a store of them; few and many warps.
template <class E>
void expect_same_as_lanes(const host::plan& p, int swept, double from, double to) {
  constexpr long long tight = cuda_module_of<E>.rows_per_landing;
  const auto how = host::settings_of(p);
  for (const std::int64_t count : {33, 600}) {
    auto lanes = scattered_chunk(p, swept, from, to, count);
    on_lanes<E, 1>(how, lanes);
    for (const spread& s : {spread{7, 64, 20, tight}, {50, 128, 1000, 5000}, {600, 192, 30, 5000}})
      for (unsigned seed = 1; seed <= 2; ++seed) {
        SCOPED_TRACE(testing::Message() << count << " instances, " << s.places << " places, " << s.threads
                                        << " threads, seed " << seed);
        grid device(seed);
        auto here = scattered_chunk(p, swept, from, to, count);
        emulated_run<E> run(how, here, s, on<E>(device));
        run.run();
        EXPECT_EQ("", differences(lanes, here));
        EXPECT_EQ(count, run.progress.stored);
        long long trials = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) trials += here.steps[i] + here.rejected[i];
        EXPECT_EQ(trials, run.progress.used.lane_turns);
        // A pass of a warp counts for all of its lanes.
        EXPECT_LE(trials, run.progress.used.turns);
        if (count == 600) { EXPECT_GT(device.seen_together.size(), 3u) << "lanes add to lists in groups of all sizes"; }
      }
  }
}

TEST_F(cuda_warps, bouncing_ball_has_the_bits_of_lanes_in_any_order) {
  expect_same_as_lanes<ball_engine>(plan_of<bouncing_ball>(2.0, 1e-8), bouncing_ball::restitution, 0.5, 0.9);
}
TEST_F(cuda_warps, lorenz_has_the_bits_of_lanes_in_any_order) {
  expect_same_as_lanes<lorenz_engine>(plan_of<lorenz>(0.5, 1e-6), lorenz::rho, 0.0, 28.0);
}

/// Number of rounds that `count` instances take on 512 threads with one place each.
template <class E>
int rounds_of(const host::plan& p, int swept, double from, double to, std::int64_t count) {
  grid device;
  auto here = scattered_chunk(p, swept, from, to, count);
  emulated_run<E> run(host::settings_of(p), here, {static_cast<int>(count), 512, 4096, 20'000}, on<E>(device));
  run.run();
  return run.rounds;
}

// One round begins the instances and sails them to their ends; the next one stores them.
TEST_F(cuda_warps, a_device_that_is_not_full_leaves_no_round_early) {
  const auto p = plan_of<lorenz>(0.5, 1e-6);
  EXPECT_EQ(2, (rounds_of<lorenz_engine>(p, lorenz::rho, 0.0, 28.0, 200)));
  // With as many instances as threads, a warp with many finished instances continues in the next round.
  EXPECT_GT((rounds_of<lorenz_engine>(p, lorenz::rho, 0.0, 28.0, 512)), 2);
}

// Instances that wait for their landing do not wait for the longest flight of their warp.
TEST_F(cuda_warps, a_device_that_is_not_full_lands_in_time) {
  const auto p = plan_of<bouncing_ball>(2.0, 1e-8);
  auto c = scattered_chunk(p, bouncing_ball::restitution, 0.5, 0.9, 200);
  on_lanes<ball_engine, 1>(host::settings_of(p), c);
  const long long most = *std::max_element(c.events.begin(), c.events.end());
  const int rounds = rounds_of<ball_engine>(p, bouncing_ball::restitution, 0.5, 0.9, 200);
  EXPECT_GE(rounds, most);
  EXPECT_LE(rounds, 4 * most);
}

// ---- the grid itself: errors it must detect

std::string complaint(int blocks, int block, const std::function<void()>& body) {
  grid device;
  try {
    device.run(blocks, block, body);
  } catch (const std::logic_error& e) { return e.what(); }
  return "";
}
unsigned lane() { return threadIdx.x % 32; }

TEST_F(cuda_warps, lanes_that_meet_in_different_places_are_seen) {
  EXPECT_EQ("", complaint(2, 64, [] { __ballot_sync(~0u, lane() < 7); }));
  const std::string mixed = complaint(1, 32, [] { lane() == 3 ? __syncwarp() : void(__ballot_sync(~0u, 1)); });
  EXPECT_NE(std::string::npos, mixed.find("__syncwarp")) << mixed;
  EXPECT_NE(std::string::npos, mixed.find("__ballot_sync")) << mixed;
  EXPECT_NE(std::string::npos, complaint(1, 32, [] { __syncwarp(lane() == 3 ? ~0u : ~1u); }).find("different masks"));
  EXPECT_NE(std::string::npos, complaint(1, 32, [] {
                                 if (lane() != 3) __syncwarp();
                               }).find("one that has ended"));
  EXPECT_NE(std::string::npos, complaint(1, 32, [] {
                                 if (lane() < 16) __shfl_sync(0xffffu, 1, 20);
                               }).find("does not take part"));
  EXPECT_NE(std::string::npos, complaint(1, 32, [] { __syncwarp(1u); }).find("not in its own mask"));
  // Half of a warp may meet alone, and other warps need not come.
  EXPECT_EQ("", complaint(2, 64, [] {
              if (threadIdx.x < 16) __shfl_xor_sync(0xffffu, 1, 8);
            }));
}

TEST_F(cuda_warps, values_go_where_the_language_says) {
  grid device(7);
  device.run(2, 64, [] {
    const int mine = static_cast<int>(lane());
    EXPECT_EQ(0x7fu, __ballot_sync(~0u, lane() < 7));
    EXPECT_EQ(5, __shfl_sync(~0u, mine, 5));
    EXPECT_EQ(mine ^ 4, __shfl_xor_sync(~0u, mine, 4));
    EXPECT_EQ(0.5 * (mine < 24 ? mine + 8 : mine), __shfl_down_sync(~0u, 0.5 * mine, 8));
    const device_warp warp;
    EXPECT_EQ(31 * 16, warp.sum(mine));
    EXPECT_EQ(128, warp.threads());
    EXPECT_EQ(static_cast<int>(64 * blockIdx.x + threadIdx.x), warp.thread());
  });
}

TEST_F(cuda_warps, threads_come_between_each_other) {
  // Additions that are not atomic lose some; if the order of threads does not matter, nothing else may change.
  int plain = 0, atomic = 0;
  grid device(3);
  device.run(2, 64, [&] {
    const int before = plain;
    __syncwarp();
    plain = before + 1;
    atomicAdd(&atomic, 1);
  });
  EXPECT_LT(plain, 128);
  EXPECT_EQ(128, atomic);
  std::set<int> last;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    int which = -1, seen = 0;
    grid(seed).run(4, 64, [&] {
      atomicAdd(&seen, 1);
      which = static_cast<int>(4 * blockIdx.x + threadIdx.x / 32);
    });
    last.insert(which);
  }
  EXPECT_GT(last.size(), 2u) << "any warp may be the last one";
}

TEST_F(cuda_warps, places_in_a_list_are_given_out_once) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    int length = 0;
    std::vector<int> seen(256, 0);
    grid device(seed);
    device.run(4, 64, [&] {
      const device_warp warp;
      if (threadIdx.x % 3 != 0) ++seen[static_cast<std::size_t>(warp.reserve(length))];
    });
    EXPECT_EQ(4 * 42, length);
    for (int i = 0; i < 256; ++i) EXPECT_EQ(i < length ? 1 : 0, seen[static_cast<std::size_t>(i)]);
    EXPECT_GT(device.seen_together.size(), 2u);
  }
}

TEST_F(cuda_warps, atomic_additions_are_checked) {
  EXPECT_NE(std::string::npos, complaint(1, 32, [] {
                                 int own = 0;
                                 atomicAdd(&own, 1);
                               }).find("own memory"));
  alignas(16) static char bytes[16];
  EXPECT_NE(std::string::npos,
            complaint(1, 32, [] { atomicAdd(reinterpret_cast<int*>(bytes + 2), 1); }).find("not aligned"));
}

TEST_F(cuda_warps, blocks_have_shared_memory_of_their_own) {
  int wrong = 0;
  grid(5).run(3, 64, [&] {
    const device_warp warp;
    int* const room = warp.room(1);
    room[warp.lane()] = warp.thread();
    warp.meet();
    const int other = 31 - warp.lane();
    if (room[other] != warp.thread() - warp.lane() + other) wrong = 1;
    warp.meet();
  });
  EXPECT_EQ(0, wrong);
}

}  // namespace
}  // namespace saltus::test
