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
#include "emulated_run.hpp"
#include "models/everything.hpp"

namespace saltus::test {
namespace {

/// Runs `count` instances on lanes and on the emulated device; `swept` goes from `from` to `to`.
template <class E>
void expect_same_as_lanes(host::plan p, int swept, double from, double to) {
  if constexpr (E::inject) p.inject_exceptions = 0.3;
  if constexpr (E::samples) p.sample_count = 9;
  if constexpr (E::reductions > 0) p.reductions.resize(E::reductions);
  const abi::settings how = host::settings_of(p);
  constexpr int W = sizeof(typename E::T) == 8 ? 8 : 16;
  // The smallest event log has room for one landing at a time.
  constexpr long long tight = cuda_unit_of<E>.rows_per_landing, ample = 5000;
  for (const std::int64_t count : {1, 33, 1000}) {
    auto one = scattered_chunk(p, swept, from, to, count), wide = one;
    on_lanes<E, 1>(how, one);
    on_lanes<E, W>(how, wide);
    EXPECT_EQ("", differences(one, wide)) << count << " instances on " << W << " lanes";
    std::vector<spread> spreads = {{5000, 64, 1000, ample}, {7, 3, 7, tight}, {40, 5, 1000, 3 * tight}};
    if (count < 1000) spreads.insert(spreads.end(), {{1, 1, 1, tight}, {32, 100, 1, ample}});
    for (const spread& s : spreads) {
      SCOPED_TRACE(testing::Message() << count << " instances, " << s.places << " places, " << s.threads << " threads, "
                                      << s.turn_budget << " turns, " << s.event_rows << " rows");
      auto here = scattered_chunk(p, swept, from, to, count);
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
using mean_lift = reduction<reduce::mean, false, relief_valve::lift>;

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
TEST(cuda_emulation, bouncing_ball_dop853_in_float) {
  expect_same_as_lanes<engine_of<bouncing_ball, "dop853", float, false>>(plan_of<bouncing_ball>(3.0, 1e-4),
                                                                         bouncing_ball::restitution, 0.5, 0.9);
}
TEST(cuda_emulation, time_events_sliding_rest_and_conditions) {
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
