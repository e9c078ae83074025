// Mechanical systems with sparse matrices: every kind of constraint against the dense factorisation, a chain of 33 links against its
// formulation in angles, and the same bits however it runs.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/elimination.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

void expect_on_constraints(const outcome& r, double within = 1e-13) {
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << "instance " << i;
    EXPECT_EQ(r.exception[i], 0) << "instance " << i;
    EXPECT_LE(r.residual[i], within) << "instance " << i;
  }
}

/// Two runs of the same system agree up to rounding: states, outputs (multipliers among them) and events.
void expect_the_same_motion(const outcome& sparse, const outcome& dense, double within) {
  ASSERT_EQ(sparse.status, dense.status);
  ASSERT_EQ(sparse.events, dense.events);
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b, const char* what) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], within * (1 + std::fabs(b[i]))) << what << " " << i;
  };
  compare(sparse.final_state, dense.final_state, "state");
  compare(sparse.final_output, dense.final_output, "output");
  ASSERT_EQ(sparse.log.size(), dense.log.size());
  for (std::size_t e = 0; e < sparse.log.size(); ++e) {
    EXPECT_EQ(sparse.log[e].guard, dense.log[e].guard);
    EXPECT_NEAR(sparse.log[e].time, dense.log[e].time, within) << e;
  }
}

void expect_that_of_the_dense(const std::string& name, const std::vector<std::string>& more, double within = 1e-9) {
  const auto settings = with({"method=dp5", "rtol=1e-9", "output.events=true"}, more);
  const auto sparse = run(test_model(("sparse_" + name).c_str()), settings);
  ASSERT_TRUE(host::elimination_of(sparse.plan.model)->chosen);
  const auto dense = run(name == "two_planes" ? test_model("two_planes") : name, settings);
  ASSERT_FALSE(host::elimination_of(dense.plan.model)->chosen);
  expect_the_same_motion(sparse, dense, within);
}

TEST(SparseMechanics, ConstraintsThatMove) { expect_that_of_the_dense("car_axis", {"t=[0.0, 1.0]"}); }
TEST(SparseMechanics, Quaternions) { expect_that_of_the_dense("heavy_top", {"t=[0.0, 0.3]"}, 1e-7); }
TEST(SparseMechanics, NonholonomicConstraints) { expect_that_of_the_dense("rolling_disc", {"t=[0.0, 1.0]"}); }
TEST(SparseMechanics, ConstraintsThatAreReached) {
  expect_that_of_the_dense("rolling_spheres", {"t=[0.0, 2.0]", "initial.rho=0.7", "phi_factor=1.2", "theta_factor=1.5"},
                           1e-8);
}
// Derivatives of the whole right-hand side pass through the factorisation.
TEST(SparseMechanics, UnderAnImplicitMethod) {
  const std::vector<std::string> settings = {"method=radau5", "rtol=1e-10", "t=[0.0, 0.5]"};
  expect_the_same_motion(run(test_model("sparse_car_axis"), settings), run("car_axis", settings), 1e-8);
}
TEST(SparseMechanics, Contacts) { expect_that_of_the_dense("double_pendulum_with_stop", {"t=[0.0, 2.0]"}, 1e-7); }

TEST(SparseMechanics, ConstraintsThatDependOnEachOtherAreRefused) {
  const auto r =
      run(test_model("sparse_two_planes"), {"method=dp5", "rtol=1e-8", "sweep.zip.tilt=[1.0, 0.0, 0.5, 0.0, -2.0]",
                                            "sweep.zip.gap=[0.2, 0.0, 0.1, 0.1, 0.0]"});
  for (const int i : {1, 3}) {
    EXPECT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "inconsistent") << i;
    EXPECT_GE(r.residual_of[static_cast<std::size_t>(i)], 0) << i;
    EXPECT_EQ(r.dependent[static_cast<std::size_t>(i)], 0b11) << i;
  }
  for (const int i : {0, 2, 4}) EXPECT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished") << i;
}

// ---- chains ---------------------------------------------------------------------------------------------------------

TEST(SparseMechanics, ChainsThatBeginAtRandom) {
  const std::vector<std::string> settings = {"method=dop853",
                                             "rtol=1e-11",
                                             "t=[0.0, 0.4]",
                                             "sample.count=16",
                                             "sample.curl={uniform=[-1.0, 2.0]}",
                                             "sample.friction={uniform=[0.0, 1e-3]}"};
  const auto sparse = run("n_link_chain", settings), dense = run(test_model("dense_chain"), settings);
  ASSERT_TRUE(host::elimination_of(sparse.plan.model)->chosen);
  ASSERT_FALSE(host::elimination_of(dense.plan.model)->chosen);
  expect_on_constraints(sparse);
  expect_the_same_motion(sparse, dense, 1e-8);
}

// tests/reference/long_chain.py integrates it in 33 angles.
TEST(LongChain, IsThatInItsAngles) {
  const auto r = run("long_chain", {"method=dop853", "rtol=1e-11", "atol=1e-11", "t=[0.0, 1.0]",
                                    "output.reduce=['max(energy)', 'min(energy)']"});
  expect_on_constraints(r);
  const struct {
    int link;
    double angle, rate;
  } expected[] = {{0, -1.17871904996263, -0.237647640609059},  {8, -1.10280316624965, -1.04599326304234},
                  {16, -0.956985150980793, -3.01520440418575}, {24, 0.104989165602793, -10.9864016476639},
                  {31, 0.388056676614669, -2.07519360262759},  {32, 0.414222342045207, -2.58725033195036}};
  for (const auto& e : expected) {
    EXPECT_NEAR(r.final(fmt::format("angle_{}", e.link)), e.angle, 1e-8) << e.link;
    EXPECT_NEAR(r.final(fmt::format("omega_{}", e.link)), e.rate, 1e-7) << e.link;
  }
  EXPECT_LE(r.reductions[0] - r.reductions[1], 1e-8);
}

TEST(LongChain, HasTheSameBitsWhereverItRuns) {
  const std::vector<std::string> settings = {"method=dp5", "rtol=1e-7", "t=[0.0, 0.3]",
                                             "sweep.curl={from=-1.0, to=1.0, count=11}"};
  const auto wide = run("long_chain", with(settings, {"run.lanes=8"}));
  expect_on_constraints(wide);
  for (const char* other : {"run.lanes=1", "run.chunk=3"}) {
    const auto r = run("long_chain", with(settings, {other}));
    for (std::int64_t i = 0; i < wide.plan.count; ++i) expect_same(wide, i, r, i);
  }
}

TEST(LongChain, IsSparse) {
  const auto m = host::describe_model(host::find_model("long_chain"));
  ASSERT_TRUE(m.structure);
  EXPECT_EQ(m.structure->mass.size(), 99u);
  // Each hinge depends on the positions and angles of two links, the first hinge on those of one; 0.0 * x counts in one of its rows.
  EXPECT_EQ(m.structure->jacobian.size(), 4u * 66 - 3);
  const auto e = host::elimination_of(m);
  EXPECT_TRUE(e->chosen);
  EXPECT_EQ(e->colours, 4);
  EXPECT_LE(e->program.target.size(), 33u * 30);
}

}  // namespace
}  // namespace saltus::test
