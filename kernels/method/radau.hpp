// One step of Radau IIA with three stages: a simplified Newton iteration for all stages at once, in the basis in which the matrix splits
// into one real and one complex block (Hairer, Wanner II, IV.8).
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"

namespace saltus {

namespace detail {

/// The increments z_i of the stages, whose points are y + z_i.
template <class Real, int n>
struct radau_stages {
  vec<Real, n> z[3];
};

/// Residuals of the stages of a step of length h from (t, y): F(t + c_i h, y + z_i, (1/h) sum_j (A^-1)_ij z_j).
template <class Method, class System, class Real, int n>
SALTUS_FN radau_stages<Real, n> stage_residuals(const System& system, const radau_stages<Real, n>& at,
                                                const solution_point<Real, n>& from, Real h) {
  const Real rate = Real(1.0) / h;
  radau_stages<Real, n> r;
  static_for<3>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> point, slope = combine<3>(at.z, [](auto j) { return Method::inverse_a[i][decltype(j)::value]; });
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      point[j] = from.y[j] + at.z[i][j];
      slope[j] = slope[j] * rate;
    });
    r.z[i] = system.residual(fma(Real(Method::c[i]), h, from.t), point, slope);
  });
  return r;
}

/// The lanes in which all stages are solved to rounding. The arguments that registers may hold are copies: an object passed by reference to
/// an out-of-line function cannot stay there.
template <class Method, class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> are_solved_to_rounding(const System& system, linear_system<System, Real, n> lin,
                                                    radau_stages<Real, n> at, const solution_point<Real, n>& from,
                                                    Real h) {
  const Real rate = Real(1.0) / h;
  const auto r = stage_residuals<Method>(system, at, from, h);
  auto solved = mask_of<Real>::all(true);
  static_for<3>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> point, slope, terms;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      point[j] = from.y[j] + at.z[i][j];
      slope[j] = terms[j] = Real(0.0);
      static_for<3>([&](auto k) SALTUS_INLINE_LAMBDA {
        const Real term = (Real(Method::inverse_a[i][decltype(k)::value]) * rate) * at.z[k][j];
        slope[j] = slope[j] + term;
        terms[j] = terms[j] + abs(term);
      });
    });
    solved = solved & is_rounding(r.z[i], lin.size_of_terms(r.z[i], point, slope, terms));
  });
  return solved;
}

/// Applies one Newton increment in the open lanes. It is solved for in the basis of one real and one complex block, with the matrices
/// w and wc.
template <class Method, class Matrix, class ComplexMatrix, class Real, int n>
SALTUS_FN void move_stages(radau_stages<Real, n>& at, const radau_stages<Real, n>& r, const Matrix& w,
                           const ComplexMatrix& wc, newton_watch<Real, n>& newton) {
  const auto right = [&](auto row) SALTUS_INLINE_LAMBDA {
    return combine<3>(r.z, [](auto j) { return Method::inverse_t[decltype(row)::value][decltype(j)::value]; });
  };
  const auto right_re = right(constant<1>{}), right_im = right(constant<2>{});
  vec<complex<Real>, n> both;
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { both[j] = complex<Real>(right_re[j], right_im[j]); });
  const auto real = w.solve(right(constant<0>{}));
  const auto pair = wc.solve(both);
  Real square = Real(0.0);
  static_for<3>([&](auto i) SALTUS_INLINE_LAMBDA {
    constexpr double t0 = Method::t[i][0], t1 = Method::t[i][1], t2 = Method::t[i][2];
    vec<Real, n> change;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      change[j] = fma(SALTUS_COEFFICIENT(Real, t0), real[j],
                      fma(SALTUS_COEFFICIENT(Real, t1), pair[j].re, SALTUS_COEFFICIENT(Real, t2) * pair[j].im));
      at.z[i][j] = select(newton.open, at.z[i][j] - change[j], at.z[i][j]);
    });
    square = square + weighted_square(change, newton.weight);
  });
  newton.take_square(square * Real(1.0 / 3), 3.0);
}

/// The results of a step: its error, its end, and the slopes of its dense output.
template <class Method, class System, class Matrix, class Real, int n>
SALTUS_FN void set_results(stages<Method, Real, n>& s, const radau_stages<Real, n>& at,
                           const linear_system<System, Real, n>& lin, const Matrix& w, Real rate) {
  auto inside = combine<3>(at.z, [](auto j) { return Method::e[decltype(j)::value]; });
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { inside[j] = inside[j] * rate; });
  inside = lin.times_mass(inside);
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { inside[j] = inside[j] + lin.f[j]; });
  s.error = w.solve(inside);
  s.slope0 = combine<3>(at.z, [](auto j) { return Method::slope0[decltype(j)::value]; });
  s.slope1 = combine<3>(at.z, [](auto j) { return Method::inverse_a[2][decltype(j)::value]; });
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    s.y1[j] = s.y[j] + at.z[2][j];
    s.slope0[j] = s.slope0[j] * rate;
    s.slope1[j] = s.slope1[j] * rate;
  });
}

}  // namespace detail

/// One step of length h.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::kind == methods::family::collocation) SALTUS_FN_COLD stages<Method, Real, n> step(
    const System& system, const solution_point<Real, n>& from, Real h, Settle&& settle = {}) {
  const Real t = from.t;
  const vec<Real, n>&y = from.y, &f0 = from.rate;
  using Complex = complex<Real>;
  stages<Method, Real, n> s;
  const linear_system<System, Real, n> lin(system, t, y, f0);
  const Real rate = Real(1.0) / h;
  const auto w = factorise(lin.shifted(rate * Real(Method::mu)), detail::algebra_of(system));
  const auto wc = factorise(lin.shifted(Complex(rate * Real(Method::mu_re), rate * Real(Method::mu_im))),
                            detail::algebra_of(system));
  vec<Real, n> weight = system.weight(y);
  // A state of index 2 acts on the others through h times its value, and its rounding error grows as 1/h.
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    if (System::index(j) == 2) weight[j] = weight[j] * min(h, Real(1.0));
  });
  detail::newton_watch<Real, n> newton(!(w.singular | wc.singular), weight, detail::error_allowed_of_stages<Method>);
  const auto start = detail::first_increment(y, f0, weight, h);
  detail::radau_stages<Real, n> at;
  static_for<3>([&](auto i) SALTUS_INLINE_LAMBDA {
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { at.z[i][j] = Real(Method::c[i]) * start[j]; });
  });

  newton.next_stage();
  for (int iteration = 0; iteration < newton.max_iterations && any(newton.open); ++iteration) {
    const auto r = detail::stage_residuals<Method>(system, at, from, h);
    detail::move_stages<Method>(at, r, w, wc, newton);
  }
  newton.give_up([&]()
                     SALTUS_INLINE_LAMBDA { return detail::are_solved_to_rounding<Method>(system, lin, at, from, h); });

  detail::show_stages(settle, w, at.z);
  s.t = t;
  s.h = h;
  s.y = y;
  detail::quadrature_sum<Method, Real> sum(system, t, y);
  static_for<3>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> point;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { point[j] = y[j] + at.z[i][j]; });
    sum.template add<i>(system, fma(Real(Method::c[i]), h, t), point);
  });
  sum.finish(s);
  detail::set_results(s, at, lin, w, rate);
  s.solved = !newton.failed;
  s.singular = w.singular | wc.singular;
  s.evaluations = typename Real::integer(int64(lin.evaluations)) + to_integer(newton.iterations);
  detail::conclude<Method, WithInterpolant>(s, system, w, settle);
  return s;
}

}  // namespace saltus
