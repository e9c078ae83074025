// Mechanical systems with impacts, lasting contacts and friction. Every number comes from analysis, or from an algorithm of the test
// that shares nothing with the kernels.
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "ensemble/sampler.hpp"
#include "event_runs.hpp"
#include "full_pivoting.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

// ------------------------------------------------------------------------------------------------------------- impacts

/// Eight contacts at the apex of tests/models/cone.hpp.
struct apex {
  static constexpr int planes = 8;
  std::array<std::array<double, 3>, planes> normal;
  std::array<double, 3> mass, v;
  double e;

  double speed(int k) const {
    const auto& n = normal[static_cast<std::size_t>(k)];
    return n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
  }
  double response(int k, int l) const {
    const auto &a = normal[static_cast<std::size_t>(k)], &b = normal[static_cast<std::size_t>(l)];
    return a[0] * b[0] / mass[0] + a[1] * b[1] / mass[1] + a[2] * b[2] / mass[2];
  }
  void hit(int k, double p) {
    for (std::size_t j = 0; j < 3; ++j) v[j] += normal[static_cast<std::size_t>(k)][j] * p / mass[j];
  }
  std::vector<std::string> settings() const {
    std::vector<std::string> s = {"rtol=1e-10", "event_tol=1e-12", "output.events=true", set("restitution", e)};
    for (std::size_t k = 0; k < planes; ++k)
      for (std::size_t j = 0; j < 3; ++j) s.push_back(set(fmt::format("normal_{}", 3 * k + j), normal[k][j]));
    for (std::size_t j = 0; j < 3; ++j) {
      s.push_back(set(fmt::format("inertia_{}", j), mass[j]));
      s.push_back(set(fmt::format("v_{}", j), v[j]));
    }
    return s;
  }
};

/// A random apex, approached along all normals.
apex random_apex(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(-1.0, 1.0), positive(0.2, 2.0);
  apex a;
  for (std::size_t j = 0; j < 3; ++j) {
    a.mass[j] = positive(random);
    a.v[j] = any(random);
  }
  a.e = 0.2 + 0.7 * (any(random) + 1.0) / 2.0;
  for (int k = 0; k < apex::planes; ++k) do
      for (double& x : a.normal[static_cast<std::size_t>(k)]) x = any(random);
    while (!(a.speed(k) < -0.05));
  return a;
}

/// The velocity after a simultaneous impact: the complementary solution among all 256 choices of contacts with an impulse.
std::array<double, 3> after_all_at_once(const apex& a) {
  for (unsigned some = 1; some < 256; ++some) {
    std::vector<int> set;
    for (int k = 0; k < apex::planes; ++k)
      if (some >> k & 1) set.push_back(k);
    std::vector<std::vector<double>> m;
    std::vector<double> b, p;
    for (int k : set) {
      m.emplace_back();
      for (int l : set) m.back().push_back(a.response(k, l));
      b.push_back(-(1.0 + a.e) * a.speed(k));
    }
    if (!solve(m, b, p) || *std::min_element(p.begin(), p.end()) < 0.0) continue;
    apex after = a;
    for (std::size_t i = 0; i < set.size(); ++i) after.hit(set[i], p[i]);
    bool opens = true;
    for (int k = 0; k < apex::planes; ++k) opens = opens && after.speed(k) + a.e * a.speed(k) > -1e-10;
    if (opens) return after.v;
  }
  ADD_FAILURE() << "no solution";
  return {};
}

// The solution of the linear complementarity problem is unique in the velocities, although with eight contacts and three
// coordinates the impulses are not.
TEST(Impacts, OfEightContactsAtOnceAreComplementary) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const apex a = random_apex(seed);
    const auto expected = after_all_at_once(a);
    const outcome r = run(test_model("cone"), a.settings());
    ASSERT_EQ(name_of(r.status[0]), "finished");
    ASSERT_EQ(r.events[0], apex::planes);
    for (const auto& e : r.log) EXPECT_NEAR(e.time, 1.0, 1e-13);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(r.log[0].after[3 + j], expected[j], 1e-11) << j;
  }
}

// One contact after another in their order, and again while any contact still closes.
TEST(Impacts, OfOneContactAfterAnotherFollowTheirOrder) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    apex a = random_apex(seed);
    const auto settings = with(a.settings(), {"one_by_one=1.0"});
    const outcome r = run(test_model("cone"), settings);
    for (int k = 0; k < apex::planes; ++k)
      if (a.speed(k) < 0.0) a.hit(k, -(1.0 + a.e) * a.speed(k) / a.response(k, k));
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(r.log[0].after[3 + j], a.v[j], 1e-12) << j;
    ++compared;
  }
  EXPECT_EQ(compared, 40);
}

// A constraint that keeps the speed towards a plane leaves no impulse that could reverse it.
TEST(Impacts, ThatAConstraintForbidsAreAStatusOfTheirOwn) {
  for (const char* how : {"one_by_one=0.0", "one_by_one=1.0"}) {
    const outcome r =
        run(test_model("cone"), {"rtol=1e-10", "driven=1.0", "normal_0=1.0", "normal_1=0.0", "normal_2=0.0", how});
    EXPECT_EQ(name_of(r.status[0]), "no_impulses") << how;
    EXPECT_NEAR(r.t_final[0], 1.0, 1e-13);
  }
}

// ------------------------------------------------------------------------------------------------------- slack pendulum

// Speed^2 = 3.5 at the lowest point, unit length and gravity: slack at 30 degrees above the horizontal, and taut again exactly below,
// sqrt(6) later. Only the speed along the circle remains then, sqrt(1/8).
TEST(SlackPendulum, SwitchesWhereAnalysisSays) {
  const outcome r = run("slack_pendulum", {"rtol=1e-12", "output.events=true"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  ASSERT_EQ(names_of(r), (std::vector<std::string>{"slack", "pull"}));
  EXPECT_NEAR(r.log[0].time, 1.50965041646398806, 1e-10);
  EXPECT_NEAR(r.log[0].before[0], std::sqrt(0.75), 1e-10);
  EXPECT_NEAR(r.log[0].before[1], 0.5, 1e-10);
  EXPECT_NEAR(r.log[1].time, 3.95914015924716615, 1e-10);
  EXPECT_NEAR(r.log[1].before[0], 0.0, 1e-10);
  EXPECT_NEAR(r.log[1].before[1], -1.0, 1e-10);
  EXPECT_NEAR(std::fabs(r.log[1].after[2]), 0.353553390593273762, 1e-10);
  EXPECT_NEAR(r.log[1].after[3], 0.0, 1e-10);
  EXPECT_NEAR(r.output(2), 0.0625 - 1.0, 1e-10) << "energy";
  EXPECT_LE(r.residual[0], 1e-13);
}

// The rope never pushes, and is never longer than its length. For each speed it is known where the rope is slack and where it pulls taut;
// the pull returns the right part of the radial speed and keeps the speed along the circle. No instance sticks in a state.
TEST(SlackPendulum, TenThousandAtRandomDoNotStick) {
  const outcome r =
      run("slack_pendulum", {"rtol=1e-10", "t=[0.0,20.0]", "output.events=true", "sample.count=10000", "sample.seed=5",
                             "sample.speed={uniform=[1.2,2.4]}", "sample.restitution={uniform=[-0.3,0.9],min=0.0}",
                             "output.reduce=['min(tension)','min(play)']", "output.events=true", "rescue=false"});
  EXPECT_EQ(r.summary.counts.ok(), 10000);
  std::size_t first = 0;
  int slackened = 0;
  for (std::int64_t i = 0; i < 10000; ++i) {
    SCOPED_TRACE(i);
    const auto at = static_cast<std::size_t>(i);
    EXPECT_GE(r.reductions[at], -1e-8) << "tension";
    EXPECT_GE(r.reductions[10000 + at], -1e-8) << "slack of the rope";
    while (first < r.log.size() && r.log[first].instance < i) ++first;
    if (first + 1 >= r.log.size() || r.log[first].instance != i || r.log[first + 1].instance != i) continue;
    const auto &slack = r.log[first], &pull = r.log[first + 1];
    ASSERT_EQ(slack.guard, "slack");
    ASSERT_EQ(pull.guard, "pull");
    ++slackened;
    const double x = slack.before[0], y = slack.before[1], v2 = y, flight = 4.0 * std::sqrt(v2) * std::fabs(x);
    EXPECT_NEAR(slack.before[2] * slack.before[2] + slack.before[3] * slack.before[3], v2, 1e-7);
    EXPECT_NEAR(pull.time - slack.time, flight, 1e-6);
    const double angle = 3.0 * std::asin(y);
    EXPECT_NEAR(pull.before[0], (x > 0 ? -1.0 : 1.0) * -std::cos(angle), 1e-6);
    EXPECT_NEAR(pull.before[1], -std::sin(angle), 1e-6);
    const auto along = [&](const std::vector<double>& s) { return s[0] * s[3] - s[1] * s[2]; };
    const auto outward = [&](const std::vector<double>& s) { return s[0] * s[2] + s[1] * s[3]; };
    EXPECT_NEAR(along(pull.after), along(pull.before), 1e-12);
    EXPECT_LE(outward(pull.after), 1e-12);
  }
  // v^2 lies between 2 and 5: some 82 % of 1.2 .. 2.4.
  EXPECT_NEAR(slackened, 10000 * (std::sqrt(5.0) - std::sqrt(2.0)) / 1.2, 150);
}

// ------------------------------------------------------------------------------------------------------------ friction

/// The closed form of pulled_block.
struct pulled {
  double slope, at_rest, slides, m = 2.0, g = 10.0, rate = 16.0, breaks = 1.5;

  double up() const { return g * (std::sin(slope) + slides * std::cos(slope)); }
  double down() const { return g * (std::sin(slope) - slides * std::cos(slope)); }
  double loose() const { return m * g * (std::sin(slope) + at_rest * std::cos(slope)) / rate; }
  double speed_at_break() const {
    const double a = loose(), b = breaks;
    return rate / m * (b * b - a * a) / 2.0 - up() * (b - a);
  }
  double way_at_break() const {
    const double a = loose(), b = breaks;
    return rate / m * (b * b * b / 6.0 - a * a * b / 2.0 + a * a * a / 3.0) - up() * (b - a) * (b - a) / 2.0;
  }
  double halt() const { return breaks + speed_at_break() / up(); }
  double way_at_halt() const { return way_at_break() + speed_at_break() * speed_at_break() / (2.0 * up()); }
};

TEST(Friction, SticksSlipsAndSticksAsTheClosedFormDoes) {
  const pulled exact{0.3, 0.5, 0.4};
  const outcome r = run("pulled_block", {"rtol=1e-10", "output.events=true"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  ASSERT_EQ(names_of(r), (std::vector<std::string>{"slips_up", "breaks", "halts"}));
  EXPECT_NEAR(r.log[0].time, exact.loose(), 1e-13);
  EXPECT_EQ(r.log[1].time, 1.5);
  EXPECT_NEAR(r.log[2].time, exact.halt(), 1e-12);
  EXPECT_NEAR(r.output(0), exact.way_at_halt(), 1e-12) << "way";
  EXPECT_NEAR(r.output(1), 20.0 * std::cos(0.3), 1e-12) << "pressure";
  EXPECT_NEAR(r.output(2), 20.0 * std::sin(0.3), 1e-12) << "friction carries the weight";
}

// On a slope steeper than friction can hold, the block slips down at the moment it comes to rest at the top.
TEST(Friction, SlipsDownWhereItCannotStick) {
  const pulled exact{0.6, 0.5, 0.4};
  const outcome r =
      run("pulled_block", {"rtol=1e-10", "output.events=true", "slope=0.6", "t=[0.5,4.0]", "rescue=false"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  ASSERT_EQ(names_of(r), (std::vector<std::string>{"slips_up", "breaks", "halts", "slips_down"}));
  EXPECT_NEAR(r.log[0].time, exact.loose(), 1e-13);
  EXPECT_NEAR(r.log[2].time, exact.halt(), 1e-12);
  EXPECT_EQ(r.log[3].time, r.log[2].time);
  const double left = 4.0 - exact.halt();
  EXPECT_NEAR(r.output(0), exact.way_at_halt() - exact.down() * left * left / 2.0, 1e-11) << "way";
  EXPECT_NEAR(r.output(2), 0.4 * 20.0 * std::cos(0.6), 1e-11) << "friction, up the slope";
}

// Painleve's condition fails at the start of a slip to the left, or after a landing at the time of free fall. The landing end gets a
// rotation from the rod's fall, and with it some slip.
TEST(Painleve, EndsWhereTheConditionFails) {
  constexpr int count = 181;
  for (const double angle :
       {0.8, 1.1071487177940904, 1.3})  // the middle one has tan(angle) = 2, where mu = 4/3 is enough
    for (const double height : {0.0, 0.2}) {
      SCOPED_TRACE(fmt::format("angle {}, height {}", angle, height));
      const outcome r = run("painleve_rod", {"rtol=1e-8", "t=[0.0,0.21]", set("angle", angle), set("height", height),
                                             "vx=-3.0", fmt::format("sweep.mu={{from=0.2,to=2.0,count={}}}", count)});
      const double fall = std::sqrt(2.0 * height / 9.81), c = std::cos(angle), s = std::sin(angle);
      const double turn = -3.0 * c * (9.81 * fall / (1.0 + 3.0 * c * c));
      ASSERT_LT(-3.0 + s * turn, 0.0) << "the end slips to the left";
      int paradoxes = 0;
      for (int i = 0; i < count; ++i) {
        const double mu = 0.2 + 1.8 * i / (count - 1), per_force = 1.0 + 3.0 * c * (c - mu * s);
        if (std::fabs(per_force) < 1e-6) continue;
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(name_of(r.status[at]) == "painleve", per_force < 0.0) << "mu " << mu;
        if (per_force < 0.0) { EXPECT_NEAR(r.t_final[at], fall, 1e-12); }
        paradoxes += per_force < 0.0;
      }
      EXPECT_EQ(paradoxes > 0, (1.0 + 3.0 * c * c) / (3.0 * s * c) < 2.0);
      EXPECT_LT(paradoxes, count);
    }
}

// At the start the floor's force is g divided by the acceleration of the end per unit force.
TEST(Painleve, ForceBeforeIt) {
  const outcome r = run("painleve_rod", {"rtol=1e-10", "t=[0.0,1e-9]", "mu=1.2", "angle=1.0"});
  const double c = std::cos(1.0), s = std::sin(1.0);
  EXPECT_NEAR(r.output(0), 9.81 / (1.0 + 3.0 * c * (c - 1.2 * s)), 1e-6);
}

TEST(Painleve, NeighboursKeepTheirBits) {
  const auto go = [](const std::vector<std::string>& more) {
    return run("painleve_rod", with({"rtol=1e-8", "sample.count=133", "sample.seed=4", "sample.mu={uniform=[0.2,2.5]}",
                                     "sample.angle={uniform=[0.3,1.4]}", "sample.vx={uniform=[-3.0,3.0]}",
                                     "sample.omega={uniform=[-1.0,1.0]}", "sample.height={uniform=[-0.5,0.5],min=0.0}",
                                     "output.samples.count=5", "output.events=true"},
                                    more));
  };
  const outcome reference = go({"run.lanes=1", "run.threads=1"});
  const auto paradoxes =
      std::count(reference.status.begin(), reference.status.end(), static_cast<int>(status::painleve));
  EXPECT_GT(paradoxes, 10);
  EXPECT_EQ(reference.summary.counts.ok() + paradoxes, 133);
  for (const auto& [lanes, threads, chunk] : {std::tuple(4, 2, 7), {8, 1, 33}, {8, 2, 1000}}) {
    const outcome r = go({fmt::format("run.lanes={}", lanes), fmt::format("run.threads={}", threads),
                          fmt::format("run.chunk={}", chunk)});
    for (std::int64_t i = 0; i < 133; ++i) expect_same(reference, i, r, i);
    expect_same_log(reference, r);
  }
}

// ------------------------------------------------------------------------------------------------------- rimless wheel

// After each impact w^2 <- cos(2 a)^2 (w^2 + 4 sin(g) sin(a)), for two hub coordinates and a constraint as for an angle.
TEST(RimlessWheel, HasTheLimitCycleOfTheMinimalOne) {
  const double a = 3.14159265358979323846 / 8.0, slope = 0.08;
  const outcome r = run("rimless_wheel_dae", {"rtol=1e-11", "atol=1e-11", "t=[0.0,80.0]", "output.events=true"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  ASSERT_GT(r.log.size(), 12u);
  double w2 = 0.25;
  for (const auto& e : r.log) {
    ASSERT_EQ(e.guard, "next");
    w2 = std::cos(2 * a) * std::cos(2 * a) * (w2 + 4 * std::sin(slope) * std::sin(a));
    EXPECT_NEAR(e.after[2] * e.after[2] + e.after[3] * e.after[3], w2, 1e-9);
  }
  const double steady = 4 * std::sin(slope) * std::sin(a) / std::pow(std::tan(2 * a), 2);
  EXPECT_NEAR(w2, steady, 1e-6);
  // and the same times
  const outcome minimal = run("rimless_wheel", {"rtol=1e-11", "atol=1e-11", "t=[0.0,80.0]", "output.events=true"});
  ASSERT_EQ(minimal.log.size(), r.log.size());
  for (std::size_t i = 0; i < r.log.size(); ++i) EXPECT_NEAR(r.log[i].time, minimal.log[i].time, 1e-8 * r.log[i].time);
  EXPECT_LE(r.residual[0], 1e-12);
}

// Too slow a wheel rocks ever less until it stands on two legs, which carry its weight; each flight begins within rounding of the ground.
TEST(RimlessWheel, StandsStillOnTwoLegsOrWalksOn) {
  const std::size_t count = 300;
  const outcome r =
      run("rimless_wheel_dae", {"sample.count=300", "sample.seed=2", "sample.half_angle={uniform=[0.33, 0.45]}",
                                "sample.slope={uniform=[0.068, 0.092]}", "sample.speed={uniform=[0.42, 0.58]}"});
  host::columns in;
  host::sampler(r.plan).fill(0, r.plan.count, in);
  int rest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const auto n = static_cast<int>(i);
    ASSERT_EQ(name_of(r.status[i]), "finished");
    if (discrete(r, "resting", n) == 0.0) continue;
    ++rest;
    const double a = in.parameters[i], slope = in.parameters[count + i];
    EXPECT_NEAR(r.final("y", n), std::cos(a), 1e-15);
    EXPECT_NEAR(r.final_output[i], 0.5 * (std::cos(slope) / std::cos(a) - std::sin(slope) / std::sin(a)), 1e-14);
  }
  EXPECT_GE(rest, 50);
}

// ------------------------------------------------------------------------------------------------------- rocking block

/// Time of a block from its largest angle to the ground or back: the integral of d angle/omega with angle = top (1 - u^2), by Simpson's
/// rule.
double quarter_of_rocking(double top, double alpha, double radius) {
  const auto integrand = [&](double u) {
    if (u == 0.0) return 2.0 * top / std::sqrt(1.5 * 9.81 / radius * std::sin(alpha - top) * top);
    const double angle = top * (1.0 - u * u);
    return 2.0 * top * u /
           std::sqrt(1.5 * 9.81 / radius * 2.0 * std::sin((2.0 * alpha - top - angle) / 2.0) *
                     std::sin((top - angle) / 2.0));
  };
  constexpr int n = 2000;
  double sum = integrand(0.0) + integrand(1.0);
  for (int i = 1; i < n; ++i) sum += (i % 2 == 1 ? 4.0 : 2.0) * integrand(static_cast<double>(i) / n);
  return sum / (3.0 * n);
}

// Housner 1963: the impact keeps r = 1 - 3/2 sin^2 alpha of the angular velocity; energy gives the next angle and the half period.
TEST(RockingBlock, HasHousnersImpactsAndPeriods) {
  const outcome r = run("rocking_block", {"rtol=1e-11", "atol=1e-12", "output.events=true", "t=[0.0,4.0]"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  ASSERT_GE(r.log.size(), 4u);
  const double alpha = std::atan(0.25), radius = std::sqrt(0.68);
  const double kept = 1.0 - 1.5 * std::sin(alpha) * std::sin(alpha);
  double top = 0.1, time = quarter_of_rocking(top, alpha, radius);
  for (std::size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    const auto& e = r.log[i];
    EXPECT_EQ(e.guard, i % 2 == 0 ? "right_lands" : "left_lands");
    EXPECT_NEAR(e.time, time, 1e-8);
    const double fall = std::cos(alpha - top) - std::cos(alpha);
    EXPECT_NEAR(std::fabs(e.before[5]), std::sqrt(1.5 * 9.81 / radius * fall), 1e-8);
    EXPECT_NEAR(e.after[5], kept * e.before[5], 1e-10);
    top = alpha - std::acos(std::cos(alpha) + kept * kept * fall);
    time += 2.0 * quarter_of_rocking(top, alpha, radius);
  }
}

// Impacts accumulate; at rest the block stands on both corners.
TEST(RockingBlock, ComesToRest) {
  const outcome r = run("rocking_block", {"rtol=1e-9", "t=[0.0,30.0]"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  EXPECT_EQ(discrete(r, "on_left"), 1.0);
  EXPECT_EQ(discrete(r, "on_right"), 1.0);
  EXPECT_NEAR(r.final("angle"), 0.0, 1e-12);
  EXPECT_NEAR(r.final("y"), 0.8, 1e-12);
}

// The ground lifts a block at rest when its acceleration reaches g width/height.
TEST(RockingBlock, IsLiftedByTheGround) {
  const outcome r = run("rocking_block", {"rtol=1e-10", "angle=0.0", "shake=4.0", "t=[0.0,0.5]", "output.events=true"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  ASSERT_GE(r.log.size(), 1u);
  EXPECT_EQ(r.log[0].guard, "right_lifts");
  EXPECT_NEAR(r.log[0].time, std::asin(9.81 * 0.25 / 4.0) / 5.0, 1e-11);
  EXPECT_GT(r.final("angle"), 1e-3);
}

// -------------------------------------------------------------------------------------------------------- bouncing rod

// The first impact by hand: u is the speed of the end, m_e = 1/(1/m + l^2 cos^2/I) its effective mass.
TEST(BouncingRod, FirstImpactIsThatOfAnalysis) {
  for (const double e : {0.5, 1.0}) {
    const outcome r = run("bouncing_rod", {"rtol=1e-11", "output.events=true", set("restitution", e), "t=[0.0,0.6]"});
    ASSERT_GE(r.log.size(), 1u);
    EXPECT_EQ(r.log[0].guard, "lands_0");
    const double time = std::sqrt(2.0 * (1.0 - 0.5 * std::sin(0.3)) / 9.81), u = 9.81 * time, c = std::cos(0.3);
    const double impulse = (1.0 + e) * u / (1.0 + 3.0 * c * c);
    EXPECT_NEAR(r.log[0].time, time, 1e-11);
    EXPECT_NEAR(r.log[0].after[2], -u + impulse, 1e-10);
    EXPECT_NEAR(r.log[0].after[3], -0.5 * c * impulse * 12.0, 1e-10) << "I = m l^2/3 = 1/12";
  }
}

// The knee rests twice on its stop, each time after some thirty impacts, and parts twice: tests/reference/stopped_pendulum.py.
TEST(DoublePendulumWithStop, MeetsItsReference) {
  const outcome r =
      run("double_pendulum_with_stop", {"rtol=1e-11", "atol=1e-12", "method=dop853", "output.events=true"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  std::vector<double> impacts, partings;
  for (const auto& e : r.log) (e.guard == "meets" ? impacts : partings).push_back(e.time);
  const double first[] = {0.228602124102148, 0.613680142292265, 1.0059444129107};
  ASSERT_GT(impacts.size(), 40u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(impacts[i], first[i], 1e-11) << i;
  ASSERT_EQ(partings.size(), 2u);
  EXPECT_NEAR(partings[0], 3.22328739193255, 1e-10);
  EXPECT_NEAR(partings[1], 4.68621144240864, 1e-9);
  EXPECT_NEAR(r.final("angle1"), -0.1338217172547, 1e-10);
  EXPECT_NEAR(r.final("angle2"), -0.2233313897929, 1e-10);
  EXPECT_NEAR(r.final("omega1"), -0.006990807000873, 1e-9);
  EXPECT_NEAR(r.final("omega2"), -0.5186084729006, 1e-9);
  EXPECT_NEAR(r.output(0), -41.2389273244, 1e-9);
  EXPECT_LE(r.residual[0], 1e-14);
}

// For every start and stop the knee never bends to its other side, no joint opens, and energy never grows.
TEST(DoublePendulumWithStop, AThousandAtRandomKeepTheirJoints) {
  const int count = 1000;
  const outcome r =
      run("double_pendulum_with_stop",
          {"rtol=1e-8", "method=dop853", "sample.count=1000", "sample.seed=3", "t=[0.0,20.0]",
           "sample.angle1={uniform=[-1.0,1.5]}", "sample.angle2={uniform=[-2.5,-1.0]}",
           "sample.restitution={uniform=[0.0,0.9]}", "output.reduce=['max(energy)']", "output.samples.count=2"});
  EXPECT_EQ(r.summary.counts.ok() + r.summary.counts.rescued(), count);
  int rests = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    EXPECT_LE(r.residual[static_cast<std::size_t>(i)], 1e-12);
    EXPECT_GE(r.final("angle1", i) - r.final("angle2", i), -1e-12);
    const double begin = r.sample(12, i, 0);
    EXPECT_LE(r.reductions[static_cast<std::size_t>(i)], begin + 1e-5);
    rests += discrete(r, "straight", i) > 0.5;
  }
  EXPECT_GT(rests, 100);
}

// -------------------------------------------------------------------------------------------------------- slider crank

const std::vector<std::string> closely = {"rtol=1e-11", "atol=1e-12", "method=dop853", "output.events=true"};

void expect_times(const std::vector<double>& found, const std::vector<double>& wanted, double within) {
  ASSERT_GE(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], within) << i;
}

// The journal's impacts accumulate three times, and it parts from its bearing twice: tests/reference/clearance.py.
TEST(SliderCrank, WithClearanceMeetsItsReference) {
  const outcome r = run("slider_crank_with_clearance", with(closely, {"run.lanes=1"}));
  ASSERT_EQ(name_of(r.status[0]), "finished");
  std::vector<double> impacts, partings, first;  // of each accumulation
  for (const auto& e : r.log) {
    auto& those = e.guard == "meets" ? impacts : partings;
    if (e.guard == "meets" && first.size() == partings.size()) first.push_back(e.time);
    those.push_back(e.time);
  }
  expect_times(impacts, {0.0248100311226811, 0.0343195045247877, 0.0370662490352934, 0.0379163837294548}, 1e-11);
  expect_times(first, {0.0248100311226811, 0.0911813431542846, 0.197872133338964}, 1e-10);
  EXPECT_EQ(partings.size(), 2u);
  expect_times(partings, {0.0520469339664022, 0.157056593551365}, 1e-10);
  EXPECT_NEAR(r.final("crank"), 7.207095972728, 1e-9);
  EXPECT_NEAR(r.final("rod"), -0.3344100263139, 1e-9);
  EXPECT_NEAR(r.final("slider"), 0.5949952342798, 1e-9);
  EXPECT_NEAR(r.final("v_crank"), 5.165885599337, 1e-8);
  EXPECT_NEAR(r.final("v_rod"), -1.325383289333, 1e-8);
  EXPECT_NEAR(r.final("v_slider"), -1.048821906046, 1e-8);
  EXPECT_NEAR(r.output(0), 1.597715107378, 1e-9);
  EXPECT_EQ(discrete(r, "touching"), 1.0);
  EXPECT_LE(r.residual[0], 1e-14);
}

/// Energy of states of slider_crank_with_clearance.
double energy_of_slider_crank(const std::vector<double>& y) {
  const double rods = y[6] * y[6] + y[7] * y[7] + 0.5 * 0.5 / 12.0 * y[8] * y[8];
  return 0.5 * (0.03 * y[5] * y[5] + 0.6 * rods + 0.8 * y[9] * y[9]) + 0.6 * 9.81 * y[2];
}

// Between bounces steps are so short that h^7 lies below the tolerance; an adjustment within the tolerance is not far. By h^7 alone,
// 97 of 135 steps would count as moved too far.
TEST(SliderCrank, WithClearanceIsNotMovedFar) {
  const outcome r = run("slider_crank_with_clearance",
                        {"rtol=1e-6", "atol=1e-6", "method=dop853", "output.events=true", "run.lanes=1"});
  ASSERT_EQ(name_of(r.status[0]), "finished");
  EXPECT_GT(r.steps[0], 100);
  EXPECT_EQ(r.far_adjustments[0], 0);
}

// The journal stays in its bearing, energy never grows, and lanes change nothing.
TEST(SliderCrank, WithClearanceManyAtRandom) {
  const int count = 61;
  const auto go = [](int lanes) {
    return run("slider_crank_with_clearance",
               with(closely, {fmt::format("run.lanes={}", lanes), "sample.count=61", "sample.seed=5", "t=[0.0,2.0]",
                              "sample.crank={uniform=[-3.0,3.0]}", "sample.v_crank={uniform=[4.0,12.0]}",
                              "sample.clearance={uniform=[0.001,0.02]}", "sample.restitution={uniform=[0.0,0.8]}"}));
  };
  const outcome r = go(1), wide = go(8);
  int partings = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    expect_same(r, i, wide, i);
    EXPECT_TRUE(is_ok(static_cast<status>(r.status[static_cast<std::size_t>(i)])));
    EXPECT_LE(r.residual[static_cast<std::size_t>(i)], 1e-13);
    EXPECT_GE(r.output(1, i), -1e-14) << "play";
    partings += static_cast<int>(times_of(r, "parts", i).size());
  }
  expect_same_log(r, wide);
  EXPECT_GT(partings, count);
  double before = 0.0;
  for (std::size_t e = 0; e < r.log.size(); ++e) {
    const double now = energy_of_slider_crank(r.log[e].after), then = energy_of_slider_crank(r.log[e].before);
    EXPECT_LE(now, then + 1e-9) << r.log[e].guard;
    if (e > 0 && r.log[e].instance == r.log[e - 1].instance) { EXPECT_NEAR(then, before, 1e-8); }
    before = now;
  }
}

// While the slider rests the crank's angle is that of a triangle. The torque of gravity on the crank is m g r cos(angle)/2 there, and the
// mechanism parts from its stop when the drive falls to this torque. All other numbers are from tests/reference/clearance.py.
TEST(SliderCrank, WithAStopMeetsItsReference) {
  const outcome r = run("slider_crank_with_stop", with(closely, {"run.lanes=1", "t=[0.0,2.2]"}));
  ASSERT_EQ(name_of(r.status[0]), "finished");
  expect_times(times_of(r, "meets"), {0.157402311762187, 0.391243833009246, 0.512877341090607, 0.575838261886381},
               1e-10);
  const double radius = 0.2, length = 0.5, place = 0.62;
  const double cosine = (place * place + radius * radius - length * length) / (2.0 * radius * place);
  const auto partings = times_of(r, "parts");
  ASSERT_EQ(partings.size(), 1u);
  EXPECT_NEAR(partings[0], std::acos(0.6 * 9.81 * radius * cosine / 2.0 / 3.0), 1e-11);
  EXPECT_NEAR(r.log.back().before[0], -std::acos(cosine), 1e-12);
  EXPECT_NEAR(r.final("crank"), -3.430962193531, 1e-9);
  EXPECT_NEAR(r.final("v_crank"), -11.9029833286, 1e-8);
  EXPECT_NEAR(r.final("slider"), 0.3050475893574, 1e-9);
  EXPECT_NEAR(r.final("v_slider"), 0.4171630456829, 1e-8);
  EXPECT_LE(r.residual[0], 1e-14);
}

// Both ends hit at the same time. With one joint impact, the rod leaves without rotation, e times as fast. With one impact after the
// other, the left impact turns the rod, so the right end hits harder.
TEST(BouncingRod, FallsFlat) {
  for (const bool one_by_one : {false, true}) {
    const outcome r = run("bouncing_rod", {"rtol=1e-11", "output.events=true", "angle=0.0", "t=[0.0,0.46]",
                                           set("one_by_one", one_by_one ? 1.0 : 0.0)});
    ASSERT_GE(r.log.size(), 2u);
    EXPECT_EQ(r.log[0].guard, "lands_0");
    EXPECT_EQ(r.log[1].guard, "lands_1");
    EXPECT_EQ(r.log[0].time, r.log[1].time);
    const double u = 9.81 * std::sqrt(2.0 / 9.81);
    double v = 0.5 * u, w = 0.0;  // one joint impact
    if (one_by_one) {
      v = -u;
      for (int i = 0; i < 4; ++i) {
        const double arm = i % 2 == 0 ? -0.5 : 0.5, speed = v + arm * w;
        if (speed >= 0.0) continue;
        const double impulse = -1.5 * speed / 4.0;  // 1/m + l^2/I = 4
        v += impulse, w += 12.0 * arm * impulse;
      }
    }
    EXPECT_NEAR(r.log[0].after[2], v, 1e-10) << one_by_one;
    EXPECT_NEAR(r.log[0].after[3], w, 1e-9) << one_by_one;
  }
}

// The floor lets go where its force is zero, and the height begins to rise with its third derivative. Within some ulps of that time the stages
// of sdirk4 are rounding of t, and put the block below the floor: 51 of these were lifted twice.
TEST(ShakenBlock, IsLiftedOnce) {
  const outcome r = run(in_source("tests/matrix/models/contact.hpp"),
                        {"method=sdirk4", "rtol=1e-7", "sample.count=4000", "sample.restitution={uniform=[0.3,0.7]}",
                         "output.reduce=['mean(fast)','max(fast)','count(lifts)']"});
  for (std::size_t i = 0; i < 4000; ++i) EXPECT_EQ(r.reductions[8000 + i], 1.0) << i;
}

// With e = 1 all impacts conserve energy; with smaller e the rod comes to rest on the floor from every angle.
TEST(BouncingRod, KeepsItsEnergyOrComesToRest) {
  const outcome elastic = run("bouncing_rod", {"rtol=1e-11", "restitution=1.0", "t=[0.0,8.0]"});
  ASSERT_EQ(name_of(elastic.status[0]), "finished");
  EXPECT_GT(elastic.events[0], 8);
  EXPECT_NEAR(elastic.output(0), 9.81, 1e-8);
  const outcome r =
      run("bouncing_rod",
          {"rtol=1e-8", "t=[0.0,20.0]", "sample.count=200", "sample.seed=2", "sample.angle={uniform=[-0.6,0.6]}",
           "sample.restitution={uniform=[-0.1,0.7],min=0.0}", "output.reduce=['max(energy)']"});
  EXPECT_EQ(r.summary.counts.ok(), 200);
  for (std::int64_t i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    EXPECT_NEAR(r.final("y", i), 0.0, 1e-12);
    EXPECT_NEAR(r.final("angle", i), 0.0, 1e-12);
    EXPECT_EQ(discrete(r, "lies_0", i) + discrete(r, "lies_1", i), 2.0);
    EXPECT_LE(r.reductions[static_cast<std::size_t>(i)], 9.81 * (1.0 + 1e-7));
  }
}

}  // namespace
}  // namespace saltus::test
