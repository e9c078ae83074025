// Mechanical models through the host's half of the CUDA backend (test_cuda_backend.cpp).
#include <gtest/gtest.h>

#if !defined(SALTUS_WITH_CUDA)

TEST(cuda_mechanics, runs_chunks) { GTEST_SKIP() << "the CUDA toolkit was not found when this was built"; }

#else

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "backend/cuda/plugin.hpp"
#include "emulated_cuda.hpp"
#include "ensemble/backend.hpp"
#include "ensemble/settings.hpp"
#include "models/braked.hpp"
#include "models/kept_spring.hpp"
#include "testing/fake_cuda_driver.hpp"
#include "testing/source_folder.hpp"

// The symbol that the program would find by dlsym.
extern "C" saltus::host::cuda_backend_function saltus_cuda_backend;

namespace saltus::test {
namespace {

TEST(cuda_mechanics, constraints_that_are_reached_are_events_of_a_model_without_guards) {
  auto p = plan_of<braked>(2.0, 1e-8);
  p.model.name = "braked";
  p.model.header = saltus::test::in_source("tests/models/braked.hpp");
  p.count = 900;
  p.random = {{{host::target::kind::parameter, braked::target, "swept"}, {}},
              {{host::target::kind::t_end, 0, "t_end"}, {}}};
  using E = engine<form_of<braked>, methods::by_name<"dp5">, double, options{}>;
  the_fake_cuda() = {};
  the_fake_cuda().run_kernel = emulate<E>;
  const std::unique_ptr<host::backend> device(saltus_cuda_backend(p, 0));
  auto reference = scattered_chunk(p, braked::target, 1.9, 2.1, p.count), here = reference;
  on_lanes<E, 8>(host::settings_of(p), reference);
  abi::usage used{};
  device->integrate(
      here, [](std::int64_t) { return true; }, used);
  EXPECT_EQ("", differences(reference, here));
  // Speed 3 m/s, decreasing by 1 m/s2.
  std::int64_t rows = 0;
  here.log.for_each([&](const host::event_row& e) {
    rows += 1;
    EXPECT_NEAR(3.0 - here.parameters[static_cast<std::size_t>(e.slot)], e.time, 1e-12);
  });
  EXPECT_EQ(p.count, rows);
  EXPECT_EQ(std::vector<long long>(900, 1), here.events);
}

TEST(cuda_mechanics, steps_moved_far_are_counted_where_there_are_invariants_alone) {
  auto p = plan_of<kept_spring>(10.0, 1e-8);
  p.model.name = "kept_spring";
  p.model.header = saltus::test::in_source("tests/models/kept_spring.hpp");
  p.method = "rk4";
  p.fixed_step = 0.5;
  p.count = 90;
  p.random = {{{host::target::kind::parameter, kept_spring::stiffness, "swept"}, {}},
              {{host::target::kind::t_end, 0, "t_end"}, {}}};
  using E = engine<form_of<kept_spring>, methods::by_name<"rk4">, double, options{.fixed_steps = true}>;
  the_fake_cuda() = {};
  the_fake_cuda().run_kernel = emulate<E>;
  const std::unique_ptr<host::backend> device(saltus_cuda_backend(p, 0));
  auto reference = scattered_chunk(p, kept_spring::stiffness, 14.0, 18.0, p.count), here = reference;
  on_lanes<E, 8>(host::settings_of(p), reference);
  abi::usage used{};
  device->integrate(
      here, [](std::int64_t) { return true; }, used);
  EXPECT_EQ("", differences(reference, here));
  // Steps of a third of a period, whose errors exceed h^3 now and then.
  EXPECT_GT(std::accumulate(here.far_adjustments.begin(), here.far_adjustments.end(), 0ll), 0);
}

}  // namespace
}  // namespace saltus::test

#endif
