// Lyapunov exponents, through events, against closed forms, identities and published numbers.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "abi/sensitivity.hpp"
#include "base/error.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"
#include "study/lyapunov.hpp"

namespace saltus::test {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Exponent j of an instance, followed by the errors and the number of grazed events.
double exponent(const outcome& r, int j, std::int64_t instance = 0) {
  return r.final_derivative[static_cast<std::size_t>(j * r.plan.count + instance)];
}
const char* reason_of(const outcome& r) { return sensitivity_table[r.sensitivity[0]].name; }

TEST(Lyapunov, OfALinearSystem) {
  // x' = -0.7 x, y' = 0.7 x - 0.2 y: the exponents are the eigenvalues.
  for (const char* method : {"dp5", "taylor12"}) {
    const auto r = run(test_model("decay"),
                       {"rtol=1e-10", "t=[0.0,100.0]", "lyapunov.from=50.0", std::string("method=") + method});
    ASSERT_STREQ(reason_of(r), "defined");
    EXPECT_NEAR(exponent(r, 0), -0.2, 1e-8);
    EXPECT_NEAR(exponent(r, 1), -0.7, 1e-8);
    for (const int error : {2, 3}) EXPECT_LT(std::fabs(exponent(r, error)), 1e-8);
    EXPECT_EQ(exponent(r, 4), 0.0);
  }
}

TEST(Lyapunov, OfLorenz) {
  // J. C. Sprott, Chaos and Time-Series Analysis (2003): 0.9056, 0, -14.5723. Their sum is the divergence, -(sigma + 1 + beta).
  const auto r = run("lorenz", {"rtol=1e-8", "t=[0.0,400.0]", "lyapunov.from=20.0"});
  ASSERT_STREQ(reason_of(r), "defined");
  const double error = exponent(r, 3);
  EXPECT_LT(error, 0.05);
  EXPECT_NEAR(exponent(r, 0), 0.9056, 4 * error);
  EXPECT_NEAR(exponent(r, 1), 0.0, 0.01);  // remainder of the rotation along the flow over this time
  EXPECT_NEAR(exponent(r, 2), -14.5723, 4 * error);
  EXPECT_NEAR(exponent(r, 0) + exponent(r, 1) + exponent(r, 2), -(10 + 1 + 8.0 / 3), 1e-6);
}

TEST(Lyapunov, OfLorenzForALongTime) {
  const auto r = run("lorenz", {"rtol=1e-8", "t=[0.0,20000.0]", "lyapunov.from=20.0", "max_steps=10000000"});
  EXPECT_NEAR(exponent(r, 0), 0.9056, 0.003);
  EXPECT_NEAR(exponent(r, 1), 0.0, 2e-4);
  EXPECT_NEAR(exponent(r, 2), -14.5723, 0.003);
}

TEST(Lyapunov, OfAnUnstableOrbitWithImpacts) {
  // problems/impact_oscillator.hpp: from one period to the next a perturbation is rotated by the angle T, and an impact with speed u and
  // acceleration p u maps it to (-r dx, (1 + r) p dx - r dv). The multipliers are the eigenvalues of the product.
  const double w = 2.8, r = 0.8, T = 2 * pi / w;
  const double p = (1 + r) * (1 - w * w) / (2 * std::tan(T / 2));
  const double trace = -2 * r * std::cos(T) + (1 + r) * p * std::sin(T);
  const double multiplier = (std::fabs(trace) + std::sqrt(trace * trace - 4 * r * r)) / 2;
  ASSERT_NEAR(multiplier, 2.96, 0.005);
  double grown[2][2];
  for (const int twice : {0, 1}) {
    const double end = (8 + 3 * twice) * T;
    const auto of = run("impact_oscillator", {"rtol=1e-12", "atol=1e-13", "method=dop853", "lyapunov.exponents=2",
                                              set("t", std::vector<double>{0, end})});
    ASSERT_STREQ(reason_of(of), "defined");
    for (const int j : {0, 1}) grown[twice][j] = exponent(of, j) * end;
  }
  EXPECT_NEAR(grown[1][0] - grown[0][0], 3 * std::log(multiplier), 1e-5);
  EXPECT_NEAR(grown[1][1] - grown[0][1], 3 * std::log(r * r / multiplier), 1e-5);
}

TEST(Lyapunov, OfChaosWithImpacts) {
  // Away from that orbit: areas are constant between impacts, and each impact multiplies them by r^2, on every trajectory.
  const double T = 300;
  const auto of = run("impact_oscillator", {"rtol=1e-9", "t=[0.0,300.0]", "initial.position=-0.1",
                                            "initial.velocity=0.3", "lyapunov={}", "output.events=true", "zeno=0.0"});
  ASSERT_EQ(name_of(of.status[0]), "finished");
  ASSERT_STREQ(reason_of(of), "defined");
  ASSERT_GT(of.log.size(), 50u);
  EXPECT_NEAR(exponent(of, 0) + exponent(of, 1), 2 * std::log(0.8) * static_cast<double>(of.log.size()) / T, 1e-6);
  EXPECT_GT(exponent(of, 0), exponent(of, 1));
}

TEST(Lyapunov, OfABouncingBall) {
  // After bounce k at t_k = sqrt(2 h / g) (1 + 2 (e + ... + e^(k-1))) the speed is e^k sqrt(2 g h); here k = 2. Derivatives are by height
  // and by velocity at the start, v0 = 0: an upward v0 means a start v0 / g earlier, from v0^2 / (2 g) higher.
  const double g = 9.81, e = 0.7, h = 1.0, T = 1.5, fall = std::sqrt(2 * h / g);
  const auto at = [&](double height, double v0) {
    const double top = height + v0 * v0 / (2 * g), first = std::sqrt(2 * top / g), speed = std::sqrt(2 * g * top);
    const double last = v0 / g + first * (1 + 2 * e), v = e * e * speed, tau = T - last;
    return std::pair(v * tau - g * tau * tau / 2, v - g * tau);
  };
  ASSERT_LT(fall * (1 + 2 * e), T);
  ASSERT_GT(fall * (1 + 2 * e + 2 * e * e), T);
  const auto r = run("bouncing_ball", {"rtol=1e-10", "t=[0.0,1.5]", "initial.height=1.0", "lyapunov={}"});
  ASSERT_STREQ(reason_of(r), "defined");
  const double d = 1e-5;
  const auto slope = [&](double by_h, double by_v) {
    const auto a = at(h + d * by_h, d * by_v), b = at(h - d * by_h, -d * by_v);
    return std::pair((a.first - b.first) / (2 * d), (a.second - b.second) / (2 * d));
  };
  // The initial perturbation of form/growth.hpp: 1 + frac(golden) - 1/2 and frac(2 golden) - 1/2.
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const double begin[] = {1 + golden - 0.5, 2 * golden - 1 - 0.5};
  const auto end = slope(begin[0], begin[1]);
  EXPECT_NEAR(exponent(r, 0) * T, std::log(std::hypot(end.first, end.second) / std::hypot(begin[0], begin[1])), 1e-7);
  EXPECT_NEAR((exponent(r, 0) + exponent(r, 1)) * T, 4 * std::log(e), 1e-9);  // a bounce multiplies areas by e^2
}

TEST(Lyapunov, WhileSliding) {
  // All trajectories reach the diagonal, so perturbations across it vanish.
  const auto r = run("filippov_plane", {"rtol=1e-10", "initial.x=1.5", "initial.y=1.0", "lyapunov={}"});
  ASSERT_STREQ(reason_of(r), "defined");
  EXPECT_TRUE(std::isinf(exponent(r, 1)) && exponent(r, 1) < 0);
  EXPECT_TRUE(std::isfinite(exponent(r, 0)));
}

TEST(Lyapunov, OfAlgebraicStates) {
  // parts/cubic_base.hpp: dz = dx / (3 z^2 + 1) is constant, and w = log(2 + z^2) follows.
  const auto r = run(test_model("cubic_semi"), {"rtol=1e-10", "method=rodas5p", "lyapunov={}"});
  ASSERT_STREQ(reason_of(r), "defined");
  ASSERT_EQ(r.plan.exponents, 1);
  const auto size = [](double z) { return std::hypot(1.0, 3 * z * z + 1, 2 * z / (2 + z * z)); };
  EXPECT_NEAR(exponent(r, 0) * 2, std::log(size(1) / size(-1)), 1e-8);  // zero, as z goes from -1 to 1
  const auto half = run(test_model("cubic_semi"), {"rtol=1e-10", "method=rodas5p", "lyapunov={}", "t=[0.0,1.0]"});
  EXPECT_NEAR(exponent(half, 0), std::log(size(0) / size(-1)), 1e-8);
}

TEST(Lyapunov, HaveTheSameBitsHoweverTheyAreRun) {
  const std::vector<std::string> balls = {"rtol=1e-7",         "t=[0.0,1.5]", "sample.count=21",
                                          "sample.seed=3",     "lyapunov={}", "sample.restitution={uniform=[0.4,0.9]}",
                                          "output.events=true"};
  const auto reference = run("bouncing_ball", with(balls, {"run.threads=1", "run.lanes=1", "run.groups=1"}));
  const auto otherwise = run("bouncing_ball", with(balls, {"run.threads=2", "run.lanes=8", "run.chunk=5"}));
  for (std::int64_t i = 0; i < reference.plan.count; ++i) expect_same(reference, i, otherwise, i);
  expect_same_log(reference, otherwise);
  for (std::size_t i = 0; i < otherwise.final_derivative.size(); ++i)
    ASSERT_EQ(bits(otherwise.final_derivative[i]), bits(reference.final_derivative[i])) << i;
}

TEST(Lyapunov, AreRefusedWhereThereAreNone) {
  const auto refused = [](const std::string& model, const std::vector<std::string>& settings, const std::string& why) {
    try {
      plan_of(model, settings);
      ADD_FAILURE() << why;
    } catch (const host::error& e) { EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what(); }
  };
  refused("lorenz", {"lyapunov.exponents=4"}, "must be a whole number from 1 to 3");
  refused("rectifier_dae", {"lyapunov.exponents=3"}, "must be a whole number from 1 to 2");
  refused("lorenz", {"lyapunov.from=1e9"}, "must be a time before");
  refused("lorenz", {"lyapunov.to=1.0"}, "unknown");
  refused("lorenz", {"lyapunov={}", "sensitivity.parameters=['rho']"}, "must be left out with [sensitivity]");
  refused("four_bar", {"lyapunov={}"}, "perturbations would leave its constraints");
}

TEST(Lyapunov, OfAStudy) {
  host::study what;
  what.subject = "lorenz";
  what.flags = {{"--set", "t=[0.0,60.0]"}, {"--set", "sweep.rho=[0.5,14.0,28.0]"}};
  const auto r = host::lyapunov(host::lyapunov_plan(what));
  ASSERT_EQ(r.inputs, std::vector<std::string>{"rho"});
  ASSERT_EQ(r.instances.size(), 3u);
  EXPECT_LT(r.instances[0].exponents[0], 0);  // to the origin and to one of the two other points
  EXPECT_LT(r.instances[1].exponents[0], 0);
  EXPECT_GT(r.instances[2].exponents[0], 0.5);
  EXPECT_EQ(r.instances[0].dimension(), 0.0);
  EXPECT_NEAR(r.instances[2].dimension(), 2.06, 0.02);  // Kaplan and Yorke: 2 + 0.9056 / 14.5723
  for (const auto& one : r.instances) EXPECT_EQ(one.why, sensitivity::defined);
}

}  // namespace
}  // namespace saltus::test
