// Runs of models with constraints: every form of equations, consistent states at the start and after events, events on algebraic
// states, and the end of instances that have no solution. Solutions are closed forms unless stated otherwise.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

/// Runs a model of tests/models. Narrow vectors compile fast; test_same_bits shows that the width changes nothing.
outcome go(const std::string& model, const std::vector<std::string>& settings) {
  return run(test_model(model.c_str()), with({"run.lanes=4"}, settings));
}

/// The residuals of all constraints of an instance that ended well, after every step.
void expect_on_constraints(const outcome& r) {
  for (std::size_t i = 0; i < r.residual.size(); ++i) {
    if (!is_ok(static_cast<status>(r.status[i]))) continue;
    EXPECT_LE(r.residual[i], 1e-12) << "instance " << i;
  }
}

void expect_finished(const outcome& r) {
  for (std::size_t i = 0; i < r.status.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << "instance " << i;
    ASSERT_EQ(r.exception[i], 0) << "instance " << i << " was rescued from " << name_of(r.exception[i]);
  }
  expect_on_constraints(r);
}

// ---- the forms of equations -----------------------------------------------------------------------------------------

// At t = 40. SciPy's Radau at rtol = 1e-12 and 3e-14 agrees in 13 digits.
TEST(Forms, OfRobertsonsReactionsAgree) {
  const std::vector<std::string> settings = {"rtol=1e-10", "atol=[1e-13, 1e-17, 1e-13]"};
  const auto expect = [&](const outcome& r) {
    expect_finished(r);
    EXPECT_NEAR(r.final("y1"), 0.715827068719405, 1e-11) << r.plan.model.name;
    EXPECT_NEAR(r.final("y2"), 9.18553476455778e-06, 1e-15) << r.plan.model.name;
    EXPECT_NEAR(r.final("y3"), 0.28416374574583, 1e-11) << r.plan.model.name;
  };
  for (const char* form : {"semi", "mass", "residual", "varying"})
    expect(go(fmt::format("robertson_{}", form), settings));
}

/// The cubic constraint and its observed quantities. The settings of all tests are alike, so that they share their
/// modules.
struct cubic {
  std::string form, method;
  std::vector<std::string> common = {"rtol=1e-9", "output.events=true", "output.samples.count=9",
                                     "output.reduce=['max(square)', 'min(w)', 'integral(z)', 'mean(w)']"};

  outcome run_with(const std::vector<std::string>& more) const {
    return go("cubic_" + form, with(with(common, {"method=" + method}), more));
  }
};
const cubic semi{"semi", "rodas5p"}, mass{"mass", "rodas5p"}, varying{"varying", "esdirk4"},
    residual{"residual", "radau5"};

/// The root of z^3 + slope z = x.
double root_of(double x, double slope) {
  long double z = std::cbrt(static_cast<long double>(x));
  for (int k = 0; k < 60; ++k) z -= (z * z * z + slope * z - x) / (3 * z * z + slope);
  return static_cast<double>(z);
}

TEST(Forms, OfACubicConstraintHaveTheClosedForm) {
  for (const cubic& c : {semi, mass, varying, residual}) {
    SCOPED_TRACE(c.form);
    const auto r = c.run_with({});
    expect_finished(r);
    for (int k = 0; k < 9; ++k) {
      const double z = -1 + k / 4.0;
      EXPECT_NEAR(r.sample(0, 0, k), z * z * z + z, 2e-8) << k;
      EXPECT_NEAR(r.sample(1, 0, k), z, 1e-8) << k;
      EXPECT_NEAR(r.sample(2, 0, k), std::log(2 + z * z), 1e-8) << k;
      EXPECT_NEAR(r.sample(3, 0, k), z * z, 2e-8) << k;  // the output
    }
    EXPECT_NEAR(r.reductions[0], 1, 1e-8);            // z runs from -1 to 1
    EXPECT_NEAR(r.reductions[1], std::log(2), 1e-8);  // at z = 0, within a step
    EXPECT_NEAR(r.reductions[2], 0, 1e-8);
    // The integral of log(2 + z^2) is z log(2 + z^2) - 2 z + 2 sqrt(2) atan(z / sqrt(2)).
    EXPECT_NEAR(r.reductions[3], std::log(3) - 2 + 2 * std::sqrt(2) * std::atan(1 / std::sqrt(2)), 1e-8);
  }
}

TEST(Forms, RunBackward) {
  for (const cubic& c : {semi, mass, residual}) {
    SCOPED_TRACE(c.form);
    // From z = 1 at t = 2, downward through the level (a rising guard does not fire), and past a floor that plays no part.
    const auto r = go("cubic_" + c.form, {"rtol=1e-9", "method=" + c.method, "t=[2.0, 0.0]", "z_begin=1.0",
                                          "output.events=true", "sweep.speed=[1.0, -0.5]", "level=1.25", "bump=0.0"});
    expect_finished(r);
    EXPECT_NEAR(r.final("z", 0), -1, 1e-8);
    EXPECT_NEAR(r.final("w", 0), std::log(3), 1e-8);
    EXPECT_NEAR(r.final("x", 1), 8 + 2, 1e-7);
    EXPECT_NEAR(r.final("z", 1), 2, 1e-8);
    ASSERT_EQ(r.log.size(), 1u);
    EXPECT_EQ(r.log[0].instance, 1);
    EXPECT_NEAR(r.log[0].time, 1.5, 1e-8);
  }
}

TEST(Forms, InSinglePrecision) {
  const auto r = go("cubic_semi", {"rtol=1e-4", "precision=float", "rescue=false", "level=0.5"});
  EXPECT_EQ(name_of(r.status[0]), "finished");
  EXPECT_LE(r.residual[0], 1e-6);
  EXPECT_NEAR(r.final("z"), 1, 1e-3);
  EXPECT_NEAR(r.final("w"), std::log(3), 1e-3);
}

// ---- consistent states at the start ---------------------------------------------------------------------------------

TEST(Start, IsFoundFromABadGuess) {
  for (const cubic& c : {semi, residual}) {
    SCOPED_TRACE(c.form);
    const auto r = c.run_with({"sweep.z=[-1.0, 0.0, 5.0, -30.0, 1e3, -1e3]", "sweep.w=[1.0, 0.0, -4.0, 12.0]"});
    for (std::int64_t i = 0; i < r.plan.count; ++i) {
      ASSERT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished") << "guess " << i;
      EXPECT_EQ(r.exception[static_cast<std::size_t>(i)], 0) << "guess " << i;
      EXPECT_NEAR(r.sample(1, i, 0), -1, 1e-13) << "guess " << i;
      EXPECT_NEAR(r.sample(2, i, 0), std::log(3), 1e-13) << "guess " << i;
      EXPECT_NEAR(r.final("z", i), 1, 1e-8) << "guess " << i;
    }
    expect_on_constraints(r);
  }
}

// Rounding keeps increments from becoming arbitrarily small: the search must stop at the attainable accuracy.
TEST(Start, IsFoundToRoundingWhereConstraintsAreIllConditioned) {
  const std::vector<double> apart = {1.0, 1e-1, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6};
  const auto r = go("nearly_parallel", {"rtol=1e-6", set("sweep.apart", apart)});
  for (std::size_t i = 0; i < apart.size(); ++i) {
    ASSERT_EQ(name_of(r.status[i]), "finished") << apart[i];
    EXPECT_NEAR(r.final("a", static_cast<std::int64_t>(i)), std::asin(std::exp(-1.0) / 2), 1e-5) << apart[i];
    EXPECT_NEAR(r.final("b", static_cast<std::int64_t>(i)), std::asin(std::exp(-1.0) / 2), 1e-5) << apart[i];
  }
  expect_on_constraints(r);
}

TEST(Start, ModesAreDecidedWhereTheConstraintsAreMet) {
  // First the guess is above the level and the solution below; then the reverse.
  const auto below = semi.run_with({"z=0.5", "level=0.0", "bump=0.0", "t=[0.0, 0.5]"});
  EXPECT_EQ(discrete(below, "high"), 0);
  EXPECT_EQ(below.log.size(), 0u);
  const auto above = semi.run_with({"z=-0.5", "z_begin=1.0", "level=0.0", "t=[0.0, 0.5]"});
  EXPECT_EQ(discrete(above, "high"), 1);
  EXPECT_EQ(above.log.size(), 0u);
}

TEST(Start, TheGuessDecidesBetweenSolutions) {
  const auto r = go("fold", {"rtol=1e-9", "sweep.z=[1.0, -1.0, 0.1, -7.0]", "x=3.0"});
  expect_finished(r);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(r.final("z", i), i % 2 == 0 ? 1 : -1, 1e-8) << i;
    EXPECT_NEAR(r.final("w", i), i % 2 == 0 ? 0 : 2, 1e-8) << i;
  }
}

TEST(Start, NoSolutionIsInconsistentAndNamesItsEquation) {
  const std::vector<std::string> settings = {"rtol=1e-9"};
  // z^2 = x has no solution if x < 0.
  const auto r = go("fold", with(settings, {"sweep.x=[3.0, -1.0, 2.5, -4.0, 3.5]"}));
  const auto only = go("fold", with(settings, {"sweep.x=[3.0, 2.5, 3.5]"}));
  for (const std::int64_t i : {1, 3}) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(name_of(r.status[at]), "inconsistent");
    EXPECT_EQ(r.residual_of[at], 2) << "the equation of z";
    EXPECT_GE(r.residual[at], i == 1 ? 1 : 4);  // z^2 - x at the point where the search ended
    EXPECT_EQ(r.exception[at], 0) << "a failure without rescue";
    EXPECT_EQ(r.steps[at], 0);
    EXPECT_EQ(r.t_final[at], 0);
  }
  EXPECT_EQ(r.summary.counts.failed(), 2);
  for (std::int64_t k = 0; k < 3; ++k) expect_same(r, 2 * k, only, k);
}

// Whole vectors of lanes end at their start, with others behind them: x = -41.5, -40.5, ... 43.5.
TEST(Start, ManyThatCannotBeginHoldUpNobody) {
  for (const char* lanes : {"run.lanes=1", "run.lanes=4"}) {
    const auto r = go("fold", {"rtol=1e-6", lanes, "run.threads=1", "sweep.x={from=-41.5, to=43.5, count=86}"});
    for (std::size_t i = 0; i < 86; ++i) {
      if (i == 42 || i == 43) continue;  // these reach the fold
      EXPECT_EQ(name_of(r.status[i]), i < 42 ? "inconsistent" : "finished") << lanes << ", instance " << i;
    }
    EXPECT_EQ(r.summary.counts.not_finished(), 0) << lanes;
  }
}

TEST(Start, GivenIsTakenOrRefused) {
  const std::vector<std::string> settings = {"rtol=1e-6", "consistency=given"};
  // z = 2, w = -1 belong to x = 4; an error below the tolerance is corrected.
  const auto r = go("fold", with(settings, {"x=4.0", "sweep.z=[2.0, 2.0000001, 2.001, -2.0, 0.0]", "w=-1.0"}));
  const std::vector<std::string> wanted = {"finished", "finished", "inconsistent", "inconsistent", "inconsistent"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(name_of(r.status[i]), wanted[i]) << i;
  EXPECT_NEAR(r.final("z", 0), std::sqrt(2), 1e-5);
  EXPECT_EQ(r.final("z", 2), 2.001) << "kept as given";
  // The same with the mass matrix and with a residual.
  for (const cubic& c : {mass, residual}) {
    const auto s = c.run_with({"consistency=given", "sweep.z=[-1.0, -0.9]", "w=1.0986122886681098"});
    EXPECT_EQ(name_of(s.status[0]), "finished") << c.form;
    EXPECT_EQ(name_of(s.status[1]), "inconsistent") << c.form;
  }
}

// Distances are measured in units of |y| + atol / rtol; if that is large, in absolute units.
TEST(Start, NearestIsThePointThatIsNearest) {
  const std::vector<std::string> settings = {"rtol=1e-8", "atol=1.0", "consistency=nearest"};
  // On the line x + 2 z = 5 from (1, 1/4); on the circle from (2, 1); on x^2 / 4 + z^2 = 1 from (3, 2), where the foot of the
  // normal (by minimisation in SciPy) is not where Newton's first step leads.
  const auto line = go("ellipse", with(settings, {"curved=0.0", "x=1.0", "z=0.25"}));
  EXPECT_NEAR(line.final("x"), 1.7, 1e-7);
  EXPECT_NEAR(line.final("z"), 1.65, 1e-7);
  const auto circle = go("ellipse", with(settings, {"x=2.0", "z=1.0"}));
  EXPECT_NEAR(circle.final("x"), 2 / std::sqrt(5), 1e-7);
  EXPECT_NEAR(circle.final("z"), 1 / std::sqrt(5), 1e-7);
  const auto ellipse = go("ellipse", with(settings, {"long_axis=2.0", "x=3.0", "z=2.0"}));
  EXPECT_NEAR(ellipse.final("x"), 1.72541126, 1e-7);
  EXPECT_NEAR(ellipse.final("z"), 0.50570643, 1e-7);
  expect_on_constraints(line), expect_on_constraints(circle), expect_on_constraints(ellipse);
}

// ---- Newton's iteration -----------------------------------------------------------------------------------------------

// z relaxes to a constant, by a residual that is cubic in z'. Coefficients of sdirk4 make the errors of its stages up to 69 times larger in
// a step, so its iterations must go further than those of the others.
TEST(Newton, LeavesNoErrorBeyondTheTolerance) {
  for (const char* method : {"sdirk4", "esdirk4", "radau5", "radau9"})
    for (const double rtol : {1e-5, 1e-7, 1e-9}) {
      const auto r = run(plan_of(saltus::test::in_source("tests/matrix/models/implicit.hpp"),
                                 {fmt::format("method={}", method), fmt::format("rtol={}", rtol),
                                  fmt::format("atol={}", rtol), "t=[0.0,2.0]", "k=1.5"}));
      ASSERT_EQ(r.status[0], 0);
      // Down from 0.9 to 0.3, a jump by 0.05, up to 0.8, and down again.
      const double low = std::log(3.0) / 1.5, high = low + std::log(0.65 / 0.2) / 1.5;
      EXPECT_NEAR(r.final("z"), 0.8 * std::exp(-1.5 * (2.0 - high)), 10.0 * rtol) << method << " " << rtol;
    }
}

// ---- rounding errors of terms that cancel -----------------------------------------------------------------------------

/// State q from the charge at that time, in both models of the nodes.
double second_node(double current, double capacity, double time) {
  return 5 + std::sinh(current * time / capacity + std::asinh(-7.5));
}

// p' is zero up to rounding, and is recomputed at the start and when the current turns.
TEST(Cancellation, OfRatesIsNoReasonToRefuse) {
  for (const auto& [form, method] : {std::pair("mass", "radau5"), std::pair("mass", "sdirk4"),
                                     std::pair("residual", "radau5"), std::pair("residual", "esdirk4")})
    for (const char* scale : {"1.0", "1e-9", "1e9"}) {
      SCOPED_TRACE(fmt::format("{} with {}, scaled by {}", form, method, scale));
      // Scaling changes the cube in the residual, and thus the equation, but not its solution.
      const auto r = go(fmt::format("two_nodes_{}", form),
                        {"rtol=1e-8", fmt::format("method={}", method), fmt::format("scale={}", scale), "turns_at=0.8",
                         "sweep.current={from=0.01, to=1.0, count=1000}"});
      ASSERT_EQ(r.status.size(), 1000u);
      expect_finished(r);
      for (std::int64_t i = 0; i < 1000; ++i) {
        const double q = second_node(0.01 + 0.99 * static_cast<double>(i) / 999, 0.24, 0.6);
        ASSERT_NEAR(r.final("p", i), 5, 1e-12) << i;
        ASSERT_NEAR(r.final("q", i), q, 1e-6 * (1 + std::fabs(q))) << i;
        ASSERT_EQ(r.events[static_cast<std::size_t>(i)], 1) << i;
      }
    }
}

TEST(Cancellation, IsMeasuredInDoubleDigitsOfEveryUnit) {
  // The same circuit with currents and capacitors a billion times smaller and larger: derivatives are the same, terms are not.
  const auto r =
      go("two_nodes_mass", {"rtol=1e-8", "method=radau5", "sweep.scale=[1e-18, 1e-9, 1.0, 1e9, 1e18]", "current=0.37"});
  expect_finished(r);
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(r.final("q", i), second_node(0.37, 0.24, 1), 1e-6) << i;
}

TEST(Cancellation, RandomRegularSystemsStartAndFollowTheirSolution) {
  std::vector<std::string> settings = {"atol=1e-30",
                                       "sweep.still=[0.0, 1.0]",
                                       "sample.seed=3",
                                       "method=radau5",
                                       "sample.above={uniform=[1.5, 3.0]}",
                                       "output.reduce=['max(error)']"};
  const auto draw = [&](const char* name, int count, const char* range) {
    for (int i = 0; i < count; ++i) settings.push_back(fmt::format("sample.{}_{}={{uniform={}}}", name, i, range));
  };
  draw("size", 3, "[-9.0, 9.0]"), draw("equation", 3, "[-9.0, 9.0]");
  draw("coupling", 6, "[-0.3, 0.3]"), draw("bend", 3, "[-0.3, 0.3]");
  draw("stiff", 2, "[0.0, 7.0]"), draw("w", 3, "[0.1, 5.0]"), draw("p", 3, "[0.0, 6.0]");
  const auto starts = go("random_regular", with(settings, {"rtol=1e-6", "t=[0.0, 1e-4]", "sample.count=50000"}));
  ASSERT_EQ(starts.status.size(), 100000u);
  expect_finished(starts);
  const auto runs = go("random_regular", with(settings, {"rtol=1e-8", "sample.count=1000"}));
  expect_finished(runs);
  for (std::size_t i = 0; i < 2000; ++i) ASSERT_LE(runs.reductions[i], 1e-6) << i;
}

TEST(Cancellation, OfConstraintsIsNoReasonToRefuse) {
  // z is the difference of x and 3 x, required to a ten-thousandth of the rounding errors of these terms.
  for (const char* method : {"radau5", "radau9", "rodas5p", "sdirk4"}) {
    const auto r = go("balance", {"rtol=1e-6", "atol={default=1e-6, z=1e-15}", fmt::format("method={}", method),
                                  "sweep.x={from=0.1, to=0.9, count=50}", "sweep.scale=[1.0, 1e-9, 1e9]"});
    SCOPED_TRACE(method);
    for (std::int64_t i = 0; i < 150; ++i) {
      const double x = (0.1 + 0.8 * static_cast<double>(i / 3) / 49) * std::exp(-1.0);
      ASSERT_EQ(name_of(r.status[static_cast<std::size_t>(i)]), "finished") << i;
      EXPECT_NEAR(r.final("a", i), std::asin(x), 1e-5) << i;
      EXPECT_NEAR(r.final("z", i), 0, 2e-16) << i;
    }
  }
}

// ---- events ---------------------------------------------------------------------------------------------------------

TEST(Events, OnAlgebraicStatesAndWhatFollowsThem) {
  for (const cubic& c : {semi, mass, varying, residual}) {
    SCOPED_TRACE(c.form);
    // At z = 1/2 x jumps and the constraint gets another slope: z is solved for again and continues from there.
    const double x = 0.5 * 0.5 * 0.5 + 0.5 + 3, z = root_of(x, 2), w = std::log(2 + z * z), end = z + 0.5;
    const auto r = c.run_with({"level=0.5", "bump=3.0", "new_slope=2.0"});
    expect_finished(r);
    ASSERT_EQ(r.log.size(), 1u);
    const auto& e = r.log[0];
    EXPECT_EQ(e.guard, "reaches");
    EXPECT_NEAR(e.time, 1.5, 1e-8);
    EXPECT_GE(e.before[1], 0.5) << "a bilateral guard lands past its root";
    EXPECT_NEAR(e.before[1], 0.5, 1e-12);
    EXPECT_NEAR(e.before[0], 0.625, 1e-8);
    EXPECT_NEAR(e.before[2], std::log(2.25), 1e-12);
    EXPECT_NEAR(e.after[0], x, 1e-8) << "set by the transition";
    EXPECT_NEAR(e.after[1], z, 1e-8) << "consistent with it";
    EXPECT_NEAR(e.after[2], w, 1e-8);
    EXPECT_NEAR(r.final("z"), end, 1e-8);
    EXPECT_NEAR(r.final("x"), end * end * end + 2 * end, 1e-7);
    EXPECT_NEAR(r.reductions[0], end * end, 1e-7) << "the maximum occurs after the jump";
    EXPECT_EQ(discrete(r, "high"), 1);
    EXPECT_EQ(discrete(r, "passed"), 1);
    EXPECT_NEAR(r.sample(1, 0, 7), z + 0.25, 1e-8);
  }
}

TEST(Events, UnilateralGuardsOnAlgebraicStates) {
  for (const cubic& c : {semi, residual}) {
    SCOPED_TRACE(c.form);
    // z falls from -1 to -1.5 and rises from there.
    const auto r = c.run_with({"speed=1.0", "direction_begin=-1.0", "floor_at=-1.5"});
    expect_finished(r);
    ASSERT_EQ(r.log.size(), 1u);
    EXPECT_EQ(r.log[0].guard, "bottom");
    EXPECT_NEAR(r.log[0].time, 0.5, 1e-8);
    EXPECT_GE(r.log[0].before[1], -1.5) << "never below";
    EXPECT_NEAR(r.log[0].before[1], -1.5, 1e-12);
    EXPECT_NEAR(r.final("z"), 0, 1e-8);
    EXPECT_NEAR(r.reductions[0], 2.25, 1e-7);
  }
}

// ---- ends of instances ----------------------------------------------------------------------------------------------

TEST(Mishaps, NumbersThatAreNoneHarmTheirInstanceOnly) {
  const std::vector<std::string> settings = {"level=0.5", "bump=1.0"};
  for (const cubic& c : {semi, residual}) {
    SCOPED_TRACE(c.form);
    const auto r = c.run_with(with(settings, {"sweep.nan_from=[1e6, 0.7, 1.9, -1.0, 2e6]"}));
    const auto only = c.run_with(with(settings, {"sweep.nan_from=[1e6, 2e6]"}));
    expect_same(r, 0, only, 0), expect_same(r, 4, only, 1);
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      const auto name = name_of(r.status[i]);
      EXPECT_TRUE(name == "not_finite" || name == "newton_failed") << name;
      EXPECT_NE(r.exception[i], 0);
      EXPECT_NEAR(r.t_final[i], i == 1 ? 0.7 : 1.9, 1e-9);
      EXPECT_NEAR(r.final("z", static_cast<std::int64_t>(i)), i == 1 ? -0.3 : root_of(1.625, 1) + 0.4, 1e-7);
    }
    EXPECT_EQ(name_of(r.status[3]), "inconsistent");
  }
}

TEST(Mishaps, AFoldEndsWhatReachesIt) {
  for (const char* method : {"rodas5p", "radau5"}) {
    const std::vector<std::string> settings = {"rtol=1e-8", fmt::format("method={}", method), "sweep.z=[1.0, -1.0]"};
    const auto r = go("fold", with(settings, {"sweep.x=[3.0, 1.0, 2.5]"}));
    const auto only = go("fold", with(settings, {"sweep.x=[3.0, 2.5]"}));
    for (std::int64_t branch = 0; branch < 2; ++branch) {
      const auto at = static_cast<std::size_t>(3 * branch + 1);
      const auto name = name_of(r.status[at]);
      EXPECT_TRUE(name == "newton_failed" || name == "singular" || name == "step_too_small") << method << ": " << name;
      EXPECT_NE(r.exception[at], 0);
      EXPECT_NEAR(r.t_final[at], 1, 1e-8) << method;
      EXPECT_NEAR(r.final("z", 3 * branch + 1), 0, 1e-4) << method;
      EXPECT_LE(r.residual[at], 1e-12);
      expect_same(r, 3 * branch, only, 2 * branch);
      expect_same(r, 3 * branch + 2, only, 2 * branch + 1);
    }
  }
}

// ---- index 2 --------------------------------------------------------------------------------------------------------

const std::vector<std::string> circle = {"rtol=1e-9", "output.events=true", "output.samples.count=7"};
double angle_of(double t) { return t + 0.5 * std::sin(t); }

TEST(IndexTwo, HasTheClosedForm) {
  for (const double rtol : {1e-6, 1e-9, 1e-12}) {
    const auto r = go("circle_2", with(circle, {set("rtol", rtol), "turn_at=5.0"}));
    SCOPED_TRACE(rtol);
    expect_finished(r);
    for (int k = 0; k < 7; ++k) {
      EXPECT_NEAR(r.sample(0, 0, k), std::cos(angle_of(k / 2.0)), 20 * rtol) << k;
      EXPECT_NEAR(r.sample(1, 0, k), std::sin(angle_of(k / 2.0)), 20 * rtol) << k;
      EXPECT_NEAR(r.sample(2, 0, k), 2 + std::sin(k / 2.0), 2000 * rtol) << k;
    }
    ASSERT_EQ(r.log.size(), 1u);
    EXPECT_NEAR(r.log[0].time, std::asin(0.9), 20 * rtol) << "a guard on the algebraic state";
  }
}

TEST(IndexTwo, EventsThatLeaveTheConstraintAreNotPutBackInSilence) {
  // At y = 1/2 the transition multiplies x and y. The written values are kept, and lie on the circle if the factor is one.
  const auto r = go("circle_2", with(circle, {"sweep.stretch=[1.0, 1.1, 0.7]", "rescue=false"}));
  EXPECT_EQ(discrete(r, "turns", 0), 2);
  EXPECT_NEAR(r.final("x", 0), std::cos(angle_of(3)), 1e-8);
  EXPECT_NEAR(r.final("z", 0), 2 + std::sin(3), 1e-8);
  for (const double t : times_of(r, "passes", 0)) EXPECT_NEAR(std::sin(angle_of(t)), 0.5, 1e-8);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(status_table[r.status[i]].id, status::inconsistent);
    EXPECT_EQ(host::names_of_residuals(r.plan.model)[static_cast<std::size_t>(r.residual_of[i])], "x_as_written");
  }
  for (const auto& e : r.log) {
    if (e.instance != 0) continue;
    EXPECT_NEAR(std::hypot(e.after[0], e.after[1]), 1, 1e-14);
    EXPECT_NEAR(e.after[2], 2 + std::sin(e.time), 1e-8);
  }
}

TEST(IndexTwo, RunsBackward) {
  const auto r = go("circle_2", {"rtol=1e-9", "t=[3.0, 0.0]", "z=2.5", "output.events=true"});
  expect_finished(r);
  EXPECT_NEAR(r.final("x"), 1, 1e-8);
  EXPECT_NEAR(r.final("y"), 0, 1e-8);
  EXPECT_NEAR(r.final("z"), 2, 1e-8);
  EXPECT_EQ(names_of(r), (std::vector<std::string>{"passes", "thick", "passes"}));
}

TEST(IndexTwo, IsSolvedAtVeryTightTolerances) {
  // Rounding errors in z grow with 1/h; Newton's iteration must not wait for them to vanish.
  const auto r = go("circle_2", with(circle, {"rtol=1e-13", "rescue=false"}));
  expect_finished(r);
  EXPECT_NEAR(r.final("x"), std::cos(angle_of(3)), 2e-12);
  EXPECT_NEAR(r.final("y"), std::sin(angle_of(3)), 2e-12);
}

TEST(IndexTwo, NumbersThatAreNoneHarmTheirInstanceOnly) {
  const auto r = go("circle_2", with(circle, {"sweep.nan_from=[1e6, 1.0, 2e6]"}));
  const auto only = go("circle_2", with(circle, {"sweep.nan_from=[1e6, 2e6]"}));
  expect_same(r, 0, only, 0), expect_same(r, 2, only, 1);
  EXPECT_FALSE(is_ok(static_cast<status>(r.status[1])));
  EXPECT_NEAR(r.t_final[1], 1, 1e-8);
}

// ---- a singular mass matrix that mixes derivatives in rows ----------------------------------------------------------

void expect_mixed(const outcome& r, std::int64_t i, double t, double omega, double tolerance, std::int64_t sample) {
  const double c = std::cos(omega * t), s = std::sin(t);
  EXPECT_NEAR(r.sample(0, i, sample), (c + 2 * s) / 2, tolerance) << "omega = " << omega << ", t = " << t;
  EXPECT_NEAR(r.sample(1, i, sample), (2 * s - c) / 2, tolerance) << "omega = " << omega << ", t = " << t;
  EXPECT_NEAR(r.sample(2, i, sample), std::sin(omega * t), tolerance) << "omega = " << omega << ", t = " << t;
}

TEST(MixedRates, HaveTheClosedForm) {
  for (const char* method : {"rodas5p", "esdirk4", "radau5", "radau9"}) {
    const auto r = go(
        "mixed", {"rtol=1e-8", fmt::format("method={}", method), "sweep.omega=[1.0, 10.0]", "output.samples.count=5"});
    SCOPED_TRACE(method);
    expect_finished(r);
    for (std::int64_t k = 0; k < 5; ++k) {
      expect_mixed(r, 0, 0.5 * static_cast<double>(k), 1, 1e-6, k);
      expect_mixed(r, 1, 0.5 * static_cast<double>(k), 10, 1e-5, k);
    }
  }
}

TEST(MixedRates, StartWhereTheyAreToldTo) {
  // A consistent start stays, for every omega and every length of the span: y_1(0) = 1/2.
  for (const auto& [omega, end] : {std::pair(1.0, 1.0), std::pair(100.0, 1000.0), std::pair(1e6, 1.0)})
    for (const char* how : {"algebraic", "given"}) {
      const auto r =
          go("mixed", {"rtol=1e-8", "method=radau5", set("omega", omega), set("t", std::vector<double>{0, end}),
                       "max_steps=20", fmt::format("consistency={}", how), "output.samples.count=5"});
      expect_mixed(r, 0, 0, omega, 1e-9, 0);
    }
  // An inconsistent start is moved, while y_1 - y_2, which has a derivative, stays.
  const auto r = go("mixed", {"rtol=1e-8", "method=radau5", "y1=0.8", "output.samples.count=5"});
  EXPECT_NEAR(r.sample(0, 0, 0) + r.sample(1, 0, 0), 0, 1e-9);
  EXPECT_NEAR(r.sample(0, 0, 0) - r.sample(1, 0, 0), 1.3, 1e-7);
}

TEST(MixedRates, MeetTheirConstraintAtTheStartAndNotAnInstantLater) {
  for (const double begin : {0.0, 1.0, 3.0}) {
    const auto r = go("mixed", {"rtol=1e-8", "method=radau5", set("t", std::vector<double>{begin, begin + 2}),
                                "output.samples.count=5"});
    EXPECT_NEAR(r.sample(0, 0, 0) + r.sample(1, 0, 0), 2 * std::sin(begin), 1e-15) << begin;
    EXPECT_NEAR(r.sample(0, 0, 0) - r.sample(1, 0, 0), 1, 1e-15) << begin;
  }
}

// Published values, as in reference_stiff.hpp. Two of the voltages are zero at the start, and all are sums of terms of several
// volts, whose rounding exceeds the smaller ones of these tolerances.
TEST(MixedRates, AreSolvedForWhereTheToleranceIsNearRounding) {
  const std::pair<const char*, double> end[] = {{"u1", -5.562145012262275e-03},
                                                {"u4", 2.9264225362062415},
                                                {"u7", 4.770927631616772155},
                                                {"u8", 1.23699586809154755}};
  struct {
    const char *method, *rtol, *atol;
    double allowed;
  } const cases[] = {
      {"radau5", "5e-12", "5e-12", 1e-9}, {"radau5", "3e-12", "3e-12", 1e-9}, {"radau5", "1e-12", "1e-12", 1e-9},
      {"radau5", "1e-10", "1e-14", 1e-8}, {"sdirk4", "1e-10", "1e-14", 1e-8}, {"esdirk4", "1e-10", "1e-14", 1e-8},
      {"radau5", "1e-8", "1e-14", 1e-6},  {"sdirk4", "1e-8", "1e-14", 1e-6},  {"esdirk4", "1e-8", "1e-14", 1e-6},
      {"rodas5p", "1e-8", "1e-14", 1e-6},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(fmt::format("{} with rtol = {}, atol = {}", c.method, c.rtol, c.atol));
    const auto r = run("transistor_amplifier",
                       {fmt::format("method={}", c.method), fmt::format("rtol={}", c.rtol),
                        fmt::format("atol={}", c.atol), "max_steps=10000000", "rescue=false", "output.events=true"});
    ASSERT_EQ(name_of(r.status[0]), "finished");
    for (const auto& [state, value] : end) EXPECT_NEAR(r.final(state), value, c.allowed) << state;
    EXPECT_LT(r.rejected[0], r.steps[0] / 20);
  }
}

}  // namespace
}  // namespace saltus::test
