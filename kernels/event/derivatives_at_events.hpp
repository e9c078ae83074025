// The effect of an event on the derivatives of the states (form/sensitivities.hpp). Its time t* depends on the parameters: from g = 0,
//
//     dt*/dp = -(g_y S + g_p) / (g_t + g_y f-)
//
// f- being the field before the event and f+ that after it. During the event the derivative is taken along with t*, S + f- dt*/dp. The
// transition over dual numbers t, y and p then gives its own derivative, whatever it does, also for several transitions at the same time.
// After the event S is a derivative at a fixed time again: f+ dt*/dp is subtracted. Together this is
//
//     S+ = phi_y (S- + f- dt*/dp) + phi_t dt*/dp + phi_p - f+ dt*/dp
//
// (Rozenvasser 1967; Galan, Feehery, Barton, Appl. Numer. Math. 31 (1999) 17). While sliding, S follows the field of the slide. An
// instance that ends at the event keeps the derivative along with t*: that of its final values.
//
// The derivative does not exist if an event is grazed, if its order with another event matters, and after an accumulation. It is then a
// NaN from there on, with the first reason.
#pragma once

#include "abi/sensitivity.hpp"
#include "engine/reduce.hpp"
#include "event/queues.hpp"
#include "event/sides.hpp"

namespace saltus {

/// The due guards (the model's, then the engine's own two) and time events, 1 where due.
template <class E, class Real>
struct due_events {
  vec<Real, E::ng> guard;
  vec<Real, E::form::time_events> time_event;
};

/// The lanes in which a guard or a time event is due.
template <class E, class Real>
SALTUS_FN mask_of<Real> any_due(const due_events<E, Real>& due) {
  auto r = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r = r | (due.guard[i] > Real(0.5)); });
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { r = r | (due.time_event[i] > Real(0.5)); });
  return r;
}

/// The events due at an accepted point, and the guards there.
template <class E, class Real>
struct event_here {
  due_events<E, Real> due;
  vec<Real, E::ng> of_step;  ///< guards on the sides held through the step that ends here
  vec<Real, E::ng> g;        ///< guards at this point
  mask_of<Real> at_knot;     ///< guards have jumped here, at the knot of a table: a fixed time
};

/// The derivatives of the times of guards, then of time events, in each direction; empty without directions.
template <class E, class Real>
struct event_times {
  static constexpr int items = E::ng + E::form::time_events;
  vec<Real, items * E::directions> rate;

  SALTUS_FN Real& operator()(int item, int j) { return rate[item * E::directions + j]; }
  SALTUS_FN const Real& operator()(int item, int j) const { return rate[item * E::directions + j]; }
};

/// Why an instance has no derivatives, or no gradient.
template <class E, class Real>
SALTUS_FN Real& reason_in(instance<E, Real>& x) {
  if constexpr (E::gradient) return x.undefined;
  else return x.constants.undefined;
}

/// Marks the derivatives of the lanes in `where` as undefined; the first reason stays.
template <class E, class Real>
SALTUS_FN void undefine(instance<E, Real>& x, mask_of<Real> where, sensitivity why) {
  if constexpr (E::form::lyapunov) {
    // Over a long time, exponents hardly depend on a single event or on either end.
    if (why == sensitivity::at_start || why == sensitivity::at_end) return;
    if (why == sensitivity::grazing) return assign_where(where, x.constants.grazings, x.constants.grazings + Real(1.0));
  }
  Real& undefined = reason_in(x);
  assign_where(where & (undefined == Real(0.0)), undefined, Real(static_cast<double>(why)));
}

/// True if two derivatives agree. Differences up to `noise` are rounding; `terms` is the size of the terms of which they are sums.
template <class E, class Real>
SALTUS_FN mask_of<Real> agree(Real a, Real b, Real noise, const tolerances<E, Real>& tol, Real terms = Real(0.0)) {
  const Real relative = Real(1e-9) + Real(10.0) * tol.rtol;
  return abs(a - b) <= max(relative * max(max(abs(a), abs(b)), terms), noise);
}
template <class E, class Real>
SALTUS_FN mask_of<Real> times_agree(const instance<E, Real>& x, Real a, Real b, int j, const tolerances<E, Real>& tol) {
  return agree<E>(a, b, Real(1e-12) * (x.t_end - x.t_begin) / size_of_direction(x, j), tol);
}

/// The guards with their derivatives in all directions at the accepted point, at a fixed time or along with the event.
template <class E, class Real>
SALTUS_FN vec<typename E::form::template lifted<Real>, E::ng> lifted_guards(const instance<E, Real>& x,
                                                                            typename E::form::template lifted<Real> t) {
  return E::form::model_form::guard_values(t, E::form::lift(x.y), E::form::template lift_held<Real>(x.constants));
}

/// The time derivatives of the guards at the accepted point.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> rates_of_guards(const instance<E, Real>& x) {
  using form = typename E::form::model_form;
  if constexpr (form::finds_rates)
    return form::guards_along(x.t, E::form::model_part(x.y),
                              all_rates<E>(step_system<E, Real>{x.constants}, x.t, x.y, x.f), x.constants)
        .rate;
  else return x.rate;
}

/// dt*/dp of every guard, as if it were due at the accepted point, and of every time event.
template <class E, class Real>
SALTUS_FN_COLD event_times<E, Real> times_at(const instance<E, Real>& x) {
  event_times<E, Real> r;
  const auto g = lifted_guards(x, typename E::form::template lifted<Real>(x.t));
  const auto rate = rates_of_guards(x);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r(i, j) = -g[i].d[j] / rate[i]; });
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
      r(E::ng + i, j) = x.constants.next_time_events[E::form::time_events * j + i];
    });
  });
  return r;
}

/// f at the accepted point, with its derivatives, in the lanes of `where`; without a field also the derivatives of algebraic states.
template <class E, class Real>
SALTUS_FN_COLD void find_slopes(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  if constexpr (E::form::has_field) {
    const auto f = E::form::rhs(x.t, x.y, x.constants);
    for (int i = E::model_states; i < E::n; ++i) assign_where(where, x.f[i], f[i]);
  } else {
    E::form::settle_derivatives(step_system<E, Real>{x.constants, &tol}, typename E::form::template lifted<Real>(x.t),
                                x.y, x.f, where);
  }
}

/// d2g/dt2 of the model's guards along the solution.
template <class E, class Real>
SALTUS_FN vec<Real, E::form::model_guards> bends_of_guards(const instance<E, Real>& x) {
  const auto along = with_two_rates<E>(step_system<E, Real>{x.constants}, x.t, x.y, x.f);
  const auto g = E::form::model_form::model_guards_at(time_with_two_rates(x.t), along, x.constants);
  vec<Real, E::form::model_guards> r;
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = g[i].d[0].d[0]; });
  return r;
}

/// The change of the model's guards at a point by errors of the states as large as the tolerance, of equal and of alternating signs.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::form::model_guards> errors_of_guards(const instance<E, Real>& x, Real t,
                                                                 const vec<Real, E::n>& y,
                                                                 const tolerances<E, Real>& tol) {
  vec<Real, E::n> same, turned;
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    same[i] = i < E::model_states ? fma(tol.rtol, abs(y[i]), tol.atol[i < E::judged ? i : 0]) : Real(0.0);
    turned[i] = i % 2 == 0 ? same[i] : -same[i];
  });
  const auto a = E::form::model_guards_through(t, Real(0.0), y, same, x.constants);
  const auto b = E::form::model_guards_through(t, Real(0.0), y, turned, x.constants);
  vec<Real, E::form::model_guards> r;
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = max(abs(a.rate[i]), abs(b.rate[i])); });
  return r;
}

/// A guard that turns around by itself is grazed if it gets no further than this many errors beyond zero, or before it
/// (event/near_misses.hpp): an error of its size would change the slope at which it meets zero by more than half a percent, or make it
/// miss.
inline constexpr double errors_of_grazing = 100.0;

/// Marks lanes in which a due guard hardly moves.
template <class E, class Real>
SALTUS_FN_COLD void look_for_grazing(instance<E, Real>& x, const due_events<E, Real>& due, mask_of<Real> where,
                                     const tolerances<E, Real>& tol) {
  const auto bend = bends_of_guards(x);
  const auto error = errors_of_guards(x, x.t, x.y, tol);
  const auto rate = rates_of_guards(x);
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto is_due = where & (due.guard[i] > Real(0.5));
    const Real least = Real(2.0 * errors_of_grazing) * abs(bend[i]) * error[i];
    undefine(x, is_due & !(rate[i] * rate[i] > least), sensitivity::grazing);
  });
}

/// Converts derivatives at a fixed time to those along with the event, or back (-1), by the field f at the accepted point.
template <class E, class Real>
SALTUS_FN void move_with_event(instance<E, Real>& x, mask_of<Real> where, double direction,
                               const tolerances<E, Real>& tol) {
  const auto f = all_rates<E>(step_system<E, Real>{x.constants}, x.t, x.y, x.f);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    const Real by = Real(direction) * x.constants.event_time[j];
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      Real& s = x.y[E::form::rate_index(i, j)];
      assign_where(where, s, fma(f[i], by, s));
    });
  });
  if constexpr (reduces_derivatives<E>) move_integrals(x, where, direction, tol.windows);
}

/// Lanes of `where` in which two due items have different times; `first` receives the times of the first item in each.
template <class E, class Real>
SALTUS_FN mask_of<Real> find_apart(const instance<E, Real>& x, const due_events<E, Real>& due,
                                   const event_times<E, Real>& times, mask_of<Real> where,
                                   const tolerances<E, Real>& tol, vec<Real, E::directions>& first) {
  auto found = mask_of<Real>::all(false), apart = found;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { first[j] = Real(0.0); });
  each<event_times<E, Real>::items>([&](int item) SALTUS_INLINE_LAMBDA {
    const Real is = item < E::ng ? due.guard[item < E::ng ? item : 0] : due.time_event[item < E::ng ? 0 : item - E::ng];
    const auto is_due = where & (is > Real(0.5));
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
      const Real rate = times(item, j);
      apart = apart | (is_due & found & !times_agree(x, first[j], rate, j, tol));
      first[j] = select(is_due & !found, rate, first[j]);
    });
    found = found | is_due;
  });
  return apart;
}

/// The derivatives of the time of an item, in all directions.
template <class E, class Real>
SALTUS_FN vec<Real, E::directions> times_of_item(const event_times<E, Real>& times, int item) {
  vec<Real, E::directions> r;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { r[j] = times(item, j); });
  return r;
}

/// Items of scheduled time event i that are due at one time: their times must have the derivatives `moves`, or there is no derivative for
/// the reason `why`, as their order may change with the parameters.
template <class E, class Real>
SALTUS_FN_COLD void look_at_items(instance<E, Real>& x, int i, Real is_due, const vec<Real, E::directions>& moves,
                                  mask_of<Real> where, sensitivity why, const tolerances<E, Real>& tol) {
  const auto queue = queue_of<typename E::Model>(i);
  const Real latest = together_with(x, x.t);
  for (int rank = 0; rank < queue.capacity; ++rank) {
    const int time = queue.time(rank);
    const auto comes = where & (is_due > Real(0.5)) & is_item_up_to(x, i, rank, latest);
    for (int j = 0; j < E::directions; ++j)
      undefine(x, comes & !times_agree(x, moves[j], x.constants.discrete_rates[E::form::discretes * j + time], j, tol),
               why);
  }
}

/// A guard that is due again at the same time, but was at zero without being moved there, has a time of its own.
template <class E, class Real>
SALTUS_FN_COLD void look_at_due_again(instance<E, Real>& x, const due_events<E, Real>& due, mask_of<Real> where,
                                      const tolerances<E, Real>& tol) {
  const auto g = lifted_guards(x, E::form::time_of_event(x.t, x.constants));
  const auto rate = rates_of_guards(x);
  const Real tolerance = max(ulps_of_time(x, 1024.0), tol.event_tol + tol.event_tol);
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto at_zero = where & (due.guard[i] > Real(0.5)) & (abs(g[i].value) <= abs(rate[i]) * tolerance);
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
      const Real t = x.constants.event_time[j], own = t - g[i].d[j] / rate[i];
      undefine(x, at_zero & !times_agree(x, t, own, j, tol), sensitivity::order);
    });
  });
}

/// True where guard i is zero at the start.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_zero_at_start(const instance<E, Real>& x, int i) {
  return abs(x.constants.guard_values[i]) <= abs(x.rate[i]) * ulps_of_time(x, 64.0);
}

/// A guard at zero at the start may be on either side of it when the parameters change.
template <class E, class Real>
SALTUS_FN_COLD void look_at_start(instance<E, Real>& x, mask_of<Real> where) {
  const auto g = lifted_guards(x, typename E::form::template lifted<Real>(x.t));
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    auto moves = mask_of<Real>::all(false);
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { moves = moves | (g[i].d[j] != Real(0.0)); });
    undefine(x, where & moves & is_zero_at_start(x, i), sensitivity::at_start);
  });
}

/// 1 for the model's guards that depend on the directions at a point of a step. A gradient has none: every guard may.
template <class E, class Real>
SALTUS_FN vec<Real, E::form::model_guards> movable_guards(const instance<E, Real>& x, Real t,
                                                          const vec<Real, E::n>& y) {
  vec<Real, E::form::model_guards> r;
  if constexpr (E::gradient) {
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = Real(1.0); });
  } else {
    using form = typename E::form;
    const auto g = form::model_form::guard_values(typename form::template lifted<Real>(t), form::lift(y),
                                                  form::template lift_held<Real>(x.constants));
    each<form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      auto moves = mask_of<Real>::all(false);
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { moves = moves | (g[i].d[j] != Real(0.0)); });
      r[i] = select(moves, Real(1.0), Real(0.0));
    });
  }
  return r;
}

/// A guard at zero at the end of the span, to rounding, may have its event before the end or after it.
template <class E, class Real>
SALTUS_FN_COLD void look_at_end(instance<E, Real>& x, mask_of<Real> where) {
  const auto movable = movable_guards<E>(x, x.t, x.y);
  const auto g = E::form::guards_along(x.t, x.y, x.f, x.constants);
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto moves = movable[i] > Real(0.5);
    auto at_zero = (g.rate[i] != Real(0.0)) & (abs(g.value[i]) <= abs(g.rate[i]) * ulps_of_time(x, 1024.0));
    if constexpr (E::form::slides) at_zero = at_zero & !E::form::slides_along(x.constants, i);
    undefine(x, where & moves & at_zero, sensitivity::at_end);
  });
}

/// Sets undefined derivatives to NaN, even if a transition has given them a value.
template <class E, class Real>
SALTUS_FN void forget_undefined(instance<E, Real>& x, mask_of<Real> where) {
  using form = typename E::form;
  const auto none_there = where & (x.constants.undefined > Real(0.0));
  if (none(none_there)) return;
  const Real nothing = Real(form::unset);
  for (int i = E::model_states; i < E::n; ++i) assign_where(none_there, x.y[i], nothing);
  for (int i = 0; i < form::discretes * E::directions; ++i)
    assign_where(none_there, x.constants.discrete_rates[i], nothing);
  for (int i = 0; i < form::time_events * E::directions; ++i)
    assign_where(none_there, x.constants.next_time_events[i], nothing);
  for (int j = 0; j < E::directions; ++j) assign_where(none_there, x.constants.event_time[j], nothing);
  for (int i = 0; i < E::rows_of_rates * E::kept_directions; ++i) assign_where(none_there, x.reduced_rates[i], nothing);
}

/// Removes the derivative of the last sample before a moving event if it is at the event's very time.
template <class E, class T, int W, class Run>
SALTUS_FN void take_back_sample(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where, const Run& run) {
  using form = typename E::form;
  constexpr int columns = E::model_states + form::outputs;
  for (int lane = 0; lane < W; ++lane) {
    const int64 last = x.sample.get(lane) - 1, slot = x.slot.get(lane);
    if (!where[lane] || last < 0) continue;
    const double time = sample_time(run.settings, form::time_sign * static_cast<double>(x.t_begin.get(lane)),
                                    form::time_sign * static_cast<double>(x.t_end.get(lane)), last);
    if (!is_time_of_jump(x, pack<T, W>(form::time_sign * time))[lane]) continue;
    for (int i = columns; i < columns * (1 + E::directions); ++i)
      run.store_sample(slot, i, last, static_cast<T>(form::unset));
  }
}

/// Marks events whose time depends on the directions and after which a value differs from that `before`: at their very time no derivative
/// exists. `apart`: two due items moved in different ways, so at least one moves.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void mark_jump(instance<E, pack<T, W>>& x, const vec<pack<T, W>, E::n>& before,
                              mask_of<pack<T, W>> apart, mask_of<pack<T, W>> where, const Run& run) {
  using Real = pack<T, W>;
  auto moves = apart, changes = mask_of<Real>::all(false);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { moves = moves | (x.constants.event_time[j] != Real(0.0)); });
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    changes = changes | !(abs(x.y[i] - before[i]) <= Real(1e-12) * (abs(x.y[i]) + abs(before[i])));
  });
  const auto jumps = where & moves & changes;
  assign_where(jumps, x.constants.jumped_at, x.t);
  undefine(x, jumps & (abs(x.t - x.t_end) <= ulps_of_time(x, 64.0)), sensitivity::at_end);
  if constexpr (E::samples && E::kept_directions > 0) take_back_sample(x, jumps, run);
  if constexpr (reduces_derivatives<E>) take_back_rates_of_values(x, jumps, run);
}

/// The size of the terms of the derivatives after the due events at x: S, and f dt*/dp.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::n> size_of_terms(const instance<E, Real>& x, const due_events<E, Real>& due,
                                             const event_times<E, Real>& times) {
  vec<Real, E::n> r;
  for (int i = 0; i < E::model_states; ++i) r[i] = Real(0.0);
  for (int j = 0; j < E::directions; ++j) {
    Real moves = Real(0.0);
    for (int item = 0; item < event_times<E, Real>::items; ++item) {
      const Real is =
          item < E::ng ? due.guard[item < E::ng ? item : 0] : due.time_event[item < E::ng ? 0 : item - E::ng];
      moves = select(is > Real(0.5), max(moves, abs(times(item, j))), moves);
    }
    for (int i = 0; i < E::model_states; ++i) {
      const int at = E::form::rate_index(i, j);
      r[at] = fma(abs(x.f[i]), moves, abs(x.y[at]));
    }
  }
  return r;
}

/// Lanes in which the states of y and the discrete variables are equal to within errors.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> same_states(const instance<E, Real>& a, const instance<E, Real>& b,
                                         const tolerances<E, Real>& tol) {
  auto same = mask_of<Real>::all(true);
  for (int i = 0; i < E::model_states; ++i) same = same & agree<E>(a.y[i], b.y[i], tol.atol[i], tol);
  for (int i = 0; i < E::form::discretes; ++i)
    same = same & agree<E>(a.constants.d[i], b.constants.d[i], Real(limits<typename E::T>::epsilon), tol);
  return same;
}

/// Lanes in which the derivatives are equal; `terms` are the sizes of their summands.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> same_derivatives(const instance<E, Real>& a, const instance<E, Real>& b,
                                              const vec<Real, E::n>& terms, const tolerances<E, Real>& tol) {
  auto same = mask_of<Real>::all(true);
  for (int j = 0; j < E::directions; ++j)
    for (int i = 0; i < E::model_states; ++i) {
      const int at = E::form::rate_index(i, j);
      same = same & agree<E>(a.y[at], b.y[at], tol.atol[i] / size_of_direction(a, j), tol, terms[at]);
    }
  for (int i = 0; i < E::form::discretes * E::directions; ++i)
    same = same & agree<E>(a.constants.discrete_rates[i], b.constants.discrete_rates[i],
                           Real(limits<typename E::T>::epsilon), tol);
  return same;
}

/// Copies the derivatives of `from` to x in the lanes of `where`.
template <class E, class Real>
SALTUS_FN void take_derivatives(instance<E, Real>& x, const instance<E, Real>& from, mask_of<Real> where,
                                const tolerances<E, Real>& tol) {
  if constexpr (reduces_derivatives<E>) take_reduced_rates(x, from, where, tol);
  for (int i = E::model_states; i < E::n; ++i) assign_where(where, x.y[i], from.y[i]);
  for (int i = 0; i < E::form::discretes * E::directions; ++i)
    assign_where(where, x.constants.discrete_rates[i], from.constants.discrete_rates[i]);
  find_slopes(x, where, tol);
}

/// After an event: instances that continue have derivatives at a fixed time again. `before` is y before it, `apart` as above.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void leave_event(instance<E, pack<T, W>>& x, const vec<pack<T, W>, E::n>& before,
                                mask_of<pack<T, W>> apart, mask_of<pack<T, W>> where,
                                const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  const auto goes_on = where & is_under_way(x);
  move_with_event(x, goes_on, -1.0, tol);
  mark_jump(x, before, apart, where, run);
  forget_undefined(x, where);
  find_slopes(x, E::form::has_field ? where : goes_on, tol);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { assign_where(goes_on, x.constants.event_time[j], Real(0.0)); });
}

}  // namespace saltus
