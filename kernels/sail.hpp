// Sail: the hot loop, the only code that most instances use. One turn is
//
//     step -> estimate_error -> detect -> accept_step
//
// Each lane makes one trial step from its last accepted point with its own step size; a rejected step is repeated in the next turn with a
// smaller one. A lane whose step may contain an event changes nothing: it is reported, and the caller of the loop parks it with the inputs
// of that step.
#pragma once

#include "engine/corners.hpp"
#include "engine/history.hpp"
#include "engine/inject.hpp"
#include "engine/reduce.hpp"
#include "engine/samples.hpp"
#include "engine/step_checks.hpp"
#include "engine/stiffness.hpp"
#include "event/between_ends.hpp"
#include "event/carried.hpp"
#include "event/certify.hpp"
#include "event/knots.hpp"
#include "event/near_misses.hpp"
#include "event/of_series.hpp"
#include "event/sides.hpp"
#include "event/slide.hpp"
#include "event/unguarded_jumps.hpp"
#include "event/unresolved.hpp"

namespace saltus {

/// Counts the evaluations of a trial: a certified search needs the dense output of every step.
template <class E, class Real>
SALTUS_FN void count_trial(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where) {
  count_evaluations(x, a.s, where);
  if constexpr (E::certified && E::ng > 0)
    add_where(x.rhs_evaluations, where, E::Method::extra_stages + evaluations_of_error<typename E::Method>);
}

/// Judges a trial step of length h of the lanes in `where`. The condition states what is accepted, so that a NaN is rejected.
template <class E, class Real>
SALTUS_FN void estimate_error(const instance<E, Real>& x, const tolerances<E, Real>& tol, Real h, mask_of<Real> where,
                              trial<E, Real>& a) {
  if constexpr (E::fixed_steps) {
    a.error2 = rough_of<Real>(0.0);
  } else {
    a.error2 = to_rough(of_what_counts(x, tol, [&](const auto& atol) SALTUS_INLINE_LAMBDA {
      return error_norm_squared<typename E::Method, E::norm>(a.s, tol.rtol, atol);
    }));
    crossed_corners<Real> corners{mask_of<Real>::all(false), rough_of<Real>(0.0), Real(1.0)};
    a.crosses_corner = corners.where;
    a.part_to_corner = corners.part;
    if constexpr (watches_corners<E>) {
      corners = corners_in(x, a, where, tol);
      a.error2 = max(a.error2, corners.error2);
      a.crosses_corner = corners.where;
      a.part_to_corner = corners.part;
    }
    if constexpr (E::follows_interpolant) {
      const auto within = to_rough(of_what_counts(x, tol, [&](const auto& atol) SALTUS_INLINE_LAMBDA {
        return scaled_norm_squared<E::norm>(a.s.interpolant_error, a.s.y, a.s.y1, tol.rtol, atol);
      }));
      const auto jumps = jumps_within(x, a, corners.where, tol);
      a.error2 = max(a.error2, select(to_rough(jumps), rough_of<Real>(0.0), within));
    }
    if constexpr (E::quantities::any_output) a.parts = change_of_parts(x, a.s, tol);
    if constexpr (E::quantities::count > 0) {
      const auto corners_there = corners_of_outputs_in(x, a, where, tol);
      const Real error2 = quadrature_error_squared(x, a.s, a.parts, corners_there.error, tol);
      a.error2 = max(a.error2, to_rough(error2));
      if constexpr (watches_corners_of_outputs<E> && cuts_at_corners<E>)
        note_corner_of_output(x, a, corners_there.changes, error2);
    }
  }
  if constexpr (!E::Method::is_explicit)
    a.error2 = select(to_rough(a.s.solved), a.error2, rough_of<Real>(unsettled<typename E::Method>));
  a.g = E::form::guards_along(a.t1, a.s.y1, a.s.f1(), x.constants);
  if constexpr (E::guards_in_error && !E::fixed_steps)
    a.error2 = max(a.error2, to_rough(guard_error_squared(x, a, tol.rtol)));
  if constexpr (detects_on_series<E> && !E::fixed_steps)
    if (const auto bends = leaves_series(x, a); any(bends))
      a.error2 = max(a.error2, select(to_rough(bends), error_of_series_squared(x, a, tol), rough_of<Real>(0.0)));
  if constexpr (E::form::slides)
    if (any(E::form::is_sliding(x.constants))) {
      const auto of_slide = slide_error_squared(x, a);
      if constexpr (!E::fixed_steps) a.error2 = max(a.error2, of_slide);
    }
  finiteness<Real> finite;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { finite.add(a.s.y1[i]); });
  if constexpr (E::keeps_derivative)
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { finite.add(a.s.f1()[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { finite.add(a.g.value[i]); });
  a.error2 = select(to_rough(finite.all()), a.error2, rough_of<Real>(beyond_any_error));
  a.accepted = from_rough<Real>(a.error2 <= rough_of<Real>(1.0)) & (h > Real(0.0));
  orientation_check<E>::judge(x, a, tol);
  branch_check<E>::judge(x, a, tol);
}

/// Judges a trial step by what its guards do between its ends, too, and returns those that may leave their side, by the kind of detection.
template <class E, class Real>
SALTUS_FN suspected_guards<E, Real> suspect_guards_of_step(const instance<E, Real>& x, trial<E, Real>& a,
                                                           const tolerances<E, Real>& tol) {
  if constexpr (E::certified) {
    const step_system<E, Real> f{x.constants, &tol};
    const auto interpolant = interpolate<typename E::Method>(f, a.s);
    return suspect_enclosures<E, Real>(x, interpolant, enclosed_error<E>(f, a.s, interpolant));
  } else if constexpr (detects_on_series<E>) {
    return suspect_series(x, a);
  } else {
    const auto middle = guards_in_middle(x, a);
    const auto guards = suspect_guards(x, a, middle);
    if constexpr (!E::fixed_steps) {
      const auto take = [&](mask_of<Real> where, rough_of<Real> error2) SALTUS_INLINE_LAMBDA {
        a.error2 = max(a.error2, select(to_rough(where), error2, rough_of<Real>(0.0)));
        a.accepted = a.accepted & from_rough<Real>(a.error2 <= rough_of<Real>(1.0));
      };
      if (any(guards.bends)) take(guards.bends, error_between_squared(x, between_ends<E, Real>(x, a, middle), tol));
      if constexpr (has_piecewise_guards<E>) {
        const guards_in_quarters<E, Real> quarters(x, a, middle);
        if (any(quarters.counts))
          take(quarters.counts, error_in_quarters_squared(x, between_ends<E, Real>(x, a, middle), quarters, tol));
      }
    }
    return guards;
  }
}

/// The lanes whose step may contain an event. `last`: the step ends at t_stop.
template <class E, class Real>
SALTUS_FN mask_of<Real> suspect_in(const instance<E, Real>& x, trial<E, Real>& a, mask_of<Real> last,
                                   const tolerances<E, Real>& tol) {
  auto suspect = ends_at_event(x, a.t1, last);
  if constexpr (E::ng > 0) {
    const auto guards = suspect_guards_of_step(x, a, tol);
    suspect = suspect | guards.leaves | guards.any_comes_back();
  }
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.constants.guard_values[i];
    suspect = suspect | violated<E>(i, g0, a.g.rate[i]) | comes_to_rest<E>(i, g0, a.g.value[i], a.g.rate[i]);
  });
  return suspect;
}

/// A step of length h, or as far as its series reaches, in which case it is not the last one before t_stop.
template <class E, class Real>
SALTUS_FN auto step_within_reach(const instance<E, Real>& x, const tolerances<E, Real>& tol, Real h,
                                 mask_of<Real>& last, constraint_report<Real>* report,
                                 guard_polynomials<E, Real>& guards) {
  using Method = typename E::Method;
  const step_system<E, Real> system{x.constants, &tol};
  auto s = series_from<Method>(system, x.t, x.y, x.f);
  const Real reach = of_what_counts(
      x, tol, [&](const auto& atol) SALTUS_INLINE_LAMBDA { return longest_step<Method, E::norm>(s, tol.rtol, atol); });
  auto beyond = h > reach;
  s.h = select(beyond, reach, h);
  const Real within = s.h;
  if constexpr (detects_on_series<E>) {
    find_guards<E>(x, s, guards);
    const Real part = reach_of_guards(x, guards, tol);
    beyond = beyond | (part < Real(1.0));
    s.h = part * s.h;
  }
  if constexpr (E::quantities::count > 0) {
    const Real part = reach_of_quantities(x, s, tol);
    beyond = beyond | (part < Real(1.0));
    s.h = part * s.h;
  }
  last = last & !beyond;
  end_series<E>(system, s, select(beyond, (x.t + s.h) - x.t, h), report);
  if constexpr (detects_on_series<E>) guards.rescale(s.h / within);
  return s;
}

/// step -> estimate_error -> detect, for the lanes in `where`; nothing is looked for in others
template <class E, class Real>
SALTUS_FN trial<E, Real> attempt(const instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  using form = typename E::form;
  // step, stretched by up to 1 % or cut to end at t_stop; h is the exact increment of t, rounding included
  const Real left = x.t_stop - x.t;
  auto last = left <= Real(1.01) * x.h;
  const Real h = select(last, left, (x.t + x.h) - x.t);
  constraint_report<Real> constraints;
  trial<E, Real> a(
      [&]([[maybe_unused]] guard_polynomials<E, Real>& guards) SALTUS_INLINE_LAMBDA {
        constraint_report<Real>* const report = has_constraints<form> ? &constraints : nullptr;
        if constexpr (is_series_method<typename E::Method> && !E::fixed_steps)
          return step_within_reach(x, tol, h, last, report, guards);
        else return make_step<E, Real, E::follows_interpolant>({x.constants, &tol}, {x.t, x.y, x.f}, h, report);
      },
      last);
  a.last = last;
  if constexpr (detects_on_series<E> && E::fixed_steps) find_guards<E>(x, a.s, a.guards);
  a.t1 = select(a.last, x.t_stop, x.t + a.s.h);
  orientation_check<E>::measure(x, a, constraints, tol);
  adjustment_check<E>::measure(x, a, constraints, tol);
  coordinates_check<E>::measure(x, a, constraints, tol);
  estimate_error(x, tol, a.s.h, where, a);
  a.suspect = suspect_in(x, a, a.last, tol);
  return a;
}

/// The end of a step, or of the part of one that leads to an event.
template <class E, class Real>
struct step_end {
  const stages<typename E::Method, Real, E::n>& s;
  Real t;
  const vec<Real, E::n>& y;
  typename E::form::template rated<Real, E::ng> g;  ///< guards
};

/// Makes the end of a step the accepted point of the lanes in `where`, and observes the step: samples before `until` (at `until`, too, in
/// the lanes of `inclusive`), reductions, near misses.
template <class E, class Real, class Run>
SALTUS_FN void accept_point(instance<E, Real>& x, const step_end<E, Real>& end, [[maybe_unused]] Real until,
                            [[maybe_unused]] mask_of<Real> inclusive, mask_of<Real> where,
                            const tolerances<E, Real>& tol, const Run& run) {
  const step_system<E, Real> f{x.constants, &tol};
  look_for_near_misses(x, end.s, end.g, where, tol);
  look_for_unresolved(x, end.s, where, tol);
  if constexpr (E::samples) record_samples(x, end.s, f, until, where, inclusive, run);
  if constexpr (E::reduces_quantities) reduce_step(x, committed_step<E, Real>{end.s, f, end.t}, where, run);
  if constexpr (has_delays<E>) record_step(x, end.s, f, end.t, end.y, where);
  assign_where(where, x.t, end.t);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.y[i], end.y[i]);
    if constexpr (E::keeps_derivative) assign_where(where, x.f[i], end.s.f1()[i]);
  });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.constants.guard_values[i],
                 settle<E>(i, end.g.value[i], end.g.rate[i], x.constants.guard_values[i]));
    assign_where(where, x.rate[i], end.g.rate[i]);
  });
  keep_residual(x, end.s, where);
  rounding_check<E>::accept(x, end.s, where);
  if constexpr (E::directions > 0 && (watches_near_misses<E> || watches_resolution<E> || watches_jumps<E>))
    forget_undefined(x, where);
  remember_step(x, end.s, where);
  add_where(x.steps, where, 1);
  carried<E>::accept(x, where);
}

/// Makes the end of the trial the accepted point of the lanes in `where`, and finishes those at t_end.
template <class E, class Real, class Run>
SALTUS_FN void accept_step(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                           const tolerances<E, Real>& tol, const Run& run) {
  const mask_of<Real> ends = a.last & (a.t1 >= x.t_end);
  if constexpr (E::quantities::count > 0 && !E::fixed_steps) keep_sizes(x, a.s, a.parts, where, tol);
  look_for_unguarded_jumps(x, a.t1, a.s.y1, a.s.f1(), where, tol, run);
  if constexpr (E::gradient) run.events.keep_steps(x, a.s.h, where);
  // A sample at the time of an event shows the state after it, and one at a jump of a table its value there.
  accept_point(x, step_end<E, Real>{a.s, a.t1, a.s.y1, a.g}, before_jump(x, a.t1), ends & !at_time_event(x, a.t1),
               where, tol, run);
  orientation_check<E>::accept(x, a, where, tol);
  paradox_check<E>::look(x, where, x.constants);
  if (const auto finished = where & ends; any(finished)) {
    carried<E>::finish(x, finished, tol);
    end_where(x.status, finished, status::finished);
  }
  adjustment_check<E>::accept(x, a, where, tol);
  pass_stop(x, where & a.last, tol);
}

/// Ends those lanes of `where` that have no acceptable step for a reason that a check knows.
template <class E, class Real>
SALTUS_FN void explain_failure(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                               const tolerances<E, Real>& tol) {
  branch_check<E>::explain(x, a, where, tol);
  singularity_check<E>::explain(x, a, where, tol);
  orientation_check<E>::explain(x, a, where, tol);
  coordinates_check<E>::explain(x, a, where, tol);
}

/// Lets the next step end at the corner that has made this one too long. Once it is passed, steps begin at an eighth of the way to it, from
/// where a controller takes one step back to its size, unless the way from the last corner was shorter, as where a right-hand side
/// chatters.
template <class E, class Real>
SALTUS_FN void step_to_corner(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where) {
  constexpr double most = 0.98;  // a longer step could be stretched to end at t_stop
  const auto passed = where & a.accepted & a.crosses_corner;
  auto cut = where & !a.accepted & (a.part_to_corner < Real(1.0));
  if constexpr (!E::Method::is_explicit) cut = cut & a.s.solved;
  const Real way = min(a.part_to_corner, Real(most)) * a.s.h;
  assign_where(cut, x.h_before_corner, max(x.h_before_corner, Real(0.125) * way));
  assign_where(cut, x.h, way);
  if (none(passed)) return;
  assign_where(passed, x.h, min(max(x.h, min(x.h_before_corner, a.t1 - x.last_corner)), x.h_max));
  assign_where(passed, x.h_before_corner, Real(0.0));
  assign_where(passed, x.last_corner, a.t1);
}

/// Marks derivatives that count in the choice of steps and are not finite however short the step, where the states are finite: they no
/// longer count. Returns these lanes.
template <class E, class Real>
SALTUS_FN mask_of<Real> leave_out_derivatives(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where) {
  if constexpr (E::judged > E::model_states && E::directions > 0) {
    finiteness<Real> states;
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { states.add(a.s.y1[i]); });
    const auto left_out = where & states.all() & (x.constants.undefined == Real(0.0));
    undefine(x, left_out, sensitivity::not_finite);
    return left_out;
  }
  return mask_of<Real>::all(false);
}

/// True if a step along a polynomial may go as far as the next event. A corner of a guard or of an output could lie within it, and no term
/// shows one.
template <class E>
inline constexpr bool goes_to_next_event = [] {
  if (!is_limited_by_terms<E> || has_piecewise_guards<E>) return false;
  if (E::quantities::any_output && smoothness_of<typename E::Model>.outputs >= smoothness::piecewise) return false;
  return E::ng == 0 || detects_on_series<E>;
}();

/// Applies the controller to a trial, for the lanes in `where`; a lane that cannot continue gets its terminal status. Returns the lanes
/// that cannot because they stand at a wall: this is an event.
template <class E, class Real>
SALTUS_FN mask_of<Real> update_step_size(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where,
                                         const tolerances<E, Real>& tol) {
  const mask_of<Real> rejected = where & !a.accepted;
  mask_of<Real> at_wall = mask_of<Real>::all(false);
  add_where(x.rejected, rejected, 1);
  if constexpr (E::fixed_steps) {
    explain_failure(x, a, rejected, tol);
    solver_check<E>::explain(x, a, rejected, tol);
    end_where(x.status, rejected, status::not_finite);
  } else {
    const Real tried = select(a.s.h > Real(0.0), a.s.h, x.h);
    const auto next = decide<typename E::Method, E::controller>(tried, a.error2, a.accepted, x.memory);
    // A step cut short at t_stop says nothing about the next step size.
    const Real cut = select(a.last & a.accepted, x.h, Real(0.0));
    assign_where(where, x.h, min(max(next.h, cut), x.h_max));
    if constexpr (goes_to_next_event<E>) assign_where(where & a.accepted & is_polynomial(a.s), x.h, x.h_max);
    // Before a window, steps do not resolve the outputs of which it asks.
    const auto stops = where & a.last & a.accepted;
    if constexpr (E::form::tables > 0 && begins_anew<E>) begin_anew(x, stops, tol);
    else if constexpr (E::stops_at_windows && looks_at_outputs<E>)
      begin_anew(x, stops & begins_window_of_output<E>(tol.windows, a.s.t, a.t1), tol);
    if constexpr (cuts_at_corners<E> && (watches_corners<E> || watches_corners_of_outputs<E>))
      step_to_corner(x, a, where);
    if constexpr (E::form::slides) aim_at_surface(x, where);
    remember(x.memory, next.memory, where);
    if constexpr (E::certified) assign_where(where, x.doubts, select(a.accepted, Real(0.0), Real(1.0)));
    const Real floor_ = (x.t_end - x.t_begin) * Real(0x1p-80);
    mask_of<Real> too_small = rejected & ((x.t + Real(0.0625) * x.h == x.t) | (x.h < floor_));
    branch_check<E>::give_up(x, a, rejected, too_small, tol);
    orientation_check<E>::give_up(x, a, rejected, too_small, tol);
    if (any(too_small)) {
      at_wall = too_small & stands_at_any_wall(x);
      too_small = too_small & !at_wall;
      explain_failure(x, a, too_small, tol);
      const auto finite = from_rough<Real>(a.error2 < rough_of<Real>(beyond_any_error));
      too_small = too_small & !leave_out_derivatives(x, a, too_small & !finite);
      solver_check<E>::explain(x, a, too_small & finite, tol);
      end_where(x.status, too_small & !finite, status::not_finite);
      end_where(x.status, too_small, status::step_too_small);
    }
  }
  auto limit = tol.max_steps;
  if constexpr (E::watch_stiffness && E::Method::is_explicit) limit = x.next_look;
  if (const auto spent = where & (x.steps + x.rejected >= limit); any(spent)) {
    if constexpr (E::watch_stiffness && E::Method::is_explicit) look_for_stiffness(x, spent & is_under_way(x), tol);
    else end_where(x.status, spent, status::step_budget);
  }
  return at_wall & is_under_way(x);
}

/// One turn for the active lanes. Returns the lanes to be parked. Either their step may contain an event, and only their count of
/// evaluations has changed; or a guard blocks every step size (a wall).
template <class E, class Real, class Run>
SALTUS_FN mask_of<Real> sail(instance<E, Real>& x, mask_of<Real> active, const tolerances<E, Real>& tol,
                             const Run& run) {
  const auto a = attempt(x, active, tol);
  count_trial(x, a, active);
  const mask_of<Real> parked = active & a.accepted & a.suspect;
  accept_step(x, a, active & a.accepted & !a.suspect, tol, run);
  const mask_of<Real> at_wall = update_step_size(x, a, active & !parked, tol);
  if constexpr (E::inject) inject_while_sailing(x, active & !parked, run);
  return parked | at_wall;
}

}  // namespace saltus
