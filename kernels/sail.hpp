// Sail: the hot loop, all that most instances ever see. One turn is
//
//     step -> judge -> detect -> commit
//
// One trial step per lane from its last accepted point with its own step size; a rejected step is the next turn with a
// smaller one. A lane whose step may contain an event changes nothing: it is reported, and parked with the inputs of that
// step by whoever runs the loop.
#pragma once

#include "engine/inject.hpp"
#include "engine/observe.hpp"
#include "event/certify.hpp"
#include "event/slide.hpp"

namespace saltus {

/// A trial step and what was found out about it. Depends on the instance alone: made again, it has the same bits.
template <class E, class Real>
struct trial {
  stages<typename E::Method, Real, E::n> s;
  Real t1;                                          ///< its end: t + h, or t_stop exactly
  Real error2;                                      ///< squared error norm; NaN if anything is not finite
  typename E::form::template rated<Real, E::ng> g;  ///< guards at its end
  mask_of<Real> last;                               ///< it ends at t_stop
  mask_of<Real> accepted, suspect;

  /// With the step that `make` makes, in place: with braces a compiler would first set all of it to zero, as long as a stage.
  template <class Make>
  SALTUS_FN trial(const Make& make, mask_of<Real> is_last) : s(make()), last(is_last) {}
};

/// The squared error that a step is given which Newton's iteration has not settled: it shrinks to a quarter.
template <class Method>
inline constexpr double unsettled = [] {
  double r = 1.0;
  for (int i = 0; i < 2 * (methods::error_order<Method> + 1); ++i) r *= 3.6;
  return r;
}();

/// Squared error of the guards as quadratures of their rates (Mao and Petzold 3.1.2), relative to what they are and what
/// they change by: a step over which a guard cannot be trusted is too long.
template <class E, class Real>
SALTUS_FN Real guard_error_squared(const instance<E, Real>& x, const trial<E, Real>& a, Real rtol) {
  using Method = typename E::Method;
  vec<Real, E::ng> error, change;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = change[i] = Real(0.0); });
  if constexpr (!keeps_stages<Method>) {
    // Stages of implicit methods are not points of the solution, and others are not kept: the guards' error is what the
    // states' own does to them.
    vec<Real, E::n> nowhere;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { nowhere[i] = Real(0.0); });
    const auto off = E::form::guards_along(a.t1, a.s.y1, a.s.error, x.held);
    const auto mere = E::form::guards_along(a.t1, a.s.y1, nowhere, x.held);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      error[i] = (off.rate[i] - mere.rate[i]) / a.s.h;
      change[i] = max(abs(x.rate[i]), abs(a.g.rate[i]));
    });
  } else
    static_for<Method::stages>([&](auto j) SALTUS_INLINE_LAMBDA {
      constexpr double c = Method::c[j], e = Method::e[j];
      const auto y = detail::advance(a.s.y, a.s.h, detail::slope_of_stage<Method, j, j>(a.s.k));
      const auto g = E::form::guards_along(fma(Real(c), a.s.h, a.s.t), y, a.s.k[j], x.held);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        error[i] = fma(Real(e), g.rate[i], error[i]);
        change[i] = max(change[i], abs(g.rate[i]));
      });
    });
  Real worst = Real(0.0);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real size = max(max(abs(x.held.locked[i]), abs(a.g.value[i])), a.s.h * change[i]);
    const Real r = a.s.h * error[i] / fma(rtol, size, Real(limits<typename E::T>::smallest));
    worst = max(worst, r * r);
  });
  return worst;
}

/// Lanes in which an armed guard may leave its side within the step, judged by its value and rate at both ends and, on the
/// cubic through the ends of the step, in the middle.
template <class E, class Real>
SALTUS_FN mask_of<Real> may_leave_side(const instance<E, Real>& x, const trial<E, Real>& a) {
  using form = typename E::form;
  const Real half = Real(0.5) * a.s.h, quarter = Real(0.25) * a.s.h;
  vec<Real, E::n> y, dy;  // and what y changes by in half a step
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real f0 = a.s.f0()[i], f1 = a.s.f1()[i];
    y[i] = fma(Real(0.5) * quarter, f0 - f1, Real(0.5) * (a.s.y[i] + a.s.y1[i]));
    dy[i] = fma(Real(-0.5) * quarter, f0 + f1, Real(0.75) * (a.s.y1[i] - a.s.y[i]));
  });
  const auto middle = form::model_guards_through(a.s.t + half, half, y, dy, x.held);
  auto may = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.held.locked[i], side = side_of(g0), pace = side * half;
    const guard_at<Real> begin{side * g0, pace * x.rate[i]}, end{side * a.g.value[i], pace * a.g.rate[i]};
    mask_of<Real> leaves;
    if (i >= form::model_guards) {  // the engine's own: the middle of a slide is not worth its second derivatives
      leaves = may_cross(guard_at<Real>{begin.g, begin.change + begin.change},
                         guard_at<Real>{end.g, end.change + end.change});
    } else {
      leaves = may_cross(begin, guard_at<Real>{side * middle.value[i], side * middle.rate[i]}, end);
      if constexpr (form::slides) leaves = leaves & !(x.held.surface == Real(static_cast<double>(i)));
    }
    may = may | (armed<E>(i, g0) & leaves);
  });
  return may;
}

/// Counts the evaluations of a trial: a certified search needs the dense output of every step.
template <class E, class Real>
SALTUS_FN void count_trial(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where) {
  count_evaluations(x, a.s, where);
  if constexpr (E::certified && E::ng > 0)
    add_where(x.rhs_evaluations, where, E::Method::extra_stages + evaluations_of_error<typename E::Method>);
}

/// step -> judge -> detect
template <class E, class Real>
SALTUS_FN trial<E, Real> attempt(const instance<E, Real>& x, const tolerances<E, Real>& tol) {
  using form = typename E::form;
  // step, stretched by up to 1 % or cut so as to end at t_stop; h is what t advances by, rounding included
  const Real left = x.t_stop - x.t;
  const auto last = left <= Real(1.01) * x.h;
  const Real h = select(last, left, (x.t + x.h) - x.t);
  trial<E, Real> a(
      [&]() SALTUS_INLINE_LAMBDA {
        return make_step<E, Real, E::follows_path>({x.held, &tol}, x.t, x.y, x.f, h);
      },
      last);
  a.t1 = select(last, x.t_stop, x.t + h);

  // judge: what is accepted is written, so that a NaN is not
  if constexpr (E::fixed_steps) a.error2 = Real(0.0);
  else a.error2 = error_norm_squared<typename E::Method, E::norm>(a.s, tol.rtol, tol.atol);
  if constexpr (E::follows_path && !E::fixed_steps)
    a.error2 = max(a.error2, scaled_norm_squared<E::norm>(a.s.path_error, a.s.y, a.s.y1, tol.rtol, tol.atol));
  if constexpr (!E::Method::is_explicit) a.error2 = select(a.s.solved, a.error2, Real(unsettled<typename E::Method>));
  a.g = form::guards_along(a.t1, a.s.y1, a.s.f1(), x.held);
  if constexpr (E::guards_in_error && !E::fixed_steps) a.error2 = max(a.error2, guard_error_squared(x, a, tol.rtol));
  Real broken = Real(0.0);  // or NaN; a sum of its own, as the error is what everything to come waits for
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { broken += not_finite(a.s.y1[i]); });
  if constexpr (E::keeps_slope) each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { broken += not_finite(a.s.f1()[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { broken += not_finite(a.g.value[i]); });
  a.error2 += broken;
  a.accepted = (a.error2 <= Real(1.0)) & (h > Real(0.0));

  // detect
  a.suspect = mask_of<Real>::all(false);
  if constexpr (form::time_events > 0) a.suspect = last & (first_time_event(x) <= a.t1);
  if constexpr (E::certified && E::ng > 0) {
    const held_system<E, Real> f{x.held};
    const auto path = interpolate<typename E::Method>(f, a.s);
    a.suspect = a.suspect | !certainly_quiet<E, Real>(x, path, enclosed_error<E>(f, a.s, path), armed_sides(x));
  }
  if constexpr (!E::certified && E::ng > 0) a.suspect = a.suspect | may_leave_side(x, a);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.held.locked[i];
    a.suspect = a.suspect | violated<E>(i, g0, a.g.rate[i]) | comes_to_rest<E>(i, g0, a.g.value[i], a.g.rate[i]);
  });
  return a;
}

/// The largest residual of a constraint after any step so far.
template <class E, class Stages, class Real>
SALTUS_FN void keep_residual(instance<E, Real>& x, const Stages& s, mask_of<Real> where) {
  const auto worse = where & (s.residual > x.residual);
  assign_where(worse, x.residual, s.residual);
  assign_where(worse, x.residual_of, s.residual_of);
}

/// The verdict on lanes whose implicit equations have no solution.
template <class E, class Stages, class Real>
SALTUS_FN void blame_solver(instance<E, Real>& x, const Stages& s, mask_of<Real> where) {
  end_where(x.status, where & s.singular, status::singular);
  end_where(x.status, where & !s.solved, status::newton_failed);
}

/// The trial becomes the accepted point of the lanes in `where`; they are observed, and finished at t_end.
template <class E, class Real, class Run>
SALTUS_FN void commit(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where, const Run& run) {
  const held_system<E, Real> f{x.held};
  const mask_of<Real> ends = a.last & (a.t1 >= x.t_end);
  // A sample at the instant of an event shows what follows it.
  if constexpr (E::samples) record_samples(x, a.s, f, a.t1, where, ends & !at_time_event(x, a.t1), run);
  if constexpr (E::reductions > 0) reduce_step(x, a.s, f, where);
  assign_where(where, x.t, a.t1);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.y[i], a.s.y1[i]);
    if constexpr (E::keeps_slope) assign_where(where, x.f[i], a.s.f1()[i]);
  });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.held.locked[i], settle<E>(i, a.g.value[i], a.g.rate[i], x.held.locked[i]));
    assign_where(where, x.rate[i], a.g.rate[i]);
  });
  if constexpr (E::form::has_constraints) keep_residual(x, a.s, where);
  add_where(x.steps, where, 1);
  if (const auto finished = where & ends; any(finished)) end_where(x.status, finished, status::finished);
}

/// The controller's answer to a trial, for the lanes in `where`; a lane that cannot go on gets its verdict. Returns those
/// that cannot because they stand at a wall: that is an event.
template <class E, class Real>
SALTUS_FN mask_of<Real> control(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                const tolerances<E, Real>& tol) {
  const mask_of<Real> refused = where & !a.accepted;
  mask_of<Real> at_wall = mask_of<Real>::all(false);
  add_where(x.rejected, refused, 1);
  if constexpr (E::fixed_steps) {
    if constexpr (!E::Method::is_explicit) blame_solver(x, a.s, refused);
    end_where(x.status, refused, status::not_finite);
  } else {
    const Real tried = select(a.s.h > Real(0.0), a.s.h, x.h);
    const auto next = decide<typename E::Method, E::controller>(tried, a.error2, a.accepted, x.memory);
    // A step cut short at t_stop says nothing about the step to come.
    const Real cut = select(a.last & a.accepted, x.h, Real(0.0));
    assign_where(where, x.h, min(max(next.h, cut), x.h_max));
    if constexpr (E::form::slides) aim_at_surface(x, where);
    assign_where(where, x.memory.log_error, next.memory.log_error);
    assign_where(where, x.memory.log_ratio, next.memory.log_ratio);
    assign_where(where, x.memory.refused, next.memory.refused);
    const Real floor_ = (x.t_end - x.t_begin) * Real(0x1p-80);
    mask_of<Real> too_small = refused & ((x.t + Real(0.0625) * x.h == x.t) | (x.h < floor_));
    if (any(too_small)) {
      at_wall = too_small & stands_at_any_wall(x);
      too_small = too_small & !at_wall;
      if constexpr (!E::Method::is_explicit) blame_solver(x, a.s, too_small & (a.error2 < Real(0x1p100)));
      end_where(x.status, too_small & !(a.error2 < Real(0x1p100)), status::not_finite);
      end_where(x.status, too_small, status::step_too_small);
    }
  }
  const mask_of<Real> spent = where & (x.steps + x.rejected >= tol.max_steps);
  if (any(spent)) end_where(x.status, spent, status::step_budget);
  return at_wall & is_under_way(x);
}

/// Hairer, Wanner II, IV.2: h times the eigenvalue that the last two stages show, both at the end of the step. An instance
/// whose steps, tried or taken, come near the limit of stability (3.3 for DP5) again and again is stiff: the controller lets
/// them grow through it, then refuses some, so that not every one is near.
template <class E, class Real>
SALTUS_FN void watch_stiffness(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where) {
  using Method = typename E::Method;
  constexpr int before = Method::stages - 2;
  constexpr double at_limit = 2.2, enough = 15.0, relief = 0.5;
  static_assert(Method::fsal && Method::c[before] == 1.0, "stiffness is seen by methods with two stages at the end");
  const auto slope = detail::slope_of_stage<Method, before, before>(a.s.k);
  Real rise = Real(0.0), apart = Real(0.0);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real df = a.s.k[Method::stages - 1][i] - a.s.k[before][i];
    const Real dy = a.s.y1[i] - fma(a.s.h, slope[i], a.s.y[i]);
    rise = fma(df, df, rise);
    apart = fma(dy, dy, apart);
  });
  const auto limited = a.s.h * a.s.h * rise > Real(at_limit * at_limit) * apart;
  const Real count = select(limited, x.stiff_steps + Real(1.0), max(x.stiff_steps - Real(relief), Real(0.0)));
  assign_where(where, x.stiff_steps, count);
  end_where(x.status, where & (x.stiff_steps >= Real(enough)), status::stiff);
}

/// One turn for the active lanes. Returns the lanes to be parked: their step may contain an event, and nothing of them has
/// changed but the count of evaluations; or no step is short enough, since they stand at a wall.
template <class E, class Real, class Run>
SALTUS_FN mask_of<Real> sail(instance<E, Real>& x, mask_of<Real> active, const tolerances<E, Real>& tol,
                             const Run& run) {
  const auto a = attempt(x, tol);
  count_trial(x, a, active);
  const mask_of<Real> parked = active & a.accepted & a.suspect;
  commit(x, a, active & a.accepted & !a.suspect, run);
  const mask_of<Real> at_wall = control(x, a, active & !parked, tol);
  if constexpr (E::watch_stiffness && E::Method::is_explicit) watch_stiffness(x, a, active & !parked);
  if constexpr (E::inject) inject_while_sailing(x, active & !parked, run);
  return parked | at_wall;
}

}  // namespace saltus
