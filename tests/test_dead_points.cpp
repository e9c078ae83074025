// Dead points, at which constraints become dependent and branches of the motion meet: an instance ends there with a separate status
// instead of continuing along a branch chosen by chance. Mechanisms that only come near one, and mechanisms that turn by more than a
// right angle in a step, continue.
#include <cmath>

#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

/// Bars that form a parallelogram whose crank turns at constant speed, since no force acts: it is flat when the crank's angle is pi.
std::vector<std::string> parallelogram(const std::vector<std::string>& more = {}) {
  return with(
      {"crank=0.4", "coupler=1.1", "rocker=0.4", "ground=1.1", "gravity=0.0", "initial.angle_0=1.0", "t=[0.0,0.6]"},
      more);
}
const double flat_at = (3.14159265358979323846 - 1.0) / 8.0;

TEST(DeadPoint, OfAParallelogramEndsWhereItLiesFlat) {
  for (const char* method : {"dp5", "dop853"})
    for (const char* rtol : {"rtol=1e-3", "rtol=1e-6", "rtol=1e-9"}) {
      SCOPED_TRACE(std::string(method) + ", " + rtol);
      const outcome r = run("four_bar", parallelogram({std::string("method=") + method, rtol, "run.lanes=1"}));
      EXPECT_EQ(name_of(r.status[0]), "dead_point");
      EXPECT_EQ(r.exception[0], 0) << "no exception to rescue";
      EXPECT_NEAR(r.t_final[0], flat_at, 1e-3);
      EXPECT_NEAR(r.final("angle_1"), 0.0, 1e-2) << "the parallelogram is not crossed";
      EXPECT_EQ(r.plan.model.constraints[static_cast<std::size_t>(r.residual_of[0])].name.substr(0, 5), "joint");
      EXPECT_LE(r.steps[0], 200);
      // If all bars lie along x, turning them moves no hinge along x: four constraints remain for three x.
      EXPECT_EQ(r.dependent[0], 0b1111) << "joint_x_0 to joint_x_3";
    }
}

TEST(DeadPoint, IsOneInDescriptorForm) {
  const outcome r = run("four_bar", parallelogram({"method=inflsdirk4", "rtol=1e-6", "run.lanes=1"}));
  EXPECT_EQ(name_of(r.status[0]), "dead_point");
  EXPECT_NEAR(r.t_final[0], flat_at, 1e-3);
}

// The same as equations of any order, with and without a torque that the bars cannot bear there, and for a vanishing single gradient.
TEST(DeadPoint, IsOneInEquationsOfAnyOrder) {
  for (const char* method : {"dp5", "taylor16", "radau5"})
    for (const char* rtol : {"rtol=1e-4", "rtol=1e-8"}) {
      SCOPED_TRACE(std::string(method) + ", " + rtol);
      const outcome r =
          run(saltus::test::in_source("tests/models/parallel_cranks.hpp"),
              {std::string("method=") + method, rtol, "rescue=false", "sweep.torque=[0.0, 0.01, 0.1, 1.0, 10.0]"});
      for (std::int64_t i = 0; i < 5; ++i) {
        SCOPED_TRACE(i);
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(name_of(r.status[at]), "dead_point");
        EXPECT_EQ(host::names_of_residuals(r.plan.model).at(static_cast<std::size_t>(r.residual_of[at])), "along");
        EXPECT_NEAR(r.t_final[at], 0.5, 0.03);
        EXPECT_NEAR(r.final("coupler", i), 0.0, 1e-3) << "the parallelogram is not crossed";
      }
    }
}
TEST(DeadPoint, IsOneWhereAGradientVanishes) {
  for (const char* method : {"dp5", "dop853", "radau5"})
    for (const char* rtol : {"rtol=1e-3", "rtol=1e-8"}) {
      SCOPED_TRACE(std::string(method) + ", " + rtol);
      const outcome r = run(saltus::test::in_source("tests/models/crossing.hpp"),
                            {std::string("method=") + method, rtol, "rescue=false"});
      EXPECT_EQ(name_of(r.status[0]), "dead_point");
      EXPECT_NEAR(r.t_final[0], 0.5, 0.05);
    }
}

// Bars of nearly equal lengths pass: the angle between their constraints is small there, but not zero. The crank makes full turns
// (Grashof), the energy is constant, and the joints stay closed.
TEST(DeadPoint, IsNoneBesideOne) {
  const outcome r = run("four_bar", parallelogram({"method=dp5", "rtol=1e-9", "run.lanes=1", "crank=0.39",
                                                   "t=[0.0,1.5]", "output.reduce=['max(energy)', 'min(energy)']"}));
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_GT(r.final("angle_0"), 2.0 * 3.14159);
  EXPECT_LE(r.reductions[0] - r.reductions[1], 1e-5 * r.reductions[0]);
}

// A pendulum could turn by two right angles in a step that its error allows: the steps become shorter, and there is no dead point.
TEST(DeadPoint, IsNoneWhereDirectionsTurnFast) {
  const outcome r = run("compound_pendulum", {"method=dop853", "rtol=1e-2", "atol=1e-2", "omega=30.0", "run.lanes=1"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_GT(r.final("angle"), 100.0);
  EXPECT_GT(r.steps[0], 5 * 30 / 1.5708) << "no step turns by a right angle";
}

// The slow ones among seventeen speeds do not reach the dead point.
TEST(DeadPoint, NeighboursKeepTheirBits) {
  const auto go = [](int lanes) {
    return run("four_bar",
               parallelogram({"method=dp5", "rtol=1e-6", "output.events=true",
                              "sweep.speed={from=2.0,to=12.0,count=17}", fmt::format("run.lanes={}", lanes)}));
  };
  const outcome one = go(1), wide = go(8);
  for (std::int64_t i = 0; i < 17; ++i) {
    SCOPED_TRACE(i);
    expect_same(one, i, wide, i);
    const double speed = 2.0 + 10.0 * static_cast<double>(i) / 16.0;
    const bool gets_there = speed * 0.6 > 8.0 * flat_at;
    EXPECT_EQ(name_of(one.status[static_cast<std::size_t>(i)]), gets_there ? "dead_point" : "finished");
  }
}

}  // namespace
}  // namespace saltus::test
