// The actions at an event: the model's transition for all due guards and time events at once; then a new look at the guards, since a
// transition may make another guard due (event iteration); then a restart from the new state.
#pragma once

#include "engine/history.hpp"
#include "engine/record_event.hpp"
#include "engine/step_checks.hpp"
#include "event/derivatives_at_events.hpp"
#include "event/flat.hpp"
#include "event/queues.hpp"
#include "event/quick.hpp"
#include "event/records.hpp"
#include "event/rounding.hpp"
#include "event/sides.hpp"
#include "event/slide.hpp"
#include "model/views.hpp"

namespace saltus {

inline constexpr int event_rounds = 64;  ///< rounds of event iteration at one time before `event_loop`

/// Ulps of time by which an event may be misplaced.
inline constexpr double misplaced = 1024.0;

/// Rules for making a point consistent: abi::consistency, which matters at the start and is `algebraic` after events; and the states that a
/// transition has written (1, else 0), for forms that may move other than algebraic states. Written states stay.
template <class E, class Real>
struct point_rules {
  int how = abi::algebraic;
  written_states<typename E::form, Real> written{};
};

/// Makes the accepted point of a model with constraints consistent, and finds its time derivative.
template <class E, class Real>
SALTUS_FN_COLD void make_point_consistent(instance<E, Real>& x, vec<Real, E::n>& f,
                                          const typename E::form::template step_constants<Real>& constants,
                                          mask_of<Real> where, const tolerances<E, Real>& tol,
                                          const point_rules<E, Real>& rules) {
  const step_system<E, Real> system{constants, &tol};
  const int how = rules.how;
  auto y = x.y;
  consistency<Real> c = E::form::initialise(system, x.t, y, f, {where, how, x.t_end - x.t_begin, rules.written});
  if (how == abi::given) c.found = c.found & (c.moved <= Real(1.0));
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where & c.found, x.y[i], y[i]); });
  orientation_check<E>::begin(x, c, where & c.found);
  end_where(x.status, where & !c.found, status::inconsistent);
  paradox_check<E>::look(x, where, constants);
  if constexpr (has_constraints<typename E::form>) {
    const auto not_found = where & !c.found;
    assign_where(not_found, x.residual, c.residual);
    assign_where(not_found, x.residual_of, c.of);
  }
}

/// The consistent point nearest to the values given for the start; values in `given` may not move.
template <class E, class Real>
SALTUS_FN_COLD void begin_consistently(instance<E, Real>& x, const vec<Real, E::n>& given, mask_of<Real> where,
                                       const tolerances<E, Real>& tol, int how) {
  auto y = x.y;
  for (int i = 0; i < E::n; ++i) y[i] = select(y[i] == y[i], y[i], Real(0.0));
  x.constants.guard_values = E::form::guard_values(x.t, y, x.constants);
  const step_system<E, Real> system{x.constants, &tol};
  y = x.y;
  const auto c = E::form::begin(system, x.t, y, given, where, how);
  for (int i = 0; i < E::n; ++i) assign_where(where, x.y[i], y[i]);
  end_where(x.status, where & !c.found, status::inconsistent);
  assign_where(where & !c.found, x.residual, c.residual);
  assign_where(where & !c.found, x.residual_of, c.of);
}

/// f and the guards at the accepted point with sides `constants.guard_values`; returns the guards' values and time derivatives.
template <class E, class Real>
SALTUS_FN typename E::form::template rated<Real, E::ng> evaluate_at(
    instance<E, Real>& x, vec<Real, E::n>& f, const typename E::form::template step_constants<Real>& constants,
    mask_of<Real> where, const tolerances<E, Real>& tol, const point_rules<E, Real>& rules) {
  if constexpr (!moves_states<typename E::form>) f = E::form::rhs(x.t, x.y, constants);
  else make_point_consistent(x, f, constants, where, tol, rules);
  add_where(x.rhs_evaluations, where, 1);
  return E::form::guards_along(x.t, x.y, f, constants);
}

/// Finds a point and guard signs that agree, if the first points have not: each point has the signs of the one before it (Nedialkov and
/// Ramdani 3.2). The sign of one guard, changed by a transition or by the constraints, may switch another one.
template <class E, class Real>
SALTUS_FN_COLD void settle_modes(instance<E, Real>& x, vec<Real, E::n>& f,
                                 typename E::form::template step_constants<Real>& constants,
                                 typename E::form::template rated<Real, E::ng>& g, mask_of<Real> where,
                                 const tolerances<E, Real>& tol, const point_rules<E, Real>& rules) {
  constexpr int most = 8;
  const auto unsettled = [&]() SALTUS_INLINE_LAMBDA {
    auto differs = mask_of<Real>::all(false);
    const Real zero = ulps_of_time(x, misplaced);  // a guard this near to its root is on either side
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto is_off_zero = abs(g.value[i]) > abs(g.rate[i]) * zero;
      differs = differs | (is_off_zero & (constants.guard_values[i] * g.value[i] < Real(0.0)));
    });
    return differs & where & is_under_way(x);
  };
  auto open = unsettled();
  seldom(x, open, [&]() SALTUS_INLINE_LAMBDA {
    for (int round = 0; round < most && any(open); ++round) {
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(open, constants.guard_values[i], g.value[i]); });
      g = evaluate_at(x, f, constants, open, tol, rules);
      open = unsettled();
    }
  });
  if constexpr (chooses_start<typename E::form>) end_where(x.status, open, status::modes_unsettled);
}

/// Puts unilateral guards back on zero that are beyond it by no more than rounding leaves, and on their way back, however slowly.
template <class E, class Real>
SALTUS_FN void put_back_within_rounding(instance<E, Real>& x, mask_of<Real> where) {
  constexpr double most = 16.0;
  auto strays = mask_of<Real>::all(false);
  const auto is_beyond = [&](int i) SALTUS_INLINE_LAMBDA {
    const Real g = x.constants.guard_values[i], rate = x.rate[i];
    const auto guard = E::form::traits(i);
    if (guard.side != unilateral) return mask_of<Real>::all(false);
    return where &
           (guard.which == falling ? (g < Real(0.0)) & (rate > Real(0.0)) : (g > Real(0.0)) & (rate < Real(0.0)));
  };
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { strays = strays | is_beyond(i); });
  seldom(x, strays, [&]() SALTUS_INLINE_LAMBDA {
    const auto rounding = rounding_of_guards<E>(x.t, x.y, x.constants);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real zero(E::form::traits(i).which == falling ? 0.0 : -limits<typename E::T>::smallest);
      assign_where(is_beyond(i) & (abs(x.constants.guard_values[i]) <= Real(most) * rounding[i]),
                   x.constants.guard_values[i], zero);
    });
  });
}

/// Evaluates f and the guards at the accepted point and settles their sides, at the start and after every jump. A method with a memory
/// forgets its past there.
template <class E, class Real>
SALTUS_FN_COLD void start_from(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                               const point_rules<E, Real>& rules = {}) {
  auto constants = x.constants;
  constants.guard_values = E::form::guard_values(x.t, x.y, constants);
  if constexpr (E::form::slides) keep_slide_sides<E>(x, constants);
  auto f = x.f;
  auto g = evaluate_at(x, f, constants, where, tol, rules);
  if constexpr (moves_states<typename E::form> && E::ng > 0) {
    // The algebraic states have moved, and guards with them, whose signs may switch the equations.
    constants.guard_values = g.value;
    g = evaluate_at(x, f, constants, where, tol, rules);
  }
  if constexpr (E::ng > 0 && !E::form::slides) settle_modes(x, f, constants, g, where, tol, rules);
  mask_of<Real> resettled = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real settled = settle<E>(i, constants.guard_values[i], g.rate[i]);
    resettled = resettled | (where & ((settled < Real(0.0)) & (constants.guard_values[i] == Real(0.0))));
    constants.guard_values[i] = settled;
  });
  if constexpr (E::ng > 0) resettled = resettled | settle_flat(x, f, constants, g.rate, where, tol);
  // A guard at zero belongs to the side it is moving to, on which f may depend.
  seldom(x, resettled, [&]() SALTUS_INLINE_LAMBDA { g = evaluate_at(x, f, constants, resettled, tol, rules); });
  E::form::remember(x.constants, x.t, x.y, f, where);
  if constexpr (keeps_invariants<typename E::form>) E::form::take_invariants(x.constants, x.t, x.y, where);
  if constexpr (methods::has_memory<typename E::Method>) x.constants.past.forget(where);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.constants.guard_values[i],
                 put_back<E>(i, constants.guard_values[i], g.rate[i], ulps_of_time(x, misplaced)));
    assign_where(where, x.rate[i], g.rate[i]);
  });
  if constexpr (E::form::model_guards > 0) put_back_within_rounding(x, where);
}

/// Sets t_stop: no step passes the end, the next time event, the next knot of a table, the next breaking point or the next end of a window. Those that equal the
/// first of them to rounding are reached with it, at the last of their times.
template <class E, class Real>
SALTUS_FN void set_next_stop(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  Real next = min(x.t_end, first_time_event(x));
  if constexpr (has_delays<E>) find_next_break(x, where);
  if constexpr (E::form::tables > 0 || has_delays<E>) next = min(next, next_corner(x));
  Real end_of_window(limits<typename E::T>::largest);
  if constexpr (E::stops_at_windows) {
    end_of_window = next_end_of_window<E>(tol.windows, x.t + rounding_of_time(x, x.t));
    next = min(next, end_of_window);
  }
  if constexpr (E::form::time_events > 0 || E::stops_at_windows || has_delays<E>) {
    const Real together = next + rounding_of_time(x, next);
    Real last = next;
    const auto take = [&](Real time) SALTUS_INLINE_LAMBDA { last = select(time <= together, max(last, time), last); };
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { take(x.next_time_event[i]); });
    if constexpr (E::form::tables > 0) take(x.next_knot);
    if constexpr (has_delays<E>) take(x.constants.past_states.next_break);
    take(end_of_window);
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

/// Lanes in which bilateral guard i with this value and rate moves to its root, within `tolerance` (a time), in its direction.
template <class E, class Real>
SALTUS_FN mask_of<Real> comes_to_root(int i, Real value, Real rate, Real tolerance) {
  const auto guard = E::form::traits(i);
  if (guard.side != bilateral) return mask_of<Real>::all(false);
  const Real side = side_of(value);
  auto comes = (side * rate < Real(0.0)) & (side * value <= abs(rate) * tolerance);
  if (guard.which == falling) comes = comes & (side > Real(0.0));
  if (guard.which == rising) comes = comes & (side < Real(0.0));
  return comes;
}

/// The smallest value on the other side.
template <class E, class Real>
SALTUS_FN Real across(Real value) {
  return side_of(value) * Real(-limits<typename E::T>::smallest);
}

/// A bilateral guard that has fired within `tolerance` (a time) before its root, because another event was due there, moves to its new
/// side, so that it does not fire again at the root. `from` has the sides from which guards have fired. A guard that has crossed its root
/// and returns fires again if the equations turn it by its sign. If a jump of the states has turned it (`jumps`), as a bounce does, it is
/// back on its side. Returns the lanes in which a guard has changed sides.
template <class E, class Real>
SALTUS_FN mask_of<Real> take_over(instance<E, Real>& x, const vec<Real, E::ng>& fired, const vec<Real, E::ng>& from,
                                  mask_of<Real> jumps, Real tolerance, mask_of<Real> where) {
  auto any_over = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    Real& value = x.constants.guard_values[i];
    const auto over = where & (fired[i] > Real(0.5)) & comes_to_root<E>(i, value, x.rate[i], tolerance) &
                      (jumps | (side_of(value) == side_of(from[i])));
    assign_where(over, value, across<E>(value));
    any_over = any_over | over;
  });
  return any_over;
}

/// A guard that has crossed, and is on its old side again only since algebraic states have been solved for anew: a step leaves an error in
/// them. Its event has changed nothing, and without it the guard is back as well. Such guards are put on their new side, or they would
/// fire twice. `y`, `d` and `g` are the states, discrete variables and guards before the transition; the slope of an algebraic state of
/// index 2 is not known after it. Returns the lanes.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> take_over_solved(instance<E, Real>& x, const vec<Real, E::n>& y,
                                              const vec<Real, E::form::discretes>& d,
                                              const with_rate<vec<Real, E::ng>>& g, const vec<Real, E::ng>& fired,
                                              const vec<Real, E::ng>& from, mask_of<Real> where,
                                              const tolerances<E, Real>& tol) {
  each<E::form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { where = where & (x.constants.d[i] == d[i]); });
  const auto is_back = [&](int i, Real value) SALTUS_INLINE_LAMBDA {
    return where & (fired[i] > Real(0.5)) & (side_of(g.value[i]) != side_of(from[i])) &
           (side_of(value) == side_of(from[i])) & comes_to_root<E>(i, value, g.rate[i], x.h);
  };
  auto back = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { back = back | is_back(i, x.constants.guard_values[i]); });
  if (none(back)) return back;
  auto without = x;
  without.y = y;
  without.constants.guard_values = from;
  auto f = x.f;
  const auto there = evaluate_at<E>(without, f, without.constants, back, tol, {});
  auto any_over = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    Real& value = x.constants.guard_values[i];
    const auto over = is_back(i, value) & (side_of(there.value[i]) == side_of(from[i]));
    assign_where(over, value, across<E>(value));
    any_over = any_over | over;
  });
  return any_over;
}

/// The guards as a transition sees them: one that fires before its root, because another event is due there, is on its new side.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> guards_after(const instance<E, Real>& x, const vec<Real, E::ng>& g,
                                        const vec<Real, E::ng>& fired, const vec<Real, E::ng>& from, Real tolerance) {
  auto r = g;
  if constexpr (E::ng + E::form::time_events > 1)
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto over = (fired[i] > Real(0.5)) & comes_to_root<E>(i, g[i], x.rate[i], tolerance) &
                        (side_of(g[i]) == side_of(from[i]));
      assign_where(over, r[i], across<E>(g[i]));
    });
  return r;
}

/// f and the rates of guards on the sides that guards have been put on since they were found.
template <class E, class Real>
SALTUS_FN_COLD void turn_to_sides(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                                  const point_rules<E, Real>& rules) {
  auto f = x.f;
  const auto g = evaluate_at(x, f, x.constants, where, tol, rules);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.rate[i], g.rate[i]); });
}

/// Ends one lane with a terminal status.
template <class E, class T, int W>
SALTUS_FN void end_lane(instance<E, pack<T, W>>& x, int lane, status why) {
  if (x.status.get(lane) == static_cast<integer_of<T>>(status::interrupted))
    x.status.set(lane, static_cast<integer_of<T>>(why));
}

/// Tells an event which guards and time events are due, if any, and the guards' values.
template <class E, class Event, class T, int W>
SALTUS_FN void tell_due(Event& now, int lane, const vec<pack<T, W>, E::ng>& g, const due_events<E, pack<T, W>>* due) {
  using Number = pack<T, 1>;
  for (int i = 0; i < E::form::model_guards; ++i) {
    now.g[i] = Number::from(g[i].get(lane));
    now.fired[i] = Number::from(due ? due->guard[i].get(lane) : T(0.0));
  }
  for (int i = 0; i < E::form::time_events; ++i)
    now.fired[E::form::model_guards + i] = Number::from(due ? due->time_event[i].get(lane) : T(0.0));
  now.may_schedule = due != nullptr;
}

/// Calls the model's function `call(now)` at the event. `rules` receives the states that it has written.
template <class E, class Event, class T, int W, class Call>
SALTUS_FN void call_at(Event& now, instance<E, pack<T, W>>& x, int lane,
                       [[maybe_unused]] point_rules<E, pack<T, W>>* rules, Call&& call) {
  now.begin();
  if constexpr (E::form::kinds::schedules) now.take_items(pack<T, 1>::from(together_with(x, x.t).get(lane)));
  call(now);
  if constexpr (E::form::kinds::schedules) {
    now.drop_items();
    end_lane<E>(x, lane, fault_of_queues<typename E::Model>(now.modes));
  }
  now.end();
  if constexpr (E::form::keeps_written)
    if (rules != nullptr)
      for (int i = 0; i < E::model_states; ++i) rules->written[i].set(lane, T(now.states.is_written(i) ? 1.0 : 0.0));
  if constexpr (detail::is_mechanical<typename E::Model>)
    if (now.no_impulses) end_lane<E>(x, lane, status::no_impulses);
  if constexpr (E::directions > 0)
    if (now.is_undecided && x.constants.undefined.get(lane) == T(0.0))
      x.constants.undefined.set(lane, static_cast<T>(sensitivity::order));
}

/// with_event over dual numbers: the model's results for t, y, parameters and discrete variables carry their derivatives.
template <class E, class T, int W, class Call>
SALTUS_FN bool with_event_and_derivatives(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                                          const due_events<E, pack<T, W>>* due, Call&& call,
                                          point_rules<E, pack<T, W>>* rules) {
  using form = typename E::form;
  using Scalar = pack<T, 1>;
  using Lifted = typename form::template lifted<Scalar>;
  const auto one = [&](const pack<T, W>& of) SALTUS_INLINE_LAMBDA { return Scalar::from(of.get(lane)); };
  vec<Scalar, form::params> p;
  vec<Lifted, E::model_states> y;
  vec<Lifted, form::discretes> d;
  for (int i = 0; i < form::params; ++i) p[i] = one(x.constants.p[i]);
  for (int i = 0; i < E::model_states; ++i)
    y[i] = form::with_rates(one(x.y[i]), [&](int j) SALTUS_INLINE_LAMBDA { return one(x.y[form::rate_index(i, j)]); });
  for (int i = 0; i < form::discretes; ++i)
    d[i] = form::with_rates(one(x.constants.d[i]), [&](int j) SALTUS_INLINE_LAMBDA {
      return one(x.constants.discrete_rates[form::discretes * j + i]);
    });
  const auto t = form::with_rates(one(x.t), [&](int j) SALTUS_INLINE_LAMBDA { return one(x.constants.event_time[j]); });
  const auto lifted_p = form::template lift_parameters<Scalar>(p);
  vec<Lifted, form::piece_numbers> pieces;
  for (int i = 0; i < form::piece_numbers; ++i) pieces[i] = Lifted(one(x.constants.pieces[i]));
  event<typename E::Model, Lifted> now{form::model_time(t), y, lifted_p, d, pieces.data, {}, {}};
  tell_due<E>(now, lane, g, due);
  call_at(now, x, lane, rules, call);
  for (int i = 0; i < E::model_states; ++i) {
    x.y[i].set(lane, y[i].value.v);
    for (int j = 0; j < E::directions; ++j) x.y[form::rate_index(i, j)].set(lane, y[i].d[j].v);
  }
  for (int i = 0; i < form::discretes; ++i) {
    x.constants.d[i].set(lane, d[i].value.v);
    for (int j = 0; j < E::directions; ++j) x.constants.discrete_rates[form::discretes * j + i].set(lane, d[i].d[j].v);
  }
  return now.stopped;
}

/// Calls `call(now)` with one lane of x as the model's functions for one instance see it, with guard values g and the due guards and time
/// events, if any. Returns true if the model stopped the instance. `rules` records which states it has written.
template <class E, class T, int W, class Call>
requires(E::directions > 0) SALTUS_FN
    bool with_event(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                    const due_events<E, pack<T, W>>* due, Call&& call, point_rules<E, pack<T, W>>* rules = nullptr) {
  return with_event_and_derivatives<E>(x, lane, g, due, call, rules);
}
template <class E, class T, int W, class Call>
SALTUS_FN bool with_event(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                          const due_events<E, pack<T, W>>* due, Call&& call,
                          point_rules<E, pack<T, W>>* rules = nullptr) {
  using form = typename E::form;
  using Scalar = pack<T, 1>;
  vec<Scalar, E::n> y;
  vec<Scalar, form::params> p;
  vec<Scalar, form::discretes> d;
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { y[i].v = x.y[i].get(lane); });
  each<form::params>([&](int i) SALTUS_INLINE_LAMBDA { p[i].v = x.constants.p[i].get(lane); });
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { d[i].v = x.constants.d[i].get(lane); });
  vec<Scalar, form::piece_numbers> pieces;
  each<form::piece_numbers>([&](int i) SALTUS_INLINE_LAMBDA { pieces[i].v = x.constants.pieces[i].get(lane); });
  event<typename E::Model, Scalar> now{form::model_time(Scalar::from(x.t.get(lane))), y, p, d, pieces.data, {}, {}};
  [[maybe_unused]] detail::past_of<typename E::Model, Scalar> past;
  if constexpr (has_delays<E>) {
    past = x.constants.past_states.of_lane(lane);
    now.past = {&past};
  }
  tell_due<E>(now, lane, g, due);
  call_at(now, x, lane, rules, call);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { x.y[i].set(lane, y[i].v); });
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { x.constants.d[i].set(lane, d[i].v); });
  return now.stopped;
}

/// Calls the model's `mode` for the lanes in `where`: discrete variables follow the guard signs.
template <class E, class T, int W>
SALTUS_FN void set_modes(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where, const tolerances<E, pack<T, W>>& tol,
                         const point_rules<E, pack<T, W>>& rules = {}) {
  if constexpr (E::form::kinds::has_mode) {
    // Modes follow guards, and guards may follow algebraic states, so these come first.
    if constexpr (moves_states<typename E::form>) start_from<E>(x, where, tol, rules);
    const auto g = E::form::guard_values(x.t, x.y, x.constants);
    const due_events<E, pack<T, W>>* const nothing = nullptr;
    for (int lane = 0; lane < W; ++lane)
      if (where[lane] &&
          with_event<E>(x, lane, g, nothing, [](auto& now) SALTUS_INLINE_LAMBDA { E::Model::mode(now); }))
        end_lane<E>(x, lane, status::stopped);
  }
}

/// True if `mode` changes a discrete variable in one lane at a point of a step, with these values of the guards.
template <class E, class T, int W>
SALTUS_FN bool changes_mode(const instance<E, pack<T, W>>& x, int lane, pack<T, W> t, const vec<pack<T, W>, E::n>& y,
                            const vec<pack<T, W>, E::ng>& g) {
  using Scalar = pack<T, 1>;
  const due_events<E, Scalar>* const nothing = nullptr;
  instance<E, Scalar> there;
  take(x, lane, there);
  there.t.v = t.get(lane);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { there.y[i].v = y[i].get(lane); });
  vec<Scalar, E::ng> values;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { values[i].v = g[i].get(lane); });
  bool changed = with_event<E>(there, 0, values, nothing, [](auto& now) SALTUS_INLINE_LAMBDA { E::Model::mode(now); });
  for (int i = 0; i < E::form::discretes; ++i)
    changed = changed || !(there.constants.d[i].v == x.constants.d[i].get(lane));
  return changed;
}

/// One lane's transition for the due guards and time events: ordinary scalar code of the model.
template <class E, class T, int W>
SALTUS_FN_COLD void transition_of(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                                  const due_events<E, pack<T, W>>& due, point_rules<E, pack<T, W>>& rules,
                                  const tolerances<E, pack<T, W>>& tol) {
  using form = typename E::form;
  bool ends = with_event<E>(
      x, lane, g, &due,
      [&](auto& now) SALTUS_INLINE_LAMBDA {
        if constexpr (form::records > 0) tell_due_rows(now, x, lane, due, tol.records);
        if constexpr (form::kinds::has_transition) E::Model::transition(now);
      },
      &rules);
  for (int i = 0; i < form::model_guards; ++i)
    ends = ends || (due.guard[i].get(lane) > T(0.5) && form::traits(i).terminal);
  if (ends) end_lane<E>(x, lane, status::stopped);
}

/// Records every guard and time event that was due in one lane, and the end of a slide along guard `slide`. `before` and `after` are the
/// points before and after the transition, `times` the derivatives of the times.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void log_events(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::logged_point>& before,
                               const vec<pack<T, W>, E::logged_point>& after, const due_events<E, pack<T, W>>& due,
                               const event_times<E, pack<T, W>>& times, int slide, const Run& run) {
  using form = typename E::form;
  auto was = logged_lane<E>(before, lane), is = logged_lane<E>(after, lane);
  int count = 0;
  const auto log = [&](int number, int item) SALTUS_INLINE_LAMBDA {
    if constexpr (E::kept_directions > 0)
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        const bool is_defined = x.constants.undefined.get(lane) == T(0.0);
        was[E::logged_point + j].v = is[E::logged_point + j].v =
            is_defined ? form::time_sign * times(item, j).get(lane) : T(form::unset);
      });
    record_event(x, lane, number, was, is, run);
    ++count;
  };
  for (int i = 0; i < form::model_guards; ++i)
    if (due.guard[i].get(lane) > T(0.5)) log(i, i);
  for (int i = 0; i < form::time_events; ++i)
    if (due.time_event[i].get(lane) > T(0.5)) log(form::model_guards + i, E::ng + i);
  for (int k = 0; k < form::approached; ++k)
    if (due.guard[form::model_guards + k].get(lane) > T(0.5))
      log(form::model_guards + form::time_events + k, form::model_guards + k);
  if constexpr (form::slides)
    if (const bool up = due.guard[form::leaving_up].get(lane) > T(0.5);
        up || due.guard[form::leaving_down].get(lane) > T(0.5))
      log(slide, up ? form::leaving_up : form::leaving_down);
  x.events.set(lane, x.events.get(lane) + static_cast<integer_of<T>>(count));
}

/// Counts the events that were due, if no log and no reduction keeps any.
template <class E, class T, int W, class Run>
SALTUS_FN void count_events(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where, const due_events<E, pack<T, W>>& due,
                            const Run& run) {
  using form = typename E::form;
  const auto count = [&](pack<T, W> is_due) SALTUS_INLINE_LAMBDA {
    const auto counted = where & (is_due > pack<T, W>(0.5));
    add_where(x.events, counted, 1);
    return counted;
  };
  for (int i = 0; i < form::model_guards; ++i) {
    const auto fired = count(due.guard[i]);
    for (int lane = 0; lane < W; ++lane)
      if (fired[lane]) run.note_event(x.slot.get(lane), i);
  }
  for (int i = 0; i < form::time_events; ++i) count(due.time_event[i]);
  for (int k = 0; k < form::approached; ++k) count(due.guard[form::model_guards + k]);
  if constexpr (form::slides) count(max(due.guard[form::leaving_up], due.guard[form::leaving_down]));
}

template <class E, class T, int W, class Run>
SALTUS_FN void log_events_where(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                const vec<pack<T, W>, E::logged_point>& before, const due_events<E, pack<T, W>>& due,
                                const event_times<E, pack<T, W>>& times, const Run& run) {
  if (!E::reduces_events && run.settings.log_events == 0) return count_events(x, where, due, run);
  const auto after = loggable(x);
  for (int lane = 0; lane < W; ++lane)
    if (where[lane])
      log_events<E>(
          x, lane, before, after, due, times,
          [&] {
            if constexpr (E::form::slides) return end_of_slide(x, lane);
            else return 0;
          }(),
          run);
}

/// After a transition another guard is due if the transition moved it to its other side in its declared direction; each guard fires at most
/// once that way. A unilateral guard is due again as long as it is violated and getting worse, or closes from zero. `was` are the values
/// before, `fired` the guards that have fired at this time.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_due_again(int i, Real was, Real now, Real rate, Real fired) {
  const auto guard = E::form::traits(i);
  const auto was_up = was >= Real(0.0), is_up = now >= Real(0.0);
  mask_of<Real> moved = was_up ^ is_up;
  if (guard.which == falling) moved = moved & was_up;
  if (guard.which == rising) moved = moved & is_up;
  moved = moved & (fired < Real(0.5));
  if (guard.side == unilateral && guard.which == falling)
    moved = moved | ((now < Real(0.0)) & (rate <= Real(0.0))) | ((now == Real(0.0)) & (rate < Real(0.0)));
  if (guard.side == unilateral && guard.which == rising) {
    const auto at_zero = abs(now) <= Real(limits<typename E::T>::smallest);
    moved = moved | ((!at_zero) & (now > Real(0.0)) & (rate >= Real(0.0))) | (at_zero & (rate > Real(0.0)));
  }
  return moved;
}

/// Replaces `due` by the guards that are due after a transition, and `was` by the current values. `fired` collects the guards that have
/// fired at this time. Returns the lanes of `where` in which any is due.
template <class E, class Real>
SALTUS_FN mask_of<Real> find_due_again(const instance<E, Real>& x, due_events<E, Real>& due, vec<Real, E::ng>& was,
                                       vec<Real, E::ng>& fired, mask_of<Real> where) {
  mask_of<Real> again = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    fired[i] = max(fired[i], due.guard[i]);
    const auto moved = where & is_due_again<E>(i, was[i], x.constants.guard_values[i], x.rate[i], fired[i]);
    due.guard[i] = select(moved, Real(1.0), Real(0.0));
    again = again | moved;
    assign_where(where, was[i], x.constants.guard_values[i]);
  });
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    due.time_event[i] = Real(0.0);
    // Items that a transition has scheduled without a delay are due now.
    if constexpr (E::form::kinds::schedules) {
      const auto comes = where & has_items_up_to(x, i, together_with(x, x.t));
      due.time_event[i] = select(comes, Real(1.0), Real(0.0));
      again = again | comes;
    }
  });
  return again;
}

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

/// The data kept during an event, for derivatives.
template <class E, class Real>
struct passage {
  event_times<E, Real> times;
};
template <class E, class Real>
requires(E::directions > 0) struct passage<E, Real> {
  event_times<E, Real> times;
  vec<Real, E::n> before;         ///< y
  mask_of<Real> apart;            ///< two due events have different times
  both_orders<E, Real> in_turns;  ///< if there are such lanes
};

/// The time derivative at the accepted point from the equations there, if steps know it only from their dense output. The state after the
/// event gets it from the equations as well, so that a state that the event does not touch passes it unchanged.
template <class E, class Real>
SALTUS_FN_COLD void take_field_here(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  auto f = x.f;
  if constexpr (E::form::has_field) {
    f = E::form::rhs(x.t, x.y, x.constants);
  } else {
    auto y = x.y;
    E::form::initialise(step_system<E, Real>{x.constants, &tol}, x.t, y, f,
                        {where, abi::algebraic, x.t_end - x.t_begin, written_states<typename E::form, Real>{}});
  }
  const auto g = E::form::guards_along(x.t, x.y, f, x.constants);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.rate[i], g.rate[i]); });
}

/// Before the due events fire: converts derivatives to those along with the event. The state before it is that of the step, with guards on
/// their sides `of_step`. `at_knot`: guards have jumped there, at a fixed time.
template <class E, class Real>
SALTUS_FN_COLD void enter_event(instance<E, Real>& x, const vec<Real, E::ng>& of_step, const vec<Real, E::ng>& g,
                                const due_events<E, Real>& due, mask_of<Real> where, mask_of<Real> at_knot,
                                const tolerances<E, Real>& tol, passage<E, Real>& way) {
  vec<Real, E::directions> first;
  const auto there = x.constants.guard_values;
  each<E::ng>([&](int i)
                  SALTUS_INLINE_LAMBDA { assign_where(where & !at_knot, x.constants.guard_values[i], of_step[i]); });
  if constexpr (!E::Method::is_explicit) take_field_here(x, where, tol);
  way.times = times_at(x);
  way.before = x.y;
  if constexpr (E::form::tables > 0)
    for (int i = 0; i < E::ng; ++i)
      for (int j = 0; j < E::directions; ++j) assign_where(at_knot, way.times(i, j), Real(0.0));
  if constexpr (E::form::model_guards > 0) look_for_grazing(x, due, where & !at_knot, tol);
  if constexpr (E::form::kinds::schedules)
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
      look_at_items<E>(x, i, due.time_event[i], times_of_item(way.times, E::ng + i), where, sensitivity::order, tol);
    });
  way.apart = find_apart(x, due, way.times, where, tol, first);
  if (any(way.apart)) way.in_turns = try_both_orders(x, g, way.times, due, way.apart, tol);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { assign_where(where, x.constants.event_time[j], first[j]); });
  move_with_event(x, where, 1.0, tol);
  if constexpr (reduces_derivatives<E>) take_extrema_here<true>(x, where, tol);
  x.constants.guard_values = there;
}

/// Events that follow at the same time move with it.
template <class E, class Real>
SALTUS_FN void follow_event(instance<E, Real>& x, const due_events<E, Real>& due, mask_of<Real> where,
                            const tolerances<E, Real>& tol, passage<E, Real>& way) {
  if (none(where)) return;
  if constexpr (E::form::model_guards > 0) look_at_due_again(x, due, where, tol);
  if constexpr (E::form::kinds::schedules)
    each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
      look_at_items<E>(x, i, due.time_event[i], x.constants.event_time, where, sensitivity::order, tol);
    });
  for (int item = 0; item < event_times<E, Real>::items; ++item)
    for (int j = 0; j < E::directions; ++j) way.times(item, j) = x.constants.event_time[j];
}

/// Ends the event after all iterations.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void end_event(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                              const tolerances<E, pack<T, W>>& tol, const passage<E, pack<T, W>>& way, const Run& run) {
  using Real = pack<T, W>;
  if (any(way.apart)) {
    const auto agree = way.in_turns.agree & same_states(x, way.in_turns.x, tol) & is_under_way(x);
    undefine(x, way.apart & !agree, sensitivity::order);
    leave_event(x, way.before, way.apart, where, tol, run);
    take_derivatives(x, way.in_turns.x, agree & (x.constants.undefined == Real(0.0)), tol);
  } else {
    leave_event(x, way.before, way.apart, where, tol, run);
  }
}

/// Fires the events that are due at the accepted point of the lanes in `where`, with the guard values `g`, until no more are due.
/// `of_step`: the guard signs held through the step that ends there; `at_knot`: guards have jumped there, at the knot of a table. Returns
/// the lanes in which transitions have moved states.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD mask_of<pack<T, W>> fire(instance<E, pack<T, W>>& x, const vec<pack<T, W>, E::ng>& of_step,
                                        vec<pack<T, W>, E::ng> g, due_events<E, pack<T, W>> due,
                                        mask_of<pack<T, W>> where, mask_of<pack<T, W>> at_knot,
                                        const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  vec<Real, E::ng> fired;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { fired[i] = Real(0.0); });
  mask_of<Real> active = where, jumps = mask_of<Real>::all(false);
  auto from = of_step;
  [[maybe_unused]] passage<E, Real> way;
  if constexpr (E::directions > 0) enter_event(x, of_step, g, due, where, at_knot, tol, way);
  for (int round = 0; round < event_rounds && any(active); ++round) {
    Real surface = Real(0.0);
    auto slid = mask_of<Real>::all(false);
    if constexpr (E::form::slides) {
      surface = surface_value(x);
      slid = E::form::is_sliding(x.constants);
    }
    const auto before = loggable(x);
    const auto y = x.y;
    const auto d = x.constants.d;
    const with_rate<vec<Real, E::ng>> at_landing{g, x.rate};
    const Real before_root = max(ulps_of_time(x, misplaced), tol.event_tol + tol.event_tol);
    const auto seen = guards_after(x, g, due.guard, from, before_root);
    point_rules<E, Real> rules;
    for (int lane = 0; lane < W; ++lane)
      if (active[lane]) transition_of<E>(x, lane, seen, due, rules, tol);
    auto written = mask_of<Real>::all(false);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { written = written | !(x.y[i] == y[i]); });
    jumps = jumps | written;
    if constexpr (!moves_states<typename E::form>) log_events_where(x, active, before, due, way.times, run);
    E::form::arrive(x.constants, due.guard, active);
    if constexpr (E::form::slides) end_slides(x, due.guard, g, active);
    set_modes<E>(x, active, tol, rules);
    if constexpr (E::form::slides) review_slides(x, surface, g, active, run);
    start_from<E>(x, active, tol, rules);
    // with the current algebraic states
    if constexpr (moves_states<typename E::form>) log_events_where(x, active, before, due, way.times, run);
    auto over = take_over(x, due.guard, from, jumps, before_root, active);
    if constexpr (moves_states<typename E::form> && E::ng > 0)
      over = over | take_over_solved<E>(x, y, d, at_landing, due.guard, from, active & !written, tol);
    seldom(x, over, [&]() SALTUS_INLINE_LAMBDA { turn_to_sides(x, over, tol, rules); });
    // What has just left its surface is not to be caught again within rounding of it.
    if constexpr (E::form::slides) begin_slides(x, active & !(slid & !E::form::is_sliding(x.constants)));
    if constexpr (E::reduces_quantities) reduce_jump<E>(x, active);
    if constexpr (reduces_derivatives<E>) take_extrema_here<false>(x, active, tol);
    from = g;
    const auto again = find_due_again(x, due, g, fired, active);
    end_where(x.status, active & (x.events >= tol.max_events), status::event_budget);
    active = active & again & is_under_way(x);
    if constexpr (E::is_quick) {
      leave_to_full(x, active);
      break;
    }
    if constexpr (E::directions > 0) follow_event(x, due, active, tol, way);
  }
  end_where(x.status, active, status::event_loop);
  note_jump(x, where);
  look_ahead(x, where, tol);
  if constexpr (E::directions > 0) end_event(x, where, tol, way, run);
  return jumps;
}

/// Fires items that are due at the start of an instance, or at the limit of an accumulation, without a step to their time.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void fire_items_here(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                    const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  due_events<E, Real> due;
  auto fires = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { due.guard[i] = Real(0.0); });
  each<E::form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto comes = where & is_under_way(x) & has_items_up_to(x, i, together_with(x, x.t));
    due.time_event[i] = select(comes, Real(1.0), Real(0.0));
    fires = fires | comes;
  });
  if (none(fires)) return;
  if constexpr (E::directions > 0)  // they come at this time whatever the parameters are
    each<E::form::time_events * E::directions>(
        [&](int i) SALTUS_INLINE_LAMBDA { assign_where(fires, x.constants.next_time_events[i], Real(0.0)); });
  const auto g = x.constants.guard_values;
  fire<E>(x, g, g, due, fires, mask_of<Real>::all(false), tol, run);
}

}  // namespace saltus
