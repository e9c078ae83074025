// The implicit methods as single steps, for all methods of the list: orders, dense output, error estimates, stability, with
// every kind of equations that a method takes. Solutions are closed forms.
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "method/dirk.hpp"
#include "method/list.hpp"
#include "method/radau.hpp"
#include "method/rosenbrock.hpp"
#include "number/math.hpp"

namespace saltus::test {
namespace {

using real = pack<double, 1>;
template <int n>
using point_of = vec<real, n>;

/// Common members of all systems below; Newton's iteration continues until its error is negligible for a step.
template <equations Kind, int n>
struct system_of {
  static constexpr auto kind = Kind;
  static constexpr int states = n;
  static constexpr int highest_index = 0;
  static constexpr int index(int) { return 0; }
  double newton_weight = 1e11;
  vec<real, n> weight(const vec<real, n>&) const {
    vec<real, n> r;
    for (int i = 0; i < n; ++i) r[i] = real(newton_weight);
    return r;
  }
};

/// y_0 = exp(sin t), y_1 = 2 + cos t, by equations that depend on both states and on the time.
struct closed_form {
  static constexpr int begin = 0;
  static vec<real, 2> at(double t) { return {{real(std::exp(std::sin(t))), real(2 + std::cos(t))}}; }
  static vec<real, 2> derivative(double t) { return {{real(std::exp(std::sin(t)) * std::cos(t)), real(-std::sin(t))}}; }

  template <class Value>
  static Value deviation(Value t, const vec<Value, 2>& y) {  // zero along the solution
    const Value part = y[0] * exp(-sin(t));
    return part * part - 1.0;
  }
  template <class Value>
  static vec<Value, 2> f(Value t, const vec<Value, 2>& y) {
    return {{y[0] * (y[1] - 2.0), -sin(t) - deviation(t, y)}};
  }
  /// A constraint for y_1.
  template <class Value>
  static Value g(Value t, const vec<Value, 2>& y) {
    const Value off = y[1] - 2.0 - cos(t);
    return off + 0.5 * deviation(t, y) + 0.3 * off * off;
  }
};

/// The same solution as y' = f, M y' = M f, M(t, y) (y' - f) = 0, and with the constraint in place of the second equation.
template <equations Kind, bool Algebraic>
struct smooth : system_of<Kind, 2>, closed_form {
  static constexpr int highest_index = Algebraic ? 1 : 0;
  static constexpr int index(int i) { return Algebraic && i == 1 ? 1 : 0; }

  static matrix<real, 2> mass() {
    matrix<real, 2> m;
    m[0][0] = real(2.0), m[0][1] = real(Algebraic ? 0.0 : 1.0);
    m[1][0] = real(Algebraic ? 0.0 : 1.0), m[1][1] = real(Algebraic ? 0.0 : 3.0);
    return m;
  }
  template <class Value>
  vec<Value, 2> rhs(Value t, const vec<Value, 2>& y) const {
    auto r = f(t, y);
    if constexpr (Kind == equations::with_mass) {
      if constexpr (Algebraic) r[0] = 2.0 * r[0];
      else r = {{2.0 * r[0] + r[1], r[0] + 3.0 * r[1]}};
    }
    if constexpr (Algebraic) r[1] = g(t, y);
    return r;
  }
  template <class Value>
  vec<Value, 2> residual(Value t, const vec<Value, 2>& y, const vec<Value, 2>& dy) const {
    vec<Value, 2> r;
    const auto own = rhs(t, y);
    if constexpr (Kind == equations::implicit) {
      const auto to = f(t, y);
      r[0] = (2.0 + y[1]) * (dy[0] - to[0]);
      if constexpr (Algebraic) {
        r[1] = g(t, y);
      } else {
        r[0] += t * (dy[1] - to[1]);
        r[1] = sin(y[0]) * (dy[0] - to[0]) + 3.0 * (dy[1] - to[1]);
      }
    } else if constexpr (Kind == equations::with_mass) {
      const auto m = mass();
      for (int i = 0; i < 2; ++i) r[i] = Value(m[i][0]) * dy[0] + Value(m[i][1]) * dy[1] - own[i];
    } else {
      for (int i = 0; i < 2; ++i) r[i] = index(i) == 0 ? dy[i] - own[i] : -own[i];
    }
    return r;
  }
};

/// Index 2: a point on the circle at the angle t + sin(t) / 2, where the force along the normal, (z^2 - (2 + sin t)^2) / 4, is zero.
struct hessenberg : system_of<equations::semi_explicit, 3> {
  static constexpr int highest_index = 2;
  static constexpr int index(int i) { return i == 2 ? 2 : 0; }
  static vec<real, 3> at(double t) {
    const double angle = t + 0.5 * std::sin(t);
    return {{real(std::cos(angle)), real(std::sin(angle)), real(2 + std::sin(t))}};
  }
  static vec<real, 3> derivative(double t) {
    const double angle = t + 0.5 * std::sin(t), speed = 1 + 0.5 * std::cos(t);
    return {{real(-std::sin(angle) * speed), real(std::cos(angle) * speed), real(std::cos(t))}};
  }
  /// Rounding errors in z grow with 1/h.
  vec<real, 3> weight(const vec<real, 3>&) const { return {{real(1e11), real(1e11), real(1e9)}}; }
  template <class Value>
  vec<Value, 3> rhs(Value t, const vec<Value, 3>& y) const {
    const Value speed = 1.0 + 0.5 * cos(t), z = 2.0 + sin(t), force = 0.25 * (y[2] * y[2] - z * z);
    return {{-speed * y[1] + force * y[0], speed * y[0] + force * y[1], y[0] * y[0] + y[1] * y[1] - 1.0}};
  }
  template <class Value>
  vec<Value, 3> residual(Value t, const vec<Value, 3>& y, const vec<Value, 3>& dy) const {
    const auto f = rhs(t, y);
    return {{dy[0] - f[0], dy[1] - f[1], -f[2]}};
  }
};

/// y' = lambda (y - phi) + phi', phi = sin(t + 1/2) or 0 (A. Prothero, A. Robinson, Math. Comput. 28 (1974) 145).
struct stiff : system_of<equations::plain, 1> {
  double lambda;
  bool homogeneous = false;
  explicit stiff(double lambda_, bool homogeneous_ = false) : lambda(lambda_), homogeneous(homogeneous_) {}
  vec<real, 1> at(double t) const { return {{real(homogeneous ? 1.0 : std::sin(t + 0.5))}}; }
  vec<real, 1> derivative(double t) const { return {{real(homogeneous ? lambda : std::cos(t + 0.5))}}; }
  template <class Value>
  vec<Value, 1> rhs(Value t, const vec<Value, 1>& y) const {
    if (homogeneous) return {{lambda * y[0]}};
    return {{lambda * (y[0] - sin(t + 0.5)) + cos(t + 0.5)}};
  }
  template <class Value>
  vec<Value, 1> residual(Value t, const vec<Value, 1>& y, const vec<Value, 1>& dy) const {
    return {{dy[0] - rhs(t, y)[0]}};
  }
};

/// A rotation: the imaginary axis.
struct rotation : system_of<equations::plain, 2> {
  double omega;
  explicit rotation(double omega_) : omega(omega_) {}
  template <class Value>
  vec<Value, 2> rhs(Value, const vec<Value, 2>& y) const {
    return {{-omega * y[1], omega * y[0]}};
  }
  template <class Value>
  vec<Value, 2> residual(Value t, const vec<Value, 2>& y, const vec<Value, 2>& dy) const {
    const auto f = rhs(t, y);
    return {{dy[0] - f[0], dy[1] - f[1]}};
  }
};

template <class Method, class System>
constexpr bool integrates =
    Method::highest_index >= System::highest_index && !(Method::is_rosenbrock && System::kind == equations::implicit);

/// Calls body(Method{}) for every implicit method that integrates System.
template <class System, class F>
void each_method(F&& body) {
  methods::for_each(methods::implicit_methods{}, [&](auto m) {
    if constexpr (integrates<decltype(m), System>) body(m);
  });
}

template <class Method, class System>
[[gnu::noinline]] auto one_step(const System& system, double t, const vec<real, System::states>& y,
                                const vec<real, System::states>& f0, double h) {
  return step<Method>(system, solution_point{real(t), y, f0}, real(h));
}

/// Errors of all states after constant steps over [0, t_end].
template <class Method, class System>
std::vector<double> errors_after(const System& system, double t_end, int steps) {
  constexpr int n = System::states;
  auto y = system.at(0.0), f = system.derivative(0.0);
  const double h = t_end / steps;
  std::vector<double> r;
  for (int k = 0; k < steps; ++k) {
    const auto s = one_step<Method>(system, k * h, y, f, h);
    EXPECT_TRUE(bool(s.solved) && !bool(s.singular)) << Method::name << " at step " << k << " of " << steps;
    if (!bool(s.solved)) return std::vector<double>(n, std::numeric_limits<double>::quiet_NaN());
    y = s.y1, f = s.slope1;
  }
  const auto wanted = system.at(t_end);
  for (int i = 0; i < n; ++i) r.push_back(std::fabs(y[i].v - wanted[i].v));
  return r;
}

/// The largest error of the differential states, and that of the algebraic ones if there are any.
template <class System>
std::vector<double> largest_of(const std::vector<double>& errors) {
  std::vector<double> r(System::highest_index > 0 ? 2 : 1, 0.0);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    double& largest = r[System::index(static_cast<int>(i)) > 0 ? 1 : 0];
    largest = !(errors[i] <= largest) ? errors[i] : largest;
  }
  return r;
}

/// Observed orders, from the finest two step sizes whose errors are still well above rounding.
template <class Method, class System>
std::vector<double> observed_orders(const System& system, double t_end, int steps, double least = 2e-11) {
  auto coarse = largest_of<System>(errors_after<Method>(system, t_end, steps));
  std::vector<double> orders;
  for (; steps <= 4096; steps *= 2) {
    const auto fine = largest_of<System>(errors_after<Method>(system, t_end, 2 * steps));
    if (!orders.empty() && *std::min_element(fine.begin(), fine.end()) < least) break;
    orders.clear();
    for (std::size_t i = 0; i < fine.size(); ++i) orders.push_back(std::log2(coarse[i] / fine[i]));
    coarse = fine;
  }
  return orders;
}

/// Steps so short that Newton's iteration converges are exact to rounding, which shows no order: test_tableaus.cpp does.
template <class Method>
constexpr bool is_too_exact = Method::order > 5;

/// A step in which errors of these orders are larger than rounding.
template <class Method>
constexpr double long_enough(double step) {
  return Method::order > 9 ? 32 * step : Method::order > 5 ? 8 * step : step;
}

/// Errors of order 8 fall faster in steps that are so long: their leading terms are exact in test_tableaus.cpp.
template <class Method>
void expect_order(double order, int wanted, double tolerance) {
  if (Method::order > 9) EXPECT_GT(order, wanted - tolerance) << Method::name;
  else EXPECT_NEAR(order, wanted, tolerance) << Method::name;
}

template <class System>
void expect_orders(const char* what, const System& system, double least = 2e-11) {
  each_method<System>([&](auto m) {
    using M = decltype(m);
    if constexpr (is_too_exact<M>) {
      for (double e : largest_of<System>(errors_after<M>(system, 1.5, 12)))
        EXPECT_LT(e, 2e-12) << M::name << ", " << what;
      return;
    }
    const auto orders = observed_orders<M>(system, 1.5, 8, least);
    std::printf("%-32s %-10s order %d observed", what, M::name, M::order);
    for (double p : orders) std::printf(" %.3f", p);
    std::printf("\n");
    for (double p : orders) EXPECT_NEAR(p, M::order, 0.15) << M::name << ", " << what;
  });
}

TEST(Order, IsTheMethodsWithEveryKindOfEquations) {
  expect_orders("y' = f", smooth<equations::plain, false>{});
  expect_orders("M y' = f", smooth<equations::with_mass, false>{});
  expect_orders("F(t, y, y') = 0", smooth<equations::implicit, false>{});
}

TEST(Order, IsTheMethodsWithAConstraint) {
  expect_orders("y' = f, 0 = g", smooth<equations::semi_explicit, true>{});
  expect_orders("M y' = f, a row of M zero", smooth<equations::with_mass, true>{});
  expect_orders("F(t, y, y') = 0, a constraint", smooth<equations::implicit, true>{});
}

// E. Hairer, Ch. Lubich, M. Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods (1989),
// table 2.3: Radau IIA of s stages converges with order 2 s - 1 in y and s in z.
TEST(Order, OfIndexTwo) {
  each_method<hessenberg>([](auto m) {
    using M = decltype(m);
    if constexpr (is_too_exact<M>) {
      const auto errors = largest_of<hessenberg>(errors_after<M>(hessenberg{}, 1.0, 10));
      EXPECT_LT(errors[0], 1e-12);
      EXPECT_LT(errors[1], 1e-7);
      return;
    }
    const auto orders = observed_orders<M>(hessenberg{}, 1.0, 16, 1e-11);
    std::printf("index 2: %s observed %.3f, algebraic state %.3f\n", M::name, orders[0], orders[1]);
    EXPECT_NEAR(orders[0], 2 * M::stages - 1, 0.15);
    EXPECT_NEAR(orders[1], M::stages, 0.15);
  });
}

// ---- between the ends of a step, and the estimate of its error ------------------------------------------------------

template <class Method, class System>
std::vector<double> dense_errors(const System& system, double h) {
  const double t0 = 0.3;
  const auto s = one_step<Method>(system, t0, system.at(t0), system.derivative(t0), h);
  const auto interpolant = interpolate<Method>(system, s);
  std::vector<double> worst(System::states, 0.0);
  for (int k = 1; k < 16; ++k) {
    const auto got = interpolant(real(k / 16.0)), wanted = system.at(t0 + h * k / 16);
    for (int i = 0; i < System::states; ++i) {
      double& largest = worst[static_cast<std::size_t>(i)];
      largest = std::max(largest, std::fabs(got[i].v - wanted[i].v));
    }
  }
  return largest_of<System>(worst);
}

/// Between the ends of a step the stages determine an algebraic state, and they know their points only to the order of the
/// stages: less than the order of the dense output for diagonally implicit methods, and one less for Rosenbrock methods. At
/// the ends of a step it is as accurate as the other states.
template <class Method>
int least_dense_order_of_constraints() {
  const std::map<std::string, int> known = {{"trapezoid", 2}, {"sdirk4", 1}, {"esdirk4", 2}, {"rodas4", 2},
                                            {"rodas5p", 3},   {"radau5", 3}, {"radau9", 5},  {"radau13", 7}};
  return known.contains(Method::name) ? known.at(Method::name) : Method::dense_order;
}

template <class System>
void expect_dense_output(const char* what, const System& system) {
  each_method<System>([&](auto m) {
    using M = decltype(m);
    const double h = long_enough<M>(0.025);
    const auto coarse = dense_errors<M>(system, h), fine = dense_errors<M>(system, h / 2);
    const double order = std::log2(coarse[0] / fine[0]);
    std::printf("%-32s %-10s dense output of order %d: local error falls as h^%.2f", what, M::name, M::dense_order,
                order);
    expect_order<M>(order, M::dense_order + 1, 0.3);
    if (System::highest_index > 0) {
      const double of_algebraic = std::log2(coarse[1] / fine[1]);
      std::printf(", of the algebraic state as h^%.2f", of_algebraic);
      EXPECT_GT(of_algebraic, least_dense_order_of_constraints<M>() + 1 - 0.3) << M::name;
    }
    std::printf("\n");
  });
}

TEST(DenseOutput, HasItsOrder) {
  expect_dense_output("y' = f", smooth<equations::plain, false>{});
  expect_dense_output("M y' = f", smooth<equations::with_mass, false>{});
  expect_dense_output("F(t, y, y') = 0", smooth<equations::implicit, false>{});
}

TEST(DenseOutput, OfAlgebraicStatesHasItsOrder) {
  expect_dense_output("y' = f, 0 = g", smooth<equations::semi_explicit, true>{});
  expect_dense_output("F(t, y, y') = 0, a constraint", smooth<equations::implicit, true>{});
}

TEST(DenseOutput, MeetsBothEndsWithTheSlopesOfTheStep) {
  using System = smooth<equations::plain, false>;
  each_method<System>([](auto m) {
    using M = decltype(m);
    const double h = 0.1, t0 = 0.3;
    const System system;
    const auto s = one_step<M>(system, t0, system.at(t0), system.derivative(t0), h);
    const auto interpolant = interpolate<M>(system, s);
    const auto f0 = system.derivative(t0), f1 = system.derivative(t0 + h);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(interpolant(real(0.0))[i].v, s.y[i].v) << M::name;
      EXPECT_NEAR(interpolant(real(1.0))[i].v, s.y1[i].v, 1e-15) << M::name;
      EXPECT_NEAR(interpolant.slope(real(0.0))[i].v, h * s.f0()[i].v, 1e-14) << M::name;
      EXPECT_NEAR(interpolant.slope(real(1.0))[i].v, h * s.f1()[i].v, 1e-14) << M::name;
      // The slopes are those of the solution, up to the order of the dense output.
      EXPECT_NEAR(s.f0()[i].v, f0[i].v, 3 * std::pow(h, M::dense_order)) << M::name;
      EXPECT_NEAR(s.f1()[i].v, f1[i].v, 3 * std::pow(h, M::dense_order)) << M::name;
      // The derivative of the interpolant agrees with its differences.
      for (double at : {0.25, 0.75}) {
        const double d = 1e-4, difference = (interpolant(real(at + d))[i].v - interpolant(real(at - d))[i].v) / (2 * d);
        EXPECT_NEAR(interpolant.slope(real(at))[i].v, difference, 1e-9) << M::name;
      }
    }
  });
}

template <class System>
void expect_estimates(const char* what, const System& system) {
  each_method<System>([&](auto m) {
    using M = decltype(m);
    const auto estimates = [&](double h) {
      return one_step<M>(system, 0.3, system.at(0.3), system.derivative(0.3), h).error;
    };
    const double h = long_enough<M>(0.0125);
    const auto coarse = estimates(h), fine = estimates(h / 2);
    const double order = std::log2(std::hypot(coarse[0].v, coarse[1].v) / std::hypot(fine[0].v, fine[1].v));
    std::printf("%-32s %-10s embedded order %d: estimates fall as h^%.2f\n", what, M::name, M::embedded_order, order);
    expect_order<M>(order, M::embedded_order + 1, 0.2);
  });
}

TEST(Estimate, HasItsOrder) {
  expect_estimates("y' = f", smooth<equations::plain, false>{});
  expect_estimates("M y' = f", smooth<equations::with_mass, false>{});
  expect_estimates("F(t, y, y') = 0", smooth<equations::implicit, false>{});
}

TEST(Estimate, HasItsOrderWithAConstraint) {
  expect_estimates("y' = f, 0 = g", smooth<equations::semi_explicit, true>{});
  expect_estimates("M y' = f, a row of M zero", smooth<equations::with_mass, true>{});
  expect_estimates("F(t, y, y') = 0, a constraint", smooth<equations::implicit, true>{});
}

TEST(Estimate, IsBlindToIndexTwo) {
  const auto s = one_step<methods::radau_5>(hessenberg{}, 0.0, hessenberg::at(0.0), hessenberg::derivative(0.0), 0.01);
  EXPECT_NE(s.error[0].v, 0.0);
  EXPECT_NE(s.error[1].v, 0.0);
  EXPECT_EQ(s.error[2].v, 0.0);
}

// A decayed stiff component leaves no error: the estimate must not exceed the component's distance.
TEST(Estimate, IsFreedOfStiffComponents) {
  each_method<stiff>([](auto m) {
    using M = decltype(m);
    for (double z : {-1e2, -1e4, -1e6, -1e8, -1e10}) {
      const stiff system(z, true);
      const auto s = one_step<M>(system, 0.0, system.at(0.0), system.derivative(0.0), 1.0);
      EXPECT_LE(std::fabs(s.error[0].v), 2.0) << M::name << " at z = " << z;
      // On the slow manifold the estimate is small for every stiffness.
      const stiff slow(z);
      const auto t = one_step<M>(slow, 0.0, slow.at(0.0), slow.derivative(0.0), 0.1);
      EXPECT_LE(std::fabs(t.error[0].v), 1e-2) << M::name << " at lambda = " << z;
    }
  });
}

// ---- stability ------------------------------------------------------------------------------------------------------

/// Rounding of the step's initial data: the slope of an explicit first stage has the size |z|.
template <class Method>
double rounding_of(double z) {
  if constexpr (Method::kind == methods::family::dirk)
    if (Method::explicit_first) return 1e-15 * std::fabs(z);
  return 0;
}

template <class Method>
double amplification(double z) {
  stiff system(z, true);
  system.newton_weight /= std::max(1.0, std::fabs(z));
  const auto s = one_step<Method>(system, 0.0, system.at(0.0), system.derivative(0.0), 1.0);
  EXPECT_TRUE(bool(s.solved)) << Method::name << " at z = " << z;
  return s.y1[0].v;
}

/// R(z) of the methods for which order, L-stability and the number of stages determine it.
std::map<std::string, long double (*)(long double)> known_stability_functions() {
  // The first terms of (1 - z/4)^5 e^z over (1 - z/4)^5: five implicit stages with gamma = 1/4, order 4, R(infinity) = 0.
  const auto five_quarters = [](long double z) {
    long double numerator = 0;
    for (int k = 4; k >= 0; --k) {
      long double term = 0, binomial = 1, power = 1, factorial = 1;
      for (int j = 1; j <= k; ++j) factorial *= j;
      for (int j = 0; j <= k; ++j) {  // (-1/4)^j binomial(5, j) / (k - j)!
        term += power * binomial / factorial;
        power *= -0.25L, binomial = binomial * (5 - j) / (j + 1);
        if (k - j > 0) factorial /= k - j;
      }
      numerator = numerator * z + term;
    }
    return numerator / std::pow(1 - z / 4, 5);
  };
  return {{"trapezoid", [](long double z) { return (1 + z / 2) / (1 - z / 2); }},
          {"sdirk4", five_quarters},
          {"esdirk4", five_quarters},
          {"radau5",
           [](long double z) {  // Pade (2, 3)
             return (1 + z * (2.0L / 5 + z / 20)) / (1 - z * (3.0L / 5 - z * (3.0L / 20 - z / 60)));
           }},
          {"radau9",
           [](long double z) {  // Pade (4, 5)
             const long double above = 1 + z * (4.0L / 9 + z * (1.0L / 12 + z * (1.0L / 126 + z / 3024)));
             const long double below =
                 1 - z * (5.0L / 9 - z * (5.0L / 36 - z * (5.0L / 252 - z * (5.0L / 3024 - z / 15120))));
             return above / below;
           }},
          {"radau13", [](long double z) {  // Pade (6, 7)
             const auto part = [&](int degree, int other, long double x) {
               long double sum = 0, term = 1;
               for (int j = 0; j <= degree;
                    ++j) {  // degree! (sum of degrees - j)! / ((degree - j)! (sum of degrees)! j!) x^j
                 sum += term;
                 term *= x * (degree - j) / ((degree + other - j) * (j + 1.0L));
               }
               return sum;
             };
             return part(6, 7, z) / part(7, 6, -z);
           }}};
}

TEST(Stability, FunctionsAreTheKnownOnes) {
  const auto known = known_stability_functions();
  each_method<stiff>([&](auto m) {
    using M = decltype(m);
    if (!known.contains(M::name)) return;
    for (double z : {-1e-3, -0.1, -0.7, -1.9, -3.3, -8.0, -50.0, -1e3, -1e5})
      EXPECT_NEAR(amplification<M>(z), static_cast<double>(known.at(M::name)(z)), 2e-13 + rounding_of<M>(z))
          << M::name << " at z = " << z;
  });
}

TEST(Stability, OfVeryStiffComponents) {
  each_method<stiff>([](auto m) {
    using M = decltype(m);
    for (double z = -1e3; z > -2e12; z *= 10) {
      const double r = amplification<M>(z);
      // L-stable: R falls at least as 1/z, up to rounding of the coefficients.
      const double bound = M::l_stable ? 40 / -z : 1;
      EXPECT_LE(std::fabs(r), bound + 1e-12 + rounding_of<M>(z)) << M::name << " at z = " << z;
    }
  });
  EXPECT_NEAR(amplification<methods::trapezoid_2>(-1e8), -1, 1e-6);
}

TEST(Stability, OnTheImaginaryAxis) {
  each_method<rotation>([](auto m) {
    using M = decltype(m);
    double worst = 0, at = 0;
    for (double omega = 1e-3; omega < 1e6; omega *= 1.05) {
      const vec<real, 2> y{{real(1.0), real(0.0)}}, f{{real(0.0), real(omega)}};
      rotation system(omega);
      system.newton_weight /= std::max(1.0, omega);  // rounding of an explicit first stage
      const auto s = one_step<M>(system, 0.0, y, f, 1.0);
      const double r = std::hypot(s.y1[0].v, s.y1[1].v);
      if (r > worst) worst = r, at = omega;
      EXPECT_LE(r, 1 + 1e-12 + rounding_of<M>(omega)) << M::name << " at i " << omega;
    }
    std::printf("%-10s largest |R(i w)| = 1 + %.1e at w = %.3g\n", M::name, worst - 1, at);
  });
}

// Stiffly accurate: the end of a step satisfies the constraint without a projection.
TEST(Stability, StiffAccuracy) {
  using System = smooth<equations::semi_explicit, true>;
  each_method<System>([](auto m) {
    using M = decltype(m);
    const System system;
    const auto s = one_step<M>(system, 0.3, system.at(0.3), system.derivative(0.3), 0.2);
    const double g = std::fabs(System::g(real(0.5), s.y1).v);
    std::printf("%-10s leaves a residual of %.1e of the constraint\n", M::name, g);
    // Rosenbrock methods solve linear equations: a residual of the size of the local error remains.
    EXPECT_LE(g, M::is_rosenbrock ? 1e-4 : 1e-13) << M::name;
  });
}

// ---- order reduction ------------------------------------------------------------------------------------------------

// Hairer, Wanner, Solving ODEs II, IV.15. On Prothero and Robinson's problem with large z = h lambda, the residuals
// D = O(h^{q+1}) of the exact solution in the stages (q: the stage order) affect the end as the last component of
// (I - z A)^{-1} D, since the methods are stiffly accurate: as O(h^{q+1} / z) = O(h^q / lambda). With R(infinity) = 0 no
// error propagates, which gives order q. sdirk4: q = 1. esdirk4: q = 2. radau5: q = 3. The trapezoidal rule has q = 2 and
// R(infinity) = -1: errors alternate and do not accumulate.
// A Rosenbrock method has stages of order 1, as Rodas 4 shows. Rodas 5P satisfies further conditions, by which the terms
// with h^2 / z and h^3 / z vanish: h^4 / z remains, order 3.
TEST(StiffOrder, OfProtheroAndRobinson) {
  const std::map<std::string, double> known = {{"trapezoid", 2}, {"sdirk4", 1}, {"esdirk4", 2}, {"rodas4", 1},
                                               {"rodas5p", 3},   {"radau5", 3}, {"radau9", 5},  {"radau13", 7}};
  std::printf("lambda = -1e6, t = 1: errors with 10, 20, 40, 80 steps, orders\n");
  each_method<stiff>([&](auto m) {
    using M = decltype(m);
    ASSERT_TRUE(known.contains(M::name)) << "a further method: give its order here";
    std::printf("%-10s", M::name);
    std::vector<double> errors;
    for (int steps : {10, 20, 40, 80}) {
      errors.push_back(errors_after<M>(stiff(-1e6), 1.0, steps)[0]);
      std::printf(" %.2e", errors.back());
    }
    for (std::size_t k = 1; k < errors.size(); ++k) std::printf("  %.2f", std::log2(errors[k - 1] / errors[k]));
    std::printf("\n");
    if constexpr (is_too_exact<M>) EXPECT_LT(errors[0], 1e-14);
    else EXPECT_NEAR(std::log2(errors[2] / errors[3]), known.at(M::name), 0.25) << M::name;
  });
}

// ---- lanes ----------------------------------------------------------------------------------------------------------

/// y' = lambda (y - cos t) - y^3 + root sqrt(y): a separate lambda in every lane, and NaN if y < 0.
template <class Real>
struct many {
  static constexpr auto kind = equations::plain;
  static constexpr int highest_index = 0;
  static constexpr int index(int) { return 0; }
  Real lambda, root;
  vec<Real, 1> weight(const vec<Real, 1>&) const { return {{Real(1e6)}}; }
  template <class Value>
  vec<Value, 1> rhs(Value t, const vec<Value, 1>& y) const {
    return {{Value(lambda) * (y[0] - cos(t)) - y[0] * y[0] * y[0] + Value(root) * sqrt(y[0])}};
  }
  template <class Value>
  vec<Value, 1> residual(Value t, const vec<Value, 1>& y, const vec<Value, 1>& dy) const {
    return {{dy[0] - rhs(t, y)[0]}};
  }
};

TEST(Lanes, DoNotFeelEachOther) {
  constexpr int W = 8;
  using lanes = pack<double, W>;
  methods::for_each(methods::implicit_methods{}, [&](auto m) {
    using M = decltype(m);
    // Easy, stiff, hopeless (Newton does not converge, or the step leads to negative y), NaN from the start.
    const double lambda[W] = {-1, -1e4, -1e8, 0, -30, -1e3, -1e2, 2}, root[W] = {0, 0, 1, -40, 0, 1, 0, 0},
                 y0[W] = {1, 1.01, 1, 1, -1, -1, 30, 1}, h[W] = {0.1, 0.1, 0.2, 1, 0.3, 0.1, 2, 0.1};
    many<lanes> all;
    vec<lanes, 1> y, f;
    lanes size;
    for (int lane = 0; lane < W; ++lane) {
      all.lambda.set(lane, lambda[lane]), all.root.set(lane, root[lane]), y[0].set(lane, y0[lane]);
      size.set(lane, h[lane]);
    }
    f = all.rhs(lanes(0.0), y);
    const auto s = step<M>(all, solution_point{lanes(0.0), y, f}, size);
    int wrong = 0;
    for (int lane = 0; lane < W; ++lane) {
      many<real> one;
      one.lambda = real(lambda[lane]), one.root = real(root[lane]);
      const vec<real, 1> at{{real(y0[lane])}};
      const auto alone = step<M>(one, solution_point{real(0.0), at, one.rhs(real(0.0), at)}, real(h[lane]));
      EXPECT_EQ(bool(alone.solved), s.solved[lane]) << M::name << " " << lane;
      EXPECT_EQ(bool(alone.singular), s.singular[lane]) << M::name << " " << lane;
      EXPECT_EQ(alone.evaluations.v, s.evaluations.get(lane)) << M::name << " " << lane;
      const bool is_finite = std::isfinite(alone.y1[0].v);
      wrong += !bool(alone.solved) || !is_finite;
      for (const auto& [a, b] :
           {std::pair(alone.y1[0].v, s.y1[0].get(lane)), std::pair(alone.error[0].v, s.error[0].get(lane)),
            std::pair(alone.slope0[0].v, s.slope0[0].get(lane)), std::pair(alone.slope1[0].v, s.slope1[0].get(lane))})
        EXPECT_TRUE(a == b || (!std::isfinite(a) && !std::isfinite(b))) << M::name << ", lane " << lane;
    }
    EXPECT_GE(wrong, 1) << M::name;
    EXPECT_LE(wrong, 6) << M::name;
  });
}

/// y' = 1 - sqrt(y): at y = 0 the derivative is infinite, so Newton increments computed with it are zero.
struct infinitely_steep : system_of<equations::plain, 1> {
  template <class Value>
  vec<Value, 1> rhs(Value, const vec<Value, 1>& y) const {
    return {{1.0 - sqrt(y[0])}};
  }
  template <class Value>
  vec<Value, 1> residual(Value t, const vec<Value, 1>& y, const vec<Value, 1>& dy) const {
    return {{dy[0] - rhs(t, y)[0]}};
  }
};

TEST(Lanes, AnInfiniteDerivativeIsNoSolution) {
  each_method<infinitely_steep>([](auto m) {
    using M = decltype(m);
    const auto s = one_step<M>(infinitely_steep{}, 0.0, {{real(0.0)}}, {{real(1.0)}}, 0.1);
    EXPECT_FALSE(bool(s.solved) && std::isfinite(s.y1[0].v)) << M::name << ": " << s.y1[0].v;
  });
}

// y' = lambda y with the only step size at which the matrix is zero.
TEST(Lanes, ASingularMatrixIsReported) {
  each_method<stiff>([](auto m) {
    using M = decltype(m);
    double pole = 0;
    if constexpr (M::kind == methods::family::collocation) pole = M::mu;
    else pole = 1.0 / M::gamma;
    const stiff system(pole, true);
    const auto s = one_step<M>(system, 0.0, system.at(0.0), system.derivative(0.0), 1.0);
    EXPECT_TRUE(bool(s.singular)) << M::name;
    EXPECT_FALSE(bool(s.solved) && std::isfinite(s.y1[0].v)) << M::name;
  });
}

}  // namespace
}  // namespace saltus::test
