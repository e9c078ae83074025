// More engines for test_cuda_emulation.cpp: certified root finding, and guards in the error control.
#include "emulation_cases.hpp"
#include "models/everything.hpp"

namespace saltus::test {
namespace {

TEST(cuda_emulation, certified_and_guards_in_the_error_control) {
  expect_same_as_lanes<engine<form_of<everything>, methods::by_name<"tsit5">, double,
                              options{.detect = detection::certified, .guards_in_error = true}>>(
      plan_of<everything>(2.0, 1e-5), everything::belt_speed, 0.1, 0.5);
}

}  // namespace
}  // namespace saltus::test
