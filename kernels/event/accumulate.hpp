// Zeno: infinitely many events before a finite time. The intervals between the events of a guard shrink geometrically,
//
//     t_{k+1} - t_k = q (t_k - t_{k-1}),  q < 1:   they accumulate at  t_k + (t_k - t_{k-1}) q / (1 - q)
//
// and once what is left is a small part of the span (`zeno`), or the intervals have sunk into rounding, the instance is
// put at the limit: the model's `rest` says how it goes on from there, or it ends with status `zeno`. Nothing goes past
// the limit otherwise.
//
// One guard is watched at a time: the one that has fired, until others have fired many times without it.
#pragma once

#include "event/transition.hpp"

namespace saltus {

namespace detail {
inline constexpr int shrinking_intervals = 4;   ///< in a row, before their ratio is believed
inline constexpr int sunken_intervals    = 24;  ///< in a row, before a standstill is believed
/// Intervals of less than this part of the span drown in rounding: a flight lasts the root of the rounding of its height.
template <class T>
inline constexpr T finest_part = sizeof(T) == 8 ? T(0x1p-26) : T(0x1p-11);
}  // namespace detail

/// Takes in an event of the watched guard of one lane. Returns true if its events accumulate, and when.
template <class E, class T, int W>
SALTUS_FN bool takes_in_event(instance<E, pack<T, W>>& x, int lane, T zeno_part, T& limit) {
  const T    part = zeno_part > detail::finest_part<T> ? zeno_part : detail::finest_part<T>;
  const T    t = x.t.get(lane), most = part * (x.t_end.get(lane) - x.t_begin.get(lane));
  const T    interval = t - x.watch_time.get(lane), last = x.watch_interval.get(lane);
  const T    ratio = interval / last, change = ratio - x.watch_ratio.get(lane), room = T(1.0) - ratio;
  const bool sunken  = interval <= T(0.1) * most && last <= T(0.1) * most;
  const bool steady  = change <= T(0.25) * room && -change <= T(0.25) * room;
  const bool shrinks = last > T(0.0) && ratio < T(1.0) && steady;
  const auto streak  = shrinks || sunken ? x.watch_streak.get(lane) + 1 : 0;
  x.watch_streak.set(lane, static_cast<integer_of<T>>(streak));
  x.watch_time.set(lane, t);
  x.watch_interval.set(lane, interval);
  x.watch_ratio.set(lane, ratio);
  x.watch_others.set(lane, 0);
  const T left = shrinks ? interval * ratio / room : interval;
  limit        = t + left;
  return (shrinks && streak >= detail::shrinking_intervals && left <= most) ||
         (sunken && streak >= detail::sunken_intervals);
}

/// Another guard than the watched one has fired in a lane; after many such events it is watched instead.
template <class E, class T, int W>
SALTUS_FN void takes_in_other(instance<E, pack<T, W>>& x, int lane, int guard) {
  const auto others = x.watch_others.get(lane) + 1;
  x.watch_others.set(lane, static_cast<integer_of<T>>(others));
  if (x.watched.get(lane) >= 0 && others <= 2 * E::form::model_guards + 2) return;
  x.watched.set(lane, static_cast<integer_of<T>>(guard));
  x.watch_time.set(lane, x.t.get(lane));
  x.watch_interval.set(lane, T(0.0));
  x.watch_ratio.set(lane, T(0.0));
  x.watch_streak.set(lane, 0);
  x.watch_others.set(lane, 0);
}

/// One lane's `rest` at the limit: an event of the watched guard.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void rest_of(instance<E, pack<T, W>>& x, int lane, const vec<pack<T, W>, E::ng>& g, const Run& run) {
  due_events<E, pack<T, W>> due{};
  const int                 watched = static_cast<int>(x.watched.get(lane));
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { due.guard[i] = pack<T, W>(i == watched ? 1.0 : 0.0); });
  each<E::form::instants>([&](int i) SALTUS_INLINE_LAMBDA { due.instant[i] = pack<T, W>(0.0); });
  const bool stops = with_event<E>(x, lane, g, &due, [&](auto& now) SALTUS_INLINE_LAMBDA {
    const auto before = now.y;
    E::Model::rest(now);
    run.log_event(x.slot.get(lane), static_cast<double>(now.t.v), watched, before, now.y);
  });
  x.events.set(lane, x.events.get(lane) + 1);
  if (stops) end_lane<E>(x, lane, status::stopped);
}

/// Watches the events that have just fired in the lanes of `where`, and ends accumulations.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void end_accumulations(instance<E, pack<T, W>>& x, const due_events<E, pack<T, W>>& due,
                                      mask_of<pack<T, W>> where, const tolerances<E, pack<T, W>>& tol, const Run& run) {
  auto rests = mask_of<pack<T, W>>::all(false);
  for (int lane = 0; lane < W; ++lane) {
    if (!where[lane]) continue;
    int first = -1;
    for (int i = E::form::model_guards - 1; i >= 0; --i)
      if (due.guard[i].get(lane) > T(0.5)) first = i;
    if (first < 0) continue;
    const int watched = static_cast<int>(x.watched.get(lane));
    if (watched < 0 || !(due.guard[watched].get(lane) > T(0.5))) {
      takes_in_other(x, lane, first);
      continue;
    }
    T limit;
    if (!takes_in_event(x, lane, tol.zeno_part.get(lane), limit) || limit > x.t_end.get(lane)) continue;
    x.t.set(lane, limit);
    x.watch_streak.set(lane, 0);
    if constexpr (E::form::kinds::has_rest) rests = rests | mask_of<pack<T, W>>::from_bits(1u << lane);
    else end_lane<E>(x, lane, status::zeno);
  }
  if constexpr (E::form::kinds::has_rest) {
    if (none(rests)) return;
    const auto g = E::form::guard_values(x.t, x.y, x.held);
    for (int lane = 0; lane < W; ++lane)
      if (rests[lane]) rest_of(x, lane, g, run);
    set_modes<E>(x, rests);
    start_from<E>(x, rests);
    if constexpr (E::form::slides) begin_slides(x, rests);
    if constexpr (E::reductions > 0) reduce_jump<E>(x, rests);
    look_ahead(x, rests);
  }
}

}  // namespace saltus
