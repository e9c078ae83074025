// The kernels of the CUDA backend, run without a device by threads one after another, must give every instance the bits
// that CPU lanes give it, for every number of places, threads and turns. The CPU is the reference here; its own
// results are tested against analysis and literature elsewhere.
// More engines: test_cuda_emulation_*.cpp.
#include "../problems/bouncing_ball.hpp"
#include "../problems/relief_valve.hpp"
#include "emulation_cases.hpp"

namespace saltus::test {
namespace {

using largest_pressure = reduction<reduce::max, false, relief_valve::pressure>;
using mean_lift = reduction<reduce::mean, false, relief_valve::lift>;

TEST(cuda_emulation, relief_valve_dp5_with_samples_and_reductions) {
  expect_same_as_lanes<engine_of<relief_valve, "dp5", double, true, largest_pressure, mean_lift>>(
      plan_of<relief_valve>(6.0, 1e-8), relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_emulation, bouncing_ball_dop853_in_float) {
  expect_same_as_lanes<engine_of<bouncing_ball, "dop853", float, false>>(plan_of<bouncing_ball>(3.0, 1e-4),
                                                                         bouncing_ball::restitution, 0.5, 0.9);
}

}  // namespace
}  // namespace saltus::test
