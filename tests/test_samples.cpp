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

}  // namespace
}  // namespace saltus::test
