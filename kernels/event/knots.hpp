// The actions at the knot of a table, and at a breaking point of a delay (engine/history.hpp), which is treated like one: the instance moves
// to the next pieces of its tables, with new derivatives. A knot is no event: it is
// neither logged nor counted, and no function of the model is called. But a table, or its slope, may jump there, and guards with it. A
// guard that is on its other side afterwards fires, as it does after a transition.
#pragma once

#include "engine/history.hpp"
#include "engine/pieces.hpp"
#include "event/transition.hpp"

namespace saltus {

/// True if guards may jump at a knot of a table, or at a breaking point of a delay. For tables without jumps they do so only if states move
/// to stay consistent.
template <class E>
inline constexpr bool guards_jump_at_knots =
    E::ng > 0 && (has_delays<E> || (E::form::tables > 0 && (E::form::tables_jump || moves_states<typename E::form>)));

template <class E>
inline constexpr bool has_corners = E::form::tables > 0 || has_delays<E>;

/// True if a step that ends at t1 ends at a knot after which it continues.
template <class E, class Real>
SALTUS_FN mask_of<Real> ends_at_knot(const instance<E, Real>& x, Real t1) {
  return (t1 >= next_corner(x)) & (t1 < x.t_end);
}

/// The lanes of `last` whose step to t1 ends at a time event, or at a knot where guards may jump, which is treated like one.
template <class E, class Real>
SALTUS_FN mask_of<Real> ends_at_event(const instance<E, Real>& x, Real t1, mask_of<Real> last) {
  auto r = mask_of<Real>::all(false);
  if constexpr (E::form::time_events > 0) r = last & at_time_event(x, t1);
  if constexpr (guards_jump_at_knots<E>) r = r | (last & ends_at_knot(x, t1));
  return r;
}

/// Moves the lanes of `where` that are at a knot past it. Returns them.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> pass_knots(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  const auto passing = where & is_under_way(x) & ends_at_knot(x, x.t);
  if (none(passing)) return passing;
  if constexpr (reduces_derivatives<E>) take_extrema_here<true>(x, passing, tol);
  if constexpr (has_delays<E>) pass_breaks(x, passing);
  if constexpr (E::form::tables > 0) {
    const auto at_table = passing & (x.t >= x.next_knot);
    enter_pieces(x, passing, tol);
    note_jump(x, at_table);
  }
  start_from<E>(x, passing, tol);
  if constexpr (E::reduces_quantities) reduce_jump<E>(x, passing, tol);
  if constexpr (reduces_derivatives<E>) take_extrema_here<false>(x, passing, tol);
  set_next_stop(x, passing, tol);
  return passing;
}

/// Moves the lanes of `where` on at knots where no guard may jump. Their sides stay: a guard at zero that changes its direction there leaves
/// its side in the next step.
template <class E, class Real>
SALTUS_FN void pass_smooth_knots(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  if constexpr (has_corners<E> && !guards_jump_at_knots<E>) {
    const auto before = x.constants.guard_values;
    const auto passed = pass_knots(x, where, tol);
    if (any(passed))
      each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real now = x.constants.guard_values[i];
        const auto was_up = before[i] >= Real(0.0), is_up = now >= Real(0.0);
        const Real zero = select(was_up, Real(0.0), Real(-limits<typename E::T>::smallest));
        assign_where(passed & (was_up ^ is_up), x.constants.guard_values[i], zero);
      });
  }
}

/// The same for lanes whose step has ended at t_stop: at a knot, where a window of time begins or ends, or at a datum.
template <class E, class Real>
SALTUS_FN void pass_stop(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  if constexpr (E::has_fixed_stops)
    if (any(where)) set_next_stop(x, where, tol);
  if (any(where)) pass_smooth_knots(x, where, tol);
}

/// An event at a knot whose time depends on the directions is before the knot or after it, so there is no derivative.
template <class E, class Real>
SALTUS_FN_COLD void mark_moving_events(instance<E, Real>& x, const due_events<E, Real>& due, mask_of<Real> where) {
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { undefine(x, where & (due.guard[i] > Real(0.5)), sensitivity::order); });
  if constexpr (E::directions > 0)
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
      auto moves = mask_of<Real>::all(false);
      for (int j = 0; j < E::directions; ++j)
        moves = moves | (x.constants.next_time_events[E::form::time_events * j + i] != Real(0.0));
      undefine(x, where & moves & (due.time_event[i] > Real(0.5)), sensitivity::order);
    });
}

/// Moves the lanes of `where` on at knots where guards may jump: guards that are on their other side are due, too, and their lanes fire. A guard
/// that is zero at the knot has the side that it had at the beginning of the step (`at_begin`); its direction behind the knot decides. Returns
/// the lanes that have passed a knot.
template <class E, class Real>
SALTUS_FN mask_of<Real> pass_jumping_knots(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                                           const vec<Real, E::ng>& at_begin, due_events<E, Real>& due,
                                           mask_of<Real>& fires) {
  if constexpr (!guards_jump_at_knots<E>) {
    if constexpr ((E::directions > 0 || E::gradient) && E::form::tables > 0)  // the knot is passed
      if constexpr (E::form::tables_jump) mark_moving_events(x, due, has_jumped(x, where, tol));
    return mask_of<Real>::all(false);
  } else {
    auto was = x.constants.guard_values;
    const auto passed = pass_knots(x, where, tol);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto at_zero = passed & (abs(was[i]) <= Real(limits<typename E::T>::smallest));
      was[i] = select(at_zero, at_begin[i], was[i]);
      if (E::form::traits(i).side == bilateral) due.guard[i] = select(at_zero, Real(0.0), due.guard[i]);
    });
    if constexpr (E::directions > 0 || E::gradient) mark_moving_events(x, due, passed);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto jumped = passed & is_due_again<E>(i, was[i], x.constants.guard_values[i], x.rate[i], due.guard[i]);
      due.guard[i] = select(jumped, Real(1.0), due.guard[i]);
    });
    fires = (fires & !passed) | (passed & any_due(due));
    return passed;
  }
}

}  // namespace saltus
