// Gradients of one outcome by the discrete adjoint: against closed forms, and against derivatives in forward mode.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "derivative_runs.hpp"
#include "number/taped.hpp"

namespace saltus::test {
namespace {

std::string of(const std::string& weights) { return "gradient.of={" + weights + "}"; }
std::string gradient_by(const std::vector<std::string>& names) {
  return fmt::format("gradient.parameters=['{}']", fmt::join(names, "', '"));
}
double objective(const outcome& r, std::size_t instance = 0) { return r.gradient[instance]; }
/// The derivative by number j of the names.
double gradient(const outcome& r, std::size_t j, std::size_t instance = 0) {
  return r.gradient[(1 + j) * static_cast<std::size_t>(r.plan.count) + instance];
}

// --------------------------------------------------------------------------------------------------------------- tape

/// Functions of every kind, of two numbers.
template <class Number>
Number of_every_kind(const Number& x, const Number& y) {
  auto r = fma(x, y, sin(x) * pow(x, y)) + pow(x, 3.0) / hypot(x, y) + atan2(x, 2.0) - max(x, y) * min(x, y);
  r = r + abs(-x) - copysign(x, y) + pow(2.0, y) + exp(x) * log(y) / tanh(x) + cbrt(x * y) - expm1(y);
  r += cos(x) * tan(y) - asin(x) * acos(x) + atan(y) + sinh(x) * cosh(y) + log2(y) * log10(x) + sign(x) * floor(y);
  return r * sqrt(x) + 2.0 * y - 3.0 / x + 1.0 - (0.5 - y);
}

TEST(Tape, HasTheDerivativesOfDualNumbers) {
  using Real = pack<double, 4>;
  tape<Real> t;
  const Real a(0.7), b(1.3);
  const auto x = taped<Real>::input(t, a), y = taped<Real>::input(t, b);
  const auto r = of_every_kind(x, y);
  r.adjoint() = Real(1.0);
  t.sweep<true>(t.size(), 0);
  dual<Real, 2> u(a), v(b);
  u.d[0] = v.d[1] = Real(1.0);
  const auto s = of_every_kind(u, v);
  for (int lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(r.value.get(lane), s.value.get(lane));
    EXPECT_NEAR(x.adjoint().get(lane), s.d[0].get(lane), 1e-13 * std::fabs(s.d[0].get(lane)));
    EXPECT_NEAR(y.adjoint().get(lane), s.d[1].get(lane), 1e-13 * std::fabs(s.d[1].get(lane)));
  }
}

TEST(Tape, LeavesOutWhatASelectionLeavesOut) {
  using Real = pack<double, 1>;
  tape<Real> t;
  const auto x = taped<Real>::input(t, Real(0.0));
  const auto r = select(x > 1.0, sqrt(x), x * 3.0);
  r.adjoint() = Real(1.0);
  t.sweep<true>(t.size(), 0);
  EXPECT_EQ(x.adjoint().get(0), 3.0);
}

// ------------------------------------------------------------------------------------------------------- closed forms

void expect_decay(const std::string& method) {
  // J = 2 x + 3 y + x^2 / 2, y = start rate (e^(-rate t) - e^(-half t)) / (half - rate)
  const auto r = run(test_model("decay"), {"rtol=1e-11", "atol=1e-13", "method=" + method,
                                           of("final_x=2.0, final_y=3.0, final_square=0.5")});
  ASSERT_STREQ(reason_of(r), "defined");
  const double k = 0.7, c = 0.2, s = 1.5, t = 3, x = s * std::exp(-k * t), e = std::exp(-c * t), d = c - k;
  const double gap = std::exp(-k * t) - e, by_x = 2 + x;
  const double expected[] = {-t * x * by_x + 3 * (s * gap / d + s * k * (-t * std::exp(-k * t) / d + gap / (d * d))),
                             3 * s * k * (t * e / d - gap / (d * d)), by_x * x / s + 3 * k * gap / d, 0};
  ASSERT_EQ(r.gradient.size(), 5u);  // of all parameters
  expect_near(objective(r), 2 * x + 3 * s * k * gap / d + 0.5 * x * x, 1e-9, method + " objective");
  for (std::size_t j = 0; j < 4; ++j) expect_near(gradient(r, j), expected[j], 1e-9, fmt::format("{} {}", method, j));
}

TEST(Gradients, OfALinearEquation) { expect_decay("dp5"); }
TEST(Gradients, OfALinearEquationByOtherMethods) {
  for (const char* method : {"dop853", "rdpk510", "rkf78", "tsit5"}) expect_decay(method);
}

TEST(Gradients, ByAHundredParameters) {
  const auto r = run(test_model("hundred_rates"), {"rtol=1e-11", "atol=1e-13", "method=dop853", of("final_y=1.0")});
  ASSERT_STREQ(reason_of(r), "defined");
  ASSERT_EQ(r.gradient.size(), 102u);
  const auto integral = [](int k) { return k == 0 ? 3.0 : std::sin(0.3 * k) / (0.1 * k); };
  double sum = 0;
  for (int k = 0; k < 100; ++k) sum += 0.25 * integral(k);
  const double y = 1.5 * std::exp(-sum);
  expect_near(objective(r), y, 1e-9, "objective");
  for (int k = 0; k < 100; ++k)
    expect_near(gradient(r, static_cast<std::size_t>(k)), -integral(k) * y, 1e-9, fmt::format("rate {}", k));
  expect_near(gradient(r, 100), y / 1.5, 1e-9, "start");
}

// ------------------------------------------------------------------------------------------------------- forward mode

struct compared {
  std::string model;
  std::vector<std::string> settings, names;
};

/// The gradient of the sum of all final states, each with a weight of its own.
void expect_forward_mode(const compared& c) {
  const auto plain = run(c.model, c.settings), forward = run(c.model, with(c.settings, {by(c.names)}));
  const auto& states = plain.plan.model.states;
  std::string weights;
  for (std::size_t i = 0; i < states.size(); ++i)
    weights += fmt::format("{}final_{}={}", i == 0 ? "" : ", ", states[i].name, 1.0 + 0.5 * static_cast<double>(i));
  const auto r = run(c.model, with(c.settings, {of(weights), gradient_by(c.names)}));
  EXPECT_EQ(r.final_state, plain.final_state) << c.model;  // recording changes no bit
  EXPECT_EQ(r.steps, plain.steps) << c.model;
  for (std::size_t instance = 0; instance < static_cast<std::size_t>(r.plan.count); ++instance) {
    ASSERT_STREQ(reason_of(r, instance), reason_of(forward, instance)) << c.model;
    for (std::size_t j = 0; j < c.names.size(); ++j) {
      double expected = 0;
      for (std::size_t i = 0; i < states.size(); ++i)
        expected +=
            (1.0 + 0.5 * static_cast<double>(i)) * forward.derivative(i, j, static_cast<std::int64_t>(instance));
      expect_near(gradient(r, j, instance), expected, 1e-10, fmt::format("{} by {}", c.model, c.names[j]));
    }
  }
}

const compared lorenz_systems{"lorenz",
                              {"rtol=1e-10", "t=[0.0,3.0]", "initial.x=1.0", "sweep.rho={from=20.0,to=30.0,count=13}"},
                              {"sigma", "rho", "beta", "initial.x"}};

TEST(Gradients, AreThoseOfForwardMode) {
  auto c = lorenz_systems;
  c.settings.push_back("method=dp5");
  expect_forward_mode(c);
}
TEST(Gradients, AreThoseOfForwardModeByOtherMethods) {
  for (const char* method : {"bs3", "dop853", "rdpk510", "rkf78", "tsit5"}) {
    auto c = lorenz_systems;
    c.settings.push_back(fmt::format("method={}", method));
    expect_forward_mode(c);
  }
}
TEST(Gradients, OfConstantSteps) {
  auto c = lorenz_systems;
  c.settings = {"method=dp5", "step=0.01", "t=[0.0,1.005]", "initial.x=1.0"};
  expect_forward_mode(c);
}
TEST(Gradients, OfRunsBackwardInTime) {
  auto c = lorenz_systems;
  c.settings = {"method=dp5", "rtol=1e-9", "t=[1.0,0.8]", "initial.x=1.0"};
  expect_forward_mode(c);
}

// --------------------------------------------------------------------------------------------------------------- bits

TEST(Gradients, HaveTheSameBitsWhateverRunsBeside) {
  const auto run_with = [](const std::vector<std::string>& settings) {
    return run("lorenz", with({"rtol=1e-8", "method=dp5", "sweep.rho={from=0.5,to=40.0,count=37}",
                               "sweep.sigma=[5.0,10.0]", of("final_x=1.0, final_z=-2.0")},
                              settings));
  };
  const auto first = run_with({"run.lanes=8", "run.threads=1"});
  for (std::size_t i = 0; i < 74; ++i) ASSERT_STREQ(reason_of(first, i), "defined");
  for (const auto& settings : std::vector<std::vector<std::string>>{{"run.lanes=1", "run.threads=1"},
                                                                    {"run.lanes=4", "run.threads=2", "run.chunk=7"},
                                                                    {"run.lanes=8", "run.threads=2", "run.chunk=31"}})
    EXPECT_EQ(run_with(settings).gradient, first.gradient) << fmt::format("{}", fmt::join(settings, " "));
}

TEST(Gradients, OfInstancesThatAreRescued) {
  const std::vector<std::string> settings = {"rtol=1e-9", "method=dp5", "t=[0.0,3.0]",
                                             "sweep.rho={from=0.5,to=40.0,count=37}", of("final_x=1.0, final_z=-2.0")};
  const auto plain = run("lorenz", settings), r = run("lorenz", with(settings, {"inject_exceptions=0.3"}));
  std::size_t rescued = 0;
  for (std::size_t i = 0; i < 37; ++i) {
    rescued += r.exception[i] != 0;
    ASSERT_STREQ(reason_of(r, i), "defined") << i;
    expect_near(objective(r, i), r.final_state[i] - 2 * r.final_state[2 * 37 + i], 1e-15, "objective");
    for (std::size_t j = 0; j < 3; ++j)
      expect_near(gradient(r, j, i), gradient(plain, j, i), 1e-4, fmt::format("{} {}", i, j));
  }
  EXPECT_GT(rescued, 3u);
}

// -------------------------------------------------------------------------------------------------- none, and refusals

TEST(Gradients, OfAnInstanceThatFailsAreNotNumbers) {
  const auto r = run("lorenz", {"rtol=1e-10", "method=dp5", "max_steps=20", of("final_x=1.0")});
  EXPECT_STREQ(reason_of(r), "not_ended");
  for (const double number : r.gradient) EXPECT_NE(number, number);
}

std::string refusal(const std::string& model, const std::vector<std::string>& settings) {
  try {
    plan_of(model, with(settings, {of("final_x=1.0")}));
  } catch (const host::error& e) { return e.what(); }
  return "accepted";
}

TEST(Gradients, AreRefusedByName) {
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), message.npos) << message;
  };
  const auto with_weights = [](const std::string& model, const std::string& weights,
                               const std::vector<std::string>& settings = {}) -> std::string {
    try {
      plan_of(model, with(settings, {of(weights)}));
    } catch (const host::error& e) { return e.what(); }
    return "accepted";
  };
  expect(with_weights("bouncing_ball", "final_height=1.0"), "which has events (");
  expect(with_weights("pulsed_dose", "final_blood=1.0"), "which has events (");
  expect(with_weights("four_bar", "final_x=1.0"), "not of the form dy/dt = f(t, y)");
  expect(with_weights("mackey_glass", "final_x=1.0"), "which has delays");
  expect(refusal("lorenz", {"method=auto"}), "which may become implicit");
  expect(refusal("lorenz", {"method=taylor"}), "no explicit Runge-Kutta method");
  expect(refusal("lorenz", {"method=rodas5p"}), "no explicit Runge-Kutta method");
  expect(refusal("lorenz", {"precision=float"}), "gradients are in double");
  expect(refusal("lorenz", {"run.backend=cuda"}), "devices do not keep the steps");
  expect(refusal("lorenz", {by({"rho"})}), "with [sensitivity]");
  expect(refusal("lorenz", {"lyapunov.exponents=1"}), "with [lyapunov]");
  expect(refusal("lorenz", {"output.rows=false", "output.statistics=true"}), "kept for each instance");
  expect(refusal("lorenz", {"gradient.parameters=['rhoo']"}), "did you mean rho");
  expect(refusal("lorenz", {"gradient.parameters=['initial.x']"}), "must have a value in [initial]");
  expect(refusal("lorenz", {"gradient.parameters=['rho', 'rho']"}), "must not be listed twice");
  expect(with_weights("lorenz", "t_final=1.0"), "gradients are of final values of states and outputs");
  expect(with_weights("lorenz", "final_x=0.0"), "must have a weight that is not zero");
}

}  // namespace
}  // namespace saltus::test
