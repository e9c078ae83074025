// Invariants of mechanical systems (form/invariants.hpp): steps end on them, also at turning points of a pendulum and through impacts;
// bodies at rest are left alone; and a declared invariant that is not invariant ends the instance.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

// 4 K(sin 45 deg) sqrt(l / g): the period from the side (10.1093... times the root; Gauss' lemniscate constant by DLMF 19.20.2).
const double period = 4.0 * 1.85407467730137191843 / std::sqrt(9.81);

outcome swing(const std::string& method, const std::vector<std::string>& more) {
  return run(test_model("conserved_pendulum"), with({"method=" + method}, more));
}
void expect_finished(const outcome& r) {
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << "instance " << i;
    ASSERT_EQ(r.exception[i], 0) << "instance " << i << " was rescued from " << name_of(r.exception[i]);
    EXPECT_EQ(r.far_adjustments[i], 0) << "instance " << i;
    EXPECT_LE(r.residual[i], 1e-13) << "instance " << i;
  }
}
/// 1: the energy is declared twice, so no projection onto invariants happens.
std::string kept_and_not = "sweep.twice=[0.0, 1.0]";

class Invariants : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Methods, Invariants, ::testing::Values("dp5", "dop853", "radau5", "inflsdirk4"),
                         [](const auto& one) { return std::string(one.param); });

// In a plane, from rest at the side: the pendulum turns back twice in each period and has zero energy and zero spin.
TEST_P(Invariants, AreKeptThroughTurningPoints) {
  const auto r = swing(GetParam(), {"rtol=1e-8", set("t", {0.0, 20.0 * period}), kept_and_not});
  expect_finished(r);
  std::printf("%s: energy %.1e, free %.1e; vz %.1e, free %.1e\n", GetParam(), r.output(0, 0), r.output(0, 1),
              r.final("vz", 0), r.final("vz", 1));
  EXPECT_LE(std::abs(r.output(0, 0)), 2e-13);  // of 20 J exchanged
  EXPECT_GE(std::abs(r.output(0, 1)), 1e-9) << "an unprojected energy drifts";
  // The error of the phase.
  EXPECT_NEAR(r.final("vz", 0), 0.0, 1e-4);
  EXPECT_LE(std::abs(r.final("vz", 0)), 1.1 * std::abs(r.final("vz", 1)));
}

// Energy and spin at once, for a thousand seconds.
TEST(Invariants, TwoOfThemAreKeptForLong) {
  const auto r = swing("dop853", {"rtol=1e-10", "vy=2.0", "t=[0.0, 1000.0]", kept_and_not});
  expect_finished(r);
  // From (1, 0, 0) with 2 m/s across: 4 J and 4 N m s.
  std::printf("energy %.1e, free %.1e; spin %.1e, free %.1e\n", r.output(0, 0) - 4.0, r.output(0, 1) - 4.0,
              r.output(1, 0) - 4.0, r.output(1, 1) - 4.0);
  EXPECT_NEAR(r.output(0, 0), 4.0, 2e-13);
  EXPECT_NEAR(r.output(1, 0), 4.0, 2e-13);
  EXPECT_GE(std::abs(r.output(0, 1) - 4.0), 1e-9);
}

// All three integrals of Lagrange's top, whose axis a quaternion turns; its height after two seconds is Jacobi's sn.
TEST(Invariants, OfATopByASparseMatrix) {
  const auto r = run(test_model("conserved_top"), {"method=dp5", "rtol=1e-9"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(r.exception[0], 0);
  EXPECT_EQ(r.far_adjustments[0], 0);
  EXPECT_LE(r.residual[0], 1e-12);
  const double energy = 0.5 * (0.46875 * 150 * 150 + (15 + 0.234375) * 4.61538 * 4.61538);
  std::printf("energy %.1e, momenta %.1e and %.1e, z %.1e\n", r.output(0) - energy, r.output(1) - 0.46875 * 150,
              r.output(2) + 4.61538 * (15 + 0.234375), r.final("z") + 0.6730222695604440961);
  EXPECT_NEAR(r.output(0), energy, 1e-14 * 16 * energy);
  EXPECT_NEAR(r.output(1), 0.46875 * 150, 1e-14 * 16 * 70);
  EXPECT_NEAR(r.output(2), -4.61538 * (15 + 0.234375), 1e-14 * 16 * 70);
  EXPECT_NEAR(r.final("z"), -0.6730222695604440961, 1e-6);
}

// At rest below the pivot the energy is minimal: its rounding moves nothing. Also at rest exactly above the pivot, which is unstable.
TEST(Invariants, AreLeftAloneAtRest) {
  const auto r = swing("dp5", {"rtol=1e-8", "x=0.0", "sweep.z=[-1.0, 1.0]", "t=[0.0, 20.0]"});
  expect_finished(r);
  for (std::int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(r.final("x", i), 0.0);
    EXPECT_EQ(r.final("vx", i), 0.0);
    EXPECT_EQ(r.final("vz", i), 0.0);
  }
  // Small swings, whose energy is below the rounding of its terms: 5e-25 of 20 J at the smallest.
  for (const double x : {1e-6, 1e-8, 1e-12}) {
    const auto small = swing(
        "dp5", {"rtol=1e-8", set("atol", 1e-9 * x), set("x", x), set("z", -std::sqrt(1.0 - x * x)), "t=[0.0, 20.0]"});
    expect_finished(small);
    EXPECT_NEAR(small.final("x") / x, std::cos(std::sqrt(9.81) * 20.0), 1e-5) << x;
  }
}

// A wall takes three quarters of the kinetic energy normal to it, at x = 0: velocities (vx, vy) become (-vx / 2, vy).
TEST(Invariants, ArePutToWhatTheyAreAfterAnEvent) {
  const auto r = swing("dop853", {"rtol=1e-10", "x=1.0", "vy=1.0", "wall=0.0", "output.events=true", "t=[0.0, 6.0]"});
  expect_finished(r);
  ASSERT_GE(r.log.size(), 3u);
  const auto energy = [](const std::vector<double>& y) {
    return 2.0 * (0.5 * (y[3] * y[3] + y[4] * y[4] + y[5] * y[5]) + 9.81 * y[2]);
  };
  double now = energy({1.0, 0.0, 0.0, 0.0, 1.0, 0.0});
  for (const auto& e : r.log) {
    EXPECT_NEAR(energy(e.before), now, 1e-13);
    now = energy(e.after);
    // Changes of velocity along the gradients of the wall and of the rod; the wall's part is the impulse.
    EXPECT_NEAR(e.after[3], -0.5 * e.before[3], 1e-12);
    EXPECT_GT(energy(e.before), now + 1e-3);
  }
  EXPECT_NEAR(r.output(0), now, 1e-13);
}

// With drag the declared energy is not invariant: each step of an explicit method would be moved by more than its error.
TEST(Invariants, ThatAreNoneEndTheInstance) {
  const auto r = swing("dp5", {"rtol=1e-8", "vy=2.0", "sweep.drag=[0.0, 0.5, 0.0]"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.status[1]), "moved_far");
  EXPECT_EQ(name_of(r.exception[1]), "moved_far") << "rescue failed, too";
  EXPECT_LE(r.t_final[1], 1.0);
  EXPECT_EQ(name_of(r.status[2]), "finished");
  expect_same(r, 0, r, 2);
  const auto alone = swing("dp5", {"rtol=1e-8", "vy=2.0"});
  expect_same(r, 0, alone, 0);
}

TEST(Invariants, HaveTheSameBitsOnLanesOfEveryWidth) {
  const std::vector<std::string> settings = {"rtol=1e-7", "t=[0.0, 5.0]", "wall=-0.5",
                                             "sweep.vy={from=-2.0, to=3.0, count=11}"};
  const auto wide = swing("dop853", with(settings, {"run.lanes=8"}));
  const auto narrow = swing("dop853", with(settings, {"run.lanes=1", "run.threads=1"}));
  for (std::int64_t i = 0; i < wide.plan.count; ++i) expect_same(wide, i, narrow, i);
}

}  // namespace
}  // namespace saltus::test
