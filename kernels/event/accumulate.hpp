// Zeno: infinitely many events before a finite time. The intervals between the events of a guard shrink geometrically,
//
//     t_{k+1} - t_k = q (t_k - t_{k-1}),  q < 1:   they accumulate at  t_k + (t_k - t_{k-1}) q / (1 - q)
//
// When the remaining time is a small part of the span (`zeno`), or the intervals are within rounding, the instance is put at the limit.
// The model's `rest` gives the state from which it continues; without `rest` it ends with status `zeno`. No instance passes the limit in
// another way. Several guards may accumulate together: guards equally near to their own limits come to rest with the others.
#pragma once

#include "engine/guard_errors.hpp"
#include "engine/pieces.hpp"
#include "engine/record_event.hpp"
#include "engine/samples.hpp"
#include "event/transition.hpp"

namespace saltus {

namespace detail {
inline constexpr int shrinking_intervals = 4;  ///< in a row, before their ratio counts
inline constexpr int sunken_intervals = 24;    ///< in a row, before a standstill counts
/// Intervals below this part of the span are within rounding: a flight lasts the root of the rounding of its height.
template <class T>
inline constexpr T finest_part = sizeof(T) == 8 ? T(0x1p-26) : T(0x1p-11);
/// A flight of duration d that begins or ends with the rate r is within rounding, too, if the guard rises by r d/4, at most this number of
/// times its rounding.
inline constexpr double lowest_flight = 64.0;
/// The error of a landing is a few times the rounding of its guard, and so is the error of the height that flights lose: below this number
/// of times the rounding that height is unknown.
inline constexpr double lowest_loss = 1024.0;
/// Each flight is no longer than this part of the span.
template <class T>
inline constexpr T longest_sunken = T(0x1p-10);
/// A guard that is crossed back and forth within rounding comes back within this part of the span,
inline constexpr double longest_flip = 0x1p-16;
/// from no further than this number of times its rounding beyond its root, and this number of ulps of time.
inline constexpr double widest_flip = 32.0, flip_ulps = 16.0;
}  // namespace detail

/// Longest remaining time of an accumulation that is cut short.
template <class E, class Real>
SALTUS_FN Real max_left(const instance<E, Real>& x, Real zeno_part) {
  return max(Real(detail::finest_part<typename E::T>), zeno_part) * (x.t_end - x.t_begin);
}

/// Time from the last event of guard i to the limit of its events.
template <class E, class Real>
SALTUS_FN Real left_to_limit(const instance<E, Real>& x, int i) {
  const Real interval = x.event_interval[i], ratio = x.event_ratio[i];
  return select(ratio < Real(1.0), interval * ratio / (Real(1.0) - ratio), interval);
}

/// The state of a guard's accumulation at its last event.
template <class Real>
struct accumulation {
  mask_of<Real> is_near;  ///< the events accumulate, and soon
  Real left;              ///< then: time to the limit
  mask_of<Real> sunken;   ///< the intervals are within rounding
};

/// The rates of a guard before and after its event, and its rounding; 0: unknown.
template <class Real>
struct flight {
  Real arriving, leaving, rounding;
};

/// Takes in an event of guard i in the lanes of `where`. `flips`: the guard may be passed, and no transition has moved a state.
template <class E, class Real>
SALTUS_FN accumulation<Real> takes_in_event(instance<E, Real>& x, int i, Real most, const flight<Real>& f,
                                            mask_of<Real> flips, mask_of<Real> where) {
  using T = typename E::T;
  using integer = typename Real::integer;
  const Real interval = x.t - x.event_time[i], last = x.event_interval[i];
  const Real ratio = interval / last, change = ratio - x.event_ratio[i], room = Real(1.0) - ratio;
  const integer before = x.event_streak[i], shrinking = integer(int64(detail::shrinking_intervals));
  const Real span = x.t_end - x.t_begin, faster = max(f.leaving, f.arriving);
  const Real tolerance = Real(1024.0 * limits<T>::epsilon) * (abs(x.t) + span);
  const Real noise = Real(T(0.5) * detail::finest_part<T>) * span;
  // A guard that may not be passed fires so often in so short a time only where it bounces; where it falls steeply, as with little
  // restitution, it may sink before enough intervals were seen to shrink.
  const bool may_not_be_passed = E::form::traits(i).side == unilateral;
  const auto may_sink = (before >= shrinking) | mask_of<Real>::all(may_not_be_passed);
  // A guard that flips returns from the point of the landing before: beyond its root by its rounding, or by some ulps of time at the rate
  // of its arrival then, which is its rate of departure now.
  const auto returns =
      f.arriving * interval < Real(detail::widest_flip) * f.rounding + ulps_of_time(x, detail::flip_ulps) * faster;
  const auto is_short = interval <= Real(detail::longest_sunken<T>) * span;
  const auto is_low = faster * interval < Real(4.0 * detail::lowest_flight) * f.rounding;
  const auto drowns = (flips & returns) | ((!flips) & is_low & is_short);
  const auto sinks = (flips & drowns) | ((!flips) & may_sink & (drowns | ((interval <= noise) & (last <= noise))));
  const auto steady = (change <= Real(0.25) * room) & (-change <= Real(0.25) * room);
  const auto shrinks = where & (last > Real(0.0)) & (ratio < Real(1.0)) & steady;
  accumulation<Real> r;
  r.sunken = where & ((interval <= tolerance) | sinks);
  const integer streak = select(shrinks | r.sunken, before + integer(int64(1)), integer(int64(0)));
  x.event_streak[i] = select(where, streak, before);
  assign_where(where, x.event_time[i], x.t);
  assign_where(where, x.event_interval[i], interval);
  assign_where(where, x.event_ratio[i], ratio);
  const auto has_shrunk = streak >= shrinking;
  const auto is_still = (has_shrunk & drowns & mask_of<Real>::all(may_not_be_passed)) |
                        (streak >= integer(int64(detail::sunken_intervals)));
  // If a flight loses little height, rounding replaces it while the flight is still far above rounding.
  const auto sustained =
      (!flips) & is_short & (faster * interval * room < Real(4.0 * detail::lowest_loss) * f.rounding);
  const auto ends_soon = shrinks & has_shrunk & (drowns | sustained | (interval * ratio <= most * room));
  const auto stands_still = r.sunken & !shrinks & is_still;
  r.left = any(ends_soon) ? select(ends_soon, left_to_limit(x, i), interval) : interval;
  r.is_near = (ends_soon | stands_still) & (r.left >= Real(0.0));
  return r;
}

/// The limit of the events of guard i, if they accumulate and it is near; otherwise a time before t.
template <class E, class Real>
SALTUS_FN Real limit_of(const instance<E, Real>& x, int i, Real most) {
  using integer = typename Real::integer;
  const Real limit = max(x.t, x.event_time[i] + left_to_limit(x, i));
  const auto is_near = (x.event_streak[i] >= integer(int64(detail::shrinking_intervals))) &
                       (x.t - x.event_time[i] <= most) & (limit - x.t <= most);
  return select(is_near, limit, x.t - Real(1.0) - most);
}

/// The guards that come to rest, 1 in the lanes where they do, and the time to their common limit.
template <class E, class Real>
struct resting_guards {
  due_events<E, Real> due;
  Real left;
  mask_of<Real> where;
  mask_of<Real> chatters;  ///< bilateral guards are crossed back and forth within rounding
};

/// The rates and sides with which guards arrive at an event.
template <class E, class Real>
struct arrival {
  vec<Real, E::ng> rate;
  vec<Real, E::form::model_guards> rounding;  ///< 0 where it does not matter
};

/// The arrival of the guards that are due in the lanes of `where`, before the transition: afterwards a guard may be another function.
/// Rounding matters in lanes with a due guard whose intervals shrink, or are short if the guard may be passed.
template <class E, class Real>
SALTUS_FN arrival<E, Real> arrive(const instance<E, Real>& x, const due_events<E, Real>& due, mask_of<Real> where) {
  const typename Real::integer most(int64(detail::shrinking_intervals - 1));
  const Real short_interval = Real(detail::longest_flip) * (x.t_end - x.t_begin);
  auto matters = mask_of<Real>::all(false);
  arrival<E, Real> r{x.rate, {}};
  for (int i = 0; i < E::form::model_guards; ++i) {
    r.rounding[i] = Real(0.0);
    auto sinks = x.event_streak[i] >= most;
    if (E::form::traits(i).side == bilateral) sinks = sinks | (x.t - x.event_time[i] <= short_interval);
    matters = matters | (where & (due.guard[i] > Real(0.5)) & sinks);
  }
  if (none(matters)) return r;
  const auto known = rounding_of_guards<E>(x.t, x.y, x.constants);
  for (int i = 0; i < E::form::model_guards; ++i) r.rounding[i] = select(matters, known[i], r.rounding[i]);
  return r;
}

/// Takes in the events that have just fired in the lanes of `where`, with the arrival `arriving`, and finds those that accumulate. In the
/// lanes of `stays` no transition has moved a state.
template <class E, class Real>
SALTUS_FN resting_guards<E, Real> find_accumulations(instance<E, Real>& x, const due_events<E, Real>& due,
                                                     const arrival<E, Real>& arriving, mask_of<Real> stays,
                                                     mask_of<Real> where, Real zeno_part) {
  const auto no = mask_of<Real>::all(false);
  resting_guards<E, Real> r{{}, Real(0.0), no, no};
  for (int i = 0; i < E::ng; ++i) r.due.guard[i] = Real(0.0);
  for (int i = 0; i < E::form::time_events; ++i) r.due.time_event[i] = Real(0.0);
  Real most = max_left(x, zeno_part), limit = x.t;
  auto rests = no, chatters = mask_of<Real>::all(true);
  for (int i = 0; i < E::form::model_guards; ++i) {
    const auto fired = where & (due.guard[i] > Real(0.5));
    if (none(fired)) continue;
    const auto flips = stays & mask_of<Real>::all(E::form::traits(i).side == bilateral);
    const flight<Real> f{abs(arriving.rate[i]), abs(x.rate[i]), arriving.rounding[i]};
    const auto found = takes_in_event(x, i, most, f, flips, fired);
    r.due.guard[i] = select(found.is_near, Real(1.0), Real(0.0));
    limit = select(found.is_near, max(limit, x.t + found.left), limit);
    rests = rests | found.is_near;
    chatters = chatters & ((!found.is_near) | (found.sunken & flips));
  }
  if (none(rests)) return r;
  most = max(most, limit - x.t);
  for (int i = 0; i < E::form::model_guards; ++i) {
    const Real own = limit_of(x, i, most);
    const auto joins = rests & (r.due.guard[i] < Real(0.5)) & (own >= x.t);
    r.due.guard[i] = select(joins, Real(1.0), r.due.guard[i]);
    limit = select(joins, max(limit, own), limit);
  }
  r.where = rests & !(limit > x.t_stop) & !at_time_event(x, limit);
  r.left = select(r.where, limit - x.t, Real(0.0));
  r.chatters = r.where & chatters;
  return r;
}

/// Finds unilateral guards that have fired just before the step `a` and whose flight in it is within rounding: the guard may not leave zero
/// by one bit, and its return cannot be located.
template <class E, class Real>
SALTUS_FN_COLD resting_guards<E, Real> find_sunken(const instance<E, Real>& x, const trial<E, Real>& a,
                                                   mask_of<Real> where, Real zeno_part) {
  using T = typename E::T;
  using integer = typename Real::integer;
  const auto no = mask_of<Real>::all(false);
  resting_guards<E, Real> r{{}, Real(0.0), no, no};
  for (int i = 0; i < E::form::time_events; ++i) r.due.time_event[i] = Real(0.0);
  const Real noise = Real(T(0.5) * detail::finest_part<T>) * (x.t_end - x.t_begin);
  const auto rounding = rounding_of_guards<E>(x.t, x.y, x.constants);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    r.due.guard[i] = Real(0.0);
    if (i >= E::form::model_guards || E::form::traits(i).side != unilateral) return;
    const Real side = side_of(x.constants.guard_values[i]), leaves = side * x.rate[i],
               slower = leaves - side * a.g.rate[i];
    const Real flight = Real(2.0) * a.s.h * leaves / slower;
    const auto drowns = leaves * flight < Real(4.0 * detail::lowest_flight) * rounding[i];
    const Real longest = select(drowns, max(flight, noise), noise);
    const auto sunken = where & (zeno_part > Real(0.0)) & armed<E>(i, x.constants.guard_values[i]) &
                        (x.t - x.event_time[i] <= longest) & (leaves >= Real(0.0)) & (slower > Real(0.0)) &
                        (flight <= longest);
    // The following flights shrink in the same ratio as the last ones.
    const auto shrinks =
        (x.event_streak[i] >= integer(int64(detail::shrinking_intervals))) & (x.event_ratio[i] < Real(1.0));
    const Real left = select(shrinks, flight / (Real(1.0) - x.event_ratio[i]), flight);
    r.due.guard[i] = select(sunken, Real(1.0), Real(0.0));
    r.left = select(sunken, max(r.left, left), r.left);
    r.where = r.where | sunken;
  });
  r.left = max(r.left, ulps_of_time(x, 4.0));
  r.where = r.where & (x.t + r.left <= x.t_stop) & !at_time_event(x, x.t + r.left);
  return r;
}

/// Takes lanes to the limits of their accumulations, in one step: all other states continue undisturbed. Samples and integrals see this
/// step; a body that is about to rest may dip below its support by its fall in that time. If another guard has an event on the way, nothing
/// is done, because that event comes first. Returns the lanes taken.
template <class E, class Real, class Run>
SALTUS_FN_COLD mask_of<Real> go_to_limit(instance<E, Real>& x, const resting_guards<E, Real>& r,
                                         const tolerances<E, Real>& tol, const Run& run) {
  const step_system<E, Real> f{x.constants, &tol};
  const auto s = make_step_while_landing(f, solution_point{x.t, x.y, x.f}, r.left);
  const auto g = E::form::guards_along(x.t + r.left, s.y1, s.f1(), x.constants);
  auto where = r.where;
  if constexpr (!E::Method::is_explicit) where = where & s.solved;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.constants.guard_values[i];
    const Real side = side_of(g0), pace = side * r.left;
    const auto crosses = armed<E>(i, g0) & may_cross(with_rate<Real>{side * g0, pace * x.rate[i]},
                                                     with_rate<Real>{side * g.value[i], pace * g.rate[i]});
    where = where & !(crosses & (r.due.guard[i] < Real(0.5)));
  });
  count_evaluations(x, s, r.where);
  const Real t = x.t + r.left;
  if constexpr (E::samples) record_samples(x, s, f, t, where, mask_of<Real>::all(false), run);
  if constexpr (E::reduces_quantities) reduce_step<false>(x, committed_step<E, Real>{s, f, t}, where, run);
  if constexpr (has_delays<E>) record_step(x, s, f, t, s.y1, where);
  assign_where(where, x.t, t);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.y[i], s.y1[i]); });
  if constexpr (E::form::tables > 0) enter_pieces(x, where, tol);
  return where;
}

/// One lane's `rest` at the limit: an event of the guards that rest. After an accumulation there are no derivatives.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void rest_of(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g,
                            const due_events<E, pack<T, W>>& due, point_rules<E, pack<T, W>>& rules, const Run& run) {
  int count = 0;
  const auto before = logged_lane<E>(loggable(x), lane);
  const bool stops = with_event<E>(
      x, lane, g, &due, [](auto& now) SALTUS_INLINE_LAMBDA { E::Model::rest(now); }, &rules);
  const auto after = logged_lane<E>(loggable(x), lane);
  for (int i = 0; i < E::form::model_guards; ++i) {
    if (!(due.guard[i].get(lane) > T(0.5))) continue;
    record_event(x, lane, i, before, after, run);
    x.event_streak[i].set(lane, 0);
    ++count;
  }
  x.events.set(lane, x.events.get(lane) + static_cast<integer_of<T>>(count));
  if (stops) end_lane<E>(x, lane, status::stopped);
}

/// Ends accumulations: by the model's `rest` at their limits, or with status `zeno`. Returns the lanes whose accumulation has ended.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD mask_of<pack<T, W>> come_to_rest(instance<E, pack<T, W>>& x,
                                                const resting_guards<E, pack<T, W>>& resting,
                                                const tolerances<E, pack<T, W>>& tol, const Run& run) {
  if (none(resting.where)) return resting.where;
  if constexpr (E::directions > 0 || E::gradient) undefine(x, resting.where, sensitivity::accumulation);
  if constexpr (E::directions > 0) forget_undefined(x, resting.where);
  if constexpr (E::form::kinds::has_rest) {
    const auto at_limit = go_to_limit(x, resting, tol, run);
    const auto g = x.constants.guard_values;
    const auto y = x.y;
    const auto d = x.constants.d;
    point_rules<E, pack<T, W>> rules;
    for (int lane = 0; lane < W; ++lane)
      if (at_limit[lane]) rest_of(x, lane, g, resting.due, rules, run);
    // A chattering guard that `rest` does not handle would go on.
    auto moved = mask_of<pack<T, W>>::all(false);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { moved = moved | !(x.y[i] == y[i]); });
    each<E::form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { moved = moved | !(x.constants.d[i] == d[i]); });
    end_where(x.status, at_limit & resting.chatters & !moved, status::chattering);
    const auto mode = set_modes<E>(x, at_limit, tol, rules);
    start_from<E>(x, at_limit, tol, rules);
    follow_sides<E>(x, mode, at_limit, tol, rules, run);
    if constexpr (E::form::slides) begin_slides(x, resting.due.guard, at_limit);
    note_jump(x, at_limit);
    look_ahead(x, at_limit, tol);
    if constexpr (E::form::kinds::schedules) fire_items_here(x, at_limit, tol, run);
    if constexpr (E::reduces_quantities) reduce_jump<E>(x, at_limit, tol);
    return at_limit;
  } else {
    assign_where(resting.where, x.t, x.t + resting.left);
    end_where(x.status, resting.chatters, status::chattering);
    end_where(x.status, resting.where, status::zeno);
    return resting.where;
  }
}

/// Watches the events that have just fired in the lanes of `where`, with the arrival `arriving`, and ends accumulations. In the lanes of `stays` no transition has moved a state.
template <class E, class T, int W, class Run>
SALTUS_FN void end_accumulations(instance<E, pack<T, W>>& x, const due_events<E, pack<T, W>>& due,
                                 const arrival<E, pack<T, W>>& arriving, mask_of<pack<T, W>> stays,
                                 mask_of<pack<T, W>> where, const tolerances<E, pack<T, W>>& tol, const Run& run) {
  const auto resting = find_accumulations(x, due, arriving, stays, where, tol.zeno_part);
  seldom(x, resting.where, [&]() SALTUS_INLINE_LAMBDA { come_to_rest(x, resting, tol, run); });
}

}  // namespace saltus
