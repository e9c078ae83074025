// Derivatives by Taylor series: against closed forms, and with the states' bits of runs without derivatives.
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <boost/math/quadrature/gauss.hpp>

#include "abi/sensitivity.hpp"
#include "event_runs.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

std::string by(const std::vector<std::string>& names) {
  return fmt::format("sensitivity.parameters=['{}']", fmt::join(names, "', '"));
}
const char* reason_of(const outcome& r) { return sensitivity_table[r.sensitivity[0]].name; }
void expect_near(double a, double b, double part, const std::string& what) {
  EXPECT_NEAR(a, b, part * (1 + std::fabs(b))) << what;
}

/// The integrands of functions_of_time.
using real = long double;
std::array<real, 13> functions(real u, real e) {
  return {std::sin(e * u),  std::exp(e * u),  e * std::log(u),  std::sqrt(e + u), std::pow(u, e),
          std::pow(e, u),   std::atan(e * u), std::tanh(e * u), std::atan2(u, e), e / u,
          std::asin(u / e), std::cbrt(e * u), std::pow(u, u)};
}
/// Integral number i over the unit time.
real integral(std::size_t i, real begin, real speed, real exponent) {
  return boost::math::quadrature::gauss<real, 40>::integrate(
      [&](real t) { return functions(begin + speed * t, exponent)[i]; }, real(0), real(1));
}

// The exponent 2 is one for which a series multiplies; 2.5 is another.
TEST(SeriesSensitivities, OfEveryFunction) {
  for (const double exponent : {2.0, 2.5})
    for (const char* method : {"taylor8", "taylor20"}) {
      const auto r =
          run(test_model("functions_of_time"), {"rtol=1e-11", "atol=1e-13", std::string("method=") + method,
                                                set("exponent", exponent), by({"begin", "speed", "exponent"})});
      ASSERT_STREQ(reason_of(r), "defined") << method;
      for (std::size_t i = 0; i < functions(1, 1).size(); ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          const auto at = [&](real by) {
            return integral(i, 0.3L + (j == 0 ? by : 0), 0.4L + (j == 1 ? by : 0), exponent + (j == 2 ? by : 0));
          };
          constexpr real d = 1e-4L;
          const real slope = (at(-2 * d) - 8 * at(-d) + 8 * at(d) - at(2 * d)) / (12 * d);
          expect_near(r.derivative(i + 1, j), static_cast<double>(slope), 1e-10,
                      fmt::format("{} {} by {}", method, r.plan.model.states[i + 1].name, j));
        }
    }
}

// The states are straight lines, whose series allow steps far beyond the radius of convergence of dy/dp.
TEST(SeriesSensitivities, AreFlaggedWhereStepsDoNotResolveThem) {
  const std::vector<std::string> settings = {"rtol=1e-10", "method=taylor12", "output.samples.count=5", by({"p"})};
  const auto coarse = run(test_model("hidden_peak"), settings);
  EXPECT_STREQ(reason_of(coarse), "unresolved");
  EXPECT_TRUE(std::isnan(coarse.derivative(1)));
  for (int i = 1; i < 5; ++i) EXPECT_TRUE(std::isnan(coarse.sample(3, 0, i))) << i;
  const auto fine = run(test_model("hidden_peak"), with(settings, {"sensitivity.error_control=true"}));
  ASSERT_STREQ(reason_of(fine), "defined");
  expect_near(fine.derivative(1), std::atan(10.0) / 5, 1e-9, "y");
  for (int i = 0; i < 5; ++i)
    expect_near(fine.sample(3, 0, i), (std::atan(5.0 * i - 10) + std::atan(10.0)) / 10, 1e-9,
                fmt::format("sample {}", i));
}

TEST(SeriesSensitivities, HaveTheSameBitsHoweverTheyAreRun) {
  const std::vector<std::string> settings = {"method=taylor8",
                                             "rtol=1e-7",
                                             "t=[0.0,6.0]",
                                             "initial.pressure=1.0",
                                             "sample.count=13",
                                             "sample.flow={uniform=[1.0,8.0]}",
                                             by({"restitution", "flow"}),
                                             "output.reduce=['time(max(pressure))']"};
  const auto wide = run("relief_valve", with(settings, {"run.threads=2", "run.lanes=8", "run.chunk=5"}));
  const auto narrow = run("relief_valve", with(settings, {"run.threads=1", "run.lanes=1", "run.groups=1"}));
  ASSERT_EQ(wide.sensitivity, narrow.sensitivity);
  ASSERT_EQ(wide.final_derivative.size(), narrow.final_derivative.size());
  for (std::size_t i = 0; i < wide.final_derivative.size(); ++i)
    ASSERT_EQ(bits(wide.final_derivative[i]), bits(narrow.final_derivative[i])) << i;
}

// The model does not turn at the ends of the span: max(wave) is at w t + phase = 2 pi - atan(k / w), its time dt = ...
TEST(SeriesSensitivities, OfTheTimeOfAnExtremumOfAnOutput) {
  const double k = 0.1, w = 3, phase = 1;
  const double t = (2 * 3.14159265358979323846 - std::atan(k / w) - phase) / w, by_ratio = 1 / (1 + k * k / (w * w));
  const double expected[] = {-by_ratio / (w * w), -t / w + by_ratio * k / (w * w * w), -1 / w};
  for (const char* method : {"taylor12", "dp5", "dop853", "bs3", "radau5"}) {
    const auto r = run(test_model("waves"), {"rtol=1e-10", std::string("method=") + method, "phase=1.0",
                                             by({"k", "w", "phase"}), "output.reduce=['time(max(wave))']"});
    ASSERT_STREQ(reason_of(r), "defined");
    for (std::size_t j = 0; j < 3; ++j)
      expect_near(r.derivative(r.plan.model.states.size() + r.plan.model.outputs.size() + 1, j), expected[j], 1e-8,
                  fmt::format("{} by {}", method, j));
  }
}

}  // namespace
}  // namespace saltus::test
