// The engine accepts a form of equations that the kernels do not have (models/parts/constrained_points.hpp: points with
// constraints on their coordinates, multipliers eliminated): it projects steps, parks and moves the form's memory with an
// instance, and handles events. The reference is the same pendulum by its angle, which needs no constraint.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "same_bits.hpp"

namespace {

using namespace saltus::test;

// Lanes meet the wall at different times, and some never do.
const std::vector<std::string> swings = with(tight, {"sweep.angle={from=0.2, to=1.3, count=37}", "atol=1e-12"});

outcome swing(const char* method, const std::vector<std::string>& more = {}) {
  return run(test_model("cartesian_pendulum"), with(with(swings, {fmt::format("method=\"{}\"", method)}), more));
}

class forms : public ::testing::TestWithParam<const char*> {};

TEST_P(forms, steps_end_on_the_constraints_and_the_solution_is_that_by_the_angle) {
  const outcome angle = run(test_model("angle_pendulum"), with(swings, {"method=\"dop853\"", "rtol=1e-12"}));
  const outcome r = swing(GetParam());
  double off = 0.0, away = 0.0, late = 0.0;
  ASSERT_EQ(r.log.size(), angle.log.size());
  for (std::int64_t i = 0; i < r.plan.count; ++i) {
    ASSERT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished");
    const double x = r.final("x", i), y = r.final("y", i), vx = r.final("vx", i), vy = r.final("vy", i);
    off = std::max({off, std::abs(x * x + y * y - 1.0), std::abs(x * vx + y * vy)});
    off = std::max(off, r.residual[static_cast<std::size_t>(i)]);  // over all steps
    const double turned = angle.final("turned", i), rate = angle.final("rate", i);
    away = std::max({away, std::abs(x - std::sin(turned)), std::abs(y + std::cos(turned))});
    away = std::max({away, std::abs(vx - rate * std::cos(turned)), std::abs(vy - rate * std::sin(turned))});
  }
  for (std::size_t e = 0; e < r.log.size(); ++e) {
    ASSERT_EQ(r.log[e].instance, angle.log[e].instance);
    late = std::max(late, std::abs(r.log[e].time - angle.log[e].time));
    const auto& at = r.log[e].after;
    off = std::max({off, std::abs(at[0] * at[0] + at[1] * at[1] - 1.0), std::abs(at[0] * at[2] + at[1] * at[3])});
  }
  std::printf("%-8s %zu impacts; constraints off by %.1e, states by %.1e, times by %.1e\n", GetParam(), r.log.size(),
              off, away, late);
  EXPECT_GT(r.log.size(), 60u);
  EXPECT_LE(off, 4e-15);  // rounding of numbers up to 3
  EXPECT_LE(away, 3e-9);
  EXPECT_LE(late, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(methods, forms, ::testing::Values("dp5", "dop853", "rdpk510"),
                         [](const auto& one) { return std::string(one.param); });

// The form remembers its multipliers and refines the next ones from them: a memory that did not move with its instance
// would change the last bits.
TEST(form, memory_moves_with_its_instance) {
  for (const char* method : {"dp5", "dop853"}) {
    const outcome one = swing(method, {"run.lanes=1", "run.threads=1"});
    for (const char* shape : {"run.groups=1", "run.groups=2"}) {
      SCOPED_TRACE(fmt::format("{}, {}", method, shape));
      const int widest = saltus::host::native_lanes();
      const outcome r = swing(method, {fmt::format("run.lanes={}", std::min(8, widest)), shape, "run.chunk=11"});
      for (std::int64_t i = 0; i < r.plan.count; ++i) expect_same(one, i, r, i);
      expect_same_log(one, r);
    }
  }
}

// The fallback integrator continues instances that lanes give up from a snapshot, which includes the memory.
TEST(form, memory_is_part_of_a_snapshot) {
  const outcome r = swing("dp5", {"inject_exceptions=0.5"}), whole = swing("dp5");
  int continued = 0;
  for (std::int64_t i = 0; i < r.plan.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_LE(r.residual[at], 4e-15);
    EXPECT_NEAR(r.final("x", i), whole.final("x", i), 1e-7);
    continued += name_of(r.status[at]) != "finished" || r.exception[at] != 0 ? 1 : 0;
  }
  EXPECT_GT(continued, 5);
}

}  // namespace
