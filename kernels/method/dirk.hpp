// One step of a diagonally implicit Runge-Kutta method: one matrix for the step, a simplified Newton iteration per stage. The matrix is
// computed anew for every trial step, because lanes would seldom agree to keep one. So a failure of Newton cannot be cured by refreshing
// the matrix, and the step is repeated with a smaller size.
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"

namespace saltus {

namespace detail {

/// Newton's iteration for the stage at `base` + z, where the slope is z times `shift`. On return z is the solution.
template <class System, class Matrix, class Real, int n>
SALTUS_FN void solve_stage(const System& system, const linear_system<System, Real, n>& lin, const Matrix& w,
                           const vec<Real, n>& weight, Real t, Real shift, const vec<Real, n>& base,
                           newton_watch<Real>& newton, vec<Real, n>& z, Real& iterations) {
  newton.next_stage();
  for (int iteration = 0; iteration < newton.max_iterations && any(newton.open); ++iteration) {
    vec<Real, n> point, slope;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      point[j] = base[j] + z[j];
      slope[j] = z[j] * shift;
    });
    const auto change = w.solve(system.residual(t, point, slope));
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { z[j] = select(newton.open, z[j] - change[j], z[j]); });
    iterations = iterations + select(newton.open, Real(1.0), Real(0.0));
    newton.take_in(weighted_square(change, weight));
  }
  newton.give_up([&]() SALTUS_INLINE_LAMBDA { return is_solved_to_rounding(system, lin, t, base, z, shift); });
}

}  // namespace detail

/// One step of length h from (t, y), where the slope is f0.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::kind == methods::family::dirk) SALTUS_FN stages<Method, Real, n> step(const System& system, Real t,
                                                                                       const vec<Real, n>& y,
                                                                                       const vec<Real, n>& f0, Real h,
                                                                                       Settle&& settle = {}) {
  constexpr int first = Method::explicit_first ? 1 : 0;
  stages<Method, Real, n> s;
  const linear_system<System, Real, n> lin(system, t, y, f0);
  const Real shift = Real(1.0 / Method::gamma) / h;
  const auto w = factorise(lin.shifted(shift), detail::algebra_of(system));
  const vec<Real, n> weight = system.weight(y);
  detail::newton_watch<Real> newton(!w.singular, detail::error_allowed_of_stages<Method>);
  vec<Real, n> k[Method::stages];
  detail::points_of_stages<Settle, Real, n, Method::stages> points;
  Real iterations = Real(0.0);
  detail::quadrature_sum<Method, Real> sum(system, t, y);
  if constexpr (Method::explicit_first) k[0] = f0;
  const auto start = detail::first_increment(y, f0, weight, Real(Method::gamma) * h);

  static_for<Method::stages - first>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = first + decltype(stage)::value;
    vec<Real, n> base, z;  // the stage's point is base + z, z = gamma h k
    const auto before = detail::combine<i>(k, [](auto j) { return Method::a[i][decltype(j)::value]; });
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      base[j] = i > 0 ? fma(h, before[j], y[j]) : y[j];
      z[j] = i > first ? k[i > 0 ? i - 1 : 0][j] * (Real(Method::gamma) * h) : start[j];
    });
    const Real t_of_stage = fma(Real(Method::c[i]), h, t);
    detail::solve_stage(system, lin, w, weight, t_of_stage, shift, base, newton, z, iterations);
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      points[i][j] = base[j] + z[j];
      k[i][j] = z[j] * shift;
    });
    sum.template add<i>(system, t_of_stage, points[i]);
  });

  detail::show_stages(settle, w, points.at, k);
  // The difference to the embedded formula has the stiff components at full size; multiplication by the inverse matrix damps them.
  auto difference = detail::combine<Method::stages>(k, [](auto j) { return Method::e[decltype(j)::value]; });
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { difference[j] = difference[j] * Real(1.0 / Method::gamma); });
  s.t = t;
  s.h = h;
  s.y = y;
  s.y1 = points[Method::stages - 1];
  sum.finish(s);
  s.error = w.solve(lin.times_mass(difference));
  s.slope0 = detail::combine<Method::stages>(k, [](auto j) { return Method::slope0[decltype(j)::value]; });
  s.slope1 = k[Method::stages - 1];
  s.solved = !newton.failed;
  s.singular = w.singular;
  s.evaluations = typename Real::integer(int64(lin.evaluations)) + to_integer(iterations);
  detail::conclude<Method, WithInterpolant>(s, system, w, settle);
  return s;
}

}  // namespace saltus
