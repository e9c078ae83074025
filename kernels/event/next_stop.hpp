// The time that no step passes: the next time event, knot, breaking point, end of a window, datum, or the end.
#pragma once

#include "engine/data.hpp"
#include "engine/history.hpp"
#include "event/queues.hpp"
#include "event/records.hpp"
#include "event/restart.hpp"

namespace saltus {

/// Sets t_stop: no step passes the end, the next time event, the next knot of a table, the next breaking point, the next end of a window or
/// the next datum. Those that equal the first of them to rounding are reached with it, at the last of their times.
template <class E, class Real>
SALTUS_FN void set_next_stop(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  Real next = min(x.t_end, first_time_event(x));
  if constexpr (has_delays<E>) find_next_break(x, where);
  if constexpr (E::form::tables > 0 || has_delays<E>) next = min(next, next_corner(x));
  Real fixed(limits<typename E::T>::largest);
  if constexpr (E::has_fixed_stops) {
    const Real later = x.t + rounding_of_time(x, x.t);
    fixed = min(next_end_of_window<E>(tol.windows, later), next_datum(tol, later));
    next = min(next, fixed);
  }
  if constexpr (E::form::time_events > 0 || E::form::tables > 0 || E::has_fixed_stops || has_delays<E>) {
    const Real together = next + rounding_of_time(x, next);
    Real last = next;
    const auto take = [&](Real time) SALTUS_INLINE_LAMBDA { last = select(time <= together, max(last, time), last); };
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { take(x.next_time_event[i]); });
    if constexpr (E::form::tables > 0) take(x.next_knot);
    if constexpr (has_delays<E>) take(x.constants.past_states.next_break);
    take(fixed);
    next = select(x.t_end <= together, x.t_end, last);
  }
  assign_where(where, x.t_stop, next);
}

/// Sets the derivatives of the next times of time events after `from`. `rows` are the times of the next rows without their delays.
template <class E, class Real>
SALTUS_FN void find_rates_of_next_times(instance<E, Real>& x, mask_of<Real> where, Real from,
                                        const vec<Real, E::form::records>& rows) {
  using form = typename E::form;
  using lifted = typename form::template lifted<Real>;
  typename lifted::mask_type ignored;
  vec<lifted, form::records> lifted_rows;
  each<form::records>([&](int k) SALTUS_INLINE_LAMBDA { lifted_rows[k] = lifted(rows[k]); });
  const auto next =
      form::model_form::next_time_events(form::time_of_event(from, x.constants), form::lift(x.y),
                                         form::template lift_held<Real>(x.constants), ignored, lifted_rows);
  each<form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    for (int j = 0; j < E::directions; ++j)
      assign_where(where, x.constants.next_time_events[form::time_events * j + i], next[i].d[j]);
  });
}

/// Finds the next times of the time events after `from`, and the longest next step. A time event that is due at the end comes no later.
template <class E, class Real>
SALTUS_FN void look_ahead(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol, Real from) {
  if constexpr (E::form::time_events > 0) {
    mask_of<Real> sound;
    vec<Real, E::form::records> rows;
    if constexpr (E::form::records > 0) {
      pass_rows(x, where);
      rows = times_of_next_rows(x, tol.records);
    }
    const auto next = E::form::next_time_events(from, x.y, x.constants, sound, rows);
    const Real end = x.t_end + rounding_of_time(x, x.t_end);
    end_where(x.status, where & !sound, status::bad_schedule);
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(where, x.next_time_event[i], select(next[i] <= end, min(next[i], x.t_end), next[i]));
    });
    if constexpr (E::form::records > 0) find_due_rows(x, where, tol.records);
    if constexpr (E::directions > 0) find_rates_of_next_times(x, where, from, rows);
  }
  set_next_stop(x, where, tol);
}
template <class E, class Real>
SALTUS_FN void look_ahead(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  look_ahead(x, where, tol, x.t);
}

}  // namespace saltus
