// One step of a diagonally implicit Runge-Kutta method: one matrix for the step, a simplified Newton iteration per stage. The matrix is
// computed anew for every trial step, because lanes would seldom agree to keep one. So a failure of Newton cannot be cured by refreshing
// the matrix, and the step is repeated with a smaller size.
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"

namespace saltus {

namespace detail {

/// A stage at time t: its point is `base` + z, z = gamma h k, and its slope z times `shift`.
template <class Real, int n>
struct diagonal_stage {
  Real t, shift;
  vec<Real, n> base, z;
};

/// The lanes in which the equations of a stage are solved to rounding. The arguments are copies: an object passed by reference to an
/// out-of-line function cannot stay in registers.
template <class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> is_solved_to_rounding(const System& system, linear_system<System, Real, n> lin,
                                                   diagonal_stage<Real, n> at) {
  vec<Real, n> point, slope, terms;
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    point[j] = at.base[j] + at.z[j];
    slope[j] = at.z[j] * at.shift;
    terms[j] = abs(slope[j]);
  });
  const auto r = system.residual(at.t, point, slope);
  return is_rounding(r, lin.size_of_terms(r, point, slope, terms));
}

/// Newton's iteration for z of a stage.
template <class System, class Matrix, class Real, int n>
SALTUS_FN void solve_stage(const System& system, const linear_system<System, Real, n>& lin, const Matrix& w,
                           newton_watch<Real, n>& newton, diagonal_stage<Real, n>& at) {
  newton.next_stage();
  for (int iteration = 0; iteration < newton.max_iterations && any(newton.open); ++iteration) {
    vec<Real, n> point, slope;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      point[j] = at.base[j] + at.z[j];
      slope[j] = at.z[j] * at.shift;
    });
    const auto change = w.solve(system.residual(at.t, point, slope));
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { at.z[j] = select(newton.open, at.z[j] - change[j], at.z[j]); });
    newton.take_in(change);
  }
  newton.give_up([&]() SALTUS_INLINE_LAMBDA { return is_solved_to_rounding(system, lin, at); });
}

}  // namespace detail

/// One step of length h.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::kind == methods::family::dirk) SALTUS_FN stages<Method, Real, n> step(
    const System& system, const solution_point<Real, n>& from, Real h, Settle&& settle = {}) {
  const Real t = from.t;
  const vec<Real, n>&y = from.y, &f0 = from.rate;
  constexpr int first = Method::explicit_first ? 1 : 0;
  stages<Method, Real, n> s;
  const linear_system<System, Real, n> lin(system, t, y, f0);
  const Real shift = Real(1.0 / Method::gamma) / h;
  const auto w = factorise(lin.shifted(shift), detail::algebra_of(system));
  const vec<Real, n> weight = system.weight(y);
  detail::newton_watch<Real, n> newton(!w.singular, weight, detail::error_allowed_of_stages<Method>);
  vec<Real, n> k[Method::stages];
  detail::points_of_stages<Settle, Real, n, Method::stages> points;
  detail::quadrature_sum<Method, Real> sum(system, t, y);
  if constexpr (Method::explicit_first) k[0] = f0;
  const auto start = detail::first_increment(y, f0, weight, Real(Method::gamma) * h);

  static_for<Method::stages - first>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = first + decltype(stage)::value;
    const Real t_of_stage = fma(Real(Method::c[i]), h, t);
    detail::diagonal_stage<Real, n> at;
    at.t = t_of_stage, at.shift = shift;
    const auto before = detail::combine<i>(k, [](auto j) { return Method::a[i][decltype(j)::value]; });
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      at.base[j] = i > 0 ? fma(h, before[j], y[j]) : y[j];
      at.z[j] = i > first ? k[i > 0 ? i - 1 : 0][j] * (Real(Method::gamma) * h) : start[j];
    });
    detail::solve_stage(system, lin, w, newton, at);
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      points[i][j] = at.base[j] + at.z[j];
      k[i][j] = at.z[j] * shift;
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
  s.evaluations = typename Real::integer(int64(lin.evaluations)) + to_integer(newton.iterations);
  detail::conclude<Method, WithInterpolant>(s, system, w, settle);
  return s;
}

}  // namespace saltus
