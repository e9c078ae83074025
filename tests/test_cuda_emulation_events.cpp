// More engines for test_cuda_emulation.cpp: everything that can happen at events.
#include "emulation_cases.hpp"
#include "models/everything.hpp"
#include "models/relay_race.hpp"
#include "models/repairs.hpp"

namespace saltus::test {
namespace {

TEST(cuda_emulation, time_events_sliding_rest_and_conditions) {
  expect_same_as_lanes<engine_of<everything, "dp5", double, true>>(plan_of<everything>(8.0, 1e-6),
                                                                   everything::belt_speed, 0.1, 0.5);
}

TEST(cuda_emulation, scheduled_events_and_random_numbers) {
  expect_same_as_lanes<engine_of<repairs, "dp5", double, true>>(plan_of<repairs>(8.0, 1e-6), repairs::failing, 0.2,
                                                                4.0);
  expect_same_as_lanes<engine_of<relay_race, "dp5", double, true>>(plan_of<relay_race>(6.0, 1e-6), relay_race::delay,
                                                                   0.0, 6.5);
}

}  // namespace
}  // namespace saltus::test
