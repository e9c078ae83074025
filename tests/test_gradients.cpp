// Gradients of one outcome by the discrete adjoint: against closed forms, and against derivatives in forward mode.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "derivative_runs.hpp"
#include "loops_reference.hpp"
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
  r = r + abs(-x) - copysign(x, y) + y * copysign(0.5, x) - copysign(y, 2.0) + pow(2.0, y) + exp(x) * log(y) / tanh(x) +
      cbrt(x * y) - expm1(y);
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
  for (const char* method : {"dop853", "rdpk510", "rkf78", "tsit5", "rodas5p", "radau5", "esdirk4"})
    expect_decay(method);
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

/// Weights of all final states and outputs, and of the time of the end, each different.
double weight(std::size_t i) { return 1.0 + 0.5 * static_cast<double>(i); }
std::string of_all(const host::model& m) {
  std::vector<std::string> weights;
  for (const auto* list : {&m.states, &m.outputs})
    for (const auto& q : *list) weights.push_back(fmt::format("final_{}={}", q.name, weight(weights.size())));
  weights.push_back(fmt::format("t_final={}", weight(weights.size())));
  return of(fmt::format("{}", fmt::join(weights, ", ")));
}

/// The number of gradients that exist, of those that forward mode has.
struct agreement {
  std::size_t both = 0, one_undefined = 0, neither = 0;
};

/// Compares gradients with forward mode. Where forward mode has none, there must be none. `part` is relative to the sizes of the summands.
agreement compare_with_forward_mode(const compared& c, double part = 1e-10) {
  const auto plain = run(c.model, c.settings), forward = run(c.model, with(c.settings, {by(c.names)}));
  const auto& m = plain.plan.model;
  const auto r = run(c.model, with(c.settings, {of_all(m), gradient_by(c.names)}));
  EXPECT_EQ(r.final_state, plain.final_state) << c.model;  // recording changes no bit
  EXPECT_EQ(r.steps, plain.steps) << c.model;
  agreement all;
  for (std::size_t instance = 0; instance < static_cast<std::size_t>(r.plan.count); ++instance) {
    const bool is_known = r.sensitivity[instance] == 0;
    EXPECT_TRUE(!is_known || forward.sensitivity[instance] == 0) << c.model << " " << instance;
    if (!is_known) {
      ++(forward.sensitivity[instance] == 0 ? all.one_undefined : all.neither);
      EXPECT_TRUE(std::isnan(gradient(r, 0, instance)));
      continue;
    }
    ++all.both;
    for (std::size_t j = 0; j < c.names.size(); ++j) {
      double expected = 0, size = 1;
      for (std::size_t i = 0; i < m.states.size() + m.outputs.size() + 1; ++i) {
        const double term = weight(i) * forward.derivative(i, j, static_cast<std::int64_t>(instance));
        expected += term, size += std::fabs(term);
      }
      EXPECT_NEAR(gradient(r, j, instance), expected, part * size)
          << c.model << " " << instance << " by " << c.names[j];
    }
  }
  return all;
}
void expect_forward_mode(const compared& c, double part = 1e-10) {
  const auto all = compare_with_forward_mode(c, part);
  EXPECT_GT(all.both, 0u) << c.model;
  EXPECT_EQ(all.one_undefined + all.neither, 0u) << c.model;
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
const compared relaxations{
    "van_der_pol", {"t=[0.0,60.0]", "initial.x=2.0", "sweep.mu={from=100.0,to=1000.0,count=11}"}, {"mu", "initial.x"}};

TEST(Gradients, OfAStiffEquation) {
  auto c = relaxations;
  c.settings = with(c.settings, {"rtol=1e-8", "method=rodas5p"});
  expect_forward_mode(c);
}
/// An instance that changes over begins again by the stiff method and has its gradient; the others have that of dp5.
TEST(Gradients, OfEquationsThatProveStiff) {
  const auto by = [](const std::string& method) {
    auto settings = with(relaxations.settings, {"rtol=1e-7", of("final_x=1.0"), gradient_by(relaxations.names)});
    settings[2] = "sweep.mu=[0.5, 3.0, 300.0, 1000.0]";
    if (!method.empty()) settings.push_back("method=" + method);
    return run("van_der_pol", settings);
  };
  const auto found = by(""), gentle = by("dp5"), stiff = by("rodas5p");
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_STREQ(reason_of(found, i), "defined");
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_EQ(gradient(found, j, i), gradient(i < 2 ? gentle : stiff, j, i)) << i << " " << j;
  }
}
TEST(Gradients, OfStiffEquations) {
  const auto expect = [](compared c, const std::string& method) {
    c.settings = with(c.settings, {"rtol=1e-8", "atol=1e-10", "method=" + method});
    for (const auto& p : plan_of(c.model, {}).model.parameters) c.names.push_back(p.name);
    expect_forward_mode(c);
  };
  expect({"robertson", {"t=[0.0,40.0]", "sweep.k1={from=0.03,to=0.05,count=9}"}, {}}, "radau5");
  expect({"hires", {"t=[0.0,50.0]"}, {}}, "rodas5p");
}
TEST(Gradients, OfStiffEquationsByOtherMethods) {
  for (const char* method : {"rodas4", "radau9", "radau13", "sdirk4", "esdirk4", "trapezoid"}) {
    auto c = relaxations;
    c.settings = with(c.settings, {"rtol=1e-7", fmt::format("method={}", method)});
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

// ------------------------------------------------------------------------------------------------------------- events

TEST(Gradients, OfABouncingBall) {
  // Bounce k is at T (1 + 2 (e + ... + e^(k-1))), T = sqrt(2 h / g), after which the speed is e^k sqrt(2 g h). By similarity the height is
  // h F(t sqrt(g / h), e).
  const double h = 1.3, g = 9.81, e = 0.7, t = 2.4, fall = std::sqrt(2 * h / g);
  double bounce = fall, by_e = 0, speed = e * std::sqrt(2 * g * h), speed_by_e = speed / e;
  int k = 1;
  for (; bounce + 2 * speed / g < t; ++k) {
    bounce += 2 * speed / g, by_e += 2 * speed_by_e / g;
    speed_by_e = (k + 1) * speed, speed *= e;
  }
  ASSERT_EQ(k, 5);
  const double tau = t - bounce, height = tau * (speed - 0.5 * g * tau), velocity = speed - g * tau;
  const auto r =
      run("bouncing_ball", {"rtol=1e-10", "method=dp5", fmt::format("t=[0.0,{}]", t), "initial.height=1.3",
                            of("final_height=2.0"), gradient_by({"restitution", "gravity", "initial.height"})});
  ASSERT_STREQ(reason_of(r), "defined");
  ASSERT_EQ(r.events[0], k);
  expect_near(objective(r), 2 * height, 1e-9, "objective");
  expect_near(gradient(r, 0), 2 * (tau * speed_by_e - velocity * by_e), 1e-8, "by restitution");
  expect_near(gradient(r, 1), t / g * velocity, 1e-8, "by gravity");
  expect_near(gradient(r, 2), 2 * height / h - t / h * velocity, 1e-8, "by height");
}

const compared valves{"relief_valve",
                      {"rtol=1e-8", "t=[0.0,6.0]", "initial.pressure=1.0", "sweep.flow={from=1.0,to=8.0,count=37}"},
                      {"damping", "preload", "flow", "compressibility", "restitution", "initial.pressure"}};

TEST(Gradients, PassImpacts) {
  auto c = valves;
  c.settings.push_back("method=dp5");
  expect_forward_mode(c);
}
TEST(Gradients, PassImpactsByOtherMethods) {
  for (const char* method : {"bs3", "dop853", "rdpk510", "rkf45", "rkf78", "tsit5"}) {
    auto c = valves;
    c.settings.push_back(fmt::format("method={}", method));
    expect_forward_mode(c);
  }
}
/// At an event the sweep takes f where an implicit method has the slope of its formula.
TEST(Gradients, PassImpactsByImplicitMethods) {
  for (const char* method : {"rodas5p", "radau5", "esdirk4"}) {
    auto c = valves;
    c.settings.push_back(fmt::format("method={}", method));
    expect_forward_mode(c, 3e-7);
  }
}
TEST(Gradients, PassEventsOfAllKinds) {
  const std::vector<std::string> loops_by(loops::names.begin(), loops::names.begin() + loops::count);
  const std::vector<compared> all = {
      {"relief_valve", with(valves.settings, {"detection=certified"}), valves.names},
      {"relief_valve", {"step=0.001", "t=[0.0,6.0]", "initial.pressure=1.0"}, valves.names},
      {"impact_oscillator",
       {"t=[0.0,10.0]", "sweep.frequency={from=2.5,to=3.0,count=9}"},
       {"restitution", "frequency"}},
      {test_model("moving_table"),
       {"t=[0.0,1.8]", "sweep.phase={from=0.0,to=6.0,count=13}"},
       {"amplitude", "frequency", "phase", "restitution", "gravity"}},
      // ends at an event, whose time moves
      {"ball_drag", {"v_min=0.5", "t=[0.0,30.0]"}, {"gravity", "drag", "restitution", "v_min"}},
      // discrete variables, `mode`, backward in time
      {"thermostat", {"t=[0.0,10.1]"}, {"cooling", "heating", "low", "high"}},
      {"thermostat", {"t=[0.0,-3.1]"}, {"cooling", "heating", "low", "high"}},
      {"izhikevich", {}, {"a", "b", "c", "d", "peak", "stimulus", "onset"}},
      {test_model("logic"), {}, {}},
      {"mao_4", {}, {}},
      // time events whose times are parameters, and scheduled ones; random draws; items that carry numbers
      {"pulsed_dose", {"t=[0.0,21.0]"}, {"absorption", "elimination", "interval", "t_first", "t_loading", "amount"}},
      {test_model("two_loops"), {"t=[0.0,2.95]", "dose=0.3", "mix=0.2", "add=0.1", "x_low=1.5", "y_low=2.0"}, loops_by},
      {test_model("conveyor"), {"t=[0.0,9.9]", "cleared_at=5.55"}, {"travel", "loss", "cleared_at", "faster"}},
      {test_model("repairs"),
       {"t=[0.0,9.9]", "sample.count=21", "sample.seed=3"},
       {"failing", "mending", "theta", "sigma", "step"}},
  };
  for (auto c : all) {
    c.settings = with({"rtol=1e-9", "method=dp5"}, c.settings);
    if (c.names.empty())
      for (const auto& p : plan_of(c.model, {}).model.parameters) c.names.push_back(p.name);
    expect_forward_mode(c);
  }
}

// --------------------------------------------------------------------------------------------------- integrals and means

// x = start e^(-rate t), so J = 2 integral(x) + 4 mean(square) is start and rate alone.
TEST(Gradients, OfIntegralsHaveTheClosedForm) {
  for (const char* method : {"dp5", "rodas5p"}) {
    SCOPED_TRACE(method);
    const auto r = run(test_model("decay"), {"rtol=1e-11", "atol=1e-13", fmt::format("method={}", method),
                                             of("'integral(x)'=2.0, 'mean(square)'=4.0")});
    ASSERT_STREQ(reason_of(r), "defined");
    const double k = 0.7, s = 1.5, t = 3, e = std::exp(-k * t), e2 = e * e;
    expect_near(objective(r), 2 * s * (1 - e) / k + 4 * s * s * (1 - e2) / (2 * k * t), 1e-9, "objective");
    const double by_k = 2 * s * (t * e / k - (1 - e) / (k * k)) + 2 * s * s / t * (2 * t * e2 / k - (1 - e2) / (k * k));
    expect_near(gradient(r, 0), by_k, 1e-8, "by rate");
    expect_near(gradient(r, 1), 0, 1e-12, "by half");
    expect_near(gradient(r, 2), 2 * (1 - e) / k + 4 * s * (1 - e2) / (k * t), 1e-8, "by start");
  }
}

/// Compares the gradient of an integral and a mean with derivatives of these reductions.
void expect_integrals_of_forward_mode(compared c, const std::string& x, const std::string& y, double part) {
  const auto reduced = with(c.settings, {by(c.names), fmt::format("output.reduce=['integral({})','mean({})']", x, y)});
  const auto forward = run(c.model, reduced);
  const auto r = run(
      c.model, with(c.settings, {of(fmt::format("'integral({})'=2.0, 'mean({})'=-3.0", x, y)), gradient_by(c.names)}));
  const auto& m = r.plan.model;
  const std::size_t first = m.states.size() + m.outputs.size() + 1;
  std::size_t known = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(r.plan.count); ++i) {
    const auto instance = static_cast<std::int64_t>(i);
    if (r.sensitivity[i] != 0 || forward.sensitivity[i] != 0) continue;
    ++known;
    for (std::size_t j = 0; j < c.names.size(); ++j) {
      const double of_integral = 2 * forward.derivative(first, j, instance);
      const double of_mean = -3 * forward.derivative(first + 1, j, instance);
      EXPECT_NEAR(gradient(r, j, i), of_integral + of_mean, part * (1 + std::fabs(of_integral) + std::fabs(of_mean)))
          << c.model << " " << i << " by " << c.names[j];
    }
  }
  EXPECT_EQ(known, static_cast<std::size_t>(r.plan.count)) << c.model;
}

TEST(Gradients, OfIntegralsAreThoseOfForwardMode) {
  auto chaotic = lorenz_systems, valve = valves;
  chaotic.settings = with(chaotic.settings, {"rtol=1e-11", "atol=1e-11", "method=dop853"});
  expect_integrals_of_forward_mode(chaotic, "x", "z", 1e-6);
  valve.settings = with(valve.settings, {"rtol=1e-11", "atol=1e-12", "method=dop853"});
  expect_integrals_of_forward_mode(valve, "pressure", "lift", 1e-6);
  // The end moves with the parameters.
  expect_integrals_of_forward_mode({"ball_drag",
                                    {"rtol=1e-11", "atol=1e-12", "method=dop853", "v_min=0.5", "t=[0.0,30.0]"},
                                    {"gravity", "drag", "restitution", "v_min"}},
                                   "height", "velocity", 1e-6);
  // Switches, discrete variables, `mode`, time events.
  expect_integrals_of_forward_mode({"thermostat",
                                    {"rtol=1e-11", "atol=1e-12", "method=dop853", "t=[0.0,10.1]"},
                                    {"cooling", "heating", "low", "high"}},
                                   "temperature", "temperature", 1e-6);
  expect_integrals_of_forward_mode({"pulsed_dose",
                                    {"rtol=1e-11", "atol=1e-12", "method=dop853", "t=[0.0,21.0]"},
                                    {"absorption", "elimination", "interval", "t_first", "t_loading", "amount"}},
                                   plan_of("pulsed_dose", {}).model.states[0].name,
                                   plan_of("pulsed_dose", {}).model.states[1].name, 1e-6);
}
TEST(Gradients, OfIntegralsByImplicitMethods) {
  for (const char* method : {"rodas5p", "radau5", "esdirk4"}) {
    auto c = valves;
    c.settings = with(c.settings, {"rtol=1e-10", "atol=1e-11", fmt::format("method={}", method)});
    expect_integrals_of_forward_mode(c, "pressure", "lift", 1e-5);
  }
}

// -------------------------------------------------------------------------------------------------------- misfit to data

std::string measured(const std::string& name, const std::vector<double>& times, const std::vector<double>& values,
                     const std::string& sigma = "1.0") {
  return fmt::format("gradient.data.{}={{times=[{:.17e}],values=[{:.17e}],sigma={}}}", name, fmt::join(times, ","),
                     fmt::join(values, ","), sigma);
}

TEST(Gradients, OfMisfitsHaveTheClosedForm) {
  // x = start e^(-rate t), at both ends, between, and twice at one time; square = x^2.
  const std::vector<double> times = {1.25, 0.0, 3.0, 1.25}, values = {0.5, 1.4, 0.2, 0.7};
  for (const char* method : {"dp5", "radau5"}) {
    SCOPED_TRACE(method);
    const auto r = run(test_model("decay"),
                       {"rtol=1e-11", "atol=1e-13", fmt::format("method={}", method), of("misfit=2.0, final_x=3.0"),
                        measured("x", times, values, "0.5"), measured("square", {0.5, 2.0}, {1.0, 0.1}, "[0.2, 0.4]")});
    ASSERT_STREQ(reason_of(r), "defined");
    const double k = 0.7, s = 1.5;
    double expected = 3 * s * std::exp(-3 * k), by_k = -3 * expected, by_s = expected / s;
    const auto add = [&](double t, bool squared, double value, double sigma) {
      const double x = s * std::exp(-k * t), q = squared ? x * x : x, by_x = squared ? 2 * x : 1;
      const double miss = 2 * (q - value) / (sigma * sigma);
      expected += 0.5 * miss * (q - value), by_k -= miss * by_x * t * x, by_s += miss * by_x * x / s;
    };
    for (std::size_t i = 0; i < 4; ++i) add(times[i], false, values[i], 0.5);
    add(0.5, true, 1.0, 0.2), add(2.0, true, 0.1, 0.4);
    expect_near(objective(r), expected, 1e-9, "objective");
    expect_near(gradient(r, 0), by_k, 1e-8, "by rate");
    expect_near(gradient(r, 1), 0, 1e-12, "by half");
    expect_near(gradient(r, 2), by_s, 1e-8, "by start");
  }
}

/// Compares the gradient of a misfit of all states and outputs with derivatives of samples.
void expect_misfits_of_forward_mode(compared c, const std::vector<double>& times, double part) {
  const auto forward = run(
      c.model, with(c.settings, {by(c.names), fmt::format("output.samples={{times=[{}]}}", fmt::join(times, ","))}));
  const auto& m = forward.plan.model;
  std::vector<std::string> names, data = {of("misfit=1.0"), gradient_by(c.names)};
  for (const auto* list : {&m.states, &m.outputs})
    for (const auto& q : *list) names.push_back(q.name);
  const auto value = [](std::size_t q, std::size_t k) { return std::sin(1.0 + static_cast<double>(3 * q + k)); };
  for (std::size_t q = 0; q < names.size(); ++q) {
    std::vector<double> values;
    for (std::size_t k = 0; k < times.size(); ++k) values.push_back(value(q, k));
    data.push_back(measured(names[q], times, values, fmt::format("{}", weight(q))));
  }
  const auto r = run(c.model, with(c.settings, data));
  const auto count = static_cast<std::size_t>(r.plan.count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_STREQ(reason_of(r, i), "defined") << c.model << " " << i;
    const auto sample = [&](std::size_t column, std::size_t k) {
      return forward.samples[(column * count + i) * times.size() + k];
    };
    double sum = 0;
    std::vector<double> expected(c.names.size(), 0.0), size(c.names.size(), 1.0);
    for (std::size_t q = 0; q < names.size(); ++q)
      for (std::size_t k = 0; k < times.size(); ++k) {
        const double miss = (sample(q, k) - value(q, k)) / (weight(q) * weight(q));
        sum += 0.5 * miss * (sample(q, k) - value(q, k));
        for (std::size_t j = 0; j < c.names.size(); ++j) {
          const double term = miss * sample((1 + j) * names.size() + q, k);
          expected[j] += term, size[j] += std::fabs(term);
        }
      }
    EXPECT_NEAR(objective(r, i), sum, part * (1 + sum)) << c.model << " " << i;
    for (std::size_t j = 0; j < c.names.size(); ++j)
      EXPECT_NEAR(gradient(r, j, i), expected[j], part * size[j]) << c.model << " " << i << " by " << c.names[j];
  }
}

TEST(Gradients, OfMisfitsAreThoseOfForwardMode) {
  const auto expect = [](compared c, const std::vector<double>& times) {
    c.settings = with({"rtol=1e-11", "atol=1e-12", "method=dop853"}, c.settings);
    expect_misfits_of_forward_mode(c, times, 1e-6);
  };
  auto valve = valves;
  valve.settings = {"t=[0.0,6.0]", "initial.pressure=1.0", "sweep.flow={from=1.0,to=8.0,count=9}"};
  expect(valve, {0.0, 0.31, 1.7, 2.9, 4.4, 6.0});
  expect({"thermostat", {"t=[0.0,10.1]"}, {"cooling", "heating", "low", "high"}}, {0.9, 3.3, 5.5, 9.7});
  // Time events, some of them at data, at times that do not depend on these parameters.
  expect({"pulsed_dose", {"t=[0.0,21.0]"}, {"absorption", "elimination", "amount"}}, {1.0, 8.0, 12.5, 16.0, 20.0});
}
TEST(Gradients, OfMisfitsByImplicitMethods) {
  for (const char* method : {"rodas5p", "radau5", "esdirk4"}) {
    auto c = valves;
    c.settings = {"rtol=1e-10", "atol=1e-11", fmt::format("method={}", method), "t=[0.0,6.0]", "initial.pressure=1.0"};
    expect_misfits_of_forward_mode(c, {0.31, 1.7, 2.9, 4.4}, 1e-5);
  }
}

TEST(Gradients, OfMisfitsSayWhereTheyDoNotExist) {
  const auto marks = [](const std::vector<std::string>& settings, double time, const std::string& by) {
    return run(test_model("two_marks"),
               with({"rtol=1e-10", "method=dp5", "y_mark=30.0"},
                    with(settings, {of("misfit=1.0"), gradient_by({by}), measured("x", {0.5, time}, {0.0, 0.0})})));
  };
  // A sample at the time of an event shows the state after it.
  const auto still = marks({"pulse_at=1.0", "x_mark=30.0"}, 1.0, "x_speed");
  ASSERT_STREQ(reason_of(still), "defined");
  expect_near(objective(still), 0.5 * (0.25 + 4.0), 1e-12, "with a pulse at a datum");
  expect_near(gradient(still, 0), 0.5 * 0.5 + 2.0 * 1.0, 1e-12, "by the speed");
  EXPECT_STREQ(reason_of(marks({"pulse_at=1.0", "x_mark=30.0"}, 1.0, "pulse_at")), "at_datum");
  EXPECT_STREQ(reason_of(marks({"x_mark=1.0"}, 1.0, "x_mark")), "at_datum");
  EXPECT_STREQ(reason_of(marks({"x_mark=1.0"}, 1.1, "x_mark")), "defined");
  EXPECT_STREQ(reason_of(marks({"x_mark=30.0", "end_mark=1.5"}, 1.4, "x_speed")), "defined");
  const auto missed = marks({"x_mark=30.0", "end_mark=1.5"}, 1.8, "x_speed");
  EXPECT_STREQ(reason_of(missed), "data_missed");
  EXPECT_TRUE(std::isnan(objective(missed)));
  EXPECT_STREQ(
      reason_of(run(test_model("two_marks"), {"method=dp5", "y_mark=30.0", "x_mark=30.0", "sweep.t_begin=[0.0,0.7]",
                                              of("misfit=1.0"), measured("x", {0.5}, {0.0})}),
                1),
      "data_missed");
  // The misfit is there also where its gradient is not.
  const auto graze =
      run(test_model("graze"), {"rtol=1e-10", "method=dp5", "wall_depth=1e-9", "line_depth=-5.0", of("misfit=1.0"),
                                gradient_by({"wall_depth"}), measured("x", {0.5}, {0.0})});
  EXPECT_STREQ(reason_of(graze), "grazing");
  expect_near(objective(graze), 0.5 * 0.125 * 0.125, 1e-9, "beside a graze");
}

TEST(Gradients, OfMisfitsHaveTheSameBitsWhateverRunsBeside) {
  const auto run_with = [](const std::vector<std::string>& settings) {
    return run("relief_valve",
               with({"rtol=1e-8", "method=dp5", "t=[0.0,6.0]", "initial.pressure=1.0",
                     "sweep.flow={from=1.0,to=8.0,count=67}", of("misfit=1.0"),
                     measured("pressure", {0.5, 2.5, 5.5}, {1.0, 2.0, 3.0}), measured("lift", {1.5, 5.5}, {0.1, 0.2})},
                    settings));
  };
  const auto first = run_with({"run.lanes=8", "run.threads=1"});
  for (const auto& settings : std::vector<std::vector<std::string>>{{"run.lanes=1", "run.threads=1"},
                                                                    {"run.lanes=4", "run.threads=2", "run.chunk=7"},
                                                                    {"run.lanes=8", "run.threads=2", "run.chunk=31"}})
    EXPECT_EQ(run_with(settings).gradient, first.gradient) << fmt::format("{}", fmt::join(settings, " "));
}

void compare_random_trajectories(std::size_t count, unsigned seed, const std::string& method = "dp5",
                                 double part = 1e-10) {
  auto names = loops::names;
  for (std::size_t i = loops::count; i < names.size(); ++i) names[i] = "initial." + names[i];
  const auto all = compare_with_forward_mode(
      {test_model("two_loops"),
       with({"rtol=1e-9", "atol=1e-11", "method=" + method}, settings_of(random_loops(count, seed))), names},
      part);
  std::printf("%zu gradients agree; of those that do not exist forward mode has %zu, and %zu it does not have\n",
              all.both, all.one_undefined, all.neither);
  EXPECT_GT(all.both, count / 2);
  EXPECT_LT(all.one_undefined, count / 20);
}
TEST(Gradients, OfRandomTrajectories) { compare_random_trajectories(1000, 1); }
TEST(Gradients, OfRandomTrajectoriesByAnImplicitMethod) { compare_random_trajectories(1000, 1, "rodas5p", 1e-6); }
TEST(Gradients, OfManyRandomTrajectories) {
  for (unsigned seed = 2; seed < 22; ++seed) compare_random_trajectories(1000, seed);
}

TEST(Gradients, AreUndefinedLikeDerivatives) {
  const auto reason = [](const std::string& model, const std::vector<std::string>& settings,
                         const std::vector<std::string>& names) -> std::string {
    const auto plain = plan_of(model, settings);
    const auto r =
        run(model, with({"rtol=1e-10", "method=dp5"}, with(settings, {of_all(plain.model), gradient_by(names)})));
    EXPECT_EQ(std::isnan(gradient(r, 0)), r.sensitivity[0] != 0);
    EXPECT_FALSE(std::isnan(objective(r)));
    return reason_of(r);
  };
  const auto graze = test_model("graze"), marks = test_model("two_marks");
  EXPECT_EQ(reason(graze, {"wall_depth=0.1", "line_depth=-5.0"}, {"wall_depth"}), "defined");
  EXPECT_EQ(reason(graze, {"wall_depth=1e-9", "line_depth=-5.0"}, {"wall_depth"}), "grazing");
  EXPECT_EQ(reason("relief_valve", {"flow=0.2", "zeno=0.05", "initial.pressure=1.0"}, {"flow"}), "accumulation");
  EXPECT_EQ(reason(marks, {"y_mark=30.0"}, {"x_mark"}), "defined");
  EXPECT_EQ(reason(marks, {"coupling=0.5"}, {"x_mark"}), "order");
  EXPECT_EQ(reason(marks, {"pulse_at=1.0", "y_mark=30.0"}, {"x_mark"}), "order");
  EXPECT_EQ(reason(marks, {"y_mark=30.0", "x_mark=2.0"}, {"x_mark"}), "at_end");
  // The ball lies on its floor: its height moves the guard, its restitution does not.
  EXPECT_EQ(reason("bouncing_ball", {"t=[0.0,1.0]", "initial.height=0.0", "initial.velocity=3.0"}, {"restitution"}),
            "defined");
  EXPECT_EQ(reason("bouncing_ball", {"t=[0.0,1.0]", "initial.height=0.0", "initial.velocity=3.0"}, {"initial.height"}),
            "at_start");
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

void expect_same_bits_through_events(const std::string& method) {
  const auto run_with = [&](const std::vector<std::string>& settings) {
    return run("relief_valve",
               with({"rtol=1e-8", "method=" + method, "t=[0.0,6.0]", "initial.pressure=1.0",
                     "sweep.flow={from=0.3,to=8.0,count=67}", of("final_lift=1.0, final_pressure=-2.0")},
                    settings));
  };
  const auto first = run_with({"run.lanes=8", "run.threads=1"});
  const auto defined = std::count(first.sensitivity.begin(), first.sensitivity.end(), 0);
  EXPECT_GT(defined, 50);
  const auto bits = [](const outcome& r) {
    std::vector<std::uint64_t> all;
    for (const double x : r.gradient) all.push_back(x == x ? std::bit_cast<std::uint64_t>(x + 0.0) : 0);
    return all;
  };
  for (const auto& settings : std::vector<std::vector<std::string>>{{"run.lanes=1", "run.threads=1"},
                                                                    {"run.lanes=4", "run.threads=2", "run.chunk=7"},
                                                                    {"run.lanes=8", "run.threads=2", "run.chunk=2"},
                                                                    {"run.lanes=8", "run.threads=2", "run.chunk=31"}})
    EXPECT_EQ(bits(run_with(settings)), bits(first)) << fmt::format("{}", fmt::join(settings, " "));
}
TEST(Gradients, ThroughEventsHaveTheSameBitsWhateverRunsBeside) { expect_same_bits_through_events("dp5"); }
TEST(Gradients, ByImplicitMethodsHaveTheSameBitsWhateverRunsBeside) {
  for (const char* method : {"rodas5p", "radau5", "esdirk4"}) expect_same_bits_through_events(method);
}

void expect_rescued(const std::string& model, const std::vector<std::string>& settings) {
  // Rescue has a tighter tolerance.
  const auto plain = run(model, settings), r = run(model, with(settings, {"inject_exceptions=0.3"}));
  const auto count = static_cast<std::size_t>(r.plan.count);
  std::size_t rescued = 0;
  for (std::size_t i = 0; i < count; ++i) {
    rescued += r.exception[i] != 0;
    ASSERT_STREQ(reason_of(r, i), "defined") << i;
    expect_near(objective(r, i), r.final_state[i] - 2 * r.final_state[2 * count + i], 1e-15, "objective");
    for (std::size_t j = 0; j + 1 < r.gradient.size() / count; ++j)
      expect_near(gradient(r, j, i), gradient(plain, j, i), 1e-4, fmt::format("{} {}", i, j));
  }
  EXPECT_GT(rescued, 3u);
}
TEST(Gradients, OfInstancesThatAreRescued) {
  expect_rescued("lorenz", {"rtol=1e-9", "method=dp5", "t=[0.0,3.0]", "sweep.rho={from=0.5,to=40.0,count=37}",
                            of("final_x=1.0, final_z=-2.0")});
}
TEST(Gradients, ThroughEventsOfInstancesThatAreRescued) {
  for (const char* method : {"dp5", "rodas5p"})
    expect_rescued("relief_valve", with(valves.settings,
                                        {fmt::format("method={}", method), of("final_lift=1.0, final_pressure=-2.0")}));
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
  expect(with_weights("stick_slip", "final_position=1.0"), "which slides (along ");
  const auto rows = std::filesystem::temp_directory_path() / fmt::format("saltus_gradients_{}.csv", ::getpid());
  std::ofstream(rows) << "id,time,amount,rate\n0,1,2,3\n";
  expect(with_weights(test_model("patients"), "final_central=1.0", {fmt::format("records.dose='{}'", rows.string())}),
         "which has recorded time events (dose)");
  std::filesystem::remove(rows);
  expect(with_weights("bouncing_ball", "final_height=1.0", {"concurrency={ time = 1e-7, value = 1e-6 }"}),
         "with concurrency");
  expect(with_weights("four_bar", "final_x=1.0"), "not of the form dy/dt = f(t, y)");
  expect(with_weights("mackey_glass", "final_x=1.0"), "which has delays");
  expect(refusal("lorenz", {"method=taylor"}), "no Runge-Kutta or Rosenbrock method");
  expect(with_weights("bouncing_balls_100", "final_height_1=1.0", {"method=rodas5p"}),
         "those have gradients of up to 48, ");
  std::string integrals;
  for (int k = 0; k < 100; ++k) integrals += fmt::format("{}'mean(height_{})'=1.0", k > 0 ? ", " : "", k);
  expect(with_weights("bouncing_balls_100", integrals, {"method=rodas5p"}), "300 states and integrals");
  expect(refusal("lorenz", {"precision=float"}), "gradients are in double");
  expect(refusal("lorenz", {"run.backend=cuda"}), "devices do not keep the steps");
  expect(refusal("lorenz", {by({"rho"})}), "with [sensitivity]");
  expect(refusal("lorenz", {"lyapunov.exponents=1"}), "with [lyapunov]");
  expect(refusal("lorenz", {"output.rows=false", "output.statistics=true"}), "kept for each instance");
  expect(refusal("lorenz", {"gradient.parameters=['rhoo']"}), "did you mean rho");
  expect(refusal("lorenz", {"gradient.parameters=['initial.x']"}), "must have a value in [initial]");
  expect(refusal("lorenz", {"gradient.parameters=['rho', 'rho']"}), "must not be listed twice");
  expect(with_weights("lorenz", "max_x=1.0"),
         "gradients are of final values of states and outputs, of t_final, of integral(x) and mean(x)");
  expect(with_weights("lorenz", "final_x=0.0"), "must have a weight that is not zero");
  expect(with_weights("lorenz", "misfit=1.0"), "with gradient.data of the misfit");
  expect(refusal("lorenz", {measured("x", {1.0}, {2.0})}), "misfit needs a weight in gradient.of");
  expect(with_weights("lorenz", "misfit=1.0", {measured("u", {1.0}, {2.0})}), "is neither a state nor an output");
  expect(with_weights("lorenz", "misfit=1.0", {measured("x", {1.0}, {2.0, 3.0})}), "has 2 values and 1 times");
  expect(with_weights("lorenz", "misfit=1.0", {measured("x", {1e6}, {2.0})}), "must have times within the time span");
  expect(with_weights("lorenz", "misfit=1.0", {measured("x", {1.0}, {2.0}, "0.0")}), "must be a positive number");
  expect(with_weights("lorenz", "misfit=1.0", {measured("x", {1.0}, {2.0}, "[1.0, 2.0]")}), "one for each value");
  expect(with_weights("lorenz", "misfit=1.0", {measured("x", {0.5}, {2.0}), "t=[1.0,0.0]"}), "backward in time");
  expect(with_weights("lorenz", "'mean(u)'=1.0"),
         "integral(x) and mean(x) over the whole time, and with gradient.data");
  expect(with_weights("lorenz", "'mean(x)'=1.0", {"t=[1.0,0.0]"}), "is an outcome of runs forward in time");
}

}  // namespace
}  // namespace saltus::test
