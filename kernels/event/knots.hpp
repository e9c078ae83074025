// What happens at the knot of a table: the instance goes on to the next pieces of its tables, with new derivatives. A knot is no
// event: nothing is logged or counted, and the model is not asked. But a table may jump there, or its slope, and guards with it; and
// a guard that is on its other side afterwards fires, as it does after a transition.
#pragma once

#include "engine/pieces.hpp"
#include "event/transition.hpp"

namespace saltus {

/// May guards jump where a table has a knot? Of tables without jumps only where states do, to stay consistent.
template <class E>
inline constexpr bool guards_jump_at_knots = E::form::tables > 0 && E::ng > 0 &&
                                             (E::form::tables_jump || E::form::moves_states);

/// Does a step that ends at t1 end at a knot, behind which it goes on?
template <class E, class Real>
SALTUS_FN mask_of<Real> ends_at_knot(const instance<E, Real>& x, Real t1) {
  return (t1 >= x.next_knot) & (t1 < x.t_end);
}

/// The lanes of `where` that are at a knot go on behind it. Returns them.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> pass_knots(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  const auto passing = where & is_under_way(x) & ends_at_knot(x, x.t);
  if (none(passing)) return passing;
  if constexpr (reduces_derivatives<E>) take_extrema_here<true>(x, passing, tol);
  enter_pieces(x, passing, tol);
  start_from<E>(x, passing, tol);
  if constexpr (E::reduces_quantities) reduce_jump<E>(x, passing);
  if constexpr (reduces_derivatives<E>) take_extrema_here<false>(x, passing, tol);
  set_next_stop(x, passing, tol);
  return passing;
}

/// An event at a knot whose time moves with what is differentiated by is before it or behind it: there is no derivative.
template <class E, class Real>
SALTUS_FN_COLD void mark_moving_events(instance<E, Real>& x, const due_events<E, Real>& due, mask_of<Real> where) {
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { undefine(x, where & (due.guard[i] > Real(0.5)), sensitivity::order); });
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    auto moves = mask_of<Real>::all(false);
    for (int j = 0; j < E::directions; ++j)
      moves = moves | (x.held.next_time_events[E::form::time_events * j + i] != Real(0.0));
    undefine(x, where & moves & (due.time_event[i] > Real(0.5)), sensitivity::order);
  });
}

/// The same where guards may jump: those that are on their other side are due, too, and the lanes in which there are any fire.
template <class E, class Real>
SALTUS_FN mask_of<Real> pass_knots(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                                   due_events<E, Real>& due, mask_of<Real>& fires) {
  const auto was = x.held.locked;
  const auto passed = pass_knots(x, where, tol);
  if constexpr (E::directions > 0) mark_moving_events(x, due, passed);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto jumped = passed & is_due_again<E>(i, was[i], x.held.locked[i], x.rate[i], due.guard[i]);
    due.guard[i] = select(jumped, Real(1.0), due.guard[i]);
    fires = fires | jumped;
  });
  return passed;
}

}  // namespace saltus
