// Derivatives by parameters and initial values, exact through events: against closed forms, and against differences of runs without
// sensitivities.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "derivative_runs.hpp"
#include "loops_reference.hpp"
#include "same_bits.hpp"

namespace saltus::test {
namespace {

// ------------------------------------------------------------------------------------------------------- closed forms

void expect_decay(const std::vector<std::string>& methods, const std::string& error_control = "false") {
  // y = start rate (e^(-rate t) - e^(-half t)) / (half - rate)
  for (const std::string& method : methods) {
    const auto r = run(test_model("decay"),
                       {"rtol=1e-10", "atol=1e-12", "method=" + method, by({"rate", "half", "start", "beside"}),
                        "output.samples.count=4", "sensitivity.error_control=" + error_control});
    ASSERT_STREQ(reason_of(r), "defined");
    const double k = 0.7, c = 0.2, s = 1.5;
    for (int i = 0; i < 4; ++i) {
      const double t = i, x = s * std::exp(-k * t), e = std::exp(-c * t), d = c - k;
      const double gap = std::exp(-k * t) - e;
      const double derivatives[4][3] = {
          {-t * x, s * gap / d + s * k * (-t * std::exp(-k * t) / d + gap / (d * d)), -2 * t * x * x},
          {0, s * k * (t * e / d - gap / (d * d)), 0},
          {x / s, k * gap / d, 2 * x * x / s},
          {0, 0, 0}};
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t q = 0; q < 3; ++q) {
          expect_near(r.sample(3 * (1 + j) + q, 0, i), derivatives[j][q], 1e-8,
                      fmt::format("{} {} {} {}", method, i, j, q));
          if (i == 3) expect_near(r.derivative(q, j), derivatives[j][q], 1e-8, fmt::format("{} at the end", method));
        }
    }
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(r.derivative(3, j), 0.0);  // the end of the span stays fixed
  }
}

TEST(Sensitivities, OfALinearEquation) { expect_decay({"dp5"}); }
TEST(Sensitivities, OfALinearEquationByOtherMethods) { expect_decay({"dop853", "bs3", "rdpk510", "rkf78", "tsit5"}); }
TEST(Sensitivities, OfALinearEquationByTaylorSeries) { expect_decay({"taylor8", "taylor12", "taylor16", "taylor20"}); }

/// A ball dropped from h: bounce k at T (1 + 2 (e + ... + e^(k-1))), T = sqrt(2 h / g), after which the speed is e^k sqrt(2 g h).
struct bounces {
  double h = 1.0, g = 9.81, e = 0.7;
  double time(int k) const {
    double sum = 1;
    for (int i = 1; i < k; ++i) sum += 2 * std::pow(e, i);
    return std::sqrt(2 * h / g) * sum;
  }
  double time_by_e(int k) const {
    double sum = 0;
    for (int i = 1; i < k; ++i) sum += 2 * i * std::pow(e, i - 1);
    return std::sqrt(2 * h / g) * sum;
  }
  double speed(int k) const { return std::pow(e, k) * std::sqrt(2 * g * h); }
  double speed_by_e(int k) const { return k * std::pow(e, k - 1) * std::sqrt(2 * g * h); }
};

void expect_bouncing_ball(const std::string& method, const std::string& detection = "hermite") {
  const bounces b;
  const auto r = run("bouncing_ball", {"rtol=1e-10", "method=" + method, "detection=" + detection, "t=[0.0,2.0]",
                                       "initial.height=1.0", "output.events=true", "output.samples.count=41",
                                       by({"restitution", "gravity", "initial.height"})});
  ASSERT_STREQ(reason_of(r), "defined");
  ASSERT_GE(r.log.size(), 4u);
  for (std::size_t k = 1; k <= r.log.size(); ++k) {
    const auto& event = r.log[k - 1];
    expect_near(event.derivative[0], b.time_by_e(static_cast<int>(k)), 1e-9, "time by restitution");
    expect_near(event.derivative[1], -0.5 * event.time / b.g, 1e-9, "time by gravity");
    expect_near(event.derivative[2], 0.5 * event.time / b.h, 1e-9, "time by height");
  }
  const auto flight = [&](double t, int k, double& height, double& velocity, double& height_by_e,
                          double& velocity_by_e) {
    const double tau = t - b.time(k), v = b.speed(k), by_e = b.speed_by_e(k), shift = b.time_by_e(k);
    height = tau * (v - 0.5 * b.g * tau), velocity = v - b.g * tau;
    height_by_e = tau * by_e - velocity * shift, velocity_by_e = by_e + b.g * shift;
  };
  const int last = static_cast<int>(r.log.size());
  double height, velocity, height_by_e, velocity_by_e;
  flight(2.0, last, height, velocity, height_by_e, velocity_by_e);
  expect_near(r.derivative(0, 0), height_by_e, 1e-8, "height by restitution");
  expect_near(r.derivative(1, 0), velocity_by_e, 1e-8, "velocity by restitution");
  // By similarity height is h F(t sqrt(g/h), e), and velocity sqrt(g h) G(t sqrt(g/h), e).
  expect_near(r.derivative(0, 1), 0.5 * 2.0 / b.g * velocity, 1e-8, "height by gravity");
  expect_near(r.derivative(0, 2), height / b.h - 0.5 * 2.0 / b.h * velocity, 1e-8, "height by height");
  for (int i = 10; i < 40; ++i) {
    const double t = 2.0 * i / 40;
    int k = 0;
    while (k < last && b.time(k + 1) < t) ++k;
    flight(t, k, height, velocity, height_by_e, velocity_by_e);
    expect_near(r.sample(2, 0, i), height_by_e, 1e-8, fmt::format("sample {}", i));
    expect_near(r.sample(3, 0, i), velocity_by_e, 1e-8, fmt::format("sample {}", i));
  }
}

TEST(Sensitivities, OfABouncingBall) { expect_bouncing_ball("dp5"); }
TEST(Sensitivities, OfABouncingBallByTaylorSeries) { expect_bouncing_ball("taylor12"); }
TEST(Sensitivities, OfABouncingBallByCertifiedDetection) {
  for (const char* method : {"dp5", "taylor8", "rodas5p"}) expect_bouncing_ball(method, "certified");
}

TEST(Sensitivities, WhereTheEndMoves) {
  // The eleventh bounce is the last: state and time there.
  const bounces b;
  const auto r = run("bouncing_ball", {"rtol=1e-12", "initial.height=1.0", "output.samples.count=41",
                                       by({"restitution", "gravity", "initial.height"})});
  EXPECT_EQ(name_of(r.status[0]), "stopped");
  ASSERT_STREQ(reason_of(r), "defined");
  expect_near(r.derivative(2), b.time_by_e(11), 1e-8, "t_final");
  expect_near(r.derivative(1), b.speed_by_e(11), 1e-8, "velocity");
  expect_near(r.derivative(0), 0.0, 1e-8, "height");
}

void expect_slide(const std::string& method) {
  // From x - y = gap, x reaches the diagonal at gap / ((v+ - u+); on it the derivative is the convex combination that stays there.
  const auto r = run("filippov_plane", {"rtol=1e-10", "method=" + method, "initial.x=1.5", "initial.y=1.0",
                                        "output.events=true", by({"u_plus", "v_minus", "initial.x"})});
  ASSERT_STREQ(reason_of(r), "defined");
  const auto end = [](double u, double v, double uu, double vv, double x0, double y0) {
    const double arrives = (x0 - y0) / (v - u), alpha = (vv - uu) / ((u - v) - (uu - vv));
    return x0 + u * arrives + (1 - arrives) * (alpha * u + (1 - alpha) * uu);
  };
  const double d = 1e-6;
  const double by_u = (end(-2 + d, 1.5, 2, -3, 1.5, 1) - end(-2 - d, 1.5, 2, -3, 1.5, 1)) / (2 * d);
  const double by_v = (end(-2, 1.5, 2, -3 + d, 1.5, 1) - end(-2, 1.5, 2, -3 - d, 1.5, 1)) / (2 * d);
  const double by_x = (end(-2, 1.5, 2, -3, 1.5 + d, 1) - end(-2, 1.5, 2, -3, 1.5 - d, 1)) / (2 * d);
  const double expected[] = {by_u, by_v, by_x};
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t q = 0; q < 2; ++q) expect_near(r.derivative(q, j), expected[j], 1e-9, fmt::format("{} {}", q, j));
  expect_near(r.log.at(0).derivative[0], 0.5 / (3.5 * 3.5), 1e-10, "time by u_plus");
  expect_near(r.log.at(0).derivative[2], 1 / 3.5, 1e-10, "time by x");
}

TEST(Sensitivities, WhileSliding) { expect_slide("dp5"); }
TEST(Sensitivities, WhileSlidingByTaylorSeries) { expect_slide("taylor12"); }

/// Constant friction: the block moves along a circular arc until it has the velocity of the belt, sticks until the spring force equals the
/// maximum friction, and slips back along another arc.
struct stick_and_slip {
  using real = long double;
  real mass = 1, stiffness = 1.2L, belt = 0.2L, friction = 1;
  real omega() const { return std::sqrt(stiffness / mass); }
  real sticks() const { return std::asin(belt * stiffness / (friction * omega())) / omega(); }
  real slips() const { return sticks() + friction / stiffness * std::cos(omega() * sticks()) / belt; }
  real place(real t) const { return friction / stiffness + belt / omega() * std::sin(omega() * (t - slips())); }
  real speed(real t) const { return belt * std::cos(omega() * (t - slips())); }
};

TEST(Sensitivities, OfABlockThatSticksAndSlips) {
  for (const char* method : {"dp5", "rodas5p", "taylor12"}) {
    const auto r = run("stick_slip",
                       {"rtol=1e-10", "atol=1e-11", "t=[0.0,8.0]", "decay=0.0", "stiffness=1.2", "output.events=true",
                        std::string("method=") + method, by({"mass", "stiffness", "belt_speed", "static_friction"})});
    ASSERT_STREQ(reason_of(r), "defined") << method;
    ASSERT_EQ(r.log.size(), 2u);
    stick_and_slip::real stick_and_slip::*const parameters[] = {&stick_and_slip::mass, &stick_and_slip::stiffness,
                                                                &stick_and_slip::belt, &stick_and_slip::friction};
    for (std::size_t j = 0; j < 4; ++j) {
      const auto slope = [&](const auto& of) {
        constexpr stick_and_slip::real d = 1e-6L;
        stick_and_slip more, less;
        more.*parameters[j] += d, less.*parameters[j] -= d;
        return static_cast<double>((of(more) - of(less)) / (2 * d));
      };
      const auto what = fmt::format("{}, parameter {}", method, j);
      expect_near(r.log[0].derivative[j], slope([](const auto& b) { return b.sticks(); }), 1e-8, what);
      expect_near(r.log[1].derivative[j], slope([](const auto& b) { return b.slips(); }), 1e-8, what);
      expect_near(r.derivative(0, j), slope([](const auto& b) { return b.place(8); }), 1e-8, what);
      expect_near(r.derivative(1, j), slope([](const auto& b) { return b.speed(8); }), 1e-8, what);
    }
  }
}

/// two_marks with all of its relevant parameters: one module for all of these tests.
const std::vector<std::string> marks = {
    "rtol=1e-10", "output.events=true", "output.samples.times=[0.5,1.0,1.5]",
    "output.reduce=['integral(x)', 'max(x)', 'mean(x)', 'integral(product)', 'max(y)', 'value(x at 1.7)', "
    "'first(x_there)', 'last(x_there) from 0.5', 'count(x_there)', 'count(x_there) from 1.0']",
    by({"x_mark", "y_mark", "x_speed", "growth", "pulse_at", "end_mark"})};
struct SensitivitiesOfMarks : testing::TestWithParam<const char*> {
  static outcome run_marks(const std::vector<std::string>& settings) {
    return run(test_model("two_marks"), with(marks, with(settings, {std::string("method=") + GetParam()})));
  }
};
INSTANTIATE_TEST_SUITE_P(By, SensitivitiesOfMarks, testing::Values("dp5", "taylor12"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(SensitivitiesOfMarks, OfTimeEvents) {
  // At the mark of x, t = 0.5, x is doubled. At pulse_at x grows by 1, which does not change its derivative:
  // x(2) = growth x_mark + x_speed (2 - x_mark / x_speed) + 1
  const auto r = run_marks({"x_mark=0.6", "pulse_at=1.4", "y_mark=30.0"});
  ASSERT_STREQ(reason_of(r), "defined");
  const double x_by[] = {1, 0, 2, 0.6, 0, 0};
  for (std::size_t j = 0; j < 6; ++j) expect_near(r.derivative(0, j), x_by[j], 1e-10, fmt::format("x by {}", j));
  expect_near(r.derivative(2, 0), 6.0, 1e-9, "x y by x_mark");
  ASSERT_EQ(r.log.size(), 2u);
  EXPECT_EQ(r.log[1].derivative, (std::vector<double>{0, 0, 0, 0, 1, 0}));
  expect_near(r.log[0].derivative[2], -0.6, 1e-12, "time by x_speed");
}

// ------------------------------------------------------------------------------------------------------ implicit methods

TEST(Sensitivities, OfALinearEquationByARosenbrockMethod) { expect_decay({"rodas5p"}); }
// min over t of (1/2 + e^(k t)) cos(40 t - 1) has the derivative t e^(k t) cos(40 t - 1) at its last turn but one. Steps of floats by
// methods of high order are as long as half a turn.
TEST(Sensitivities, OfAnExtremumThatComesLast) {
  for (const char* method : {"rkf78", "dop853", "tsit5", "radau9"}) {
    const auto r = run(test_model("growing_beat"),
                       {"rtol=1e-4", "precision=float", std::string("method=") + method,
                        "sensitivity.parameters=[\"k\"]", "output.reduce=[\"min(fast)\", \"max(fast)\"]"});
    EXPECT_NEAR(reduced_by(r, 0, 0), -2.16430, 2e-3) << method;
    EXPECT_NEAR(reduced_by(r, 1, 0), 2.54788, 2e-3) << method;
  }
}

TEST(Sensitivities, OfALinearEquationByImplicitMethods) {
  expect_decay({"radau5", "radau9", "esdirk4", "sdirk4", "rodas4"});
}
TEST(Sensitivities, OfALinearEquationWhereTheirErrorsCount) {
  expect_decay({"rodas4", "sdirk4", "radau5", "radau9", "taylor12"}, "true");
}

/// More states than the entries of a Jacobian that are multiplied one by one (method/step_derivatives.hpp).
TEST(Sensitivities, OfManyStatesByARosenbrockMethod) {
  const auto r =
      run(test_model("herd"), {"rtol=1e-10", "atol=1e-12", "method=rodas5p", by({"draw", "decay", "force"})});
  ASSERT_STREQ(reason_of(r), "defined");
  const double draw = 0.8, decay = 0.3, T = 2, mean = 1.875;
  for (std::size_t i = 0; i < 8; ++i) {
    const double d = 1 + 0.25 * static_cast<double>(i) - mean, slowed = 1 + decay * mean * T;
    expect_near(r.derivative(i, 0), -T * d * std::exp(-draw * T), 1e-8, fmt::format("{} by draw", i));
    expect_near(r.derivative(i, 1), -mean * mean * T / (slowed * slowed), 1e-8, fmt::format("{} by decay", i));
    EXPECT_EQ(r.derivative(i, 2), 0.0);
  }
  expect_near(r.derivative(8, 2), T * T * T / 3, 1e-8, "by the force");
}

/// The derivatives of a stiff model and its states are also the same on any lanes and beside any number of other instances, and the states
/// are those of a run without derivatives.
TEST(Sensitivities, OfAStiffModelHaveTheSameBitsHoweverTheyAreRun) {
  const std::vector<std::string> settings = {"method=rodas5p", "rtol=1e-6", "sample.count=13",
                                             "sample.k1={uniform=[1.6,1.8]}"};
  const auto without = run("hires", settings);
  const auto wide = run("hires", with(settings, {by({"k1", "k_plus"}), "run.lanes=8", "run.chunk=5"}));
  const auto narrow = run("hires", with(settings, {by({"k1", "k_plus"}), "run.lanes=1"}));
  for (std::int64_t i = 0; i < without.plan.count; ++i) expect_same(without, i, wide, i);
  ASSERT_EQ(wide.final_derivative.size(), narrow.final_derivative.size());
  for (std::size_t i = 0; i < wide.final_derivative.size(); ++i)
    ASSERT_EQ(bits(wide.final_derivative[i]), bits(narrow.final_derivative[i])) << i;
}

/// Derivatives of three states by three parameters from SUNDIALS CVODES 6.4.1 (reference/cvodes_sensitivities.c).
void expect_cvodes(const std::string& model, const std::vector<std::string>& settings,
                   const std::vector<std::string>& names, const double (&expected)[3][3]) {
  const auto r = run(model, with(settings, {by(names)}));
  ASSERT_STREQ(reason_of(r), "defined");
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t q = 0; q < 3; ++q)
      EXPECT_NEAR(r.derivative(q, j), expected[j][q], 1e-7 * std::fabs(expected[j][q]))
          << fmt::format("{} {}: state {} by {}", model, fmt::join(settings, " "), q, names[j]);
}

TEST(Sensitivities, OfLorenzBesideCVODES) {
  expect_cvodes("lorenz", {"rtol=1e-11", "atol=1e-12", "t=[0.0,2.0]"}, {"sigma", "rho", "beta"},
                {{-6.353838658500e-01, -1.198383886521e+00, -1.160954377329e+00},
                 {-1.450957915743e+00, -2.635386465198e+00, -2.362270354869e+00},
                 {9.834442427126e+00, 1.606867811087e+01, -1.519686025374e+00}});
}

TEST(Sensitivities, OfStiffReactionsBesideCVODES) {
  for (const char* method : {"rodas5p", "radau5", "auto"})
    expect_cvodes("robertson", {"rtol=1e-11", "atol={y1=1e-13,y2=1e-17,y3=1e-13}", std::string("method=") + method},
                  {"k1", "k2", "k3"},
                  {{-4.247558771690e+00, 4.591196249311e-05, 4.247512859727e+00},
                   {1.373080797346e-05, -2.357192113838e-10, -1.373057225425e-05},
                   {-2.288355088908e-09, -1.138059509356e-13, 2.288468894859e-09}});
}

/// parts/cubic_base.hpp: z grows by speed t; at `level` x jumps by `bump` and the slope changes; w = log(2 + z^2), x = z^3 + slope z.
void expect_cubic(const char* model, const std::string& method) {
  const std::vector<std::string> names = {"z_begin", "speed", "level", "bump", "new_slope"};
  const double z0 = -1, v = 1.25, level = 0.5, bump = 0.75, slope = 2, T = 2;
  const auto r = run(test_model(model),
                     {"rtol=1e-10", "atol=1e-12", "method=" + method, "output.events=true", by(names), set("speed", v),
                      set("level", level), set("bump", bump), set("new_slope", slope),
                      "output.samples.times=[0.5,1.75]", "output.reduce=['integral(w)', 'max(x)', 'min(square)']"});
  ASSERT_STREQ(reason_of(r), "defined") << model << " " << method;
  ASSERT_EQ(r.log.size(), 1u);
  const double t1 = (level - z0) / v, time_by[] = {-1 / v, -t1 / v, 1 / v, 0, 0};
  double jumped = level;  // Newton iteration
  for (int i = 0; i < 50; ++i)
    jumped -= (jumped * jumped * jumped + slope * jumped - (level * level * level + level + bump)) /
              (3 * jumped * jumped + slope);
  const double stiffness = 3 * jumped * jumped + slope;
  const double z_by[] = {1, T, (3 * level * level + 1) / stiffness - 1, 1 / stiffness, -jumped / stiffness};
  const double z = jumped + v * (T - t1);
  const auto what = [&](const char* of, std::size_t j) {
    return fmt::format("{} {}, {} by {}", model, method, of, names[j]);
  };
  for (std::size_t j = 0; j < names.size(); ++j) {
    expect_near(r.log[0].derivative[j], time_by[j], 1e-8, what("time", j));
    expect_near(r.derivative(1, j), z_by[j], 1e-8, what("z", j));
    expect_near(r.derivative(0, j), (3 * z * z + slope) * z_by[j] + (j == 4 ? z : 0), 1e-8, what("x", j));
    expect_near(r.derivative(2, j), 2 * z / (2 + z * z) * z_by[j], 1e-8, what("w", j));
    expect_near(r.derivative(3, j), 2 * z * z_by[j], 1e-8, what("square", j));
    const double before[] = {1, 0.5, 0, 0, 0};  // at t = 0.5 z is z0 + v / 2
    expect_near(r.sample(4 * (1 + j) + 1, 0, 0), before[j], 1e-8, what("sampled z", j));
    expect_near(reduced_by(r, 1, j), (3 * z * z + slope) * z_by[j] + (j == 4 ? z : 0), 1e-8, what("max(x)", j));
    expect_near(reduced_by(r, 2, j), 0, 1e-8, what("min(square), at zero", j));
  }
  // The integral of log(2 + z^2) up to the event, and from `jumped` on: the event contributes the difference.
  const auto log_at = [](double at) { return std::log(2 + at * at); };
  const double after = log_at(z) - log_at(jumped);
  const double integral_by_bump = after / v * z_by[3],
               integral_by_begin = (log_at(level) - log_at(z0)) / v + (log_at(level) - log_at(jumped)) * time_by[0] +
                                   after / v * z_by[0];
  expect_near(reduced_by(r, 0, 3), integral_by_bump, 1e-8, what("integral(w)", 3));
  expect_near(reduced_by(r, 0, 0), integral_by_begin, 1e-8, what("integral(w)", 0));
}
TEST(Sensitivities, OfAlgebraicStates) { expect_cubic("cubic_semi", "rodas5p"); }
TEST(Sensitivities, OfAlgebraicStatesByOtherMethods) {
  for (const char* method : {"radau5", "radau9", "esdirk4", "sdirk4"}) expect_cubic("cubic_semi", method);
}
TEST(Sensitivities, OfOtherFormsOfEquations) {
  expect_cubic("cubic_mass", "rodas5p");
  expect_cubic("cubic_mass", "radau5");
  expect_cubic("cubic_mass", "radau9");
  expect_cubic("cubic_varying", "radau5");
  expect_cubic("cubic_residual", "sdirk4");
}

// ------------------------------------------------------------------------------------------------------ sides of a guard

/// Each function is differentiated on its own side of the guard: up to the event with slope `before` and load `high`, after it with slope
/// `behind` and load `low`.
void expect_two_slopes(const std::string& method) {
  const std::vector<std::string> names = {"before", "behind", "mark", "high", "low"};
  const auto r = run(test_model("two_slopes"), {"rtol=1e-10", "atol=1e-12", "method=" + method, by(names),
                                                "output.reduce=['integral(load)', 'max(load)', 'value(load at 1.0)']"});
  ASSERT_STREQ(reason_of(r), "defined");
  const double b = 0.5, a = 0.25, mark = 0.75, high = 2, low = 0.5, rest = 3 - mark / b, end = mark + a * rest;
  const double x_by[] = {a * mark / (b * b), rest, 1 - a / b, 0, 0};
  const double integral_by[] = {-high * mark * mark / (2 * b * b) + low * end * mark / (b * b), low * rest * rest / 2,
                                high * mark / b + low * (rest - end / b), mark * mark / (2 * b),
                                mark * rest + a * rest * rest / 2};
  const double max_by[] = {0, 0, high, mark, 0}, value_by[] = {high, 0, 0, b, 0};
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto what = [&](const char* of) { return fmt::format("{}: {} by {}", method, of, names[j]); };
    expect_near(r.derivative(0, j), x_by[j], 1e-10, what("x"));
    expect_near(r.derivative(1, j), low * x_by[j] + (j == 4 ? end : 0), 1e-10, what("load"));
    expect_near(reduced_by(r, 0, j), integral_by[j], 1e-10, what("integral(load)"));
    expect_near(reduced_by(r, 1, j), max_by[j], 1e-10, what("max(load)"));
    expect_near(reduced_by(r, 2, j), value_by[j], 1e-10, what("value(load at 1)"));
  }
}
TEST(Sensitivities, OfEquationsThatSwitchBySides) { expect_two_slopes("rodas5p"); }
TEST(Sensitivities, OfEquationsThatSwitchBySidesByOtherMethods) {
  for (const char* method : {"dp5", "radau5", "esdirk4"}) expect_two_slopes(method);
}

TEST(Sensitivities, OfAHardGround) {
  // Times of touching and leaving the ground in 60 digits (reference/stiff_ball.py), by gravity, stiffness and damping.
  const double expected[][3] = {{-2.301343735910963e-02, 0.0, 0.0},
                                {-2.3013434682110232e-02, -1.5952299332648854e-12, 1.599501126985596e-09},
                                {-5.6578423988455244e-02, 1.0492032048361882e-09, -1.0504364480086621e-04},
                                {-5.657842031663467e-02, 1.0476076468510183e-09, -1.0504203200794145e-04},
                                {-8.105560968633715e-02, 2.580286550987994e-09, -2.582500865954968e-04},
                                {-8.105560464953572e-02, 2.578690500247257e-09, -2.58248451297129e-04}};
  const auto r = run("stiff_ball", {"rtol=1e-10", "atol=1e-12", "t=[0.0,1.6]", "method=rodas5p", "output.events=true",
                                    by({"gravity", "stiffness", "damping"})});
  ASSERT_STREQ(reason_of(r), "defined");
  ASSERT_EQ(r.log.size(), std::size(expected));
  for (std::size_t k = 0; k < r.log.size(); ++k)
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_NEAR(r.log[k].derivative[j], expected[k][j], 1e-9 * std::fabs(expected[k][j]) + 1e-20) << k << " " << j;
}

// ----------------------------------------------------------------------------------------------------------- reductions

void expect_smooth_reductions(const std::string& method) {
  const auto r =
      run(test_model("decay"), {"rtol=1e-10", "atol=1e-12", "method=" + method, by({"rate", "half", "start"}),
                                "output.reduce=['integral(x)', 'mean(square)', 'max(y)', 'min(x)', 'max(x)', 'min(y)', "
                                "'time(max(y))', 'time(max(x))', 'time(min(x))']"});
  ASSERT_STREQ(reason_of(r), "defined");
  const double k = 0.7, c = 0.2, s = 1.5, T = 3, e = std::exp(-k * T);
  const auto y_by = [&](double t, std::size_t j) {
    const double d = c - k, gap = std::exp(-k * t) - std::exp(-c * t);
    const double by[] = {s * gap / d + s * k * (-t * std::exp(-k * t) / d + gap / (d * d)),
                         s * k * (t * std::exp(-c * t) / d - gap / (d * d)), k * gap / d};
    return by[j];
  };
  const double turns = std::log(k / c) / (k - c);  // y is largest at this time, 2.5
  const double integral_by[] = {s * (T * e / k - (1 - e) / (k * k)), 0, (1 - e) / k};
  const double square_by[] = {s * s / T * (T * e * e / k - (1 - e * e) / (2 * k * k)), 0, s * (1 - e * e) / (k * T)};
  const double end_by[] = {-T * s * e, 0, e}, start_by[] = {0, 0, 1};
  const double turns_by[] = {(1 / k - turns) / (k - c), (turns - 1 / c) / (k - c), 0};
  for (std::size_t j = 0; j < 3; ++j) {
    expect_near(reduced_by(r, 0, j), integral_by[j], 1e-8, "integral(x)");
    expect_near(reduced_by(r, 1, j), square_by[j], 1e-8, "mean(square)");
    expect_near(reduced_by(r, 2, j), y_by(turns, j), 1e-8, "max(y)");
    expect_near(reduced_by(r, 3, j), end_by[j], 1e-8, "min(x)");
    expect_near(reduced_by(r, 4, j), start_by[j], 1e-8, "max(x)");
    expect_near(reduced_by(r, 5, j), 0, 1e-12, "min(y)");
    expect_near(reduced_by(r, 6, j), turns_by[j], 1e-8, "time(max(y)) by " + method);
    EXPECT_EQ(reduced_by(r, 7, j), 0) << "time(max(x)), at the start";
    EXPECT_EQ(reduced_by(r, 8, j), 0) << "time(min(x)), at the end";
  }
}
TEST(Sensitivities, OfReductionsOfASmoothTrajectory) {
  for (const char* method : {"dp5", "taylor12"}) expect_smooth_reductions(method);
}
TEST(Sensitivities, OfReductionsOfASmoothTrajectoryByOtherMethods) {
  for (const char* method : {"bs3", "dop853", "rodas5p", "radau5", "esdirk4"}) expect_smooth_reductions(method);
}

TEST_P(SensitivitiesOfMarks, OfReductionsThroughEvents) {
  // parameters: x_mark, y_mark, x_speed, growth, pulse_at, end_mark; reductions: integral, max, mean of x, integral of x y, max(y)
  const auto expect_all = [](const outcome& r, std::size_t k, const std::array<double, 6>& by,
                             const std::string& what) {
    ASSERT_STREQ(reason_of(r), "defined");
    for (std::size_t j = 0; j < 6; ++j) expect_near(reduced_by(r, k, j), by[j], 1e-10, fmt::format("{} {}", what, j));
  };
  // At 1.5 x jumps to a tenth, and is largest just before, at x_mark.
  const auto falls = run_marks({"x_mark=1.5", "growth=0.1", "y_mark=30.0"});
  expect_all(falls, 0, {0.9, 0, -0.025, 0.75, 0, 0}, "integral");
  expect_all(falls, 1, {1, 0, 0, 0, 0, 0}, "max");
  expect_all(falls, 2, {0.45, 0, -0.0125, 0.375, 0, 0}, "mean");
  expect_near(reduced_by(falls, 3, 0), 3.7125, 1e-10, "integral of the product");
  expect_all(falls, 4, {0, 0, 0, 0, 0, 0}, "max(y)");
  // A time event at which x grows by 1.
  const auto pulsed = run_marks({"x_mark=30.0", "y_mark=30.0", "pulse_at=1.0"});
  expect_all(pulsed, 0, {0, 0, 2, 0, -1, 0}, "integral");
  expect_all(pulsed, 1, {0, 0, 2, 0, 0, 0}, "max");
  // The end moves: x = x_speed t up to end_mark.
  const auto ends = run_marks({"x_mark=40.0", "y_mark=30.0", "end_mark=1.75"});
  expect_all(ends, 0, {0, 0, -1.75 * 1.75 / 2, 0, 0, 1.75}, "integral");
  expect_all(ends, 1, {0, 0, 0, 0, 0, 1}, "max");
  expect_all(ends, 2, {0, 0, 0, 0, 0, 0.5}, "mean");
  // Two events at once: x and y have derivatives, but their product does not: it is 6 in between in either order, and 3 - 6 is not 6 - 12.
  const auto both = run_marks({});
  expect_all(both, 0, {0, 0, 3, 1, 0, 0}, "integral");
  EXPECT_TRUE(std::isnan(reduced_by(both, 3, 0)) && std::isnan(reduced_by(both, 3, 1)));
  EXPECT_FALSE(std::isnan(reduced_by(both, 3, 3)));
}

/// x of two_marks by its six parameters of `marks`, and averages over it.
struct ramp {
  long double x_mark, y_mark, x_speed, growth, pulse_at, end_mark;

  /// The integrals of x and of its square from `begin` to `end`, or to the end of the run.
  std::array<long double, 3> integrals(long double begin, long double end) const {
    const long double mark = x_mark / x_speed;
    end = std::min(end, end_mark / x_speed);
    std::vector<long double> cuts = {begin, end};
    for (const long double t : {mark, pulse_at})
      if (begin < t && t < end) cuts.push_back(t);
    std::sort(cuts.begin(), cuts.end());
    std::array<long double, 3> sums = {0, 0, end - begin};
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const long double t0 = cuts[i], width = cuts[i + 1] - t0, middle = t0 + width / 2;
      long double x = x_speed * middle + (middle > mark ? (growth - 1) * x_mark : 0) + (middle > pulse_at ? 1 : 0);
      sums[0] += x * width;
      sums[1] += (x * x + x_speed * x_speed * width * width / 12) * width;
    }
    return sums;
  }
  /// rms, standard deviation; mean, rms, standard deviation and integral from 0.5 to 1.75.
  std::array<long double, 6> reductions() const {
    const auto whole = integrals(0, 2), part = integrals(0.5L, 1.75L);
    const auto rms = [](const auto& s) { return std::sqrt(s[1] / s[2]); };
    const auto deviation = [](const auto& s) { return std::sqrt(s[1] / s[2] - s[0] * s[0] / s[2] / s[2]); };
    return {rms(whole), deviation(whole), part[0] / part[2], rms(part), deviation(part), part[0]};
  }
};

TEST_P(SensitivitiesOfMarks, OfRootsOfIntegralsAndOfWindows) {
  const std::vector<std::string> settings = {
      "rtol=1e-10", std::string("method=") + GetParam(),
      by({"x_mark", "y_mark", "x_speed", "growth", "pulse_at", "end_mark"}),
      "output.reduce=['rms(x)', 'std(x)', 'mean(x) from 0.5 to 1.75', 'rms(x) from 0.5 to 1.75', "
      "'std(x) from 0.5 to 1.75', 'integral(x) from 0.5 to 1.75']"};
  const long double far = 30, never = 1e6;
  // x jumps within the window; before it; it grows at a given time; the run ends within the window.
  for (const ramp& one :
       {ramp{1.5, far, 1, 0.1L, never, never}, ramp{0.3L, far, 1, 3, never, never}, ramp{far, far, 1, 2, 1, never},
        ramp{far, far, 1.25L, 2, never, 1.75L}, ramp{0.8L, far, 1.25L, 1.5L, 1, never}}) {
    std::vector<std::string> values = settings;
    const char* const names[] = {"x_mark", "y_mark", "x_speed", "growth", "pulse_at", "end_mark"};
    const auto numbers = [](ramp& r) {
      return std::array{&r.x_mark, &r.y_mark, &r.x_speed, &r.growth, &r.pulse_at, &r.end_mark};
    };
    ramp here = one;
    for (std::size_t j = 0; j < 6; ++j)
      values.push_back(fmt::format("{}={:.17g}", names[j], static_cast<double>(*numbers(here)[j])));
    const auto r = run(test_model("two_marks"), values);
    ASSERT_STREQ(reason_of(r), "defined");
    for (std::size_t j = 0; j < 6; ++j) {
      ramp more = one, less = one;
      const long double step = 1e-5L;
      *numbers(more)[j] += step, *numbers(less)[j] -= step;
      const auto above = more.reductions(), below = less.reductions();
      for (std::size_t k = 0; k < above.size(); ++k)
        expect_near(reduced_by(r, k, j), static_cast<double>((above[k] - below[k]) / (2 * step)), 1e-8,
                    fmt::format("{} by {}", k, names[j]));
    }
  }
  // The mark is reached where the window begins: what follows from the window has no derivative by what moves that time.
  const auto at_edge = run(test_model("two_marks"), with(settings, {"x_mark=0.5", "y_mark=30.0"}));
  ASSERT_STREQ(reason_of(at_edge), "defined");
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(std::isnan(reduced_by(at_edge, k, 0)), k >= 2) << k;
  for (std::size_t k = 0; k < 6; ++k) EXPECT_FALSE(std::isnan(reduced_by(at_edge, k, 3))) << k;
}

TEST_P(SensitivitiesOfMarks, OfValuesAndTimesOfEvents) {
  // parameters: x_mark, y_mark, x_speed, growth, pulse_at, end_mark; from the sixth reduction on: value(x at 1.7), first and last time at
  // the mark of x, and number of times there, in all and from 1 on
  const auto expect_one = [](const outcome& r, std::size_t k, const std::array<double, 6>& by) {
    for (std::size_t j = 0; j < 6; ++j)
      if (std::isnan(by[j])) EXPECT_TRUE(std::isnan(reduced_by(r, k, j))) << k << " by " << j;
      else expect_near(reduced_by(r, k, j), by[j], 1e-10, fmt::format("{} by {}", k, j));
  };
  const double none = std::nan("");
  // At 1.5 x jumps to a tenth.
  const auto falls = run_marks({"x_mark=1.5", "growth=0.1", "y_mark=30.0"});
  ASSERT_STREQ(reason_of(falls), "defined");
  expect_one(falls, 5, {0.1 - 1, 0, 1.7, 1.5, 0, 0});
  for (const std::size_t k : {6u, 7u}) expect_one(falls, k, {1, 0, -1.5, 0, 0, 0});
  for (const std::size_t k : {8u, 9u}) expect_one(falls, k, {0, 0, 0, 0, 0, 0});
  // At 1.7, where it jumps, x has no derivative.
  const auto jumps = run_marks({"x_mark=1.7", "y_mark=30.0"});
  ASSERT_STREQ(reason_of(jumps), "defined");
  expect_one(jumps, 5, {none, none, none, none, none, none});
  expect_one(jumps, 6, {1, 0, -1.7, 0, 0, 0});
  // At 1, where the window begins, a moved event moves into the window or out of it. Two events happen there at once.
  const auto at_edge = run_marks({});
  ASSERT_STREQ(reason_of(at_edge), "defined");
  expect_one(at_edge, 5, {1, 0, 1.7, 1, 0, 0});
  expect_one(at_edge, 6, {1, 0, -1, 0, 0, 0});
  expect_one(at_edge, 8, {0, 0, 0, 0, 0, 0});
  expect_one(at_edge, 9, {none, 0, none, 0, 0, 0});
  // x does not reach its mark, and grows by 1 at a given time.
  const auto pulsed = run_marks({"x_mark=30.0", "y_mark=30.0", "pulse_at=1.0"});
  ASSERT_STREQ(reason_of(pulsed), "defined");
  expect_one(pulsed, 5, {0, 0, 1.7, 0, 0, 0});
  for (const std::size_t k : {6u, 7u}) expect_one(pulsed, k, {none, none, none, none, none, none});
  // The end moves across the time of the value.
  const auto ends = run_marks({"x_mark=40.0", "y_mark=30.0", "end_mark=1.75"});
  expect_one(ends, 5, {0, 0, 1.7, 0, 0, 0});
}

void expect_reductions_of_a_ball(const std::string& method) {
  const bounces b;
  // The third bounce is before the end: the arc after bounce k with the speed v has the area 2 v^3 / (3 g^2).
  const std::vector<std::string> asked = {
      "rtol=1e-10", "method=" + method, "t=[0.0,1.6]", "initial.height=1.0",
      "output.reduce=['integral(height)', 'mean(height)', 'max(velocity)', 'min(velocity)', 'max(height)', "
      "'min(height)', 'time(max(velocity))', 'time(min(velocity))', 'time(max(height)) from 0.5', "
      "'time(max(height))', 'time(min(height))', 'time(max(velocity)) from 0.5']"};
  const auto r = run("bouncing_ball", with(asked, {by({"restitution", "gravity", "initial.height"})}));
  ASSERT_STREQ(reason_of(r), "defined");
  const auto area = [](double e, double g, double h) {
    const bounces at{h, g, e};
    double sum = 2.0 / 3 * h * std::sqrt(2 * h / g);  // the fall
    int k = 1;
    for (; at.time(k + 1) < 1.6; ++k) sum += 2 * std::pow(at.speed(k), 3) / (3 * g * g);
    const double tau = 1.6 - at.time(k);
    return sum + tau * tau * (at.speed(k) / 2 - g * tau / 6);
  };
  const double d = 1e-5, root = std::sqrt(2 * b.g * b.h);
  const double area_by[] = {(area(b.e + d, b.g, b.h) - area(b.e - d, b.g, b.h)) / (2 * d),
                            (area(b.e, b.g + d, b.h) - area(b.e, b.g - d, b.h)) / (2 * d),
                            (area(b.e, b.g, b.h + d) - area(b.e, b.g, b.h - d)) / (2 * d)};
  const double leaves_by[] = {root, b.e * root / (2 * b.g), b.e * root / (2 * b.h)};
  const double arrives_by[] = {0, -root / (2 * b.g), -root / (2 * b.h)};
  // The ball falls for T = sqrt(2 h / g), and is highest again at (1 + e) T.
  const double fall = std::sqrt(2 * b.h / b.g), falls_by[] = {0, -fall / (2 * b.g), fall / (2 * b.h)};
  const double top_by[] = {fall, (1 + b.e) * falls_by[1], (1 + b.e) * falls_by[2]};
  for (std::size_t j = 0; j < 3; ++j) {
    expect_near(reduced_by(r, 0, j), area_by[j], 1e-8, "integral(height)");
    expect_near(reduced_by(r, 1, j), area_by[j] / 1.6, 1e-8, "mean(height)");
    expect_near(reduced_by(r, 2, j), leaves_by[j], 1e-8, "max(velocity), behind the first bounce");
    expect_near(reduced_by(r, 3, j), arrives_by[j], 1e-8, "min(velocity), before it");
    expect_near(reduced_by(r, 4, j), j == 2, 1e-12, "max(height), at the start");
    expect_near(reduced_by(r, 5, j), 0, 1e-8, "min(height), at every bounce");
    expect_near(reduced_by(r, 6, j), falls_by[j], 1e-8, "time(max(velocity)), of the first bounce");
    expect_near(reduced_by(r, 7, j), falls_by[j], 1e-8, "time(min(velocity)), of the first bounce");
    expect_near(reduced_by(r, 8, j), top_by[j], 1e-8, "time(max(height)), behind it");
    EXPECT_EQ(reduced_by(r, 9, j), 0) << "time(max(height)), at the start";
    EXPECT_TRUE(std::isnan(reduced_by(r, 10, j))) << "time(min(height)), at every bounce";
    EXPECT_EQ(reduced_by(r, 11, j), 0) << "time(max(velocity)), at the beginning of the window";
  }
  // Without loss every arc is as high as the first, and a change of restitution lowers the later ones only on one side.
  const auto tie =
      run("bouncing_ball", with(asked, {"restitution=1.0", by({"restitution", "gravity", "initial.height"})}));
  EXPECT_STREQ(reason_of(tie), "defined");
  EXPECT_TRUE(std::isnan(reduced_by(tie, 4, 0)));
  expect_near(reduced_by(tie, 4, 1), 0, 1e-8, "max(height) by gravity");
  expect_near(reduced_by(tie, 4, 2), 1, 1e-8, "max(height) by height");
  EXPECT_FALSE(std::isnan(reduced_by(tie, 0, 0)));
}
TEST(Sensitivities, OfReductionsOfABouncingBall) {
  for (const char* method : {"dp5", "taylor12"}) expect_reductions_of_a_ball(method);
}

// -------------------------------------------------------------------------------------------- beside differences of runs

struct SensitivitiesBesideDifferences : testing::TestWithParam<int> {};
TEST_P(SensitivitiesBesideDifferences, Agree) {
  const std::vector<differenced> all = {
      // means are of order 4: with the long steps of dop853 they are accurate only to 1e-10, so differences keep 1e-5
      {"relief_valve",
       {"t=[0.0,3.0]", "max_step=0.003", "initial.pressure=1.0",
        "output.reduce=['max(pressure)', 'integral(lift)', 'mean(pressure)', 'min(velocity)', 'max(lift)']"},
       {{"restitution", 0.8}, {"flow", 4.0}, {"initial.lift", 0.2}},
       1e-6},
      {"impact_oscillator",
       {"t=[0.0,5.0]", "output.reduce=['max(velocity)', 'integral(position)']"},
       {{"restitution", 0.8}, {"frequency", 2.8}},
       1e-6},
      {"coulomb_oscillator",
       {"t=[0.0,20.0]"},
       {{"kinetic_friction", 0.5}, {"frequency", 0.5}, {"static_friction", 0.6}},
       1e-6},
      {"pulsed_dose", {"t=[0.0,20.0]"}, {{"interval", 8.0}, {"amount", 250.0}}, 1e-6},
      {"pwm_boost_converter", {"t=[0.0,2.05e-4]"}, {{"duty", 0.5}, {"load", 24.0}}, 1e-5},
      {"rectifier_dae",
       {"t=[0.0,0.03]", "method=radau5", "output.reduce=['max(i1)', 'integral(v)']"},
       {{"amplitude", 100.0}, {"resistance", 5.0}, {"inductance", 10e-3}},
       1e-6},
      {test_model("ring"), {"t=[0.0,3.0]", "in_1=-1.0"}, {{"out_0", -1.0}, {"in_0", 2.0}}, 1e-6},
  };
  expect_differences(all[static_cast<std::size_t>(GetParam())]);
}
INSTANTIATE_TEST_SUITE_P(All, SensitivitiesBesideDifferences, testing::Range(0, 7));

// ------------------------------------------------------------------------------------------------------ undefined derivatives

TEST_P(SensitivitiesOfMarks, OfTwoEventsAtOnce) {
  // At t = 1 both ramps reach their marks. The events are independent: both orders give the same result.
  const auto apart = run_marks({});
  ASSERT_EQ(apart.log.size(), 2u);
  EXPECT_EQ(apart.log[0].time, apart.log[1].time);
  ASSERT_STREQ(reason_of(apart), "defined");
  const double expected[6][2] = {{1, 0}, {0, 1}, {2, 0}, {1, 3}, {0, 0}, {0, 0}};
  for (std::size_t j = 0; j < 6; ++j)
    for (std::size_t q = 0; q < 2; ++q)
      expect_near(apart.derivative(q, j), expected[j][q], 1e-10, fmt::format("{} {}", j, q));
  EXPECT_NEAR(apart.log[0].derivative[0], 1.0, 1e-12);
  EXPECT_EQ(apart.log[1].derivative[0], 0.0);
  EXPECT_NEAR(apart.log[1].derivative[1], 1.0 / 3, 1e-12);
  // With coupling x gets a value that depends on y, before or after y is doubled.
  const auto coupled = run_marks({"coupling=0.5"});
  EXPECT_STREQ(reason_of(coupled), "order");
  EXPECT_TRUE(std::isnan(coupled.derivative(0)));
  // A time event beside a guard: x is 2 (1 + 1) or 2 + 1.
  const auto timed = run_marks({"pulse_at=1.0", "y_mark=30.0"});
  EXPECT_STREQ(reason_of(timed), "order");
}

TEST(Sensitivities, OfTwoEventsAtOnceThatStayTogether) {
  // `growth` moves neither of the two events at t = 1, so their order does not matter.
  const auto model = test_model("two_marks");
  const auto r = run(model, {"rtol=1e-10", "coupling=0.5", "output.samples.times=[0.5,1.0,1.5]", by({"growth"})});
  ASSERT_STREQ(reason_of(r), "defined");
  expect_near(r.derivative(0), 1.0, 1e-10, "x by growth");
}

TEST_P(SensitivitiesOfMarks, OfAnEventAtASampleAndAtTheEnd) {
  const auto moves = run_marks({"y_mark=30.0"});
  EXPECT_EQ(moves.sample(3, 0, 0), 0.0);
  EXPECT_TRUE(std::isnan(moves.sample(3, 0, 1)));
  expect_near(moves.sample(3, 0, 2), 1.0, 1e-12, "behind it");
  ASSERT_STREQ(reason_of(moves), "defined");
  const auto at_end = run_marks({"y_mark=30.0", "x_mark=2.0"});
  EXPECT_STREQ(reason_of(at_end), "at_end");
  EXPECT_TRUE(std::isnan(at_end.derivative(0)));
  const auto terminal = run_marks({"y_mark=30.0", "x_mark=40.0", "end_mark=1.75"});
  ASSERT_STREQ(reason_of(terminal), "defined");
  expect_near(terminal.derivative(0, 5), 1.0, 1e-12, "x at the end");
  expect_near(terminal.derivative(1, 5), 3.0, 1e-12, "y at the end");
  expect_near(terminal.derivative(3, 5), 1.0, 1e-12, "the end");
  expect_near(terminal.derivative(0, 2), 0.0, 1e-12, "x by its speed");
  expect_near(terminal.derivative(3, 2), -1.75, 1e-12, "the end by the speed of x");
}

TEST(Sensitivities, OfGrazingAndAccumulation) {
  // The stone meets the wall with the speed sqrt(2 wall_depth).
  const auto met = run(test_model("graze"), {"rtol=1e-10", "wall_depth=0.1", "line_depth=-5.0", by({"wall_depth"})});
  ASSERT_STREQ(reason_of(met), "defined");
  const auto grazed =
      run(test_model("graze"), {"rtol=1e-10", "wall_depth=1e-9", "line_depth=-5.0", by({"wall_depth"})});
  EXPECT_STREQ(reason_of(grazed), "grazing");
  const auto piled = run("bouncing_ball", {"rtol=1e-10", "v_min=0.0", "restitution=0.3", by({"gravity"})});
  EXPECT_NE(piled.sensitivity[0], 0);
  for (const auto* r : {&grazed, &piled}) EXPECT_TRUE(std::isnan(r->derivative(0)));
  // The valve comes to rest on its seat and is lifted again: its derivatives are undefined from there on.
  const auto rested =
      run("relief_valve", {"rtol=1e-8", "flow=0.2", "initial.pressure=1.0", "output.samples.count=41", by({"flow"})});
  EXPECT_EQ(name_of(rested.status[0]), "finished");
  EXPECT_NE(rested.sensitivity[0], 0);
  EXPECT_TRUE(std::isnan(rested.derivative(2)) && std::isnan(rested.sample(5, 0, 40)));
  EXPECT_FALSE(std::isnan(rested.sample(5, 0, 1)));
}

TEST(Sensitivities, OfTheRootOfZero) {
  // The pressure begins at zero, and the outflow depends on its square root.
  const auto r = run("relief_valve", {"rtol=1e-8", "t=[0.0,1.0]", "output.samples.count=41", by({"flow"})});
  EXPECT_STREQ(reason_of(r), "not_finite");
  EXPECT_TRUE(std::isnan(r.derivative(2)));
}

/// Derivatives that count in the choice of steps and become undefined were NaN in the error, and the instance ended as `not_finite`.
void expect_undefined_ones_not_to_count(const std::vector<const char*>& methods) {
  for (const char* method : methods) {
    const std::vector<std::string> common = {"rtol=1e-8", std::string("method=") + method};
    const auto expect_states_of_a_run_without_control = [&](const std::string& model,
                                                            const std::vector<std::string>& of) {
      const auto alone = run(model, with(of, common));
      const auto controlled = run(model, with(of, with(common, {"sensitivity.error_control=true"})));
      const std::string what = fmt::format("{} {}", method, model);
      EXPECT_EQ(name_of(controlled.status[0]), "finished") << what;
      EXPECT_STREQ(reason_of(controlled), reason_of(alone)) << what;
      EXPECT_STRNE(reason_of(controlled), "defined") << what;
      EXPECT_TRUE(std::isnan(controlled.derivative(0))) << what;
      for (std::size_t i = 0; i < alone.final_state.size(); ++i)
        expect_near(controlled.final_state[i], alone.final_state[i], 1e-6, fmt::format("{} {}", what, i));
    };
    expect_states_of_a_run_without_control(test_model("graze"),
                                           {"wall_depth=1e-9", "line_depth=-5.0", by({"wall_depth"})});
    // The pressure begins at zero, and the outflow depends on its square root: implicit methods find no finite matrix there.
    if (*method == 'd' || *method == 't')
      expect_states_of_a_run_without_control("relief_valve", {"t=[0.0,1.0]", by({"flow"})});
  }
}
TEST(Sensitivities, UndefinedOnesDoNotCount) { expect_undefined_ones_not_to_count({"dp5", "radau5"}); }
TEST(Sensitivities, UndefinedOnesDoNotCountByOtherMethods) {
  expect_undefined_ones_not_to_count({"dop853", "taylor16", "sdirk4", "rodas5p"});
}

// ------------------------------------------------------------------------------------------------------------------ a hunt

/// One-sided derivatives of a trajectory of two_loops by direction i; nothing if the perturbation changes the set of events.
/// are.
struct one_sided {
  double forward[2], backward[2];

  bool agrees_with(std::size_t q, double value, double part) const {
    const double most = part * (1 + std::fabs(value));
    return std::fabs(value - forward[q]) < most && std::fabs(value - backward[q]) < most;
  }
};
/// True if `a` has the same events in the same order, where simultaneous events of `here` may come one after another.
bool same_events(const std::vector<int>& here, const std::vector<int>& a) {
  std::size_t k = 0;
  for (const int what : here)
    for (int left = what; left != 0; ++k) {
      if (k == a.size() || (a[k] & ~left) != 0) return false;
      left &= ~a[k];
    }
  return k == a.size();
}
template <class Number>
std::optional<one_sided> differences(const loops_of<Number>& at, const typename loops_of<Number>::end& here,
                                     std::size_t i, Number h) {
  const Number least = h / 10000000;
  one_sided r{};
  for (const int side : {1, -1}) {
    auto one = at, two = at;
    one.p[i] += side * h, two.p[i] += 2 * side * h;
    const auto a = one.run(3, least), b = two.run(3, least);
    if (!a || !b || a->what != b->what || !same_events(here.what, a->what)) return {};
    for (int q = 0; q < 2; ++q) {
      const auto of = [&](const auto& e) { return q == 0 ? e.x : e.y; };
      (side > 0 ? r.forward : r.backward)[q] =
          static_cast<double>((-3 * of(here) + 4 * of(*a) - of(*b)) / (2 * h * side));
    }
  }
  return r;
}
/// The same with 50 digits, over a step so small that higher derivatives do not matter.
std::optional<one_sided> differences_in_50_digits(const loops& at, std::size_t i) {
  loops_of<fifty_digits> all;
  std::copy(at.p.begin(), at.p.end(), all.p.begin());
  const auto here = all.run(3, 1e-4);
  return here ? differences<fifty_digits>(all, *here, i, fifty_digits(1e-15)) : std::nullopt;
}

struct catch_of_hunt {
  int compared = 0, at_once = 0;  ///< derivatives of both quantities by one direction; with simultaneous events
  int flagged = 0, needlessly_flagged = 0;         ///< of them; of those, defined in all directions
  int agreeing = 0, in_50_digits = 0, silent = 0;  ///< numbers; those that needed 50 digits; wrong ones
  int other = 0;                                   ///< trajectories
  double largest_error = 0;
};

constexpr double tolerance = 1e-6;

void compare(double value, const loops& at, std::size_t direction, std::size_t q, const one_sided& d,
             catch_of_hunt& all) {
  auto exact = d;
  if (!d.agrees_with(q, value, tolerance)) {
    // Near a grazing, higher derivatives are large enough to outweigh the small step of the differences.
    ++all.in_50_digits;
    if (const auto found = differences_in_50_digits(at, direction)) exact = *found;
  }
  all.largest_error = std::max(all.largest_error, std::fabs(value - exact.forward[q]) / (1 + std::fabs(value)));
  const bool agrees = exact.agrees_with(q, value, tolerance);
  ++(agrees ? all.agreeing : all.silent);
  if (!agrees && all.silent < 10)
    ADD_FAILURE() << fmt::format("derivative of {} by {}: {} is not {} and {}; parameters {}", q, direction, value,
                                 exact.forward[q], exact.backward[q], fmt::join(at.p, " "));
}

/// Compares `count` random trajectories.
catch_of_hunt hunt(std::size_t count, unsigned seed, const std::vector<std::size_t>& directions,
                   const std::vector<std::string>& how) {
  const auto rows = random_loops(count, seed);
  const auto& names = loops::names;
  std::vector<std::string> asked;
  for (const std::size_t i : directions) asked.push_back(i < loops::count ? names[i] : "initial." + names[i]);
  auto settings = with({"rtol=1e-10", "atol=1e-12", by(asked)}, how);
  settings = with(settings, settings_of(rows));
  const auto r = run(test_model("two_loops"), settings);
  catch_of_hunt all;
  for (std::size_t n = 0; n < count; ++n) {
    const auto id = static_cast<std::int64_t>(n);
    loops at{};
    std::copy(rows[n].begin(), rows[n].end(), at.p.begin());
    const auto here = at.run(3, 1e-3L);
    if (!here) continue;
    const bool is_at_once =
        std::any_of(here->what.begin(), here->what.end(), [](int what) { return (what & (what - 1)) != 0; });
    if (std::fabs(r.final("x", id) - static_cast<double>(here->x)) > 1e-7 ||
        std::fabs(r.final("y", id) - static_cast<double>(here->y)) > 1e-7) {
      ++all.other;
      continue;
    }
    bool all_exist = true;
    for (std::size_t j = 0; j < directions.size(); ++j) {
      const auto d = differences<loops::real>(at, *here, directions[j], 1e-6L);
      all_exist = all_exist && d;
      if (!d) continue;
      ++all.compared;
      all.at_once += is_at_once;
      if (r.sensitivity[n] != 0) {
        ++all.flagged;
        EXPECT_TRUE(std::isnan(r.derivative(0, j, id)));
        for (std::size_t q = 0; q < 2; ++q) all_exist = all_exist && d->agrees_with(q, d->forward[q], 1e-8);
        continue;
      }
      for (std::size_t q = 0; q < 2; ++q) compare(r.derivative(q, j, id), at, directions[j], q, *d, all);
    }
    all.needlessly_flagged += r.sensitivity[n] != 0 && all_exist;
  }
  return all;
}

void expect_none_silent(std::size_t count, unsigned seed, bool of_resets,
                        const std::vector<std::string>& how = {"method=dop853"}) {
  // If a reset moves the other quantity when both are at their marks, it decides whether that passes its mark: all such cases are flagged.
  const std::vector<std::size_t> resets = {0, 6, 8, 10, 11, 14}, others = {0, 6, 7, 11, 12, 14};
  const auto all = hunt(count, seed, of_resets ? resets : others, how);
  std::printf(
      "%d derivatives, %d of them with events at once: %d numbers agree (%d in 50 digits, errors up to %.1e), %d "
      "derivatives are flagged (%d trajectories needlessly), %d numbers are wrong; %d trajectories differ\n",
      all.compared, all.at_once, all.agreeing, all.in_50_digits, all.largest_error, all.flagged, all.needlessly_flagged,
      all.silent, all.other);
  EXPECT_EQ(all.silent, 0);
  EXPECT_EQ(all.other, 0);
  EXPECT_GT(all.compared, static_cast<int>(count));
  EXPECT_LT(all.flagged, all.compared / 2);
  EXPECT_LT(all.needlessly_flagged, static_cast<int>(count) / 500);
}
TEST(Sensitivities, OfRandomTrajectories) { expect_none_silent(1000, 1, false); }
TEST(Sensitivities, OfRandomTrajectoriesByTaylorSeries) { expect_none_silent(1000, 1, false, {"method=taylor12"}); }
TEST(Sensitivities, OfManyRandomTrajectories) {
  const char* const asked = std::getenv("SALTUS_TRAJECTORIES");  // number of trajectories
  const char* const how = std::getenv("SALTUS_HOW");             // a setting in place of method=dop853
  const char* const from = std::getenv("SALTUS_SEED");           // the seed of the first 5000; later ones count up
  const unsigned batches = asked ? static_cast<unsigned>(std::atoi(asked)) / 5000 : 20;
  const unsigned first = from ? static_cast<unsigned>(std::atoi(from)) : 2;
  for (unsigned seed = first; seed < first + batches; ++seed)
    expect_none_silent(5000, seed, seed % 2 == 0, {how ? how : "method=dop853"});
}

// ------------------------------------------------------------------------------------------------------------------ bits

const std::vector<std::string> valves = {"rtol=1e-7",
                                         "initial.pressure=1.0",
                                         "t=[0.0,6.0]",
                                         "sample.count=37",
                                         "sample.seed=3",
                                         "sample.flow={uniform=[1.0,8.0]}",
                                         "output.samples.count=7",
                                         "output.events=true"};

// sum(T) is the integral of all harmonics from T* = ln 2 / (a_0 + a_39) on, at which the decay is half done.
void expect_forty_derivatives(const std::string& method) {
  constexpr int count = 40;
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) names.push_back(fmt::format("amplitude_{}", k));
  const auto r =
      run(test_model("many_rates"), {"rtol=1e-10", "atol=1e-12", "method=" + method, "output.events=true", by(names)});
  ASSERT_STREQ(reason_of(r), "defined");
  ASSERT_EQ(r.log.size(), 1u);
  const double amplitude = 0.25, end = 3.0, rate = 2 * amplitude, jump = std::log(2.0) / rate;
  const auto harmonic = [](int k, double t) { return std::cos(0.1 * k * t); };
  const auto integral = [](int k, double t) { return k == 0 ? t : std::sin(0.1 * k * t) / (0.1 * k); };
  double all = 0;
  for (int k = 0; k < count; ++k) all += amplitude * harmonic(k, jump);
  for (int k = 0; k < count; ++k) {
    const auto j = static_cast<std::size_t>(k);
    const bool moves = k == 0 || k == 39;
    const double by_time = moves ? -jump / rate : 0.0;
    expect_near(r.log[0].derivative[j], by_time, 1e-9, fmt::format("{}: time of the jump by {}", method, k));
    expect_near(r.derivative(0, j), integral(k, end) - integral(k, jump) - all * by_time, 1e-9,
                fmt::format("{}: sum by {}", method, k));
    expect_near(r.derivative(1, j), moves ? -end * std::exp(-rate * end) : 0.0, 1e-9,
                fmt::format("{}: decay by {}", method, k));
  }
}

TEST(Sensitivities, ByFortyParameters) { expect_forty_derivatives("dp5"); }
TEST(Sensitivities, ByFortyParametersWithOtherMethods) {
  for (const char* method : {"rodas5p", "radau5", "taylor16"}) expect_forty_derivatives(method);
}

TEST(Sensitivities, StatesHaveTheBitsOfRunsWithout) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"relief_valve", with(valves, {"method=dp5"})},
      {"relief_valve", with(valves, {"method=dop853"})},
      {"relief_valve", with(valves, {"method=taylor8"})},
      {"relief_valve", with(valves, {"method=dp5", "detection=certified"})},
      {test_model("everything"),
       {"rtol=1e-6", "sample.count=21", "sample.restitution={uniform=[0.3,0.8]}", "output.events=true"}},
      {test_model("coupled_carts"),
       {"rtol=1e-8", "sample.count=21", "sample.restitution={uniform=[0.3,0.8]}", "output.events=true"}}};
  for (const auto& [model, settings] : all) {
    const auto without = run(model, settings);
    auto with_them = run(model, with(settings, {by({"restitution"})}));
    // Samples of the states come first, event by event.
    with_them.samples.resize(without.samples.size());
    for (std::int64_t i = 0; i < without.plan.count; ++i) expect_same(without, i, with_them, i);
    expect_same_log(without, with_them);
  }
}

TEST(Sensitivities, HaveTheSameBitsHoweverTheyAreRun) {
  const auto settings = with(valves, {by({"restitution", "initial.lift"}), "initial.lift=0.2"});
  const auto reference = run("relief_valve", with(settings, {"run.threads=1", "run.lanes=1", "run.groups=1"}));
  for (const auto& how : std::vector<std::vector<std::string>>{{"run.threads=2", "run.lanes=8", "run.chunk=5"},
                                                               {"run.threads=1", "run.lanes=4", "run.groups=2"}}) {
    const auto r = run("relief_valve", with(settings, how));
    ASSERT_EQ(r.sensitivity, reference.sensitivity);
    for (std::size_t i = 0; i < r.final_derivative.size(); ++i)
      ASSERT_EQ(bits(r.final_derivative[i]), bits(reference.final_derivative[i])) << i;
    for (std::size_t i = 0; i < r.samples.size(); ++i) ASSERT_EQ(bits(r.samples[i]), bits(reference.samples[i])) << i;
    for (std::size_t e = 0; e < r.log.size(); ++e)
      for (std::size_t j = 0; j < 2; ++j)
        ASSERT_EQ(bits(r.log[e].derivative[j]), bits(reference.log[e].derivative[j])) << e;
  }
}

// ---------------------------------------------------------------------------------------------------------------- refusals

TEST(Sensitivities, AreRefusedWhereThereAreNone) {
  const auto refused = [](const std::string& model, const std::vector<std::string>& settings, const std::string& why) {
    try {
      plan_of(model, settings);
      ADD_FAILURE() << why;
    } catch (const host::error& e) { EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what(); }
  };
  refused("lorenz", {by({"rhoo"})}, "neither a parameter nor an initial value; did you mean");
  refused("lorenz", {by({"initial.x"})}, "must have a value in [initial]");
  refused("four_bar", {by({"gravity"}), "method=inflsdirk4"}, "eliminates the constraints within its steps");
  refused(test_model("two_bobs_index_2"), {"lyapunov={}"}, "whose constraints leave no differences");
  refused(test_model("mixed"), {"lyapunov={}"}, "whose constraints leave no differences");
  refused("rectifier_dae", {by({"resistance"}), "consistency=nearest"}, "moves the start");
  refused("relief_valve", {by({"flow"}), "output.rows=false"}, "they are kept for each instance");
  refused("rectifier_dae", {"sensitivity.parameters=[]"}, "at least one name");
  for (const auto& [reduction, instead] : std::initializer_list<std::pair<const char*, const char*>>{
           {"quantile(x, 0.5)", "in a run without [sensitivity]"}, {"median(x)", "or ask for mean(x) or max(x)"}})
    refused(test_model("decay"), {by({"rate"}), fmt::format("output.reduce=['{}']", reduction)}, instead);
}

}  // namespace
}  // namespace saltus::test
