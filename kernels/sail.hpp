// Sail: the hot loop, all that most instances ever see. One turn is
//
//     step -> judge -> detect -> commit
//
// One trial step per lane from its last accepted point with its own step size; a rejected step is the next turn with a
// smaller one. A lane whose step may contain an event changes nothing: it is reported, and parked with the inputs of that
// step by whoever runs the loop.
#pragma once

#include "observe.hpp"

namespace saltus {

/// The right-hand side of an instance with its parameters, discrete variables and guard signs held.
template <class E, class Real>
struct held_rhs {
  const typename E::form::template held<Real>& c;
  SALTUS_FN vec<Real, E::n> operator()(Real t, const vec<Real, E::n>& y) const { return E::form::rhs(t, y, c); }
};

/// A trial step and what was found out about it. Depends on the instance alone: made again, it has the same bits.
template <class E, class Real>
struct trial {
  stages<typename E::Method, Real, E::n>        s;
  Real                                          t1;      ///< its end: t + h, or t_end exactly
  Real                                          error2;  ///< squared error norm; NaN if anything is not finite
  typename E::form::template rated<Real, E::ng> g;       ///< guards at its end
  mask_of<Real>                                 last, accepted, suspect;
};

/// step -> judge -> detect
template <class E, class Real>
SALTUS_FN trial<E, Real> attempt(const instance<E, Real>& x, const tolerances<E, Real>& tol) {
  using form = typename E::form;
  // step, stretched by up to 1 % or cut so as to end at t_end
  const Real     left = x.t_end - x.t;
  const auto     last = left <= Real(1.01) * x.h;
  const Real     h    = select(last, left, x.h);
  trial<E, Real> a{step<typename E::Method>(held_rhs<E, Real>{x.held}, x.t, x.y, x.f, h), {}, {}, {}, last, {}, {}};
  a.t1 = select(last, x.t_end, x.t + h);

  // judge: what is accepted is written, so that a NaN is not
  if constexpr (E::fixed_steps) a.error2 = Real(0.0);
  else a.error2 = error_norm_squared<typename E::Method, E::norm>(a.s, tol.rtol, tol.atol);
  a.g = form::guards_along(a.t1, a.s.y1, a.s.f1(), x.held);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { a.error2 += not_finite(a.s.y1[i]) + not_finite(a.s.f1()[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { a.error2 += not_finite(a.g.value[i]); });
  a.accepted = a.error2 <= Real(1.0);

  // detect
  a.suspect = mask_of<Real>::all(false);
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.held.locked[i];
    a.suspect = a.suspect | (armed<E, i>(g0) & may_cross(side_of(g0), g0, x.rate[i], a.g.value[i], a.g.rate[i], h)) |
                violated<E, i>(g0, a.g.rate[i]);
  });
  return a;
}

/// The trial becomes the accepted point of the lanes in `where`; they are observed, and finished at t_end.
template <class E, class Real, class Run>
SALTUS_FN void commit(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where, const Run& run) {
  const held_rhs<E, Real> f{x.held};
  if constexpr (E::samples) record_samples(x, a.s, f, a.t1, where, a.last, run);
  if constexpr (E::reductions > 0) reduce_step(x, a.s, f, where);
  assign_where(where, x.t, a.t1);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.y[i], a.s.y1[i]);
    assign_where(where, x.f[i], a.s.f1()[i]);
  });
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.held.locked[i], settle<E, i>(a.g.value[i], a.g.rate[i]));
    assign_where(where, x.rate[i], a.g.rate[i]);
  });
  add_where(x.steps, where, 1);
  end_where(x.status, where & a.last, status::finished);
}

/// The controller's answer to a trial, for the lanes in `where`; a lane that cannot go on gets its verdict.
template <class E, class Real>
SALTUS_FN void control(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                       const tolerances<E, Real>& tol) {
  const mask_of<Real> refused = where & !a.accepted;
  add_where(x.rejected, refused, 1);
  if constexpr (E::fixed_steps) {
    end_where(x.status, refused, status::not_finite);
  } else {
    const auto next = decide<typename E::Method, E::controller>(a.s.h, a.error2, a.accepted, x.memory);
    // A last step cut short says nothing about the step to come; h only matters again if it was refused.
    assign_where(where, x.h, min(next.h, x.h_max));
    assign_where(where, x.memory.log_error, next.memory.log_error);
    assign_where(where, x.memory.log_ratio, next.memory.log_ratio);
    assign_where(where, x.memory.refused, next.memory.refused);
    const Real          floor_    = (x.t_end - x.t_begin) * Real(0x1p-80);
    const mask_of<Real> too_small = refused & ((x.t + Real(0.0625) * x.h == x.t) | (x.h < floor_));
    end_where(x.status, too_small & !(a.error2 < Real(0x1p100)), status::not_finite);
    end_where(x.status, too_small, status::step_too_small);
  }
  end_where(x.status, where & (x.steps + x.rejected >= tol.max_steps), status::step_budget);
}

/// One turn for the active lanes. Returns the lanes to be parked: their step may contain an event, and nothing of them has
/// changed but the count of evaluations.
template <class E, class Real, class Run>
SALTUS_FN mask_of<Real> sail(instance<E, Real>& x, mask_of<Real> active, const tolerances<E, Real>& tol,
                             const Run& run) {
  const auto a = attempt(x, tol);
  add_where(x.evaluations, active, evaluations_per_step<typename E::Method>);
  const mask_of<Real> parked = active & a.accepted & a.suspect;
  commit(x, a, active & a.accepted & !a.suspect, run);
  control(x, a, active & !parked, tol);
  return parked;
}

}  // namespace saltus
