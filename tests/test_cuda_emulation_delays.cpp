// More engines for test_cuda_emulation.cpp: models with delays, whose histories lie at the places of the pool.
#include "emulation_cases.hpp"
#include "models/delayed_growth.hpp"
#include "models/delayed_relay.hpp"
#include "models/delayed_steps.hpp"

namespace saltus::test {
namespace {

TEST(cuda_emulation, delays) {
  expect_same_as_lanes<engine_of<delayed_growth, "dp5", double, true>>(plan_of<delayed_growth>(5.0, 1e-6),
                                                                       delayed_growth::tau, 0.3, 6.0);
}

TEST(cuda_emulation, delays_with_events) {
  expect_same_as_lanes<
      engine_of<delayed_relay, "tsit5", double, true, reduction<reduce::max, false, delayed_relay::x>>>(
      plan_of<delayed_relay>(6.0, 1e-6), delayed_relay::dead_time, 0.2, 1.5);
  expect_same_as_lanes<engine_of<delayed_steps, "rodas5p", double, false>>(plan_of<delayed_steps>(3.0, 1e-6),
                                                                           delayed_steps::brief, 0.1, 1.0);
}

}  // namespace
}  // namespace saltus::test
