// What happens at an event: the model's transition for all due guards at once, then the guards are looked at again, since
// a transition may make another guard true (event iteration), and the instance starts anew from the new state.
#pragma once

#include "event/guard_sides.hpp"

namespace saltus {

inline constexpr int event_rounds = 16;  ///< rounds of event iteration at one instant before `event_loop`

/// f and the guards, with their sides settled, at the accepted point: needed at the start and after every jump.
template <class E, class Real>
SALTUS_FN void start_from(instance<E, Real>& x, mask_of<Real> where) {
  using form  = typename E::form;
  auto held   = x.held;
  held.locked = form::guard_values(x.t, x.y, held);
  auto f      = form::rhs(x.t, x.y, held);
  auto g      = form::guards_along(x.t, x.y, f, held);
  add_where(x.evaluations, where, 1);
  mask_of<Real> resettled = mask_of<Real>::all(false);
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    held.locked[i] = settle<E, i>(g.value[i], g.rate[i]);
    resettled      = resettled | (where & ((held.locked[i] < Real(0.0)) & (g.value[i] == Real(0.0))));
  });
  if (any(resettled)) {
    // A guard at zero belongs to the side it is heading to: f may depend on that side.
    f = form::rhs(x.t, x.y, held);
    g = form::guards_along(x.t, x.y, f, held);
    add_where(x.evaluations, resettled, 1);
  }
  const Real hair = Real(1024.0 * limits<typename E::T>::epsilon) * (abs(x.t) + abs(x.h));
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], f[i]); });
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.held.locked[i], put_back<E, i>(held.locked[i], g.rate[i], hair));
    assign_where(where, x.rate[i], g.rate[i]);
  });
}

/// Calls the model's `mode` for the lanes in `where`: discrete variables follow the guard signs.
template <class E, class T, int W>
SALTUS_FN void set_modes(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where) {
  if constexpr (E::form::kinds::has_mode) {
    using Scalar = pack<T, 1>;
    const auto g = E::form::guard_values(x.t, x.y, x.held);
    for (int lane = 0; lane < W; ++lane) {
      if (!where[lane]) continue;
      auto                             one = take(x, lane);
      event<typename E::Model, Scalar> now{one.t, one.y, one.held.p, one.held.d, {}, {}};
      for (int i = 0; i < E::ng; ++i) now.g[i].v = g[i].get(lane);
      for (int i = 0; i < E::ng; ++i) now.fired[i] = Scalar(0.0);
      E::Model::mode(now);
      put(x, lane, one);
    }
  }
}

/// One lane's transition for the guards in `due`: ordinary scalar code of the model. Logs each due guard.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void transition_of(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                                  const vec<pack<T, W>, E::ng>& due, const Run& run) {
  using Scalar                            = pack<T, 1>;
  auto                             one    = take(x, lane);
  const auto                       before = one.y;
  event<typename E::Model, Scalar> now{one.t, one.y, one.held.p, one.held.d, {}, {}};
  bool                             ends  = false;
  int                              count = 0;
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    now.g[i].v        = g[i].get(lane);
    now.fired[i].v    = due[i].get(lane);
    const bool is_due = due[i].get(lane) > T(0.5);
    count += is_due ? 1 : 0;
    ends = ends || (is_due && guard_of<E, i>.ends == terminal);
  });
  if constexpr (E::form::kinds::has_transition) E::Model::transition(now);
  for (int i = 0; i < E::ng; ++i)
    if (due[i].get(lane) > T(0.5)) run.log_event(one.slot.v, one.t.v, i, before, one.y);
  one.events = one.events + typename Scalar::integer(int64(count));
  if (ends || now.stopped) end_where(one.status, mask_of<Scalar>::all(true), status::stopped);
  put(x, lane, one);
}

/// Fires the guards in `due` (1 where due) at the accepted point of the lanes in `where`, whose guard values there are `g`,
/// and iterates until no guard is due any more.
///
/// After a transition another guard is due if the transition moved it to its other side in its declared direction, and
/// each guard fires at most once that way; a unilateral guard is due again as long as it is violated and getting worse.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void fire(instance<E, pack<T, W>>& x, vec<pack<T, W>, E::ng> g, vec<pack<T, W>, E::ng> due,
                         mask_of<pack<T, W>> where, const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  vec<Real, E::ng> fired;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { fired[i] = Real(0.0); });
  mask_of<Real> active = where;
  for (int round = 0; round < event_rounds && any(active); ++round) {
    for (int lane = 0; lane < W; ++lane)
      if (active[lane]) transition_of<E>(x, lane, g, due, run);
    set_modes<E>(x, active);
    start_from<E>(x, active);
    if constexpr (E::reductions > 0) reduce_jump<E>(x, active);
    mask_of<Real> again = mask_of<Real>::all(false);
    static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
      constexpr auto info  = guard_of<E, i>;
      fired[i]             = max(fired[i], due[i]);
      const Real    now    = x.held.locked[i];
      const auto    was_up = g[i] >= Real(0.0), is_up = now >= Real(0.0);
      mask_of<Real> moved = was_up ^ is_up;
      if constexpr (info.which == falling) moved = moved & was_up;
      if constexpr (info.which == rising) moved = moved & is_up;
      moved = moved & (fired[i] < Real(0.5));
      if constexpr (info.side == unilateral && info.which == falling)
        moved = moved | ((now < Real(0.0)) & (x.rate[i] <= Real(0.0)));
      if constexpr (info.side == unilateral && info.which == rising)
        moved = moved | ((now > Real(0.0)) & (x.rate[i] >= Real(0.0)));
      due[i] = select(active & moved, Real(1.0), Real(0.0));
      again  = again | (active & moved);
      assign_where(active, g[i], now);
    });
    end_where(x.status, active & (x.events >= tol.max_events), status::event_budget);
    active = again & (x.status == typename Real::integer(int64(status::interrupted)));
  }
  end_where(x.status, active, status::event_loop);
}

}  // namespace saltus
