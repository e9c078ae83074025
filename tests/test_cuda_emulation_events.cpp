// More engines for test_cuda_emulation.cpp: everything that can happen at events.
#include "emulation_cases.hpp"
#include "models/everything.hpp"

namespace saltus::test {
namespace {

TEST(cuda_emulation, time_events_sliding_rest_and_conditions) {
  expect_same_as_lanes<engine_of<everything, "dp5", double, true>>(plan_of<everything>(8.0, 1e-6),
                                                                   everything::belt_speed, 0.1, 0.5);
}

}  // namespace
}  // namespace saltus::test
