// More engines for test_cuda_emulation.cpp: more explicit methods, and exceptions.
#include "../problems/bouncing_ball.hpp"
#include "../problems/lorenz.hpp"
#include "../problems/relief_valve.hpp"
#include "emulation_cases.hpp"

namespace saltus::test {
namespace {

TEST(cuda_emulation, relief_valve_dop853_with_samples) {
  expect_same_as_lanes<engine_of<relief_valve, "dop853", double, true>>(plan_of<relief_valve>(6.0, 1e-10),
                                                                        relief_valve::flow, 0.2, 10.0);
}
TEST(cuda_emulation, bouncing_ball_dp5) {
  expect_same_as_lanes<engine_of<bouncing_ball, "dp5", double, false>>(plan_of<bouncing_ball>(3.0, 1e-8),
                                                                       bouncing_ball::restitution, 0.5, 0.9);
}
TEST(cuda_emulation, lorenz_dp5) {
  expect_same_as_lanes<engine_of<lorenz, "dp5", double, false>>(plan_of<lorenz>(2.0, 1e-8), lorenz::rho, 0.0, 28.0);
}

TEST(cuda_emulation, exceptions) {
  expect_same_as_lanes<engine<form_of<bouncing_ball>, methods::by_name<"dp5">, double, options{.inject = true}>>(
      plan_of<bouncing_ball>(3.0, 1e-8), bouncing_ball::restitution, 0.5, 0.9);
}
}  // namespace
}  // namespace saltus::test
