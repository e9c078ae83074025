// Equations of any order stepped in local coordinates (form/local_coordinates.hpp): the solution stays on the constraints and on its
// initial branch, and agrees with numbers known without saltus.
#include <cmath>
#include <fstream>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

using settings = std::vector<std::string>;

const char* status_of(const outcome& r, std::size_t i = 0) { return status_table[r.status[i]].name; }

settings more(settings a, const settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

nlohmann::json known_of(const std::string& model) {
  std::ifstream file(saltus::test::in_source("tests/reference/any_order.json"));
  return nlohmann::json::parse(file).at(model);
}

struct orbit_errors {
  double x1 = 0, x2 = 0, x3 = 0, constraint = 0;
};

/// Largest errors of an orbit's samples against the closed form.
orbit_errors errors_of_orbit(const outcome& r, std::int64_t instance, double b, int samples) {
  orbit_errors most;
  for (int k = 0; k < samples; ++k) {
    const double t = 30.0 * k / (samples - 1), w = std::sqrt(b);
    const double x1 = r.sample(0, instance, k), x2 = r.sample(2, instance, k), x3 = r.sample(4, instance, k);
    most.x1 = std::max(most.x1, std::fabs(x1 - std::cos(w * t)));
    most.x2 = std::max(most.x2, std::fabs(x2 - std::sin(w * t) / w));
    most.x3 = std::max(most.x3, std::fabs(x3));
    most.constraint = std::max(most.constraint, std::fabs(x1 * x1 + b * x2 * x2 - 1.0));
  }
  return most;
}

const settings orbits = {"method=dp5", "rtol=1e-6", "coordinates=unitary", "output.samples={count=601}"};

// Published for a tolerance of 1e-6: .0128 and .0036 (b = 10, new coordinates in every step), up to .012 of x1 (b = 100).
TEST(LocalCoordinates, TightOrbitsStayOnTheirConstraintsAtSamplesToo) {
  const auto r = run("tight_orbits", more(orbits, {"sweep.b=[10.0, 100.0]"}));
  for (const int i : {0, 1}) {
    EXPECT_STREQ(status_of(r, static_cast<std::size_t>(i)), "finished");
    const auto e = errors_of_orbit(r, i, i == 0 ? 10.0 : 100.0, 601);
    EXPECT_LT(e.x1, i == 0 ? 0.0128 / 100 : 0.012 / 100) << i;
    EXPECT_LT(e.x2, 0.0036 / 100) << i;
    EXPECT_LT(e.x3, 1e-13) << i;
    EXPECT_LT(e.constraint, 1e-12) << i;
    EXPECT_LT(r.residual[static_cast<std::size_t>(i)], 1e-11) << i;
  }
}

TEST(LocalCoordinates, HaveTheSameBitsInAnyLaneThreadAndChunk) {
  const auto wide = run("tight_orbits", more(orbits, {"sweep.b={from=10.0, to=100.0, count=11}", "run.lanes=8"}));
  const auto other =
      run("tight_orbits",
          more(orbits, {"sweep.b={from=10.0, to=100.0, count=11}", "run.lanes=1", "run.threads=2", "run.chunk=3"}));
  EXPECT_EQ(wide.final_state, other.final_state);
  EXPECT_EQ(wide.steps, other.steps);
  EXPECT_EQ(wide.status, other.status);
}

// Steps of constant length: errors are proportional to h^4. At h = .01 coordinates from the full derivative array, integrated by a
// prototype in Python, leave 4.2e-6.
TEST(LocalCoordinates, HaveTheOrderOfTheirMethod) {
  double before = 0;
  for (const double h : {0.02, 0.01}) {
    const auto r = run("tight_orbits", {"method=rk4", fmt::format("step={}", h), "coordinates=unitary",
                                        "parameters.b=10.0", "output.samples={count=301}"});
    const auto e = errors_of_orbit(r, 0, 10.0, 301);
    EXPECT_LT(e.constraint, 1e-13);
    if (before > 0) { EXPECT_NEAR(std::log2(before / e.x1), 4.0, 0.2); }
    if (before > 0) { EXPECT_LT(e.x1, 1e-5); }
    before = e.x1;
  }
  // Over more than a quarter of the ellipse no tangent direction is a coordinate.
  const auto far = run("tight_orbits", {"method=rk4", "step=0.75", "coordinates=unitary", "parameters.b=10.0",
                                        "output.samples={count=301}"});
  EXPECT_STREQ(status_of(far), "newton_failed");
}

// Both bank angles that meet the prescribed drag, from a guess on either side: at three times known to 1e-8, and at their ends, whose
// times, at which the equation for the bank angle loses its root, are known from tests/reference/shuttle_branch.py.
TEST(LocalCoordinates, TheShuttleKeepsItsBranchUntilThatEnds) {
  const auto r = run("shuttle_reentry", {"method=dp5", "rtol=1e-9", "coordinates=unitary", "t=[332.868734542, 600.0]",
                                         "sweep.beta=[0.72, -0.72]", "rescue=false",
                                         "output.samples={times=[342.868734542, 382.868734542, 419.868734542]}"});
  const auto marks = known_of("shuttle_reentry");
  for (int k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < r.plan.model.states.size(); ++i) {
      const auto& values = marks[static_cast<std::size_t>(k)].at("values");
      const auto& name = r.plan.model.states[i].name;
      if (!values.contains(name)) continue;
      const double expected = values.at(name);
      EXPECT_NEAR(r.sample(i, 0, k), expected, 1e-8 * std::fabs(expected)) << name << " " << k;
    }
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_STREQ(status_of(r, i), "singular");
    EXPECT_NEAR(r.t_final[i], i == 0 ? 546.61664075 : 546.78691006, 1e-5);
    EXPECT_LT(r.residual[i], 1e-10);
  }
}

// Plain coordinates: some of the values, chosen by pivots, from which the others follow.
TEST(LocalCoordinates, MayBeSomeOfTheValues) {
  const auto r = run("rod_pendulum", {"method=dp5", "rtol=1e-10", "coordinates=partitioned"});
  EXPECT_STREQ(status_of(r), "finished");
  const auto known = known_of("rod_pendulum")[0].at("values");
  for (const char* name : {"x", "y", "x_d1", "y_d1", "tension"})
    EXPECT_NEAR(r.final(name), known.at(name).get<double>(), 1e-8) << name;
  EXPECT_LT(r.residual[0], 1e-12);
}

// Index 3 and 1: an instance has the constraints of its current mode.
TEST(LocalCoordinates, GoThroughModesOfDifferentIndex) {
  const settings s = {"method=dp5", "rtol=1e-9", "coordinates=unitary", "sweep.speed={from=1.2, to=2.4, count=13}"};
  const auto all = run("slack_pendulum_any_order", more(s, {"run.lanes=8"}));
  const auto one = run("slack_pendulum_any_order", more(s, {"run.lanes=1"}));
  EXPECT_EQ(all.status, one.status);
  EXPECT_EQ(all.final_state, one.final_state);
  EXPECT_GT(*std::max_element(all.events.begin(), all.events.end()), 0);
  for (std::size_t i = 0; i < all.status.size(); ++i) EXPECT_STREQ(status_of(all, i), "finished") << i;
}

}  // namespace
}  // namespace saltus::test
