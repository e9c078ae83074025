// Runs of mechanical systems: positions and velocities stay on their constraints, multipliers are the constraint forces, loops stay
// closed for a thousand turns, rotations are right for every orientation, and unsolvable cases are reported.
//
// tests/reference/mechanics.py prints the numbers with 17 digits and more that have no formula beside them; otherwise they come from
// the named source.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ensemble/explained_ends.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

double output(const outcome& r, const std::string& name, std::int64_t instance = 0) {
  for (std::size_t i = 0; i < r.plan.model.outputs.size(); ++i)
    if (r.plan.model.outputs[i].name == name) return r.output(i, instance);
  throw std::runtime_error("no output " + name);
}

/// All instances end well on lanes, and positions and velocities are on their constraints after every step.
void expect_on_constraints(const outcome& r, double within = 1e-12) {
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << "instance " << i;
    ASSERT_EQ(r.exception[i], 0) << "instance " << i << " was rescued from " << name_of(r.exception[i]);
    EXPECT_LE(r.residual[i], within) << "instance " << i;
  }
}

void expect_near(const outcome& r, const std::string& state, double value, double within, std::int64_t instance = 0) {
  EXPECT_NEAR(r.final(state, instance), value, within) << state;
}

/// max(energy) - min(energy) of an instance, whose reductions are those of `extremes_of_energy`.
double spread(const outcome& r, std::int64_t instance = 0) {
  const auto n = static_cast<std::size_t>(r.plan.count), i = static_cast<std::size_t>(instance);
  return r.reductions[i] - r.reductions[n + i];
}
const std::string extremes_of_energy = "output.reduce=['max(energy)', 'min(energy)']";

class Explicit : public ::testing::TestWithParam<const char*> {
 protected:
  outcome go(const std::string& model, const std::vector<std::string>& more) const {
    return run(model, with({"method=" + std::string(GetParam())}, more));
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, Explicit, ::testing::Values("dp5", "dop853"),
                         [](const auto& one) { return std::string(one.param); });

// ---- holonomic constraints ------------------------------------------------------------------------------------------

/// From the side with this gravity, half a period takes a second. Quadruple precision at two tolerances: x, y and the tension at t = .3,
/// and the velocity and the tension below the pivot.
void expect_pendulum(const outcome& r) {
  expect_on_constraints(r);
  const double length = 1.0, gravity = 13.750371636040745655;
  expect_near(r, "x", 0.819064681701747085, 1e-9);
  expect_near(r, "y", -0.573701182837211636, 1e-9);
  EXPECT_NEAR(output(r, "tension"), 23.6658134161434621, 1e-8);
  EXPECT_NEAR(output(r, "energy"), 0.0, 1e-9);
  // Tension m g cos + m l w^2, and by energy w^2 = -2 g y / l^2.
  EXPECT_NEAR(output(r, "tension"), gravity * -r.final("y") / length - 2 * gravity * r.final("y") / length, 1e-8);
}
TEST_P(Explicit, PendulumAndItsTension) {
  const auto r = go("index_3_pendulum", {"rtol=1e-11", "t=[0.0, 0.3]", "output.events=true"});
  expect_pendulum(r);
  const auto whole = go("index_3_pendulum", {"rtol=1e-11", "t=[0.0, 2.0]", "output.events=true"});
  expect_on_constraints(whole);
  const auto times = times_of(whole, "bottom");
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(times[0], 0.5, 1e-9);
  EXPECT_NEAR(times[1], 1.5, 1e-9);
  EXPECT_NEAR(whole.log[0].before[2], -5.24411510858423962, 1e-8);
  expect_near(whole, "x", 1.0, 1e-9);
  expect_near(whole, "vy", 0.0, 1e-8);
}
TEST(Implicit, PendulumAndItsTension) {
  expect_pendulum(run("index_3_pendulum", {"rtol=1e-11", "t=[0.0, 0.3]", "output.events=true", "method=radau5"}));
}

TEST_P(Explicit, PendulumIsThatOfCompere) {
  // Elliptic functions; E(0) = m l^2 w^2/6 - m g l/2 cos.
  const auto r = go("compound_pendulum", {"rtol=1e-12", extremes_of_energy});
  expect_on_constraints(r, 1e-13);
  expect_near(r, "angle", 0.3738942186662719547, 1e-10);
  expect_near(r, "omega", 0.8611552694957156350, 1e-10);
  EXPECT_NEAR(output(r, "energy"), -159.9309229783757, 1e-9);
  // The joint carries the weight and accelerates the centre: m (x'' - g) = force_x.
  const double a = r.final("angle"), w = r.final("omega"), turn = -1.5 * 9.81 * std::sin(a);
  EXPECT_NEAR(output(r, "force_x"), 36 * (-0.5 * (std::sin(a) * turn + std::cos(a) * w * w) - 9.81), 1e-7);
  EXPECT_NEAR(output(r, "force_y"), 36 * 0.5 * (std::cos(a) * turn - std::sin(a) * w * w), 1e-7);
}

// Moving constraints: quadruple precision at two tolerances, in agreement with the test set's digits.
TEST_P(Explicit, CarAxisHasTheSolutionOfTheTestSet) {
  // The guard is zero and flat at the start, dips below zero and returns at 0.0015.
  const auto r = go("car_axis", {"rtol=1e-11", "output.events=true"});
  expect_on_constraints(r);
  expect_near(r, "xl", 0.0493455784275240921, 1e-9);
  expect_near(r, "yl", 0.496989460230008107, 1e-9);
  expect_near(r, "xr", 1.04174252488542612, 1e-9);
  expect_near(r, "yr", 0.373911027265365819, 1e-9);
  const auto times = times_of(r);
  ASSERT_EQ(times.size(), 5u);
  EXPECT_NEAR(times[0], 0.00150007364342949790, 1e-9);
  EXPECT_NEAR(times[1], 0.630535049653810983, 1e-9);
  EXPECT_NEAR(times[2], 1.23507675438582190, 1e-9);
}

TEST_P(Explicit, SqueezerHasTheSolutionOfTheTestSet) {
  const auto r = go("andrews_squeezer", {"rtol=1e-11", "output.events=true", extremes_of_energy});
  expect_on_constraints(r);
  const std::vector<double> positions = {0.1581077119629904e2,  -0.1575637105984298e2, 0.4082224013073101e-1,
                                         -0.5347301163226948e0, 0.5244099658805304e0,  0.5347301163226948e0,
                                         0.1048080741042263e1};
  for (std::size_t i = 0; i < positions.size(); ++i)
    EXPECT_NEAR(r.final_state[i], positions[i], 1e-8 * std::fabs(positions[i])) << r.plan.model.states[i].name;
  // An index-3 solution has less accurate velocities: the test set's come from a run at about 1e-14.
  expect_near(r, "vb", 0.1139920302151208e4, 1e-5);
  expect_near(r, "vT", -0.1424379294994111e4, 1e-5);
  EXPECT_LE(spread(r), 1e-9);
}
TEST(Multipliers, OfTheSqueezerAtTheStart) {
  const auto r =
      run("andrews_squeezer", {"method=dp5", "rtol=1e-11", "t=[0.0, 1e-12]", "output.events=true", extremes_of_energy});
  EXPECT_NEAR(output(r, "acceleration_b"), 14222.4439199541, 1e-6);
  EXPECT_NEAR(output(r, "multiplier_1x"), -98.56687039624, 1e-7);  // M q'' = f - G' lambda there
  EXPECT_NEAR(output(r, "multiplier_1y"), 6.12268834426, 1e-7);
}

// ---- nonholonomic constraints ---------------------------------------------------------------------------------------

TEST_P(Explicit, KnifeEdgeHasTheClosedForm) {
  const auto r = go("knife_edge", {"rtol=1e-12", "atol=1e-12", "sweep.omega=[1.0, -0.7, 2.0]"});
  expect_on_constraints(r, 1e-13);
  for (int i = 0; i < 3; ++i) {
    const double w = std::vector{1.0, -0.7, 2.0}[static_cast<std::size_t>(i)], a = 9.81 * std::sin(0.5), t = 10.0;
    expect_near(r, "x", a / (2 * w * w) * std::pow(std::sin(w * t), 2), 1e-10, i);
    expect_near(r, "y", a / (2 * w * w) * (w * t - std::sin(2 * w * t) / 2), 1e-10, i);
    // Along the blade v = a sin(wt)/w; across it the force turns the velocity and carries the weight: cos(wt) a + w v.
    EXPECT_NEAR(output(r, "side_force", i), -2 * a * std::sin(w * t), 1e-9);
    EXPECT_NEAR(output(r, "energy", i), 0.05 * w * w, 1e-9);
  }
}

TEST_P(Explicit, DiscRollsInACircle) {
  // Steady rolling: w3 = (A W^2 sin cos - m g R cos)/((C + m R^2) W sin), and the centre circles with speed R w3.
  const std::vector<double> leans = {1.2, 0.6, 1.5, 1.9}, rates = {1.0, 3.0, 0.3, -1.5};  // fast enough not to fall
  const auto r = go("rolling_disc", {"rtol=1e-12", set("sweep.zip.lean", leans), set("sweep.zip.turning", rates)});
  expect_on_constraints(r);
  for (std::size_t i = 0; i < leans.size(); ++i) {
    const double R = 0.3, s = std::sin(leans[i]), c = std::cos(leans[i]), W = rates[i], t = 10.0;
    const double w3 = c * (R * R / 4 * W * W * s - 9.81 * R) / (1.5 * R * R * W * s);
    const auto k = static_cast<std::int64_t>(i);
    EXPECT_NEAR(output(r, "upright", k), c, 1e-9) << i;
    expect_near(r, "wz", w3, 1e-9, k);
    expect_near(r, "x", -R * w3 / W * std::sin(W * t), 1e-8, k);
    expect_near(r, "y", -R * w3 / W * (1 - std::cos(W * t)), 1e-8, k);
    EXPECT_NEAR(output(r, "support", k), 2 * 9.81, 1e-8);  // its height does not change
  }
}

// ---- closed loops ---------------------------------------------------------------------------------------------------

/// Times of turns against the energy integral.
void expect_turns(const std::vector<double>& times, double period, int turns, double within) {
  ASSERT_EQ(times.size(), static_cast<std::size_t>(turns));
  for (int k = 1; k <= turns; ++k)
    ASSERT_NEAR(times[static_cast<std::size_t>(k - 1)], k * period, within) << "turn " << k;
}

constexpr double crank_period = 1.053810442427438198, crank_half = 0.6188096091122662653;
constexpr double bars_period = 0.5929017401214739161;

void expect_crank(const outcome& r, int turns, double within) {
  expect_on_constraints(r);
  expect_turns(times_of(r, "outer"), crank_period, turns, within);
  const auto inner = times_of(r, "inner");
  ASSERT_EQ(inner.size(), static_cast<std::size_t>(turns) + 1);
  for (std::size_t k = 0; k < inner.size(); ++k)
    ASSERT_NEAR(inner[k], crank_half + static_cast<double>(k) * crank_period, within) << "turn " << k;
}
TEST_P(Explicit, SliderAndCrankPassTheirDeadPoints) {
  const auto r = go("slider_crank",
                    {"rtol=1e-10", "output.events=true", extremes_of_energy, set("t", {0.0, 20.7 * crank_period})});
  expect_crank(r, 20, 1e-7);
  EXPECT_LE(spread(r), 1e-8);
}
TEST_P(Explicit, FourBarsGoRound) {
  const auto r =
      go("four_bar", {"rtol=1e-10", "output.events=true", extremes_of_energy, set("t", {0.0, 20.5 * bars_period})});
  expect_on_constraints(r);
  expect_turns(times_of(r, "turn"), bars_period, 20, 1e-7);
  EXPECT_LE(spread(r), 1e-7);
}

// Errors after a thousand turns. Energies are of 1.2 J and 33 J, constant up to rounding at the ends of steps, and in between up to the
// error of dense output.
TEST(AThousandTurns, OfSliderAndCrank) {
  const auto r = run("slider_crank", {"method=dop853", "rtol=1e-10", "output.events=true", extremes_of_energy,
                                      set("t", {0.0, 1000.7 * crank_period})});
  expect_crank(r, 1000, 1e-5);
  EXPECT_LE(spread(r), 1e-9);
  // Initially .03 8^2 / 2 + .6 (.8^2 + .5^2 3.2^2 / 12) / 2 J; a rounding of an angle of 6,290 rad is 1e-12.
  EXPECT_NEAR(output(r, "energy"), 1.216, 1e-11);
}
TEST(AThousandTurns, OfFourBars) {
  const auto r = run("four_bar", {"method=dop853", "rtol=1e-10", "output.events=true", extremes_of_energy,
                                  set("t", {0.0, 1000.5 * bars_period})});
  expect_on_constraints(r);
  expect_turns(times_of(r, "turn"), bars_period, 1000, 1e-5);
  EXPECT_LE(spread(r), 1e-9 * output(r, "energy"));  // 46 J; within steps it is the interpolant's error
}
TEST(AThousandTurns, OfTheSqueezerStayClosed) {
  // The motor accelerates the crank for a second. The crank starts slightly before zero, and each turn is an event.
  const auto r = run("andrews_squeezer",
                     {"method=dop853", "rtol=1e-10", "t=[0.0, 1.05]", "output.events=true", extremes_of_energy});
  expect_on_constraints(r);
  EXPECT_LE(spread(r), 1e-7);  // of 1.4 J; the motor has done 220 J, with an error from steps of some 1e-10
  const double turns = std::floor(r.final("beta") / (2 * std::acos(-1.0)));
  EXPECT_GE(turns, 1000.0);
  EXPECT_EQ(static_cast<double>(times_of(r).size()), turns + 1.0);
}

// ---- many bodies ----------------------------------------------------------------------------------------------------

TEST(Chain, OfThreeLinksIsThatInThreeAngles) {
  const auto r = run(test_model("chain_of_3"), {"method=dp5", "rtol=1e-13", extremes_of_energy});
  expect_on_constraints(r);
  // Errors grow ten thousandfold: they are 1.2e-7, 1.1e-8 and 1.4e-9 at rtol 1e-11, 1e-12 and 1e-13.
  const double angles[] = {-2.123696219390234382, 12.39004248316695028, -0.178911700499026315};
  const double rates[] = {-9.66780584076925731, -19.65615774325865476, 33.09673536610587347};
  for (int i = 0; i < 3; ++i) {
    expect_near(r, fmt::format("angle_{}", i), angles[i], 3e-9);
    expect_near(r, fmt::format("omega_{}", i), rates[i], 1e-7);
  }
  EXPECT_LE(spread(r), 1e-8);
}
TEST(Chain, OfTenLinksIsThatInTenAngles) {
  const auto r = run("n_link_chain", {"method=dop853", "rtol=1e-11", "t=[0.0, 1.0]", extremes_of_energy});
  expect_on_constraints(r);
  const double angles[] = {-2.750472561403547348, -2.757784532245859787, -2.569817671441929554, -2.543379296413128439,
                           -2.664856901663860441, -2.627150637803089505, -2.59924152149604198,  -2.731121769265759612,
                           -2.810483092570565639, -2.976690425354932871};
  const double rates[] = {-12.68427192113036739, -0.5028239102781572784, -16.10602265600507334, 9.163719528450461333,
                          -3.435452604664191674, -1.841047017679955957,  3.854430788011961412,  3.540010181286704525,
                          5.098343944874903677,  3.531243461370077945};
  for (int i = 0; i < 10; ++i) {
    expect_near(r, fmt::format("angle_{}", i), angles[i], 1e-7);
    expect_near(r, fmt::format("omega_{}", i), rates[i], 1e-6);
  }
  EXPECT_LE(spread(r), 1e-8);
}

// ---- rotations ------------------------------------------------------------------------------------------------------

TEST_P(Explicit, FreeBodyHasEulersSolution) {
  // The second instance begins with a quaternion of length 3, with the same motion.
  const auto r = go("free_body", {"rtol=1e-12", "atol=1e-13", "wx=1.0", "wy=0.0", "wz=1.0", "sweep.p0=[1.0, 3.0]"});
  expect_on_constraints(r);
  for (int i = 0; i < 2; ++i) {
    expect_near(r, "wx", 0.709843942513701221, 1e-10, i);  // cn, sn, dn of parameter 1/3 at t
    expect_near(r, "wy", -0.7043589832440594608, 1e-10, i);
    expect_near(r, "wz", 0.9135787546280825452, 1e-10, i);
    expect_near(r, "p0", 0.584039543082381975, 1e-10, i);
    expect_near(r, "p1", -0.3526104737647571591, 1e-10, i);
    expect_near(r, "p2", 0.2019531882411301503, 1e-10, i);
    expect_near(r, "p3", -0.7026937993655263439, 1e-10, i);
    EXPECT_NEAR(output(r, "energy", i), 2.0, 1e-10);
    EXPECT_NEAR(output(r, "Lx", i), 1.0, 1e-10);
    EXPECT_NEAR(output(r, "Ly", i), 0.0, 1e-10);
    EXPECT_NEAR(output(r, "Lz", i), 3.0, 1e-10);
  }
}

TEST_P(Explicit, TopOfLagrange) {
  const auto r = go("heavy_top", {"rtol=1e-12", "atol=1e-12"});
  expect_on_constraints(r);
  expect_near(r, "z", -0.6730222695604440961, 1e-9);  // Jacobi's sn
  EXPECT_NEAR(output(r, "spin"), 0.46875 * 150, 1e-8);
  EXPECT_NEAR(output(r, "vertical"), -4.61538 * (15 + 0.234375), 1e-8);
  EXPECT_NEAR(output(r, "energy"), 0.5 * (0.46875 * 150 * 150 + (15 + 0.234375) * 4.61538 * 4.61538), 1e-7);
}

TEST(Disc, ThatWobblesIsThatOfRouth) {
  const auto r = run("rolling_disc", {"method=dp5", "rtol=1e-12", "t=[0.0, 2.0]", "wobble=0.5"});
  expect_on_constraints(r);
  EXPECT_NEAR(output(r, "upright"), 0.3769969353323660771, 1e-9);
  expect_near(r, "wz", -8.426218111368458704, 1e-8);
  expect_near(r, "x", 2.513500773315447104, 1e-8);
  expect_near(r, "y", 3.432036938437312494, 1e-8);
}

// ---- the same bits however it runs ----------------------------------------------------------------------------------

TEST(Bits, AreThoseOfOneLane) {
  const std::vector<std::string> settings = {"method=dp5", "rtol=1e-8", "t=[0.0, 0.2]",
                                             "sweep.wx={from=-3.0, to=5.0, count=11}"};
  const auto wide = run("heavy_top", with(settings, {"run.lanes=8"}));
  const auto narrow = run("heavy_top", with(settings, {"run.lanes=1"}));
  expect_on_constraints(wide);
  for (std::int64_t i = 0; i < wide.plan.count; ++i) expect_same(wide, i, narrow, i);
}

TEST(Backward, ToTheStart) {
  const auto r = run("index_3_pendulum",
                     {"method=dp5", "rtol=1e-11", "t=[0.3, 0.0]", "output.events=true", set("x", 0.819064681701747085),
                      set("y", -0.573701182837211636), "vx=-2.2787613", "vy=-3.2533706"});
  expect_on_constraints(r);
  expect_near(r, "x", 1.0, 1e-5);  // the accuracy of the velocities above
}

// ---- starts ---------------------------------------------------------------------------------------------------------

const std::vector<std::string> a_moment = {"method=dp5", "rtol=1e-11", "t=[0.0, 1e-9]", "output.events=true"};

TEST(Start, OffTheConstraintsIsPutOntoThem) {
  const auto r = run("index_3_pendulum", with(a_moment, {"x=1.01", "y=0.02", "vx=0.3", "vy=0.4"}));
  expect_on_constraints(r);
  // The mass is the same in both directions: the point moves along the rod, and the velocity loses its part along the rod.
  const double length = std::hypot(1.01, 0.02), x = 1.01 / length, y = 0.02 / length, along = 0.3 * x + 0.4 * y;
  expect_near(r, "x", x, 1e-9);
  expect_near(r, "y", y, 1e-9);
  expect_near(r, "vx", 0.3 - along * x, 1e-7);
  expect_near(r, "vy", 0.4 - along * y, 1e-7);
}
TEST(Start, OffTheConstraintsIsRefusedWhereItIsGiven) {
  const auto off = run("index_3_pendulum", with(a_moment, {"x=1.01", "consistency=given"}));
  EXPECT_EQ(name_of(off.status[0]), "inconsistent");
  const auto on = run("index_3_pendulum", with(a_moment, {"x=1.0", "consistency=given"}));
  EXPECT_EQ(name_of(on.status[0]), "finished");
}
TEST(Start, WhereTheRodHasNoDirectionIsRefused) {
  const auto r = run("index_3_pendulum", with(a_moment, {"sweep.x=[0.0, 1.0]"}));
  EXPECT_EQ(name_of(r.status[0]), "inconsistent");
  EXPECT_EQ(name_of(r.status[1]), "finished");
}

// Two planes: they meet in a line if `tilt` is nonzero; otherwise they are identical (gap 0) or have no common point.
TEST(Start, WithDependentConstraintsIsRefusedAndNamesTheFirst) {
  const std::vector<std::string> settings = {"method=dp5", "rtol=1e-8"};
  const auto r =
      run(test_model("two_planes"),
          with(settings, {"sweep.zip.tilt=[1.0, 0.0, 0.5, 0.0, -2.0]", "sweep.zip.gap=[0.2, 0.0, 0.1, 0.1, 0.0]"}));
  for (const int i : {1, 3}) {
    EXPECT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "inconsistent") << i;
    ASSERT_EQ(r.residual_of[static_cast<std::size_t>(i)], 1) << i;
  }
  EXPECT_EQ(r.plan.model.constraints[1].name, "ramp");
  EXPECT_EQ(r.dependent, (std::vector<std::int64_t>{0, 0b11, 0, 0b11, 0}));
  EXPECT_NEAR(r.residual[3], 0.1, 1e-12);
  const auto sound = run(test_model("two_planes"),
                         with(settings, {"sweep.zip.tilt=[1.0, 0.5, -2.0]", "sweep.zip.gap=[0.2, 0.1, 0.0]"}));
  const int of_all[] = {0, 2, 4};
  for (int i = 0; i < 3; ++i) {
    expect_same(sound, i, r, of_all[i]);
    EXPECT_EQ(name_of(sound.status[static_cast<std::size_t>(i)]), "finished");
    expect_near(sound, "y", 1.0, 1e-12, i);  // free along the line
  }
  expect_near(sound, "x", -0.2, 1e-12, 0);  // z = 0 = tilt x + gap
}

// A hinge closed twice, in other units or at another place: both rows are named, and no other. Neighbours keep their bits.
TEST(Start, WithAHingeThatIsClosedTwiceNamesBothConstraints) {
  const std::vector<std::string> settings = {"method=dp5", "rtol=1e-8", "t=[0.0,0.2]"};
  const auto go = [&](const char* lanes) {
    return run(test_model("doubled_four_bar"),
               with(settings, {"sweep.zip.twice=[0.0, 1.0, 0.0, 1.0, 0.0]", "sweep.zip.apart=[0.0, 0.0, 5.0, 1.0, 0.0]",
                               "sweep.zip.speed=[8.0, 8.0, 7.0, 7.0, 6.0]", lanes}));
  };
  const auto r = go("run.lanes=8"), one = go("run.lanes=1");
  const auto& constraints = r.plan.model.constraints;
  ASSERT_EQ(constraints[3].name, "joint_x_3");
  ASSERT_EQ(constraints[8].name, "again");
  for (std::int64_t i = 0; i < 5; ++i) {
    SCOPED_TRACE(i);
    const auto at = static_cast<std::size_t>(i);
    const bool twice = i == 1 || i == 3;
    EXPECT_EQ(name_of(r.status[at]), twice ? "inconsistent" : "finished");
    EXPECT_EQ(r.dependent[at], twice ? 1 << 3 | 1 << 8 : 0);
    EXPECT_EQ(one.dependent[at], r.dependent[at]);
    expect_same(one, i, r, i);
  }
  const auto alone = run(test_model("doubled_four_bar"), with(settings, {"sweep.speed=[8.0, 7.0, 6.0]"}));
  for (std::int64_t i = 0; i < 3; ++i) expect_same(alone, i, r, 2 * i);
  EXPECT_EQ(host::dependent_constraints(r.plan.model, r.summary.counts),
            (std::vector<std::pair<std::string, std::int64_t>>{{"joint_x_3", 2}, {"again", 2}}));
}

// Rows by hand: e1, e2, e1 + e2 (in other units), e3, and zeros of a constraint that is off.
TEST(Start, RowsThatDependOnEachOtherAreThoseOfAnySum) {
  std::vector<double> rows = {1, 0, 0, 0, 0, 1, 0, 0, 1e6, 1e6, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0};
  EXPECT_EQ(host::dependent_rows(rows, 5, false), 0b00111);
  rows[19] = 1.0;
  EXPECT_EQ(host::dependent_rows(rows, 5, false), 0b00111);
  rows[11] = 1e6 * 1e-3;
  EXPECT_EQ(host::dependent_rows(rows, 5, false), 0b10111) << "e4 has a small part in it";
  rows[19] = 0.0;
  EXPECT_EQ(host::dependent_rows(rows, 5, false), 0) << "independent";
  EXPECT_EQ(host::dependent_rows(rows, 5, true), 0b00111) << "but nearly dependent";
  // more rows than columns, two dependencies
  EXPECT_EQ(host::dependent_rows(std::vector<double>{1, 0, 2, 0, 0, 1, 0, 3}, 4, false), 0b1111);
}

TEST(Start, WithAMassMatrixThatIsSaidToBeDiagonalAndIsNotIsRefused) {
  const auto r = run(test_model("two_planes"), {"method=dp5", "rtol=1e-8", "sweep.coupling=[0.0, 0.1]"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(name_of(r.status[1]), "inconsistent");
}

// With multipliers held through a step, forces are not functions of the state, and every step is moved by more than its error.
TEST(FarAdjustments, ThreeInARowEndTheInstance) {
  // Three steps on lanes, and some by rescue.
  const auto r = run(test_model("frozen_multipliers"), {"method=dp5", "rtol=1e-6", "run.lanes=1"});
  EXPECT_EQ(name_of(r.status[0]), "moved_far");
  EXPECT_EQ(name_of(r.exception[0]), "moved_far");
  EXPECT_GE(r.steps[0], 6);
  EXPECT_LE(r.steps[0], 12);
  EXPECT_EQ(r.far_adjustments[0], r.steps[0]);
  const auto lanes_alone =
      run(test_model("frozen_multipliers"), {"method=dp5", "rtol=1e-6", "run.lanes=1", "rescue=false"});
  EXPECT_EQ(name_of(lanes_alone.status[0]), "moved_far");
  EXPECT_GE(lanes_alone.steps[0], 3);
  EXPECT_LT(lanes_alone.steps[0], r.steps[0]);
  EXPECT_EQ(lanes_alone.exception[0], 0);
}

// ---- samples ---------------------------------------------------------------------------------------------------------

// Dense output has errors of 1e-4 and more at these tolerances; samples are projected onto the constraints on both levels.
TEST(Samples, LieOnTheConstraints) {
  for (const char* method : {"dop853", "dp5", "radau5", "inflsdirk4"}) {
    SCOPED_TRACE(method);
    const outcome r = run(saltus::test::in_source("tests/models/selecting_rod_bodies.hpp"),
                          {std::string("method=") + method, "rtol=1e-3", "atol=1e-3", "output.samples={count=101}"});
    for (std::int64_t k = 0; k < 101; ++k) {  // x y p vx vy vp
      const double x = r.sample(0, 0, k), y = r.sample(1, 0, k), vx = r.sample(3, 0, k), vy = r.sample(4, 0, k);
      EXPECT_NEAR(x * x + y * y, 1.0, 1e-12) << k;
      EXPECT_NEAR(x * vx + y * vy, 0.0, 1e-12) << k;
    }
    EXPECT_LT(r.residual[0], 1e-12);
  }
}

// ---- singular mass matrices ------------------------------------------------------------------------------------------

const std::string massless_model = saltus::test::in_source("tests/models/massless.hpp");

class Massless : public ::testing::TestWithParam<const char*> {
 protected:
  void follow_the_closed_form(std::int64_t count) const {
    const outcome r = run(massless_model, {std::string("method=") + GetParam(), "rtol=1e-9", "sample.seed=2",
                                           "rescue=false", fmt::format("sample.count={}", count),
                                           "sample.angle={uniform=[0.0,6.2831853]}", "sample.c={uniform=[0.0,3.0]}"});
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished") << i;
      ASSERT_NEAR(r.output(0, i), 0.0, 1e-6) << i;
      ASSERT_NEAR(r.output(1, i), 0.0, 1e-6) << i;
    }
  }
};
TEST_P(Massless, CoordinatesFollowTheClosedForm) { follow_the_closed_form(100); }
class ManyMassless : public Massless {};
TEST_P(ManyMassless, CoordinatesFollowTheClosedForm) { follow_the_closed_form(5'000); }
INSTANTIATE_TEST_SUITE_P(Methods, Massless, ::testing::Values("dop853", "radau5", "inflsdirk4"));
INSTANTIATE_TEST_SUITE_P(Methods, ManyMassless, ::testing::Values("dp5", "dop853", "rodas5p", "radau5", "inflsdirk4"));

TEST_P(Massless, CoordinatesBounce) {
  const outcome r = run(saltus::test::in_source("tests/models/massless_bounce.hpp"),
                        {std::string("method=") + GetParam(), "rtol=1e-10", "sample.seed=2", "rescue=false",
                         "sample.count=100", "sample.angle={uniform=[0.0,6.2831853]}", "sample.c={uniform=[0.0,3.0]}"});
  for (std::int64_t i = 0; i < 100; ++i) {
    const double c = r.output(1, i);
    const double phase = std::sqrt(1.0 + 2.0 * c) * 7.0, bounces = std::floor(phase / M_PI + 0.5);
    ASSERT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished") << i;
    EXPECT_EQ(r.events[static_cast<std::size_t>(i)], static_cast<long long>(bounces)) << i;
    EXPECT_NEAR(r.output(0, i), std::pow(0.9, bounces) * std::abs(std::cos(phase)), 1e-7) << i;
  }
}

// If the constraint depends on x alone, no equation determines y.
TEST(MasslessAndFree, CoordinatesAreRefusedByName) {
  const outcome r = run(massless_model, {"method=dop853", "angle=0.7", "bound=0.0", "rescue=false"});
  EXPECT_EQ(name_of(r.status[0]), "inconsistent");
  const auto names = host::names_of_residuals(r.plan.model);
  EXPECT_EQ(names.at(static_cast<std::size_t>(r.residual_of[0])).substr(0, 8), "mass_of_");
}

// ---- descriptions ---------------------------------------------------------------------------------------------------

TEST(Description, HasCoordinatesConstraintsAndQuaternions) {
  const auto m = host::describe_model(host::find_model("heavy_top"));
  EXPECT_EQ(m.coordinates, 7);
  ASSERT_EQ(m.constraints.size(), 4u);
  EXPECT_EQ(m.constraints[2].name, "joint_z");
  EXPECT_TRUE(m.constraints[2].holonomic);
  EXPECT_FALSE(m.constraints[2].quaternion);
  EXPECT_EQ(m.constraints[3].name, "p0");
  EXPECT_TRUE(m.constraints[3].quaternion);
  EXPECT_FALSE(host::describe_model(host::find_model("knife_edge")).constraints[0].holonomic);
}

}  // namespace
}  // namespace saltus::test
