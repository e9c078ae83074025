// Samples between the ends of steps lie on the constraints of their model at every tolerance, and are as close to the closed form as the
// ends of steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event_runs.hpp"

namespace saltus::test {
namespace {

const std::vector<double> tolerances = {1e-4, 1e-7, 1e-10};

outcome sampled(const char* model, const char* method, double rtol, const std::vector<std::string>& more = {}) {
  return run(
      test_model(model),
      with({set("rtol", rtol), set("atol", rtol), std::string("method=") + method, "output.samples.count=101"}, more));
}

// sin a = x and z = 0, where x = 0.9 exp(-t).
TEST(Samples, OfIndexOneLieOnTheConstraints) {
  for (const char* method : {"radau5", "rodas5p"})
    for (const double rtol : tolerances) {
      SCOPED_TRACE(fmt::format("{} {}", method, rtol));
      const auto r = sampled("balance", method, rtol);
      ASSERT_EQ(name_of(r.status[0]), "finished");
      for (int k = 0; k <= 100; ++k) {
        const double x = r.sample(0, 0, k), a = r.sample(1, 0, k);
        EXPECT_NEAR(std::sin(a), x, 1e-15) << k;
        EXPECT_NEAR(r.sample(2, 0, k), 0.0, 1e-15) << k;
        EXPECT_NEAR(x, 0.9 * std::exp(-k / 100.0), 10 * rtol) << k;
      }
    }
}

// x^2 + y^2 = 1, and z = 2 + sin t, which the constraint's time derivative determines.
TEST(Samples, OfIndexTwoLieOnTheConstraintsAndOnTheirDerivatives) {
  for (const char* method : {"radau5"})
    for (const double rtol : tolerances) {
      SCOPED_TRACE(fmt::format("{} {}", method, rtol));
      const auto r = sampled("circle_2", method, rtol, {"turn_at=5.0"});
      ASSERT_EQ(name_of(r.status[0]), "finished");
      for (int k = 0; k <= 100; ++k) {
        const double t = 3.0 * k / 100, x = r.sample(0, 0, k), y = r.sample(1, 0, k);
        EXPECT_NEAR(x * x + y * y, 1.0, 2e-15) << k;
        EXPECT_NEAR(r.sample(2, 0, k), 2 + std::sin(t), 1e-14) << k;
        EXPECT_NEAR(std::remainder(std::atan2(y, x) - t - 0.5 * std::sin(t), 2 * std::acos(-1.0)), 0.0, 10 * rtol) << k;
      }
    }
}

// A pendulum in space that keeps its energy and its spin. One move brings a sample onto the invariants, to the square of its error.
TEST(Samples, OfAModelWithInvariantsLieOnThem) {
  for (const char* method : {"dp5", "dop853", "radau5"})
    for (const double rtol : tolerances) {
      SCOPED_TRACE(fmt::format("{} {}", method, rtol));
      const auto r = sampled("conserved_pendulum", method, rtol, {"vy=2.0"});
      ASSERT_EQ(name_of(r.status[0]), "finished");
      for (int k = 0; k <= 100; ++k) {
        const auto at = [&](std::size_t i) { return r.sample(i, 0, k); };
        const double x = at(0), y = at(1), z = at(2), vx = at(3), vy = at(4), vz = at(5);
        EXPECT_NEAR(x * x + y * y + z * z, 1.0, 1e-15) << k;
        EXPECT_NEAR(x * vx + y * vy + z * vz, 0.0, 1e-14) << k;
        EXPECT_NEAR(vx * vx + vy * vy + vz * vz + 2 * 9.81 * z, 4.0, 1e-12 + 50 * rtol * rtol) << k;
        EXPECT_NEAR(x * vy - y * vx, 2.0, 1e-12 + 50 * rtol * rtol) << k;
      }
    }
}

}  // namespace
}  // namespace saltus::test
