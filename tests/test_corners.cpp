// Corners and jumps of right-hand sides that no guard announces (engine/corners.hpp), for every form that is looked at, by all kinds of
// methods: integrals of |sin| and of a square wave against closed forms.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derivative_runs.hpp"
#include "number/watched.hpp"

namespace saltus::test {
namespace {

/// Integrals from 0 to u of |sin|, and of 1 where sin > 0.
double of_corners(double u) {
  const double halves = std::floor(u / std::numbers::pi), rest = u - halves * std::numbers::pi;
  return 2.0 * halves + 1.0 - std::cos(rest);
}
double of_jumps(double u) {
  const double turns = std::floor(u / (2.0 * std::numbers::pi)), rest = u - turns * 2.0 * std::numbers::pi;
  return turns * std::numbers::pi + std::min(rest, std::numbers::pi);
}

/// An ensemble of waves, and the closed forms of their integrals.
struct waves {
  static constexpr std::size_t count = 200;
  outcome of;
  host::columns in;

  waves(const std::string& form, const std::string& method, double rtol, const std::vector<std::string>& more = {})
      : of(run(test_model(("rectified_" + form).c_str()),
               with({"method=" + method, set("rtol", rtol), set("atol", rtol), fmt::format("sample.count={}", count),
                     "sample.seed=3", "sample.w={uniform=[1,9]}", "sample.phase={uniform=[0,6.283]}"},
                    more))),
        in(inputs_of(of)) {}

  double w(std::size_t i) const { return in.parameters[i]; }
  double begin(std::size_t i) const { return in.parameters[count + i]; }
  double end(std::size_t i) const { return 10.0 * w(i) + begin(i); }
  double integral(double primitive(double), std::size_t i) const {
    return (primitive(end(i)) - primitive(begin(i))) / w(i);
  }
};

struct corners_case {
  const char *form, *method;
};
class CornersOfForms : public testing::TestWithParam<corners_case> {};

/// The error estimates alone are small by accident: errors were up to 30,000 tolerances by dp5, 300,000,000 by sdirk4, whose stages all lie
/// behind a jump in the first quarter of a step.
TEST_P(CornersOfForms, CostSomeTolerancesEach) {
  const auto [form, method] = GetParam();
  const std::size_t x = std::string(form) == "mechanical" ? 2 : 0;
  const std::size_t n = std::string(form) == "any_order" ? x + 2 : x + 1;  // after the derivative of x
  for (const double rtol : {1e-4, 1e-6, 1e-9}) {
    const waves some(form, method, rtol);
    for (std::size_t i = 0; i < waves::count; ++i) {
      const auto final = [&](std::size_t q) { return some.of.final_state[q * waves::count + i]; };
      const std::string what = fmt::format("rtol {}, w = {}, phase = {}", rtol, some.w(i), some.begin(i));
      EXPECT_EQ(some.of.status[i], 0) << what;
      // The errors of the steps between corners have one sign, and some hundred of them add up.
      EXPECT_NEAR(final(x), some.integral(of_corners, i), 500.0 * rtol) << what;
      EXPECT_NEAR(final(n), some.integral(of_jumps, i), 200.0 * rtol) << what;
    }
  }
}
std::string name_of_case(const testing::TestParamInfo<corners_case>& of) {
  return std::string(of.param.form) + "_" + of.param.method;
}
INSTANTIATE_TEST_SUITE_P(Some, CornersOfForms,
                         testing::Values(corners_case{"plain", "dp5"}, corners_case{"plain", "dop853"},
                                         corners_case{"plain", "trapezoid"}, corners_case{"mass", "sdirk4"},
                                         corners_case{"residual", "sdirk4"}, corners_case{"semi", "sdirk4"},
                                         corners_case{"any_order", "dp5"}, corners_case{"mechanical", "inflsdirk4"}),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Others, CornersOfForms,
                         testing::Values(corners_case{"plain", "bs3"}, corners_case{"plain", "rkf45"},
                                         corners_case{"plain", "rkf78"}, corners_case{"plain", "tsit5"},
                                         corners_case{"plain", "rdpk510"}, corners_case{"plain", "sdirk4"},
                                         corners_case{"plain", "esdirk4"}, corners_case{"plain", "rodas4"},
                                         corners_case{"plain", "rodas5p"}, corners_case{"plain", "radau5"},
                                         corners_case{"plain", "radau13"}, corners_case{"plain", "taylor12"},
                                         corners_case{"mass", "rodas5p"}, corners_case{"residual", "radau5"},
                                         corners_case{"semi", "radau5"}, corners_case{"any_order", "taylor12"},
                                         corners_case{"any_order", "sdirk4"}, corners_case{"mechanical", "dp5"}),
                         name_of_case);

/// No term of a series shows a jump: where the field was constant, the first step was the whole span, and a sixth of the waves were lost.
TEST(Corners, OfSeriesAlone) {
  for (const char* method : {"taylor8", "taylor20"})
    for (const double rtol : {1e-4, 1e-9}) {
      const waves some("alone", method, rtol);
      for (std::size_t i = 0; i < waves::count; ++i)
        EXPECT_NEAR(some.of.final_state[i], some.integral(of_jumps, i), 30.0 * rtol)
            << method << ' ' << rtol << ' ' << i;
    }
}

/// Steps grow without limit before an event switches a wave on, and the first one after it saw the same side of the wave at all of its points.
TEST(Corners, ThatBeginAfterAnEventAreSeen) {
  constexpr std::size_t count = 500;
  for (const char* method : {"dp5", "sdirk4", "radau5", "taylor16"}) {
    const auto r = run(test_model("late_waves"), {"rtol=1e-6", std::string("method=") + method,
                                                  fmt::format("sample.count={}", count), "sample.w={uniform=[1,100]}"});
    const auto in = inputs_of(r);
    for (std::size_t i = 0; i < count; ++i) {
      const double w = in.parameters[i], right = (of_jumps(10.0 * w) - of_jumps(5.0 * w)) / w;
      EXPECT_NEAR(r.final_state[count + i], right, 1e-4) << method << " at " << w;
    }
  }
}

/// An extremum at a corner is as inaccurate as the step across it, where one at a turning point is its square: minima were off by up to 6e-2
/// at any tolerance, and their times by 0.4.
TEST(Corners, OfExtremaAreFound) {
  constexpr std::size_t count = 200;
  for (const char* method : {"dp5", "dop853", "radau5", "taylor16"})
    for (const double rtol : {1e-6, 1e-9}) {
      const auto r = run(test_model("late_waves"),
                         {set("rtol", rtol), std::string("method=") + method, fmt::format("sample.count={}", count),
                          "sample.place={uniform=[2,8]}", "output.reduce=['min(corner)','time(min(corner))']"});
      const auto in = inputs_of(r);
      for (std::size_t i = 0; i < count; ++i) {
        const double place = in.parameters[count + i];
        EXPECT_NEAR(r.reductions[i], 0.3 * place, 200.0 * rtol) << method << ' ' << rtol;
        EXPECT_NEAR(r.reductions[count + i], place, 200.0 * rtol) << method << ' ' << rtol;
      }
    }
}

/// Before a window steps do not resolve an output. Its size there, that of a series beyond its radius of convergence, gave the tolerance
/// within the window: integrals were off by up to 7e9.
TEST(Windows, OfOutputsDoNotTakeSizesFromBefore) {
  constexpr std::size_t count = 200;
  const auto primitive = [](double u) {
    const double a = 1.02, s = std::sqrt(a * a - 1.0);
    return 2.0 / s *
           (std::atan((a * std::tan(0.5 * u) + 1.0) / s) +
            std::numbers::pi * std::floor(0.5 * u / std::numbers::pi + 0.5));
  };
  for (const char* method : {"dp5", "taylor12", "taylor16", "taylor20"}) {
    const auto r = run(test_model("smooth_peaks"),
                       {"rtol=1e-6", std::string("method=") + method, fmt::format("sample.count={}", count),
                        "sample.w={uniform=[1,9]}", "output.reduce=['integral(peaks) from 2.3 to 7.1']"});
    const auto in = inputs_of(r);
    for (std::size_t i = 0; i < count; ++i) {
      const double w = in.parameters[i], right = (primitive(7.1 * w) - primitive(2.3 * w)) / w;
      EXPECT_NEAR(r.reductions[i], right, 1e-4 * right) << method << " at " << w;
    }
  }
}

/// Integrals of outputs: those of jumps were off by up to 1 by sdirk4 and radau5, whose stages may all lie on one side.
TEST(Corners, OfIntegratedOutputsCost100TolerancesAtMost) {
  for (const char* method : {"dp5", "dop853", "sdirk4", "radau5"})
    for (const double rtol : {1e-4, 1e-6, 1e-9}) {
      const waves some("outputs", method, rtol,
                       {"output.reduce=['integral(rectified)','integral(square)','rms(rectified)']"});
      for (std::size_t i = 0; i < waves::count; ++i) {
        const auto reduced = [&](std::size_t k) { return some.of.reductions[waves::count * k + i]; };
        const double w = some.w(i), end = some.end(i), begin = some.begin(i);
        const std::string what = fmt::format("{} at {}, w = {}, phase = {}", method, rtol, w, begin);
        EXPECT_NEAR(reduced(0), some.integral(of_corners, i), 100.0 * rtol) << what;
        EXPECT_NEAR(reduced(1), some.integral(of_jumps, i), 100.0 * rtol) << what;
        const double squares = 0.5 - (std::sin(2.0 * end) - std::sin(2.0 * begin)) / (40.0 * w);
        EXPECT_NEAR(reduced(2), std::sqrt(squares), 100.0 * rtol) << what;
      }
    }
}

/// Extrema of outputs at their own corners and jumps. They had the derivative of one branch, and those at jumps were left out.
void expect_derivatives_of_extrema(const std::vector<const char*>& methods, std::size_t reductions) {
  struct right_numbers {
    const char* reduction;
    double value, by_slope, by_level, by_lift;
  };
  constexpr std::size_t count = 50;
  const auto unknown = std::numeric_limits<double>::quiet_NaN();
  const auto right_at = [&](double a, double b) {
    const double lift = 2.0, s = 1.0 + a;
    return std::vector<right_numbers>{{"max(hat)", a * b / s, b / (s * s), a / s, 0.0},
                                      {"time(max(hat))", b / s, -b / (s * s), 1.0 / s, 0.0},
                                      {"max(clipped)", b, 0.0, 1.0, 0.0},
                                      {"max(tooth)", 1.0, unknown, 0.0, 0.0},
                                      {"max(pulse)", lift * b, 0.0, lift, b},
                                      {"min(distance)", 0.0, 0.0, 0.0, 0.0},
                                      {"time(min(distance))", b, 0.0, 1.0, 0.0},
                                      {"time(max(tooth))", unknown, unknown, 0.0, 0.0},
                                      {"max(timed)", 2.0 * a, 2.0, 0.0, 0.0},
                                      {"time(max(timed))", 2.0, 0.0, 0.0, 0.0},
                                      {"max(hat) from 0 to 0.5", 0.5 * a, 0.5, 0.0, 0.0},
                                      {"min(pulse)", 0.0, 0.0, 0.0, 0.0}};
  };
  std::vector<std::string> names;
  for (std::size_t k = 0; k < reductions; ++k) names.emplace_back(right_at(1.0, 1.0)[k].reduction);
  for (const char* method : methods) {
    const auto r = run(test_model("cornered_outputs"),
                       {"rtol=1e-7", std::string("method=") + method, by({"slope", "level", "lift"}),
                        fmt::format("sample.count={}", count), "sample.slope={uniform=[0.3,2]}",
                        "sample.level={uniform=[2,4]}", fmt::format("output.reduce=['{}']", fmt::join(names, "', '"))});
    const auto in = inputs_of(r);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_STREQ(reason_of(r, i), "defined");
      const auto rights = right_at(in.parameters[i], in.parameters[count + i]);
      for (std::size_t k = 0; k < reductions; ++k) {
        const auto& right = rights[k];
        const std::string what = fmt::format("{}: {}, instance {}", method, right.reduction, i);
        const auto expect = [&](double number, double expected) {
          if (std::isnan(expected)) EXPECT_TRUE(std::isnan(number)) << what << ": " << number;
          else EXPECT_NEAR(number, expected, 1e-5) << what;
        };
        if (!std::isnan(right.value)) expect(r.reductions[count * k + i], right.value);
        expect(reduced_by(r, k, 0, i), right.by_slope);
        expect(reduced_by(r, k, 1, i), right.by_level);
        expect(reduced_by(r, k, 2, i), right.by_lift);
      }
    }
  }
}
TEST(Corners, OfExtremaHaveDerivatives) { expect_derivatives_of_extrema({"dp5"}, 5); }
TEST(Corners, OfAllExtremaHaveDerivatives) { expect_derivatives_of_extrema({"dop853"}, 12); }
TEST(Corners, OfExtremaHaveDerivativesByOtherMethods) {
  expect_derivatives_of_extrema({"bs3", "sdirk4", "radau5", "rodas5p", "taylor16"}, 12);
}

/// Answers of comparisons may change where a quantity does not, as those of |v| where x turns, and at zeros of one value.
TEST(Corners, OfOthersLeaveTheDerivativesOfExtrema) {
  // x = exp(-k t) sin(s t) / s with s^2 = w^2 - k^2 turns first at atan(s / k) / s.
  const double w = 2.0, k = 0.2, d = 1e-5;
  const auto turns_at = [](double of_w, double of_k) {
    const double s = std::sqrt(of_w * of_w - of_k * of_k);
    return std::atan2(s, of_k) / s;
  };
  const double by_w = (turns_at(w + d, k) - turns_at(w - d, k)) / (2.0 * d);
  const double by_k = (turns_at(w, k + d) - turns_at(w, k - d)) / (2.0 * d);
  const auto r =
      run(test_model("turning_outputs"),
          {"rtol=1e-9", "atol=1e-9", "method=dp5", by({"w", "k"}),
           "output.reduce=['time(max(limited))', 'time(min(distance)) from 1 to 2', 'time(min(distance))']"});
  EXPECT_NEAR(r.reductions[0], turns_at(w, k), 1e-6);
  EXPECT_NEAR(reduced_by(r, 0, 0), by_w, 1e-5);
  EXPECT_NEAR(reduced_by(r, 0, 1), by_k, 1e-5);
  const double s = std::sqrt(w * w - k * k), zero = std::numbers::pi / s;
  EXPECT_NEAR(reduced_by(r, 1, 0), -zero * w / (s * s), 1e-5);
  EXPECT_NEAR(reduced_by(r, 1, 1), zero * k / (s * s), 1e-5);
  EXPECT_TRUE(std::isnan(reduced_by(r, 2, 0)));  // the start and all zeros are equal
}

/// A guard at the level at which the right-hand side jumps: an implicit step that would end between both branches has no solution. Of 1,000
/// instances 821 ended as not_located by esdirk4 at 1e-4, and 526 by sdirk4.
TEST(Corners, AtTheLevelOfAGuardAreLocated) {
  constexpr std::size_t count = 200;
  const std::vector<std::string> family = {fmt::format("sample.count={}", count), "sample.w={uniform=[1,10]}",
                                           "sample.level={uniform=[0.02,0.09]}"};
  const auto exact = run(test_model("shared_level"),
                         with(family, {"method=dop853", "rtol=1e-11", "atol=1e-11", "output.events=true"}));
  const auto in = inputs_of(exact);
  for (const char* model : {"shared_level", "shared_level_semi"})
    for (const char* method : {"sdirk4", "esdirk4"})
      for (const double rtol : {1e-4, 1e-7}) {
        const auto r = run(test_model(model), with(family, {std::string("method=") + method, set("rtol", rtol),
                                                            set("atol", rtol), "output.events=true"}));
        for (std::size_t i = 0; i < 2 * count; ++i) {
          EXPECT_EQ(r.status[i % count], 0) << model << ' ' << method << ' ' << rtol << ' ' << i % count;
          EXPECT_NEAR(r.final_state[i], exact.final_state[i], 300.0 * rtol) << model << ' ' << method << ' ' << rtol;
        }
        ASSERT_EQ(r.events, exact.events) << model << ' ' << method << ' ' << rtol;
        for (std::size_t i = 0; i < exact.log.size(); ++i) {
          EXPECT_NEAR(r.log[i].time, exact.log[i].time, 300.0 * rtol) << model << ' ' << method << ' ' << rtol;
          // The event is at its root to rounding.
          EXPECT_LE(std::fabs(r.log[i].before[0] - in.parameters[count + static_cast<std::size_t>(r.log[i].instance)]),
                    1e-13);
        }
      }
}

/// The derivatives of (integral of |sin(w t + phase)|) by w and phase. A step across a corner moved them by the root of the tolerance.
void expect_right_derivatives(const std::vector<const char*>& methods) {
  const double w = 3.0, phase = 0.4, end = 10.0 * w + phase;
  const double integral = (of_corners(end) - of_corners(phase)) / w;
  const double by_w = (10.0 * std::fabs(std::sin(end)) - integral) / w;
  const double by_phase = (std::fabs(std::sin(end)) - std::fabs(std::sin(phase))) / w;
  const std::vector<std::string> at = {"rtol=1e-8", "atol=1e-8", "phase=0.4", "height=0.0"};
  for (const char* method : methods) {
    const auto r =
        run(test_model("rectified_plain"),
            with(at, {std::string("method=") + method, by({"w", "phase"}), "output.reduce=['integral(rectified)']"}));
    EXPECT_STREQ(reason_of(r), "defined") << method;
    expect_near(r.derivative(0, 0), by_w, 1e-5, method);
    expect_near(r.derivative(0, 1), by_phase, 1e-5, method);
    expect_near(reduced_by(r, 0, 0), by_w, 1e-5, method);
    expect_near(reduced_by(r, 0, 1), by_phase, 1e-5, method);
    const auto g = run(test_model("rectified_plain"),
                       with(at, {std::string("method=") + method, "gradient.parameters=['w','phase']",
                                 "gradient.of={'integral(rectified)'=1.0}"}));
    expect_near(g.gradient[1], by_w, 3e-5, method);
    expect_near(g.gradient[2], by_phase, 3e-5, method);
  }
}

TEST(Corners, LeaveDerivativesRight) { expect_right_derivatives({"dp5", "rodas5p"}); }
TEST(Corners, LeaveDerivativesRightByOtherMethods) { expect_right_derivatives({"dop853", "sdirk4"}); }

/// A jump whose time moves has no derivative without a guard, and says so.
std::string reason(const std::string& model, const std::vector<std::string>& settings) {
  return std::string(reason_of(run(test_model(model.c_str()), with({"rtol=1e-7"}, settings))));
}
TEST(Corners, AtJumpsOfOtherFormsAreWithoutDerivatives) {
  for (const char* form : {"residual", "semi", "mechanical"}) {
    const std::string model = std::string("rectified_") + form;
    EXPECT_EQ(reason(model, {"method=esdirk4", by({"w"})}), "jump") << form;
    EXPECT_EQ(reason(model, {"method=esdirk4", "height=0.0", by({"w"})}), "defined") << form;
  }
}
TEST(Corners, AtJumpsThatMoveAreWithoutDerivatives) {
  for (const char* form : {"plain", "mass"}) {
    const std::string model = std::string("rectified_") + form;
    EXPECT_EQ(reason(model, {"method=esdirk4", by({"w"})}), "jump") << form;
    EXPECT_EQ(reason(model, {"method=esdirk4", "height=0.0", by({"w"})}), "defined") << form;
  }
  EXPECT_EQ(reason("rectified_plain", {by({"height"})}), "defined");
  EXPECT_EQ(reason("switched_on", {by({"onset"})}), "jump");
  EXPECT_EQ(reason("switched_on", {"method=taylor12", by({"onset"})}), "jump");
  EXPECT_EQ(reason("switched_on", {"step=0.01", by({"onset"})}), "jump");
  EXPECT_EQ(reason("rectified_mass", {"method=rodas5p", by({"w"})}), "jump");
  EXPECT_EQ(reason("rectified_mass", {"method=rodas5p", "height=0.0", by({"w"})}), "defined");
  EXPECT_EQ(reason("switched_on", {"onset=20.0", by({"onset"})}), "defined");
  EXPECT_EQ(reason("switched_on", {"gradient.parameters=['onset']", "gradient.of={final_x=1.0}"}), "jump");
  // A jump much smaller than the slopes, and one that a guard announces while the right-hand side asks the state.
  const std::vector<std::string> beside_waves = {"method=dp5", "rtol=1e-6", "w=50.0", by({"onset"})};
  EXPECT_EQ(reason("step_in_waves", with(beside_waves, {"height=0.01"})), "jump");
  EXPECT_EQ(reason("step_in_waves", with(beside_waves, {"height=0.0"})), "defined");
  for (const char* method : {"dp5", "rodas5p", "taylor16"})
    EXPECT_EQ(reason("asked_state", {std::string("method=") + method, by({"level"})}), "jump") << method;
  EXPECT_EQ(reason("asked_state", {"by_guard=1.0", by({"level"})}), "defined");
  // A jump of an output counts only if its integral is a result.
  const std::vector<std::string> output_jumps = {"method=dp5", "height=0.5", "phase=0.4", by({"phase"})};
  EXPECT_EQ(reason("rectified_outputs", with(output_jumps, {"output.reduce=['mean(square)']"})), "jump");
  EXPECT_EQ(reason("rectified_outputs", with(output_jumps, {"output.reduce=['mean(rectified)']"})), "defined");
}

/// The same of one at a fixed time: (x(10) - its limit) decays from onset on.
TEST(Corners, AtFixedJumpsHaveDerivatives) {
  const double gain = 3.0, onset = 3.3, k = 0.1 * gain, low = 0.3 / k, high = 10.0;
  const double until = low * (1.0 - std::exp(-k * onset)), decay = std::exp(-k * (10.0 - onset));
  const double until_by_k = -low / k * (1.0 - std::exp(-k * onset)) + low * onset * std::exp(-k * onset);
  const double by_gain = 0.1 * (until_by_k * decay - (10.0 - onset) * (until - high) * decay);
  const auto r = run(test_model("switched_on"), {"rtol=1e-9", "atol=1e-9", by({"gain"})});
  EXPECT_STREQ(reason_of(r), "defined");
  EXPECT_NEAR(r.derivative(0, 0), by_gain, 1e-7);
  const auto g = run(test_model("switched_on"),
                     {"rtol=1e-9", "atol=1e-9", "gradient.parameters=['gain']", "gradient.of={final_x=1.0}"});
  EXPECT_STREQ(reason_of(g), "defined");
  EXPECT_NEAR(g.gradient[1], by_gain, 1e-6);
}

/// Numbers that note answers have the values of plain ones, and other notes where an answer is another.
TEST(Watched, NotesEachAnswer) {
  using Real = pack<double, 4>;
  const auto notes_at = [](double a, double b, double& value) {
    noted_answers<Real> notes;
    const watched<Real> x(Real(a), &notes), y(Real(b), &notes);
    const auto r = abs(x) + max(x, 2.0) + min(y, x) + floor(y) + sign(x * y) + copysign(3.0, y) + pow(y * y + 1.0, x) +
                   select(x > y, sin(x), 1.0) + fma(x, y, atan2(x, 2.0));
    value = r.value.get(2);
    return notes;
  };
  const auto plain_at = [](double a, double b) {
    const Real x(a), y(b);
    const auto r = abs(x) + max(x, Real(2.0)) + min(y, x) + floor(y) + sign(x * y) + copysign(Real(3.0), y) +
                   pow(y * y + Real(1.0), x) + select(x > y, sin(x), Real(1.0)) + fma(x, y, atan2(x, Real(2.0)));
    return r.get(2);
  };
  double value = 0.0;
  const auto here = notes_at(1.0, 0.5, value);
  EXPECT_EQ(value, plain_at(1.0, 0.5));
  EXPECT_TRUE(none(differ(here, notes_at(1.1, 0.6, value))));
  EXPECT_EQ(value, plain_at(1.1, 0.6));
  for (const auto& [a, b] : {std::pair{-1.0, -1.5}, {2.5, 0.5}, {0.4, 0.5}, {1.2, 1.1}, {1.0, -0.5}}) {
    EXPECT_TRUE(all(differ(here, notes_at(a, b, value)))) << a << " " << b;
    EXPECT_EQ(value, plain_at(a, b));
  }
  // Answers that change together do not cancel.
  const auto many = [](double s) {
    noted_answers<Real> notes;
    const watched<Real> x(Real(s), &notes);
    for (int i = 0; i < 64; ++i) static_cast<void>(i % 4 == 2 ? x < 0.0 : x > 0.0);
    return notes;
  };
  EXPECT_TRUE(all(differ(many(1.0), many(-1.0))));
  // The derivative of a number decides: an answer that does not move is not noted.
  using moving = dual<Real>;
  const auto of_moving = [](double a, double rate) {
    noted_answers<Real> notes;
    const watched<moving> x(moving(Real(a), Real(rate)), &notes);
    static_cast<void>(max(x, 2.0));
    return notes;
  };
  EXPECT_TRUE(all(differ(of_moving(1.0, 0.1), of_moving(3.0, 0.1))));
  EXPECT_TRUE(none(differ(of_moving(1.0, 0.0), of_moving(3.0, 0.0))));
}

}  // namespace
}  // namespace saltus::test
