// Runs of the methods: observed orders, dense output, Compere's pendulum table, step-size control.
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "method/controller.hpp"
#include "method/low_storage.hpp"
#include "method/order_conditions.hpp"
#include "number/math.hpp"
#include "testing/ensemble.hpp"

namespace saltus::test {
namespace {

using real = pack<double, 1>;

/// x'' = -x from (1, 0): x = cos t. No method of the list has a vanishing error constant here, and slopes settle early.
struct oscillator {
  vec<real, 2> operator()(real, const vec<real, 2>& y) const {
    vec<real, 2> dy;
    dy[0] = y[1];
    dy[1] = -y[0];
    return dy;
  }
};

template <class Method>
double oscillator_error(double t_end, int steps) {
  const oscillator f;
  vec<real, 2> y;
  y[0] = 1.0, y[1] = 0.0;
  const real h = t_end / steps;
  for (int i = 0; i < steps; ++i) y = step<Method>(f, solution_point{real(0.0), y, f(real(0.0), y)}, h).y1;
  return std::hypot(y[0].v - std::cos(t_end), y[1].v + std::sin(t_end));
}

TEST(Method, ObservedOrderIsTheOrder) {
  methods::for_each(methods::explicit_methods{}, [](auto m) {
    using M = decltype(m);
    // The finest two step sizes whose error is still well above rounding.
    double coarse = 0, fine = 0;
    int steps = 40;
    for (;; steps = steps * 5 / 4) {
      const double e = oscillator_error<M>(20.0, steps);
      if (e < 1e-11 || steps > 20000) break;
      coarse = fine, fine = e;
    }
    const int last = steps * 4 / 5;
    const double order = std::log(oscillator_error<M>(20.0, last / 2) / oscillator_error<M>(20.0, last)) /
                         std::log(static_cast<double>(last) / (last / 2));
    fmt::print("{:<8} order {} observed {:.3f}\n", M::name, M::order, order);
    EXPECT_NEAR(order, M::order, 0.1) << M::name;
    EXPECT_LT(fine, coarse);
  });
}

/// y' = y cos t: y = exp(sin t). In one step from t0 the error of the interpolant decreases as h^(dense_order + 1).
template <class Method>
double dense_error(double h) {
  const auto f = [](real t, const vec<real, 1>& y) {
    vec<real, 1> dy;
    dy[0] = cos(t) * y[0];
    return dy;
  };
  const double t0 = 0.3;
  vec<real, 1> y;
  y[0] = std::exp(std::sin(t0));
  const auto s = step<Method>(f, solution_point{real(t0), y, f(real(t0), y)}, real(h));
  const auto interpolant = interpolate<Method>(f, s);
  double worst = 0;
  for (int i = 1; i < 16; ++i)
    worst = std::max(worst, std::fabs(interpolant(real(i / 16.0))[0].v - std::exp(std::sin(t0 + h * i / 16))));
  return worst;
}

TEST(Method, DenseOutputHasItsOrder) {
  methods::for_each(methods::explicit_methods{}, [](auto m) {
    using M = decltype(m);
    const double h = M::dense_order > 5 ? 0.4 : 0.1;
    const double order = std::log2(dense_error<M>(h) / dense_error<M>(h / 2));
    fmt::print("{:<8} dense output of order {}: local error falls as h^{:.2f}\n", M::name, M::dense_order, order);
    EXPECT_NEAR(order, M::dense_order + 1, 0.25) << M::name;
    // The interpolant has the values and slopes of the ends.
    const oscillator f;
    vec<real, 2> y;
    y[0] = 0.8, y[1] = -0.3;
    const auto s = step<M>(f, solution_point{real(0.0), y, f(real(0.0), y)}, real(0.25));
    const auto interpolant = interpolate<M>(f, s);
    for (int i = 0; i < 2; ++i) {
      EXPECT_DOUBLE_EQ(interpolant(real(0.0))[i].v, y[i].v);
      EXPECT_NEAR(interpolant(real(1.0))[i].v, s.y1[i].v, 1e-16);
      EXPECT_NEAR(interpolant.slope(real(0.0))[i].v, 0.25 * s.f0()[i].v, 1e-15);
      EXPECT_NEAR(interpolant.slope(real(1.0))[i].v, 0.25 * s.f1()[i].v, 1e-15);
    }
  });
}

// M. D. Compere, dissertation (UT Austin 2001), Table 3.1: max E - min E of the pendulum over the steps of [0, 5]; entries at
// the level of rounding depend on the order of operations and are only bounded.
TEST(Method, PendulumEnergyOfComperesTable) {
  struct row {
    const char* method;
    double h, published;
  };
  const row table[] = {{"kutta3", 0.05, 1.8e-1},  {"kutta3", 0.01, 1.4e-3},  {"kutta3", 0.005, 1.8e-4},
                       {"kutta3", 0.001, 1.4e-6}, {"rkf45", 0.05, 1.4e-4},   {"rkf45", 0.01, 4.5e-8},
                       {"rkf45", 0.005, 1.4e-9},  {"rkf45", 0.001, 5.1e-13}, {"rkf78", 0.05, 5.3e-11},
                       {"rkf78", 0.01, 5.7e-14},  {"rkf78", 0.005, 5.7e-14}, {"rkf78", 0.001, 1.4e-13}};
  for (const auto& r : table) {
    const int steps = static_cast<int>(std::lround(5 / r.h));
    const outcome o = run("pendulum", {fmt::format("method={}", r.method), "t=[0.0,5.0]", fmt::format("step={}", r.h),
                                       fmt::format("output.samples.count={}", steps + 1)});
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (int k = 0; k <= steps; ++k) {
      const double e = o.sample(2, 0, k);  // after the two states follows the output `energy`
      low = std::min(low, e), high = std::max(high, e);
    }
    fmt::print("{:<7} h = {:<6} dE published {:.1e}, here {:.2e}\n", r.method, r.h, r.published, high - low);
    ASSERT_EQ(o.plan.model.outputs[0].name, "energy");
    if (r.published > 1e-12) {
      // Equal in the two printed digits.
      const double unit = std::pow(10, std::floor(std::log10(r.published)) - 1);
      EXPECT_NEAR(high - low, r.published, 0.5000001 * unit) << r.method << " " << r.h;
    } else {
      EXPECT_LT(high - low, 1e-12) << r.method << " " << r.h;
    }
    EXPECT_EQ(o.steps[0], steps);
  }
}

TEST(Method, ErrorFollowsTheTolerance) {
  // Exact: theta(5), by elliptic functions (mpmath, 25 digits).
  const double exact = 0.3738942186662719546609582;
  const auto check = [&](const char* method, const char* controller, const char* norm) {
    for (double tol : {1e-5, 1e-7, 1e-9}) {
      const outcome o = run("pendulum", {fmt::format("method={}", method), "t=[0.0,5.0]", fmt::format("rtol={}", tol),
                                         fmt::format("controller={}", controller), fmt::format("norm={}", norm)});
      const auto where = fmt::format("{} {} {} {}", method, controller, norm, tol);
      EXPECT_LT(std::fabs(o.final_state[0] - exact), 400 * tol) << where;
      EXPECT_LT(o.rejected[0], o.steps[0] / 4 + 8) << where;
    }
  };
  for (const char* method : {"bs3", "rkf45", "tsit5", "dop853"}) check(method, "pi", "rms");
  for (const char* controller : {"elementary", "pi", "h211b"})
    for (const char* norm : {"rms", "max", "compere"}) check("dp5", controller, norm);
}

// Registers that held y itself would return it with one rounding error per stage.
// The error estimate of Fehlberg's pair of order 8 is zero for such functions: steps grew without bound, to any error.
TEST(Method, IntegratesFunctionsOfTimeAlone) {
  for (const char* method : {"bs3", "rkf45", "rkf78", "dp5", "tsit5", "dop853", "rdpk510", "taylor12", "esdirk4",
                             "rodas5p", "radau5", "radau9"})
    for (const double rtol : {1e-4, 1e-6}) {
      const auto r = run(in_source("tests/models/driven_integral.hpp"),
                         {fmt::format("method={}", method), fmt::format("rtol={}", rtol), fmt::format("atol={}", rtol),
                          "sweep.w={from=1,to=20,count=20}", "sweep.phase={from=0,to=6,count=5}"});
      for (std::int64_t i = 0; i < 100; ++i) {
        const double w = 1.0 + static_cast<double>(i / 5), phase = 1.5 * static_cast<double>(i % 5), slow = 0.37 * w;
        const double exact = (std::sin(10.0 * w + phase) - std::sin(phase)) / w + 0.7 * std::sin(10.0 * slow) / slow;
        EXPECT_NEAR(r.final("x", i), exact, 200.0 * rtol) << method << " " << rtol << " " << i;
      }
    }
}

TEST(LowStorage, WhatDoesNotMoveStays) {
  using M = methods::rdpk_5;
  vec<real, 3> y, none;
  y[0] = 0.1, y[1] = -1e5 / 3, y[2] = 1e-300;
  none[0] = none[1] = none[2] = 0.0;
  const auto s =
      step<M>([&](real, const vec<real, 3>&) { return none; }, solution_point{real(0.0), y, none}, real(0.7));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(s.y1[i].v, y[i].v);
    EXPECT_EQ(local_error(s)[i].v, 0.0);
  }
}

// The estimate is h sum e_i k_i with the stages of the Butcher form.
TEST(LowStorage, EstimatesLikeItsButcherForm) {
  using M = methods::rdpk_5;
  const methods::tableau<M> m;
  const oscillator f;
  vec<real, 2> y, k[M::stages];
  const real h = 0.8;
  y[0] = 0.8, y[1] = -0.3;
  double error[2] = {};
  for (int i = 0; i < M::stages; ++i) {
    vec<real, 2> point = y;
    for (int j = 0; j < i; ++j)
      for (int q = 0; q < 2; ++q) point[q] = point[q] + h * real(m.a[i][j]) * k[j][q];
    k[i] = f(real(0.0), point);
    for (int q = 0; q < 2; ++q) error[q] += h.v * M::e[i] * k[i][q].v;
  }
  const auto s = step<M>(f, solution_point{real(0.0), y, f(real(0.0), y)}, h);
  for (int q = 0; q < 2; ++q) {
    EXPECT_NEAR(s.error[q].v, error[q], 1e-15);
    EXPECT_GT(std::fabs(error[q]), 1e-6);
  }
}

TEST(LowStorage, SamplesAreOfItsOrder) {
  for (double tol : {1e-5, 1e-7, 1e-9}) {
    const outcome o =
        run("pendulum", {"method=rdpk510", "t=[0.0,5.0]", fmt::format("rtol={}", tol), "output.samples.count=41"});
    EXPECT_LT(std::fabs(o.final_state[0] - 0.3738942186662719546609582), 400 * tol) << tol;  // as above
    EXPECT_LT(o.rejected[0], o.steps[0] / 4 + 8) << tol;
    for (int k = 1; k <= 40; ++k)  // energy of the pendulum at points within steps
      EXPECT_NEAR(o.sample(2, 0, k), o.sample(2, 0, 0), 100 * tol) << tol << " sample " << k;
  }
}

// The case "relief valve, flow 1" of reference_problems.hpp; here guards in the error control have no stages.
TEST(LowStorage, FindsEvents) {
  const outcome o = run("relief_valve", {"method=rdpk510", "rtol=1e-12", "atol=1e-12", "guards_in_error=true",
                                         "parameters.flow=1.0", "t=[0.0,40.0]", "output.events=true"});
  ASSERT_EQ(o.events[0], 33);
  EXPECT_NEAR(o.log[0].time, 0.222114066717146556, 1e-9);
  EXPECT_NEAR(o.log[1].time, 2.293681041925720058, 1e-9);
  EXPECT_NEAR(o.log[2].time, 3.228509039988877402, 1e-9);
  EXPECT_NEAR(o.final("lift"), 0.0337145508329161829, 1e-9);
  EXPECT_NEAR(o.final("velocity"), 0.958091007544213662, 1e-9);
  EXPECT_NEAR(o.final("pressure"), 10.0050921561066770, 1e-8);
}

TEST(Controller, AnswersTrials) {
  using M = methods::dormand_prince_5;
  const auto yes = mask_of<real>::all(true), no = mask_of<real>::all(false);
  using number = rough_of<real>;
  const control_memory<real> fresh{number(0.0), number(0.0), number(0.0)};
  // Compere 5.7 at err = 1: 0.8 h; at err = 2^-6: 1.6 h.
  EXPECT_NEAR((decide<M, controller_kind::elementary>(real(1.0), number(1.0), yes, fresh).h.v), 0.8, 1e-5);
  EXPECT_NEAR((decide<M, controller_kind::elementary>(real(1.0), number(0x1p-12), yes, fresh).h.v), 1.6, 1e-4);
  // PI with err = 2^-5 after err_old = 1: 0.9 * 2^(0.7).
  EXPECT_NEAR((decide<M, controller_kind::pi>(real(1.0), number(0x1p-10), yes, fresh).h.v), 0.9 * std::exp2(0.7), 1e-4);
  // H211b with both errors 0.9^5: no change. err = 0.9^5 is 2^-0.76; the controller uses its square.
  control_memory<real> on_target{number(std::log2(std::pow(0.9, 5))), number(0.0), number(0.0)};
  EXPECT_NEAR((decide<M, controller_kind::h211b>(real(1.0), number(std::pow(0.9, 10)), yes, on_target).h.v), 1.0, 1e-4);
  // A rejected step shrinks, by 1/8 after a NaN, and the step after a rejection does not grow.
  EXPECT_NEAR((decide<M, controller_kind::pi>(real(1.0), number(0x1p20), no, fresh).h.v), 0.9 / 4, 1e-4);  // err = 2^10
  const auto after_nan = decide<M, controller_kind::pi>(real(1.0), number(std::nan("")), no, fresh);
  EXPECT_DOUBLE_EQ(after_nan.h.v, 0.125);
  EXPECT_LE((decide<M, controller_kind::pi>(real(1.0), number(1e-20), yes, after_nan.memory).h.v), 1.0);
  EXPECT_EQ((decide<M, controller_kind::pi>(real(1.0), number(0.0), yes, fresh).h.v), 8.0);
}

TEST(Norm, IsHaugsEquation60) {
  using M = methods::dormand_prince_5;
  stages<M, real, 2> s;
  s.h = 1.0;
  for (auto& k : s.k) k[0] = k[1] = 0.0;
  s.k[0][0] = 1.0 / M::e[0];  // error (1, 0)
  s.y[0] = 3.0, s.y1[0] = -5.0, s.y[1] = s.y1[1] = 0.0;
  vec<real, 2> atol;
  atol[0] = 0.5, atol[1] = 1.0;
  // sc = 0.5 + 0.1 * 5 = 1: err = sqrt(1/2), max norm 1; Compere: 1 / (0.1 * 5) = 2.
  EXPECT_NEAR((error_norm_squared<M, norm_kind::rms>(s, real(0.1), atol).v), 0.5, 1e-5);
  EXPECT_NEAR((error_norm_squared<M, norm_kind::max>(s, real(0.1), atol).v), 1.0, 2e-5);
  EXPECT_NEAR((error_norm_squared<M, norm_kind::compere>(s, real(0.1), atol).v), 4.0, 8e-5);
  s.k[3][1] = std::nan("");
  EXPECT_FALSE((error_norm_squared<M, norm_kind::rms>(s, real(0.1), atol).v <= 1.0));
  EXPECT_FALSE((error_norm_squared<M, norm_kind::max>(s, real(0.1), atol).v <= 1.0));
  EXPECT_FALSE((error_norm_squared<M, norm_kind::compere>(s, real(0.1), atol).v <= 1.0));
}

}  // namespace
}  // namespace saltus::test
