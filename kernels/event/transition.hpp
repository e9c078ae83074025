// The actions at an event: the model's transition for all due guards and time events at once; then a new look at the guards, since a
// transition may make another guard due (event iteration); then a restart from the new state.
#pragma once

#include "event/after_root.hpp"
#include "event/modes.hpp"
#include "event/order_of_events.hpp"
#include "event/quick.hpp"

namespace saltus {

inline constexpr int event_rounds = 64;  ///< rounds of event iteration at one time before `event_loop`

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

/// Replaces `due` by the guards that are due after a transition, and `was` by the current values. `fired` are the guards that have fired at
/// this time. Returns the lanes of `where` in which any is due.
template <class E, class Real>
SALTUS_FN mask_of<Real> find_due_again(const instance<E, Real>& x, due_events<E, Real>& due, vec<Real, E::ng>& was,
                                       const vec<Real, E::ng>& fired, mask_of<Real> where) {
  mask_of<Real> again = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
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

/// Before the due events fire: converts derivatives to those along with the event. The state before it is that of the step.
template <class E, class Real>
SALTUS_FN_COLD void enter_event(instance<E, Real>& x, const event_here<E, Real>& event, mask_of<Real> where,
                                const tolerances<E, Real>& tol, passage<E, Real>& way) {
  vec<Real, E::directions> first;
  const auto& due = event.due;
  const auto at_knot = event.at_knot;
  const auto there = x.constants.guard_values;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where & !at_knot, x.constants.guard_values[i], event.of_step[i]);
  });
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
  if (any(way.apart)) way.in_turns = try_both_orders(x, event.g, way.times, due, way.apart, tol);
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

/// Fires the events that are due at the accepted point of the lanes in `where`, until no more are due. Returns the lanes in which
/// transitions have moved states.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD mask_of<pack<T, W>> fire(instance<E, pack<T, W>>& x, const event_here<E, pack<T, W>>& event,
                                        mask_of<pack<T, W>> where, const tolerances<E, pack<T, W>>& tol,
                                        const Run& run) {
  using Real = pack<T, W>;
  auto due = event.due;
  auto g = event.g;
  event_iteration<E, Real> so_far{x.y,
                                  {},
                                  event.of_step,
                                  mask_of<Real>::all(false),
                                  max(ulps_of_time(x, misplaced), tol.event_tol + tol.event_tol)};
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { so_far.fired[i] = Real(0.0); });
  mask_of<Real> active = where;
  [[maybe_unused]] passage<E, Real> way;
  if constexpr (E::directions > 0) enter_event(x, event, where, tol, way);
  if constexpr (E::gradient) keep_entry(x, event, where, tol, run);
  for (int round = 0; round < event_rounds && any(active); ++round) {
    Real surface = Real(0.0);
    auto slid = mask_of<Real>::all(false);
    if constexpr (E::form::slides) {
      surface = surface_value(x);
      slid = E::form::is_sliding(x.constants);
    }
    const auto row_before = loggable(x);
    const point_before<E, Real> before{x.y, x.constants.d, {g, x.rate}};
    const auto seen = guards_after(x, g, due.guard, so_far.from, so_far.before_root);
    if constexpr (E::gradient) run.events.keep_event(x, row_kind::transition, x.t, seen, due, active);
    point_rules<E, Real> rules;
    for (int lane = 0; lane < W; ++lane)
      if (active[lane]) transition_of<E>(x, lane, seen, due, rules, tol);
    auto written = mask_of<Real>::all(false);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { written = written | !(x.y[i] == before.y[i]); });
    so_far.jumps = so_far.jumps | written;
    if constexpr (!moves_states<typename E::form>) log_events_where(x, active, row_before, due, way.times, run);
    E::form::arrive(x.constants, due.guard, active);
    if constexpr (E::form::slides) end_slides(x, due.guard, g, active);
    const auto mode = set_modes<E>(x, active, tol, rules);
    if constexpr (E::form::slides) review_slides(x, surface, g, active, run);
    start_from<E>(x, active, tol, rules);
    // with the current algebraic states
    if constexpr (moves_states<typename E::form>) log_events_where(x, active, row_before, due, way.times, run);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { so_far.fired[i] = max(so_far.fired[i], due.guard[i]); });
    auto over = take_over(x, so_far, active, tol);
    if constexpr (E::ng + E::form::time_events > 1) {
      const auto early = fired_before_root(x, before, so_far, active);
      auto any_early = mask_of<Real>::all(false);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { any_early = any_early | (early[i] > Real(0.5)); });
      seldom(x, any_early, [&]() SALTUS_INLINE_LAMBDA { over = over | go_across(x, early, so_far); });
    }
    if constexpr (moves_states<typename E::form> && E::ng > 0)
      over = over | take_over_solved(x, before, so_far, active & !written, tol);
    seldom(x, over, [&]() SALTUS_INLINE_LAMBDA { turn_to_sides(x, over, tol, rules); });
    follow_sides<E>(x, mode, active, tol, rules, run);
    // What has just left its surface is not to be caught again within rounding of it.
    if constexpr (E::form::slides) begin_slides(x, so_far.fired, active & !(slid & !E::form::is_sliding(x.constants)));
    // A guard that has fired keeps the side from which it did.
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      so_far.from[i] = select(so_far.fired[i] > Real(0.5), so_far.from[i], g[i]);
    });
    const auto again = find_due_again(x, due, g, so_far.fired, active);
    end_where(x.status, active & (x.events >= tol.max_events), status::event_budget);
    active = active & again & is_under_way(x);
    if constexpr (E::is_quick) {
      leave_to_full(x, active);
      break;
    }
    if constexpr (E::directions > 0) follow_event(x, due, active, tol, way);
    if constexpr (E::gradient) look_at_due_again_of_gradient(x, due, active, tol);
  }
  end_where(x.status, active, status::event_loop);
  // Values between two rounds last no time, and are no extrema.
  if constexpr (E::reduces_quantities) reduce_jump<E>(x, where, tol);
  if constexpr (reduces_derivatives<E>) take_extrema_here<false>(x, where, tol);
  note_jump(x, where);
  look_ahead(x, where, tol);
  if constexpr (E::directions > 0) end_event(x, where, tol, way, run);
  if constexpr (E::gradient)
    run.events.keep_event(x, row_kind::departure, x.t, x.constants.guard_values, nothing_due<E, Real>(),
                          where & is_under_way(x));
  return so_far.jumps;
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
  if constexpr (E::gradient) undefine(x, fires, sensitivity::at_start);
  if constexpr (E::directions > 0)  // they come at this time whatever the parameters are
    each<E::form::time_events * E::directions>(
        [&](int i) SALTUS_INLINE_LAMBDA { assign_where(fires, x.constants.next_time_events[i], Real(0.0)); });
  const auto g = x.constants.guard_values;
  fire(x, {due, g, g, mask_of<Real>::all(false)}, fires, tol, run);
}

}  // namespace saltus
