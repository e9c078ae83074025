// Two events at one time whose times move apart with the parameters: derivatives by both orders.
#pragma once

#include "event/call_model.hpp"
#include "event/log_events.hpp"
#include "event/next_stop.hpp"

namespace saltus {

/// The derivatives of lanes in which two events with different times are due, taken in one order and in the other.
template <class E, class Real>
struct both_orders {
  instance<E, Real> x;  ///< after both, in states, discrete variables and their derivatives
  mask_of<Real> agree;
};

/// Passes the event of item `first` (a guard or a time event, by lane) and then that of `second`, at the same time, as if it were later.
/// Returns the lanes of `where` in which that is possible.
template <class E, class T, int W>
SALTUS_FN_COLD mask_of<pack<T, W>> pass_in_turn(instance<E, pack<T, W>>& x, const vec<pack<T, W>, E::ng>& g,
                                                const event_times<E, pack<T, W>>& times,
                                                const due_events<E, pack<T, W>>& first,
                                                const due_events<E, pack<T, W>>& second, mask_of<pack<T, W>> where,
                                                const tolerances<E, pack<T, W>>& tol) {
  using Real = pack<T, W>;
  const auto rate_before = x.rate;
  const auto time_of = [&](const due_events<E, Real>& due, const event_times<E, Real>& t) SALTUS_INLINE_LAMBDA {
    for (int j = 0; j < E::directions; ++j) {
      for (int i = 0; i < E::ng; ++i)
        assign_where(where & (due.guard[i] > Real(0.5)), x.constants.event_time[j], t(i, j));
      for (int i = 0; i < E::form::time_events; ++i)
        assign_where(where & (due.time_event[i] > Real(0.5)), x.constants.event_time[j], t(E::ng + i, j));
    }
  };
  const auto pass = [&](const due_events<E, Real>& due, const vec<Real, E::ng>& values) SALTUS_INLINE_LAMBDA {
    move_with_event(x, where, 1.0, tol);
    point_rules<E, Real> rules;
    for (int lane = 0; lane < W; ++lane)
      if (where[lane]) transition_of<E>(x, lane, values, due, rules, tol);
    start_from<E>(x, where, tol, rules);
    if constexpr (reduces_derivatives<E>) take_extrema_here<false>(x, where, tol);
  };
  time_of(first, times);
  pass(first, g);
  // The second event has not crossed yet, and is still approaching.
  auto can = where & is_under_way(x);
  const auto values = E::form::guard_values(x.t, x.y, x.constants);
  for (int i = 0; i < E::ng; ++i) {
    const auto waits = where & (second.guard[i] > Real(0.5));
    const Real tolerance = abs(rate_before[i]) * max(ulps_of_time(x, misplaced), tol.event_tol + tol.event_tol);
    can = can & !(waits & !(abs(values[i] - g[i]) <= tolerance));
    assign_where(waits, x.constants.guard_values[i],
                 select(rate_before[i] < Real(0.0), Real(1.0), Real(-1.0)) * Real(limits<T>::smallest));
  }
  if constexpr (E::form::has_field) x.f = E::form::rhs(x.t, x.y, x.constants);
  x.rate = E::form::guards_along(x.t, x.y, x.f, x.constants).rate;
  for (int i = 0; i < E::ng; ++i)
    can = can & !(where & (second.guard[i] > Real(0.5)) & !(x.rate[i] * rate_before[i] > Real(0.0)));
  move_with_event(x, where, -1.0, tol);
  time_of(second, times_at(x));
  pass(second, values);
  move_with_event(x, where, -1.0, tol);
  return can & is_under_way(x);
}

/// Two events at one time, whose times move apart with the parameters: the derivative exists if both orders, and both events at once, give
/// the same result.
template <class E, class Real>
SALTUS_FN_COLD both_orders<E, Real> try_both_orders(const instance<E, Real>& x, const vec<Real, E::ng>& g,
                                                    const event_times<E, Real>& times, const due_events<E, Real>& due,
                                                    mask_of<Real> apart, const tolerances<E, Real>& tol) {
  due_events<E, Real> first, second;
  Real count = Real(0.0);
  const auto share = [&](Real is, Real& one, Real& other) SALTUS_INLINE_LAMBDA {
    one = select(count < Real(0.5), is, Real(0.0));
    other = select(count > Real(0.5), is, Real(0.0));
    count = count + is;
  };
  for (int i = 0; i < E::ng; ++i) share(due.guard[i], first.guard[i], second.guard[i]);
  for (int i = 0; i < E::form::time_events; ++i) share(due.time_event[i], first.time_event[i], second.time_event[i]);
  both_orders<E, Real> r{x, apart & (count < Real(2.5))};
  // Modes depend on all signs at once, and slides are not followed here.
  if constexpr (E::form::kinds::has_mode || E::form::slides) r.agree = mask_of<Real>::all(false);
  if (none(r.agree)) return r;
  auto other = x;
  r.agree = r.agree & pass_in_turn(r.x, g, times, first, second, r.agree, tol);
  r.agree = r.agree & pass_in_turn(other, g, times, second, first, r.agree, tol);
  r.agree = r.agree & same_states(r.x, other, tol) & same_derivatives(r.x, other, size_of_terms(x, due, times), tol);
  if constexpr (reduces_derivatives<E>) compare_reduced_rates(r.x, other, r.agree, tol);
  return r;
}

}  // namespace saltus
