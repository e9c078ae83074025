// A method with stages and a dense output of its own - the Taylor series of order 4, by arithmetic of truncated power series -
// is taken by the engine as it is: events are detected, certified and located on its own polynomial, samples are read from it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "saltus.hpp"

#include "../problems/relief_valve.hpp"
#include "emulated_cuda.hpp"
#include "ensemble/settings.hpp"

namespace {

using namespace saltus;
using namespace saltus::test;

constexpr int degree = 4;

/// c[0] + c[1] (t - t0) + ... + c[degree] (t - t0)^degree: a Value for the right-hand side of a model.
template <class Real>
struct series {
  Real c[degree + 1];

  series() = default;
  series(double constant) : series(Real(constant)) {}
  series(Real constant) {
    c[0] = constant;
    for (int k = 1; k <= degree; ++k) c[k] = Real(0.0);
  }

  friend series operator+(const series& a, const series& b) {
    series r;
    for (int k = 0; k <= degree; ++k) r.c[k] = a.c[k] + b.c[k];
    return r;
  }
  friend series operator-(const series& a, const series& b) {
    series r;
    for (int k = 0; k <= degree; ++k) r.c[k] = a.c[k] - b.c[k];
    return r;
  }
  friend series operator*(const series& a, const series& b) {
    series r;
    for (int k = 0; k <= degree; ++k) {
      r.c[k] = a.c[0] * b.c[k];
      for (int j = 1; j <= k; ++j) r.c[k] = fma(a.c[j], b.c[k - j], r.c[k]);
    }
    return r;
  }
  /// From r^2 = a, coefficient by coefficient.
  friend series sqrt(const series& a) {
    series r;
    r.c[0] = sqrt(a.c[0]);
    for (int k = 1; k <= degree; ++k) {
      Real rest = a.c[k];
      for (int j = 1; j < k; ++j) rest = fma(-r.c[j], r.c[k - j], rest);
      r.c[k] = rest / (r.c[0] + r.c[0]);
    }
    return r;
  }
  friend series select(mask_of<Real> m, const series& a, const series& b) {
    series r;
    for (int k = 0; k <= degree; ++k) r.c[k] = select(m, a.c[k], b.c[k]);
    return r;
  }
};

/// It advances by all of its terms, and the last one is the error estimate.
struct taylor_4 {
  static constexpr const char *name = "taylor4", *title = "Taylor 4(3)", *source = "Hairer, Norsett, Wanner I, I.8";
  static constexpr int order = degree, embedded_order = degree - 1, embedded3_order = 0, highest_index = 0;
  static constexpr int stages = degree, extra_stages = 0, dense_rows = 0;
  static constexpr bool fsal = false, is_explicit = true, is_rosenbrock = false, for_mechanics = false;
  static constexpr bool two_errors = false, blind_estimate = false;
};

/// The polynomial of a step in s in [0, 1]: y0 + s (term[0] + s (term[1] + ...)).
template <class Real, int n>
struct step_series {
  static constexpr int terms = degree;
  Real t, h;
  vec<Real, n> y0, term[terms];

  vec<Real, n> operator()(Real s) const {
    vec<Real, n> y;
    for (int i = 0; i < n; ++i) {
      Real sum = term[terms - 1][i];
      for (int k = terms - 2; k >= 0; --k) sum = fma(s, sum, term[k][i]);
      y[i] = fma(s, sum, y0[i]);
    }
    return y;
  }
  vec<Real, n> slope(Real s) const {
    vec<Real, n> dy;
    for (int i = 0; i < n; ++i) {
      dy[i] = Real(static_cast<double>(terms)) * term[terms - 1][i];
      for (int k = terms - 2; k >= 0; --k) dy[i] = fma(s, dy[i], Real(k + 1.0) * term[k][i]);
    }
    return dy;
  }
  /// By repeated synthetic division.
  Real expand(int i, Real middle, Real (&c)[terms + 1]) const {
    c[0] = y0[i];
    for (int k = 1; k <= terms; ++k) c[k] = term[k - 1][i];
    for (int from = 0; from < terms; ++from)
      for (int k = terms - 1; k >= from; --k) c[k] = fma(middle, c[k + 1], c[k]);
    return size_of_terms(i) - abs(y0[i]);
  }
  Real size_of_terms(int i) const {
    Real size = abs(y0[i]);
    for (int k = 0; k < terms; ++k) size = size + abs(term[k][i]);
    return size;
  }
};

}  // namespace

namespace saltus {

template <class Real, int n>
struct stages<taylor_4, Real, n> {
  Real t, h;
  vec<Real, n> y, y1, slope0, slope1;
  vec<Real, n> coefficient[degree];  ///< of (t - t0)^1 and on

  const vec<Real, n>& f0() const { return slope0; }
  const vec<Real, n>& f1() const { return slope1; }
  void set_end_slope(int i, Real slope) { slope1[i] = slope; }
  void take(const stages& from, mask_of<Real> where) {
    h = select(where, from.h, h);
    for (int i = 0; i < n; ++i) {
      y1[i] = select(where, from.y1[i], y1[i]);
      slope1[i] = select(where, from.slope1[i], slope1[i]);
      for (int k = 0; k < degree; ++k) coefficient[k][i] = select(where, from.coefficient[k][i], coefficient[k][i]);
    }
  }
};

template <class Method, class System, class Real, int n>
requires is_same<Method, taylor_4> stages<Method, Real, n> step(const System& system, Real t, const vec<Real, n>& y,
                                                                const vec<Real, n>& f0, Real h) {
  stages<Method, Real, n> s;
  s.t = t, s.h = h, s.y = y, s.slope0 = s.coefficient[0] = f0;
  series<Real> time(t);
  time.c[1] = Real(1.0);
  vec<series<Real>, n> at;
  for (int i = 0; i < n; ++i) at[i] = series<Real>(y[i]);
  for (int k = 1; k < degree; ++k) {
    for (int i = 0; i < n; ++i) at[i].c[k] = s.coefficient[k - 1][i];
    const auto f = system.rhs(time, at);
    for (int i = 0; i < n; ++i) s.coefficient[k][i] = f[i].c[k] * Real(1.0 / (k + 1));
  }
  s.y1 = interpolate<Method>(system, s)(Real(1.0));
  s.slope1 = system(t + h, s.y1);
  return s;
}

template <class Real, int n>
vec<Real, n> local_error(const stages<taylor_4, Real, n>& s) {
  vec<Real, n> r;
  const Real power = (s.h * s.h) * (s.h * s.h);
  for (int i = 0; i < n; ++i) r[i] = abs(power * s.coefficient[degree - 1][i]);
  return r;
}

template <class Method, norm_kind Norm, class Real, int n>
requires is_same<Method, taylor_4> Real error_norm_squared(const stages<Method, Real, n>& s, Real rtol,
                                                           const vec<Real, n>& atol) {
  return scaled_norm_squared<Norm>(local_error(s), s.y, s.y1, rtol, atol);
}

template <class Method, class System, class Real, int n>
requires is_same<Method, taylor_4> step_series<Real, n> interpolate(const System&, const stages<Method, Real, n>& s) {
  step_series<Real, n> p;
  p.t = s.t, p.h = s.h, p.y0 = s.y;
  Real power = s.h;
  for (int k = 0; k < degree; ++k, power = power * s.h)
    for (int i = 0; i < n; ++i) p.term[k][i] = power * s.coefficient[k][i];
  return p;
}

}  // namespace saltus

namespace {

static_assert(methods::is_method<taylor_4, pack<double, 4>, 3> && !keeps_stages<taylor_4>);

template <detection Detection, bool Samples = false>
using taylor = engine<form_of<relief_valve>, taylor_4, double, options{.detect = Detection, .samples = Samples}>;
using reference = engine<form_of<relief_valve>, methods::dormand_prince_8, double, options{.samples = true}>;
constexpr std::int64_t valve_count = 40;

/// Valves at many flow rates, some of which hit their seats again and again.
template <class E, int W>
host::chunk_data valves(double tolerance) {
  auto p = plan_of<relief_valve>(8.0, tolerance);
  if (E::samples) p.sample_count = 33;
  auto r = scattered_chunk(p, relief_valve::flow, 0.2, 8.0, valve_count);
  const auto pressures = r.initial.begin() + relief_valve::pressure * valve_count;
  std::fill(pressures, pressures + valve_count, 5.0);  // a root has no series at zero
  on_lanes<E, W>(host::settings_of(p), r);
  return r;
}

TEST(taylor, has_the_same_bits_in_lanes) {
  using E = taylor<detection::hermite, true>;
  static_assert(is_same<interpolant_of<E, pack<double, 8>>, step_series<pack<double, 8>, 3>>);
  EXPECT_EQ(differences(valves<E, 1>(1e-7), valves<E, 8>(1e-7)), "");
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double r = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) r = std::max(r, std::abs(a[k] - b[k]));
  return r;
}

/// The same events in the same order as another method finds; times, states and samples agree to a thousand tolerances, which is
/// what impacts make of them.
template <class E>
void expect_the_same_trajectories(double tolerance) {
  const auto here = valves<E, 8>(tolerance), exact = valves<reference, 8>(1e-12);
  const auto found = by_instance(here.log), known = by_instance(exact.log);
  ASSERT_EQ(found.slot, known.slot);
  EXPECT_EQ(found.guard, known.guard);
  EXPECT_GT(found.slot.size(), 100u);
  const double off = largest_difference(here.final_state, exact.final_state);
  EXPECT_GT(off, 10.0 * tolerance);  // it is a method of its own
  EXPECT_LT(off, 1e3 * tolerance);
  EXPECT_LT(largest_difference(found.time, known.time), 1e3 * tolerance);
  if constexpr (E::samples) { EXPECT_LT(largest_difference(here.samples, exact.samples), 1e3 * tolerance); }
}

TEST(taylor, meets_the_events_of_another_method) {
  expect_the_same_trajectories<taylor<detection::hermite, true>>(1e-6);
  expect_the_same_trajectories<taylor<detection::hermite, true>>(1e-9);
}

TEST(taylor, is_certified_on_its_own_polynomial) { expect_the_same_trajectories<taylor<detection::certified>>(1e-6); }

}  // namespace
