// Land: what happens, at full width and off the hot loop, to steps that may contain an event:
//
//     redo the step -> dense output -> detect in full -> locate -> transition -> restart
//
// The step is made again from its parked inputs, with the same bits. If no guard crosses after all, it is committed like
// any other; if one does, the instance moves to the event, goes through the transition and starts anew from there.
#pragma once

#include "event/locate.hpp"
#include "event/transition.hpp"

namespace saltus {

/// Moves the lanes in `where` to their landing point, observed on the way.
template <class E, class Real, class Run>
SALTUS_FN void move_to(instance<E, Real>& x, const landing<E, Real>& p, mask_of<Real> where, const Run& run) {
  const held_rhs<E, Real> f{x.held};
  if constexpr (E::samples) record_samples(x, p.s, f, p.t, where, mask_of<Real>::all(false), run);
  if constexpr (E::reductions > 0) reduce_step(x, p.s, f, where);
  assign_where(where, x.t, p.t);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.y[i], p.y[i]);
    assign_where(where, x.f[i], p.s.f1()[i]);
  });
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.held.locked[i], settle<E, i>(p.g[i], p.rate[i]));
    assign_where(where, x.rate[i], p.rate[i]);
  });
  add_where(x.steps, where, 1);
}

/// Lands the parked lanes in `active`. Afterwards each has moved on, or has a verdict.
template <class E, class Real, class Run>
SALTUS_FN_COLD void land(instance<E, Real>& x, mask_of<Real> active, const tolerances<E, Real>& tol, const Run& run) {
  using Method = typename E::Method;
  // redo the step
  const auto a = attempt(x, tol);
  add_where(x.evaluations, active, evaluations_per_step<Method> + Method::extra_stages);
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    end_where(x.status, active & violated<E, i>(x.held.locked[i], a.g.rate[i]), status::guard_violated);
  });
  active = active & (x.status == typename Real::integer(int64(status::interrupted)));
  // dense output
  const auto                    path = interpolate<Method>(held_rhs<E, Real>{x.held}, a.s);
  const guards_on_step<E, Real> on_step{x, path};
  const auto                    side = armed_sides(x);
  guards_at<E, Real>            begin{Real(0.0), x.held.locked, x.rate}, end{Real(1.0), a.g.value, a.g.rate};
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    begin.rate[i] = begin.rate[i] * a.s.h;
    end.rate[i]   = end.rate[i] * a.s.h;
  });
  // detect in full
  const auto found = detect<E, Real>(on_step, side, begin, end, active);
  // locate
  const auto p = locate<E, Real>(x, a, on_step, side, found, active & found.found, tol);
  // An event past t_end, and a root that is not there at the very end of the step, leave the whole step to commit.
  const auto whole = (p.t > x.t_end) | (p.phantom & (a.t1 - p.t <= time_tolerance(a.t1, a.s.h, tol)));
  const auto moved = active & found.found & !whole & !p.failed;
  commit(x, a, active & !moved & !p.failed, run);
  control(x, a, active & !moved & !p.failed, tol);
  end_where(x.status, active & p.failed, status::not_located);
  move_to(x, p, moved, run);
  // transition and restart; the step to come is the one that was tried here
  fire<E>(x, p.g, p.due, moved & p.fires, tol, run);
  end_where(x.status, moved & (x.steps + x.rejected >= tol.max_steps), status::step_budget);
}

}  // namespace saltus
