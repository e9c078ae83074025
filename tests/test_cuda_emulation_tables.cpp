// More engines for test_cuda_emulation.cpp: tables, one of which jumps.
#include "emulation_cases.hpp"
#include "models/tariff.hpp"

namespace saltus::test {
namespace {

TEST(cuda_emulation, tables) {
  expect_same_as_lanes<engine_of<tariff, "dp5", double, true, reduction<reduce::max, true, tariff::payment>>>(
      plan_of<tariff>(9.0, 1e-6), tariff::worth, 1.5, 4.5);
}

}  // namespace
}  // namespace saltus::test
