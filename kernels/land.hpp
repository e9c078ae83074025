// Land: the treatment, at full width and off the hot loop, of steps that may contain an event:
//
//     redo the step -> dense output -> detect in full -> locate -> transition -> restart
//
// The step is recomputed from its parked inputs, with the same bits. If no guard crosses after all, it is committed like any other. If one
// crosses, the instance moves to the event, goes through the transition and restarts from there.
#pragma once

#include "engine/inject.hpp"
#include "event/accumulate.hpp"
#include "event/locate.hpp"
#include "event/root_search.hpp"
#include "sail.hpp"

namespace saltus {

/// Moves the lanes in `where` to their landing point, observed on the way.
template <class E, class Real, class Run>
SALTUS_FN void move_to(instance<E, Real>& x, const landing<E, Real>& p, mask_of<Real> where,
                       const tolerances<E, Real>& tol, const Run& run) {
  if constexpr (E::gradient) run.events.keep_landing(x, p, where & (p.t > x.t));
  const auto before_end = mask_of<Real>::all(false);
  look_for_unguarded_jumps(x, p.t, p.y, p.s.f1(), where, tol, run);
  accept_point(x, step_end<E, Real>{p.s, p.t, p.y, {p.g}}, p.t, before_end, where, tol, run);
  if constexpr (!E::keeps_derivative)
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], p.s.f1()[i]); });
  pass_smooth_knots(x, where, tol);
}

/// Repeats doubtful steps with a quarter of the size.
template <class E, class Real>
SALTUS_FN void take_again(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                          const tolerances<E, Real>& tol) {
  assign_where(where, x.h, Real(0.25) * a.s.h);
  remember_rejection(x.memory, where, true);
  if constexpr (E::certified) assign_where(where, x.doubts, x.doubts + Real(1.0));
  add_where(x.rejected, where, 1);
  end_where(x.status, where & (x.steps + x.rejected >= tol.max_steps), status::step_budget);
}

/// Passes crossings of conditions that change no mode (Mao and Petzold 3.2.3): the guard is on its other side from there on, and the search
/// continues after it. There is no restart.
template <class E, class T, int W>
SALTUS_FN_COLD void pass_silent_crossings(search<E, pack<T, W>>& s, instance<E, pack<T, W>>& x,
                                          const searched_step<E, pack<T, W>>& step, mask_of<pack<T, W>> where) {
  using Real = pack<T, W>;
  const auto& on_step = step.guards;
  constexpr int most = 64;  // in one step; further crossings land like any event
  mask_of<Real> seeking = where & s.found.found;
  for (int attempts = 0; attempts < most && any(seeking); ++attempts) {
    const auto root = root_on_dense<E, Real>(on_step, s.side, s.found, seeking);
    tighten<E, Real>(on_step, s.side, root.theta, s.found, seeking);
    const auto here = on_step(s.found.hi);
    mask_of<Real> silent = seeking;
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto across = has_crossed(s.side[i], here.g.value[i], here.g.rate[i]) & (s.side[i] != Real(0.0));
      if (!E::form::traits(i).condition) silent = silent & !across;
    });
    const auto y = on_step.interpolant(here.s);
    vec<Real, E::ng> beyond;  // `mode` sees the new side, also for guards that are exactly zero
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { beyond[i] = settle<E>(i, here.g.value[i], here.g.rate[i]); });
    for (int lane = 0; lane < W; ++lane)
      if (silent[lane] &&
          changes_mode<E>(x, lane, fma(here.s, on_step.interpolant.h, on_step.interpolant.t), y, beyond))
        silent = silent & !mask_of<Real>::from_bits(1u << lane);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto across = has_crossed(s.side[i], here.g.value[i], here.g.rate[i]) & (s.side[i] != Real(0.0));
      if (E::form::traits(i).condition) s.side[i] = select(silent & across, -s.side[i], s.side[i]);
    });
    s.from = select<E, Real>(silent, here, s.from);
    look_for_roots<E, Real>(s, x, step, silent);
    seeking = silent & s.found.found;
  }
}

/// Lanes whose t_stop is before their end: at a time event, a knot, an end of a window or a datum, which no event may pass.
template <class E, class Real>
SALTUS_FN mask_of<Real> must_end_at_stop(const instance<E, Real>& x) {
  const auto stops = at_time_event(x, x.t_stop);
  if constexpr ((has_corners<E> && !guards_jump_at_knots<E>) || E::has_fixed_stops) return stops | (x.t_stop < x.t_end);
  else return stops;
}

/// The guards and time events due at the lanes' positions: guards at their landing point, guards within tau of a time event at which the
/// step has ended, and time events whose time has come. `at_stop`: the lanes whose step has ended where it must. At the end of the span
/// guards are due that have crossed: a run that continues begins on the other side of these, and before the roots of all others.
template <class E, class Real>
SALTUS_FN due_events<E, Real> due_at(const instance<E, Real>& x, const trial<E, Real>& a, const landing<E, Real>& p,
                                     const vec<Real, E::ng>& side, Real tau, mask_of<Real> moved, mask_of<Real> at_stop,
                                     mask_of<Real>& any_due) {
  due_events<E, Real> due;
  any_due = moved & p.fires;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { due.guard[i] = select(any_due, p.due[i], Real(0.0)); });
  if constexpr (E::ng > 0)
    if (any(at_stop)) {
      const auto at_end = a.t1 >= x.t_end;
      const auto near = find_due<E, Real>(side, a.g, select(at_end, Real(0.0), tau), mask_of<Real>::all(false));
      const auto landed = at_stop & !at_end & p.fires & (abs(p.t - x.t) <= tau);
      any_due = any_due | landed | (at_stop & at_end & near.any_due);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real found = max(near.due[i], select(landed, p.due[i], Real(0.0)));
        due.guard[i] = select(at_stop, found, due.guard[i]);
      });
    }
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto now = x.next_time_event[i] <= x.t;
    due.time_event[i] = select(now, Real(1.0), Real(0.0));
    any_due = any_due | now;
  });
  return due;
}

/// A quick landing accepts a whole step where conditions are passed without an event. Elsewhere few parked steps are without one.
template <class E>
inline constexpr bool lands_whole_steps = !E::is_quick || E::form::kinds::has_conditions;

/// Walls that are due though no guard has crossed them, 1 where due: within rounding if no step is short enough (`stuck`); at zero with
/// time derivative zero; or so near that the guard has no smaller value on the way to its root.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::ng> walls_reached(instance<E, Real>& x, const trial<E, Real>& a, const landing<E, Real>& p,
                                              mask_of<Real> stuck, mask_of<Real> whole, mask_of<Real> spurious) {
  vec<Real, E::ng> due;
  if constexpr (E::is_quick) {
    auto rests = mask_of<Real>::all(!lands_whole_steps<E>);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      due[i] = Real(0.0);
      rests = rests | comes_to_rest<E>(i, x.constants.guard_values[i], a.g.value[i], a.g.rate[i]);
    });
    leave_to_full(x, stuck | (whole & rests) | spurious);
    return due;
  }
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    auto at_wall = stuck & stands_at_wall(x, i);
    if (E::form::traits(i).side == unilateral) {
      const Real g = x.constants.guard_values[i];
      const auto lost = armed<E>(i, g) & (p.g.value[i] == g) & (side_of(g) * p.g.rate[i] < Real(0.0)) &
                        ((side_of(g) * a.g.value[i] <= Real(0.0)) | (abs(g) <= abs(p.g.rate[i]) * (p.t - x.t)));
      at_wall = at_wall | (spurious & (lost | comes_to_rest<E>(i, g, p.g.value[i], p.g.rate[i]))) |
                (whole & comes_to_rest<E>(i, g, a.g.value[i], a.g.rate[i]));
    }
    due[i] = select(at_wall, Real(1.0), Real(0.0));
  });
  return due;
}

/// Lanes of `where` at the end of their span. They are under way while events fire there, which may end them otherwise than as finished.
template <class E, class Real>
SALTUS_FN mask_of<Real> keep_for_last_events(instance<E, Real>& x, mask_of<Real> where) {
  using Integer = typename Real::integer;
  const auto finished = x.status == Integer(int64(status::finished));
  x.status = select(where & finished, Integer(int64(status::interrupted)), x.status);
  return where & (finished | (is_under_way(x) & (x.t >= x.t_end)));
}

/// Repeats the step of parked lanes. Lanes that this ends leave `active`.
template <class E, class Real, class Run>
SALTUS_FN trial<E, Real> redo_step(instance<E, Real>& x, mask_of<Real>& active, const tolerances<E, Real>& tol,
                                   const Run& run) {
  const auto a = attempt(x, active, tol);
  count_trial(x, a, active);
  if constexpr (!E::certified) add_where(x.rhs_evaluations, active, E::Method::extra_stages);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    end_where(x.status, active & violated<E>(i, x.constants.guard_values[i], a.g.rate[i]), status::guard_violated);
  });
  if constexpr (E::inject) inject_at_landing(x, active, run);
  active = active & is_under_way(x);
  return a;
}

/// Detects in full: looks for the first root in the lanes of `active`, except those that repeat their step.
template <class E, class Real>
SALTUS_FN search<E, Real> search_step(instance<E, Real>& x, const trial<E, Real>& a, const searched_step<E, Real>& step,
                                      hovering_guards<E, Real>& hovering, mask_of<Real>& active,
                                      const tolerances<E, Real>& tol) {
  search<E, Real> s{armed_sides(x), step.begin, {}, mask_of<Real>::all(false)};
  if constexpr (!E::certified && !detects_on_series<E> && E::form::model_guards > 0) {
    const auto quiet = active & !any_crossed<E, Real>(s.side, a.g);
    seldom(x, quiet, [&]() SALTUS_INLINE_LAMBDA {
      hovering.find(x, a, step, quiet);
      hovering.leave_out_of(s.side);
    });
  }
  look_for_roots<E, Real>(s, x, step, active);
  if constexpr (E::certified) {
    take_again<E, Real>(x, a, active & s.doubtful, tol);
    active = active & !s.doubtful;
  }
  if constexpr (E::form::kinds::has_conditions) pass_silent_crossings<E>(s, x, step, active);
  return s;
}

/// Guards that are not armed, but may cross without an event and come back within the step: the step ends in between, at an ordinary
/// accepted point from which they are armed. Earlier events come first. Returns the lanes that have moved on, or repeat their step.
template <class E, class Real, class Run>
SALTUS_FN_COLD mask_of<Real> stop_on_the_way(instance<E, Real>& x, const trial<E, Real>& a,
                                             const searched_step<E, Real>& step, search<E, Real>& s,
                                             const suspected_guards<E, Real>& suspected, mask_of<Real> where,
                                             const tolerances<E, Real>& tol, const Run& run) {
  mask_of<Real> doubtful;
  const Real at = part_on_the_way<E, Real>(x, step, suspected.comes_back, where, doubtful);
  auto stops =
      where & !doubtful & (at < Real(1.0)) & (x.t + at * a.s.h > x.t) & comes_first<E, Real>(step, s, at, where);
  auto again = where & doubtful;
  if (any(stops)) {
    auto p = landing_at_start(x, a);
    auto tried = stops, lost = mask_of<Real>::all(false);
    aim<Real> there{stops, Real(0.0), Real(-1.0), Real(0.0), stops};
    there = step_to(location<E, Real>{x, a, s.side, tol, p}, at * a.s.h, tried, lost, there);
    again = again | (stops & !tried);
    // An armed guard has crossed before that, though the interpolant has its root later.
    const auto is_late = tried & there.across;
    s.found.found = s.found.found | is_late;
    assign_where(is_late, s.found.lo, s.from.s);
    assign_where(is_late, s.found.hi, at);
    stops = tried & !is_late;
    move_to(x, p, stops, tol, run);
    remember_rejection(x.memory, stops, false);
    if constexpr (E::certified) assign_where(stops, x.doubts, Real(0.0));
    end_where(x.status, stops & (x.steps + x.rejected >= tol.max_steps), status::step_budget);
  }
  take_again<E, Real>(x, a, again, tol);
  return stops | again;
}

/// Transition and restart where any event is due, and where the chain of events may have a limit.
template <class E, class Real, class Run>
SALTUS_FN void fire_at_landing(instance<E, Real>& x, const event_here<E, Real>& event, mask_of<Real> fires,
                               const tolerances<E, Real>& tol, const Run& run) {
  const bool watches = any(tol.zeno_part > Real(0.0));
  const auto arriving = watches ? arrive(x, event.due, fires) : arrival<E, Real>{};
  const auto jumps = fire(x, event, fires, tol, run);
  if (watches) end_accumulations(x, event.due, arriving, !jumps, fires & is_under_way(x), tol, run);
}

/// Ends lanes whose event is not located, but for those that come to rest there.
template <class E, class Real, class Run>
SALTUS_FN void end_unlocated(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                             const tolerances<E, Real>& tol, const Run& run) {
  if (any(tol.zeno_part > Real(0.0)))
    where = where & !come_to_rest(x, find_sunken(x, a, where, tol.zeno_part), tol, run);
  end_where(x.status, where, status::not_located);
}

/// Lands the parked lanes in `active`. Afterwards each has moved on, or has a terminal status.
template <class E, class Real, class Run>
SALTUS_FN_COLD void land(instance<E, Real>& x, mask_of<Real> active, const tolerances<E, Real>& tol, const Run& run) {
  const auto of_step = x.constants.guard_values;
  // redo the step; a rejected step is parked at a wall, and there is nothing to locate
  const auto a = redo_step(x, active, tol, run);
  const auto at_wall = active & !a.accepted;
  active = active & a.accepted;
  // dense output, detect in full
  const auto interpolant = interpolate<typename E::Method>(step_system<E, Real>{x.constants, &tol}, a.s);
  const searched_step<E, Real> step(x, a, interpolant);
  hovering_guards<E, Real> hovering;
  auto s = search_step(x, a, step, hovering, active, tol);
  if constexpr (has_one_way_guards<E>) {
    auto suspected = suspect_unarmed(x, a, step, active);
    hovering.leave_out_of(suspected.comes_back);
    const auto coming_back = active & suspected.any_comes_back();
    seldom(x, coming_back, [&]() SALTUS_INLINE_LAMBDA {
      active = active & !stop_on_the_way(x, a, step, s, suspected, coming_back, tol, run);
    });
  }
  // locate
  if constexpr (E::is_quick) active = active & is_under_way(x);
  const auto crossing = active & s.found.found;
  auto p = landing_at_start(x, a);
  locate(location<E, Real>{x, a, s.side, tol, p}, step.guards, s.from.s, s.found, crossing);
  seldom(x, active & p.broken, [&]() SALTUS_INLINE_LAMBDA { take_again<E, Real>(x, a, active & p.broken, tol); });
  active = active & !p.broken;
  seldom(x, active & p.failed, [&]() SALTUS_INLINE_LAMBDA { end_unlocated(x, a, active & p.failed, tol, run); });
  if constexpr (E::is_quick) active = active & is_under_way(x);
  // The whole step is committed in three cases: the event is past t_stop; it is where a step must end (at a time event both are then due);
  // or the root does not exist, at the very end of the step.
  const Real tau = Real(2.0) * time_tolerance(a.t1, a.s.h, tol);
  const auto ends_there = must_end_at_stop(x) & a.last;
  const auto together = ends_there & p.fires & (abs(p.t - x.t_stop) <= tau);
  const auto whole = (p.t > x.t_stop) | together | (p.spurious & (a.t1 - p.t <= Real(0.5) * tau));
  const auto moved = crossing & active & !whole & !p.failed;
  const auto walls = walls_reached(x, a, p, at_wall, active & !moved & !p.failed, moved & p.spurious);
  if constexpr (lands_whole_steps<E>)
    if (const auto rest = active & !moved & !p.failed; any(rest)) {
      accept_step(x, a, rest, tol, run);
      update_step_size(x, a, rest, tol);
    }
  move_to(x, p, moved, tol, run);
  remember_rejection(x.memory, moved, false);
  if constexpr (E::certified) assign_where(moved, x.doubts, Real(0.0));
  // transition and restart; the next step size is the one that was tried here
  mask_of<Real> fires;
  const auto at_stop = (ends_there | (a.last & (a.t1 >= x.t_end))) & active & (!moved) & !p.failed;
  event_here<E, Real> event{due_at(x, a, p, s.side, tau, moved, at_stop, fires), of_step, {}, {}};
  event.at_knot = pass_jumping_knots(x, active, tol, of_step, event.due, fires);
  const auto at_end = keep_for_last_events(x, active);
  fires = fires & active & !p.failed;
  // If only a time event is due, the whole step was committed: guards have the values of its end, not of its start.
  event.g = x.constants.guard_values;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(moved & !event.at_knot, event.g[i], p.g.value[i]);
    event.due.guard[i] = max(event.due.guard[i], walls[i]);
    fires = fires | (walls[i] > Real(0.5));
  });
  fire_at_landing(x, event, fires, tol, run);
  end_where(x.status, at_end, status::finished);
  end_where(x.status, moved & (x.steps + x.rejected >= tol.max_steps), status::step_budget);
}

}  // namespace saltus
