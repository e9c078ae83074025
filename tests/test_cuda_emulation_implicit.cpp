// More engines for test_cuda_emulation.cpp: implicit methods, with constraints and without.
#include "../problems/campbell_orbits.hpp"
#include "../problems/rectifier_dae.hpp"
#include "../problems/robertson.hpp"
#include "emulation_cases.hpp"

namespace saltus::test {
namespace {

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

}  // namespace
}  // namespace saltus::test
