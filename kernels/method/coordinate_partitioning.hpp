// One step of a diagonally implicit Runge-Kutta method in descriptor form. The unknowns of a stage are accelerations. The method
// integrates a part of the coordinates and velocities, and the constraints give the rest (E. J. Haug, D. Negrut, C. Engstler,
// "Implicit integration of the equations of multibody dynamics in descriptor form"; equation numbers below are theirs).
//
// With J = d Phi/dq, u the dependent and z the independent ones of the coordinates q = (u, z), J = (J_u, J_z):
//
//     H = -J_u^-1 J_z,  T = (H; I),  J T = 0                 change of all coordinates with z
//     z_i = z + h sum a_ij z'_j,  z'_i = z' + h sum a_ij z''_j        (30, 31, with abar = a a)
//     Phi(t_i, u_i, z_i) = 0,  J_u u'_i = -Phi_t - J_z z'_i           (53, 54): by Newton, to rounding
//     q'' = T z'' - g,  J_u g_u = b,  b = d/dt (J q' + Phi_t) without accelerations
//     0 = T' (M q'' - f)                                     (48) projected along T: J' lambda has no part there
//
// so that k - m equations remain of the k + m of (52). Newton's matrix is evaluated once for a trial step, at its beginning:
//
//     R = T' M T + T' (dPsi_1 - M N dPsi_2),    N = (J_u^-1; 0)
//
// with the derivatives of Psi_1 = M q'' - f - J' lambda and Psi_2 = J q'' + b along (h^2 gamma^2 T, h gamma T + h^2 gamma^2 K)
// in (q, q'). K is the derivative of the dependent velocities with respect to z at fixed z': the columns of (51), whose Schur
// complement is R.
//
// The partition is chosen anew at the beginning of every step, in every lane by itself: for one constraint after the other, the
// independent coordinate with the largest entry becomes dependent. This costs less than one evaluation of J by dual numbers. No
// instance has to remember the partition, and no code has to watch the condition of J_u: in a one-step method a new choice only changes
// which coordinates are solved for. A step during which J_u becomes singular has no solution and is repeated with a smaller size.
//
// A constraint that is off has the row of the identity in J_u, and its coordinate counts as independent.
//
// Only for holonomic constraints and q' = v.
#pragma once

#include "method/partition_newton.hpp"

namespace saltus {

namespace detail {

/// The current stage of a step, at time t: q = q0 + h gamma q', q' = v0 + h gamma q'', with `base` = (q0, v0) and `hg` = h gamma. Stages
/// are solved one after the other.
template <class System, class Real>
struct descriptor_stage {
  using whole = partitioned_system<System, Real>;
  static constexpr int k = whole::k, n = whole::n;
  Real t, hg;
  typename whole::by_state base, y;
  typename whole::by_velocity acceleration;
  typename whole::by_free unknown;
  typename whole::tangent near;  ///< at the last point
};

/// Newton's iteration for one stage. It starts from the accelerations of the previous stage.
template <class System, class Real, class Matrix>
SALTUS_FN_COLD void solve_stage(const partitioned_system<System, Real>& p, const Matrix& w,
                                newton_watch<Real, partitioned_system<System, Real>::n>& newton,
                                descriptor_stage<System, Real>& s) {
  using whole = partitioned_system<System, Real>;
  constexpr int k = whole::k, n = whole::n;
  constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon;
  each<k>([&](int i) SALTUS_INLINE_LAMBDA {
    s.y[k + i] = fma(s.hg, s.acceleration[i], s.base[k + i]);
    s.y[i] = fma(s.hg, s.y[k + i], s.base[i]);
  });
  s.unknown = p.free_of(s.acceleration);
  auto lost = mask_of<Real>::all(false), still = mask_of<Real>::all(false);
  newton.next_stage();
  for (int iteration = 0; iteration < newton.max_iterations && any(newton.open); ++iteration) {
    const auto here = newton.open;
    lost = lost | p.recover(s.near, s.t, s.y, here);
    const auto e = p.evaluate(s.t, s.y, s.unknown);
    const auto change = w.solve(e.residual);
    const auto all = e.here.spread(change);
    vec<Real, n> moved;
    still = mask_of<Real>::all(true);
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      moved[k + i] = s.hg * all[i];
      moved[i] = s.hg * moved[k + i];
      s.acceleration[i] = select(here, e.acceleration[i] - all[i], s.acceleration[i]);
    });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      still = still & (abs(moved[i]) <= Real(rounding) * (abs(s.y[i]) + p.system.floor(i)));
      s.y[i] = select(here, s.y[i] - moved[i], s.y[i]);
    });
    each<whole::free>(
        [&](int f) SALTUS_INLINE_LAMBDA { s.unknown[f] = select(here, s.unknown[f] - change[f], s.unknown[f]); });
    s.near.take(e.here, here);
    newton.take_in(moved);
  }
  // Increments stop shrinking at the size of their rounding errors.
  newton.give_up([&]() SALTUS_INLINE_LAMBDA { return still; });
  lost = lost | p.recover(s.near, s.t, s.y, !newton.failed);
  newton.failed = newton.failed | lost;
  newton.given_up = newton.failed;
}

/// The direction of the model's time.
template <class System>
inline constexpr double time_sign = static_cast<double>(System::form::time_sign);

/// Sets the end of a step, and the slopes of its dense output, from the velocities v and the accelerations a of the stages, which are
/// derivatives by the model's time. Returns the difference to the embedded formula.
template <class Method, class System, class Real, int n, int k>
SALTUS_FN vec<Real, n> set_results(stages<Method, Real, n>& s, const descriptor_stage<System, Real>& at,
                                   const vec<Real, k> (&v)[Method::stages], const vec<Real, k> (&a)[Method::stages]) {
  const Real sign = Real(time_sign<System>), hm = sign * s.h;
  const auto errors = [](auto j) { return Method::e[decltype(j)::value]; };
  const auto error_q = combine<Method::stages>(v, errors), error_v = combine<Method::stages>(a, errors);
  const auto slope0 = combine<Method::stages>(a, [](auto j) { return Method::slope0[decltype(j)::value]; });
  vec<Real, n> difference;
  s.y1 = at.y;
  each<k>([&](int i) SALTUS_INLINE_LAMBDA {
    difference[i] = hm * error_q[i];
    difference[k + i] = hm * error_v[i];
    s.slope0[i] = sign * s.y[k + i];
    s.slope0[k + i] = sign * slope0[i];
    s.slope1[i] = sign * at.y[k + i];
    s.slope1[k + i] = sign * at.acceleration[i];
  });
  return difference;
}

/// The same estimate as for other implicit methods, with the matrix of this method.
template <class Method, class System, class Matrix, class Real, int n>
SALTUS_FN vec<Real, n> interpolant_error(const System& system, const stages<Method, Real, n>& s,
                                         const linear_stages<System, Real>& lin, const Matrix& w, Real hg) {
  const Real part = Real(0.3);
  const auto interpolant = interpolate<Method>(system, s);
  auto slope = interpolant.slope(part);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] / s.h; });
  auto left = system.residual(fma(part, s.h, s.t), interpolant(part), slope);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { left[i] = left[i] * (Real(Method::gamma) * s.h); });
  return lin.filtered(w, hg, left);
}

}  // namespace detail

/// One step of length h.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::kind == methods::family::coordinate_partitioning) SALTUS_FN_COLD stages<Method, Real, n> step(
    const System& system, const solution_point<Real, n>& from, Real h, Settle&& settle = {}) {
  const Real t = from.t;
  const vec<Real, n>&y = from.y, &f0 = from.rate;
  using whole = detail::partitioned_system<System, Real>;
  constexpr int k = whole::k, first = Method::explicit_first ? 1 : 0;
  const Real sign = Real(detail::time_sign<System>);
  const Real hm = sign * h, hg = Real(Method::gamma) * hm;  // in the model's time
  const vec<Real, n> weight = system.weight(y);
  vec<Real, k> begin, v[Method::stages], a[Method::stages];
  each<k>([&](int i) SALTUS_INLINE_LAMBDA { begin[i] = sign * f0[k + i]; });

  const auto point = System::form::point_of_bodies(t, y, system.c);
  const whole p{system, {point, whole::bodies::jacobian_at(point)}};
  const detail::linear_stages<System, Real> lin(p, t, y, begin);
  const auto w = factorise(lin.reduced(hg), detail::algebra_of(system));
  stages<Method, Real, n> s;
  s.singular = p.part.singular | w.singular;
  detail::newton_watch<Real, n> newton(!s.singular, weight, detail::error_allowed_of_stages<Method>);
  const auto start = detail::first_increment(y, f0, weight, Real(Method::gamma) * h);
  detail::descriptor_stage<System, Real> at{t, hg, {}, y, {}, {}, lin.here};
  each<k>([&](int i) SALTUS_INLINE_LAMBDA {
    v[0][i] = y[k + i];
    a[0][i] = begin[i];
    at.acceleration[i] = start[k + i] / hg;
  });
  detail::quadrature_sum<Method, Real> sum(system, t, y);

  static_for<Method::stages - first>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = first + decltype(stage)::value;
    const auto before = [](auto j) { return Method::a[i][decltype(j)::value]; };
    const auto to_q = detail::combine<i>(v, before), to_v = detail::combine<i>(a, before);
    each<k>([&](int j) SALTUS_INLINE_LAMBDA {
      at.base[j] = i > 0 ? fma(hm, to_q[j], y[j]) : y[j];
      at.base[k + j] = i > 0 ? fma(hm, to_v[j], y[k + j]) : y[k + j];
    });
    at.t = fma(Real(Method::c[i]), h, t);
    detail::solve_stage(p, w, newton, at);
    sum.template add<i>(system, at.t, at.y);
    a[i] = at.acceleration;
    each<k>([&](int j) SALTUS_INLINE_LAMBDA { v[i][j] = at.y[k + j]; });
  });

  s.t = t;
  s.h = h;
  s.y = y;
  s.error = lin.filtered(w, hg, detail::set_results(s, at, v, a));
  sum.finish(s);
  if constexpr (whole::m == 0)  // with constraints, projection judges the mass matrix
    s.singular = s.singular | !whole::bodies::mass_is_definite(System::form::point_of_bodies(t + h, s.y1, system.c));
  s.solved = !(newton.failed | s.singular);
  s.residual = Real(0.0);
  s.residual_of = p.part.of;
  s.evaluations = typename Real::integer(int64(lin.evaluations + 1)) + to_integer(newton.iterations);
  settle(s);
  if constexpr (WithInterpolant) {
    s.interpolant_error = detail::interpolant_error(system, s, lin, w, hg);
    s.evaluations = s.evaluations + typename Real::integer(int64(2));
  }
  return s;
}

}  // namespace saltus
