// The hybrid method against M. D. Compere, dissertation, UT Austin 2001, chapter 3: tables 3.2 and 3.3 with his projection, and the
// same problems with projection in the metric of kinetic energy. Numbers not printed there come from an independent program.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace {

using namespace saltus::test;

/// max - min of the energy over the points of `steps` steps of length h; the energy is the first output.
double energy_spread(const outcome& r, int steps) {
  EXPECT_EQ(r.plan.model.outputs[0].name, "energy");
  EXPECT_EQ(r.steps[0], steps);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int k = 0; k <= steps; ++k) {
    const double e = r.sample(r.plan.model.states.size(), 0, k);
    low = std::min(low, e), high = std::max(high, e);
  }
  return high - low;
}

outcome fixed_steps(const std::string& model, const char* method, double h, int steps,
                    const std::vector<std::string>& more = {}) {
  return run(model, with({fmt::format("method={}", method), set("t", {0.0, h * steps}), set("step", h),
                          fmt::format("output.samples.count={}", steps + 1)},
                         more));
}

struct row {
  const char* method;
  double h;
  int steps;  ///< a loop "while t < T" over accumulated times may make one step more than T / h
  double published;
};

void expect_row(const char* model, const row& r) {
  const outcome o = fixed_steps(test_model(model), r.method, r.h, r.steps);
  const double spread = energy_spread(o, r.steps);
  std::printf("%-28s %-7s h = %-6g dE published %.1e, here %.3e, constraints %.1e\n", model, r.method, r.h, r.published,
              spread, o.residual[0]);
  // Equal in the two printed digits.
  EXPECT_NEAR(spread, r.published, 0.5000001 * std::pow(10, std::floor(std::log10(r.published)) - 1))
      << r.method << " " << r.h;
  EXPECT_LE(o.residual[0], 1e-13);
  EXPECT_EQ(o.far_adjustments[0], 0);
}

TEST(compere, table_3_2) {
  for (const row& r : {row{"kutta3", 0.05, 101, 2.0e-1},
                       {"kutta3", 0.01, 501, 1.8e-3},
                       {"kutta3", 0.005, 1001, 2.3e-4},
                       {"kutta3", 0.001, 5000, 1.8e-6},
                       {"rkf45", 0.05, 101, 2.8e-4},
                       {"rkf45", 0.01, 501, 8.9e-8},
                       {"rkf45", 0.005, 1001, 2.8e-9},
                       {"rkf78", 0.05, 101, 4.4e-8}})
    expect_row("compound_pendulum_printed", r);
  for (const row& r :
       {row{"rkf45", 0.001, 5000, 9.7e-13}, {"rkf78", 0.01, 500, 1.7e-13}, {"rkf78", 0.001, 5000, 1.7e-13}}) {
    const outcome o = fixed_steps(test_model("compound_pendulum_printed"), r.method, r.h, r.steps);
    EXPECT_LE(energy_spread(o, r.steps), 1e-12) << r.method << " " << r.h;  // of 160 J: rounding
    EXPECT_LE(o.residual[0], 1e-13);
  }
}

TEST(compere, table_3_3) {
  for (const row& r : {row{"kutta3", 0.05, 160, 6.0e-7},
                       {"kutta3", 0.01, 800, 4.6e-9},
                       {"kutta3", 0.005, 1600, 5.7e-10},
                       {"kutta3", 0.001, 8000, 4.6e-12},
                       {"rkf45", 0.05, 160, 3.3e-10},
                       {"rkf45", 0.01, 800, 9.2e-14},
                       {"rkf45", 0.005, 1600, 2.8e-15},
                       {"rkf78", 0.05, 161, 2.3e-14}})
    expect_row("rolling_spheres_printed", r);
}

// Projected in the metric of kinetic energy the same steps lose less than half of the energy, with the same order in h.
TEST(compere, the_metric_of_kinetic_energy_loses_less) {
  for (const row& r :
       {row{"kutta3", 0.05, 160, 6.0e-7}, {"kutta3", 0.01, 800, 4.6e-9}, {"rkf45", 0.05, 160, 3.3e-10}}) {
    const outcome o = fixed_steps("rolling_spheres", r.method, r.h, r.steps);
    const double spread = energy_spread(o, r.steps);
    std::printf("%-7s h = %-6g dE as printed %.1e, here %.3e\n", r.method, r.h, r.published, spread);
    EXPECT_LT(spread, 0.5 * r.published) << r.method << " " << r.h;
    EXPECT_GT(spread, 0.2 * r.published) << r.method << " " << r.h;
    EXPECT_LE(o.residual[0], 1e-13);
  }
}

TEST(compere, both_problems_meet_their_references) {
  for (const char* method : {"dp5", "dop853"}) {
    SCOPED_TRACE(method);
    const std::vector<std::string> most = {fmt::format("method={}", method), "rtol=1e-13", "atol=1e-14"};
    const outcome p = run("compound_pendulum", most), s = run("rolling_spheres", most);
    EXPECT_NEAR(p.final("angle"), 0.3738942186662719547, 3e-12);
    EXPECT_NEAR(p.final("omega"), 0.8611552694957156350, 1e-11);
    EXPECT_NEAR(p.output(0), -159.930922978, 1e-9);
    EXPECT_NEAR(s.final("alpha"), -0.721256676724, 2e-12);
    EXPECT_NEAR(s.final("beta"), 2.474689087140, 2e-12);
    EXPECT_NEAR(s.output(0), 4.85769591616e-3, 2e-14);
    EXPECT_LE(std::max(p.residual[0], s.residual[0]), 1e-13);
  }
}

// If each step keeps the multipliers of its beginning, the energy drifts by joules, with first order in h.
TEST(compere, without_stabilisation_of_accelerations_joules_drift) {
  const auto spread = [](const char* model, double h, int steps) {
    const outcome o =
        fixed_steps(model == std::string("frozen") ? test_model("frozen_multipliers") : model, "rkf78", h, steps);
    EXPECT_LE(o.residual[0], 1e-13);  // the constraints do not show the error; far_adjustments does
    EXPECT_EQ(o.far_adjustments[0] > steps / 2, model == std::string("frozen"));
    return energy_spread(o, steps);
  };
  const double coarse = spread("frozen", 0.01, 500), fine = spread("frozen", 0.005, 1000),
               finest = spread("frozen", 0.001, 5000);
  std::printf("held multipliers: dE = %.2f J with h = 0.01, %.2f J with 0.005, %.2f J with 0.001\n", coarse, fine,
              finest);
  EXPECT_NEAR(coarse, 9.64, 3.0);
  EXPECT_NEAR(fine, 5.92, 2.0);
  EXPECT_NEAR(finest, 1.42, 0.5);
  EXPECT_LE(spread("compound_pendulum", 0.01, 500), 1e-12);
}

// From a start that violates all three constraints: the solution reaches each after |s| / eta (an event) and stays on it.
TEST(compere, surfaces_are_reached_one_after_another) {
  const std::vector<std::string> start = {"method=dop853",   "rtol=1e-12",     "atol=1e-14",      "output.events=true",
                                          "initial.rho=0.7", "phi_factor=1.2", "theta_factor=1.5"};
  const outcome a = run(test_model("rolling_spheres_unprojected"), start), b = run("rolling_spheres", start);
  for (const outcome* r : {&a, &b}) {
    ASSERT_EQ(names_of(*r), (std::vector<std::string>{"reaches_roll_beta", "reaches_roll_alpha", "reaches_contact"}));
    EXPECT_NEAR(times_of(*r)[0], 0.235619449019, 1e-9);
    EXPECT_NEAR(times_of(*r)[1], 0.589048622548, 1e-9);
    EXPECT_NEAR(times_of(*r)[2], 1.0, 1e-9);
    EXPECT_NEAR(r->log[2].before[0] - 0.6, 0.00999954600, 1e-10);
  }
  EXPECT_NEAR(a.output(0), 8.964506744017e-3, 1e-10);
  EXPECT_NEAR(b.output(0), 8.549945457894e-3, 1e-10);
  EXPECT_NEAR(b.log[2].after[0], 0.6, 2e-16);
  EXPECT_LE(b.residual[0], 1e-13);  // of the constraints reached so far
  // In run B the energy is constant once all constraints are reached.
  const outcome after = run("rolling_spheres", with(start, {"output.samples.count=81"}));
  for (int k = 11; k <= 80; ++k) EXPECT_NEAR(after.sample(12, 0, k), 8.549945457894e-3, 1e-12) << k;
}

// Lanes reach their surfaces at different times, and an instance that starts on all of them has no event.
TEST(compere, lanes_reach_their_surfaces_each_by_itself) {
  const std::vector<std::string> sweep = {"method=dp5", "rtol=1e-9", "atol=1e-11", "output.events=true",
                                          "sweep.phi_factor={from=0.6, to=1.4, count=9}"};
  const outcome wide = run("rolling_spheres", sweep), one = run("rolling_spheres", with(sweep, {"run.lanes=1"}));
  ASSERT_EQ(wide.log.size(), one.log.size());
  EXPECT_EQ(wide.final_state, one.final_state);
  for (std::int64_t i = 0; i < 9; ++i) {
    // At the start s is r phi' |1 - 1 / factor| of rolling: 0.05 * 12 * v_beta * |factor - 1|, over eta = 0.05.
    const double off = 0.05 * 12 * 0.09817477042468103 * std::abs(0.6 + 0.1 * static_cast<double>(i) - 1.0) / 0.05;
    if (i == 4) {
      EXPECT_TRUE(names_of(wide, i).empty());
    } else {
      ASSERT_EQ(names_of(wide, i), std::vector<std::string>{"reaches_roll_beta"}) << i;
      EXPECT_NEAR(times_of(wide, "", i)[0], off, 1e-9);
    }
  }
}

}  // namespace
