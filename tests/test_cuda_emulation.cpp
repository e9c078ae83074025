// The kernels of the CUDA backend, run without a device by threads one after another, must give every instance the bits
// that CPU lanes give it, whatever the number of places, threads and turns. The CPU is the reference here; its own
// results are tested against analysis and literature elsewhere.
#include <gtest/gtest.h>

#include "../problems/bouncing_ball.hpp"
#include "../problems/campbell_orbits.hpp"
#include "../problems/lorenz.hpp"
#include "../problems/rectifier_dae.hpp"
#include "../problems/relief_valve.hpp"
#include "../problems/robertson.hpp"
#include "backend.hpp"
#include "emulated_cuda.hpp"
#include "models/everything.hpp"

namespace saltus::test {
namespace {

/// How a run is spread over the emulated device.
struct spread {
  int       places, threads, turn_budget;
  long long event_rows;
  bool      in_warps = false;  ///< of 32 lanes, instead of threads that are warps of their own
};

/// A chunk on the emulated device: the host's part of a run, in the memory of the host.
template <class E>
class emulated_run {
 public:
  emulated_run(const abi::settings& how, host::chunk_data& c, const spread& s)
      : tol_(tolerances_from<E, pack<typename E::T, 1>>(how)), data_(c), spread_(s) {
    const auto    places = static_cast<std::size_t>(s.places), rows = static_cast<std::size_t>(s.event_rows);
    const auto    n     = static_cast<std::size_t>(E::n);
    constexpr int bytes = sizeof(typename E::T);
    reals_.resize(static_cast<std::size_t>(abi::pool_bytes(cuda_unit_of<E>.record_reals, bytes, s.places)) / bytes);
    integers_.resize(
        static_cast<std::size_t>(abi::pool_bytes(cuda_unit_of<E>.record_integers, bytes, s.places)) / bytes,
        integer_of<typename E::T>(-1));
    for (auto& list : lists_) list.resize(places);
    std::iota(lists_[4].begin(), lists_[4].end(), 0);
    slot_.resize(rows), time_.resize(rows), guard_.resize(rows), before_.resize(rows * n), after_.resize(rows * n);
    chunk_.how     = how;
    chunk_.in      = c.batch();
    chunk_.out     = c.results();
    chunk_.pool    = {s.places, reals_.data(), integers_.data()};
    chunk_.ready   = {{lists_[0].data(), lists_[1].data()}};
    chunk_.parked  = {{lists_[2].data(), lists_[3].data()}};
    chunk_.vacant  = {{lists_[4].data(), lists_[5].data()}};
    chunk_.events  = {s.event_rows, slot_.data(), time_.data(), guard_.data(), before_.data(), after_.data()};
    const auto all = static_cast<std::size_t>(c.count), record = static_cast<std::size_t>(cuda_unit_of<E>.record_reals),
               record_integers = static_cast<std::size_t>(cuda_unit_of<E>.record_integers);
    c.exceptions.slot.resize(all), c.exceptions.reals.resize(all * record),
        c.exceptions.integers.resize(all * record_integers);
    chunk_.exceptions  = {c.count, c.exceptions.slot.data(), c.exceptions.reals.data(), c.exceptions.integers.data()};
    chunk_.progress    = &progress;
    chunk_.turn_budget = s.turn_budget;
    progress           = abi::cuda_start(chunk_, cuda_unit_of<E>.rows_per_landing);
  }

  void run() {
    while (!is_done()) {
      launch("saltus_begin", spread_.threads);
      launch("saltus_sail", spread_.threads);
      launch("saltus_land", spread_.threads);
      ASSERT_LE(progress.rows, spread_.event_rows);
      launch("saltus_turn_over", 1);
      drain();
    }
    auto&      e    = data_.exceptions;
    const auto some = static_cast<std::size_t>(progress.exceptions);
    e.slot.resize(some), e.reals.resize(some * static_cast<std::size_t>(cuda_unit_of<E>.record_reals)),
        e.integers.resize(some * static_cast<std::size_t>(cuda_unit_of<E>.record_integers));
  }

  bool is_done() const {
    return progress.ready[progress.half] + progress.parked[progress.half] + progress.vacant[progress.half] == 0;
  }

  abi::cuda_progress progress;

 private:
  void launch(const char* kernel, int threads) {
    void* arguments[] = {&chunk_, &tol_};
    spread_.in_warps ? emulate_in_warps<E>(kernel, threads, arguments) : emulate<E>(kernel, threads, arguments);
  }
  void drain() {
    for (std::size_t row = 0; row < static_cast<std::size_t>(progress.rows); ++row)
      data_.log.append(slot_[row], time_[row], guard_[row], &before_[row * E::n], &after_[row * E::n]);
    progress.rows     = 0;
    progress.landable = abi::landable_places(chunk_, 0, cuda_unit_of<E>.rows_per_landing);
  }

  tolerances<E, pack<typename E::T, 1>>  tol_;
  host::chunk_data&                      data_;
  spread                                 spread_;
  std::vector<typename E::T>             reals_;
  std::vector<integer_of<typename E::T>> integers_;
  std::vector<int>                       lists_[6];
  std::vector<long long>                 slot_;
  std::vector<double>                    time_, before_, after_;
  std::vector<int>                       guard_;
  abi::cuda_chunk                        chunk_{};
};

/// Runs `count` instances on lanes and on the emulated device; `swept` goes from `from` to `to`.
template <class E, bool InWarps = false>
void expect_same_as_lanes(host::plan p, int swept, double from, double to) {
  if constexpr (E::inject) p.inject_exceptions = 0.3;
  if constexpr (E::samples) p.sample_count = 9;
  if constexpr (E::reductions > 0) p.reductions.resize(E::reductions);
  const abi::settings how = host::settings_of(p);
  constexpr int       W   = sizeof(typename E::T) == 8 ? 8 : 16;
  // The smallest event log has room for one landing at a time.
  constexpr long long tight = cuda_unit_of<E>.rows_per_landing, ample = 5000;
  for (const std::int64_t count : {1, 33, 1000}) {
    auto one = scattered_chunk(p, swept, from, to, count), wide = one;
    on_lanes<E, 1>(how, one);
    on_lanes<E, W>(how, wide);
    EXPECT_EQ("", differences(one, wide)) << count << " instances on " << W << " lanes";
    std::vector<spread> spreads = {{5000, 64, 1000, ample}, {7, 3, 7, tight}, {40, 5, 1000, 3 * tight}};
    if (count < 1000) spreads.insert(spreads.end(), {{1, 1, 1, tight}, {32, 100, 1, ample}});
    // Fewer places than lanes, about as many, and so many that a warp keeps a store of them.
    if constexpr (InWarps)
      spreads = {{7, 32, 20, tight, true}, {50, 64, 1000, ample, true}, {1000, 64, 30, ample, true}};
    for (const spread& s : spreads) {
      SCOPED_TRACE(testing::Message() << count << " instances, " << s.places << " places, " << s.threads << " threads, "
                                      << s.turn_budget << " turns, " << s.event_rows << " rows");
      auto            here = scattered_chunk(p, swept, from, to, count);
      emulated_run<E> device(how, here, s);
      device.run();
      EXPECT_EQ("", differences(one, here));
      EXPECT_EQ(count == 1000 && E::inject, here.exceptions.slot.size() > 100);
      EXPECT_EQ(count, device.progress.stored);
      if (E::inject) continue;
      // Every trial step is a turn of a thread, made once: those landed are counted there.
      long long trials = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) trials += here.steps[i] + here.rejected[i];
      EXPECT_EQ(trials, device.progress.used.lane_turns);
      EXPECT_LE(device.progress.used.landed, device.progress.used.lane_turns);
    }
  }
}

template <class Model, methods::text Method, class T, bool Samples, class... Reductions>
using engine_of = engine<Model, methods::by_name<Method>, T, options{.samples = Samples}, Reductions...>;

using largest_pressure = reduction<reduce::max, false, relief_valve::pressure>;
using mean_lift        = reduction<reduce::mean, false, relief_valve::lift>;

TEST(cuda_emulation, relief_valve_dp5_with_samples_and_reductions) {
  expect_same_as_lanes<engine_of<relief_valve, "dp5", double, true, largest_pressure, mean_lift>>(
      plan_of<relief_valve>(6.0, 1e-8), relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_emulation, relief_valve_dop853_with_samples) {
  expect_same_as_lanes<engine_of<relief_valve, "dop853", double, true>>(plan_of<relief_valve>(6.0, 1e-10),
                                                                        relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_emulation, bouncing_ball_dp5) {
  expect_same_as_lanes<engine_of<bouncing_ball, "dp5", double, false>>(plan_of<bouncing_ball>(3.0, 1e-8),
                                                                       bouncing_ball::restitution, 0.5, 0.9);
}
TEST(cuda_emulation, bouncing_ball_dp5_in_warps_of_32_lanes) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer does not follow jumps from stack to stack";
#endif
  expect_same_as_lanes<engine_of<bouncing_ball, "dp5", double, false>, true>(plan_of<bouncing_ball>(3.0, 1e-8),
                                                                             bouncing_ball::restitution, 0.5, 0.9);
}
TEST(cuda_emulation, bouncing_ball_dop853_in_float) {
  expect_same_as_lanes<engine_of<bouncing_ball, "dop853", float, false>>(plan_of<bouncing_ball>(3.0, 1e-4),
                                                                         bouncing_ball::restitution, 0.5, 0.9);
}
TEST(cuda_emulation, instants_sliding_rest_and_conditions) {
  expect_same_as_lanes<engine_of<everything, "dp5", double, true>>(plan_of<everything>(8.0, 1e-6),
                                                                   everything::belt_speed, 0.1, 0.5);
}
TEST(cuda_emulation, certified_and_guards_in_the_error_control) {
  expect_same_as_lanes<engine<everything, methods::by_name<"tsit5">, double,
                              options{.detect = detection::certified, .guards_in_error = true}>>(
      plan_of<everything>(2.0, 1e-5), everything::belt_speed, 0.1, 0.5);
}
TEST(cuda_emulation, exceptions) {
  expect_same_as_lanes<engine<bouncing_ball, methods::by_name<"dp5">, double, options{.inject = true}>>(
      plan_of<bouncing_ball>(3.0, 1e-8), bouncing_ball::restitution, 0.5, 0.9);
}
TEST(cuda_emulation, robertson_rodas5p) {
  expect_same_as_lanes<engine_of<robertson, "rodas5p", double, true>>(plan_of<robertson>(40.0, 1e-6), robertson::k1,
                                                                      0.02, 0.08);
}
TEST(cuda_emulation, constraints_with_events_sdirk4) {
  expect_same_as_lanes<engine_of<rectifier_dae, "sdirk4", double, false>>(plan_of<rectifier_dae>(0.02, 1e-5),
                                                                          rectifier_dae::resistance, 4.0, 6.0);
}
TEST(cuda_emulation, index_2_radau5) {
  expect_same_as_lanes<engine_of<campbell_orbits, "radau5", double, false>>(plan_of<campbell_orbits>(1.0, 1e-5),
                                                                            campbell_orbits::b, 5.0, 20.0);
}
TEST(cuda_emulation, lorenz_dp5) {
  expect_same_as_lanes<engine_of<lorenz, "dp5", double, false>>(plan_of<lorenz>(2.0, 1e-8), lorenz::rho, 0.0, 28.0);
}

}  // namespace
}  // namespace saltus::test
