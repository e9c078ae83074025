// The rows of recorded time events at the start of an instance. Unlike other time events, a recorded one fires there: data often begin with a
// row at the start. If the run continues another one (abi::settings::rows_are_past), the rows up to the start were given by that one.
#pragma once

#include "event/transition.hpp"

namespace saltus {

/// Sets the first rows of one lane's record k, whose rows come later by `delay`. Returns true if some are due at the start.
template <class E, class T, int W>
SALTUS_FN bool begin_rows(instance<E, pack<T, W>>& x, int lane, int k, T delay, const tolerances<E, pack<T, W>>& tol,
                          bool are_past) {
  const record_reader<E> data(tol.records, k);
  const int64 first = x.next_row[k].get(lane), end = x.end_row[k].get(lane);
  const T t = x.t.get(lane), rounding = rounding_of_time(x, x.t).get(lane);
  const int64 later = data.first_after(first, end, delay, t + rounding);
  x.due_row[k].set(lane, static_cast<integer_of<T>>(later));
  if (are_past) {
    x.next_row[k].set(lane, static_cast<integer_of<T>>(later));
    return false;
  }
  if (first < end && data.time_of(first) < t - rounding) end_lane<E>(x, lane, status::bad_schedule);
  return later > first;
}

/// Fires the recorded time events that are due at the first consistent point of an instance.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void give_rows_at_start(instance<E, pack<T, W>>& x, mask_of<pack<T, W>> where,
                                       const tolerances<E, pack<T, W>>& tol, const Run& run) {
  using Real = pack<T, W>;
  using form = typename E::form;
  due_events<E, Real> due;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { due.guard[i] = Real(0.0); });
  each<form::time_events>([&](int i) SALTUS_INLINE_LAMBDA {
    due.time_event[i] = Real(0.0);
    x.next_time_event[i] = Real(limits<T>::largest);
  });
  mask_of<Real> sound;
  const auto delays = form::delays(x.t, x.y, x.constants, sound);
  end_where(x.status, where & !sound, status::bad_schedule);
  for (int k = 0; k < form::records; ++k) {
    const int event = event_of_record<typename E::Model>(k);
    for (int lane = 0; lane < W; ++lane)
      if (where[lane] && begin_rows(x, lane, k, delays[k].get(lane), tol, run.settings.rows_are_past != 0)) {
        due.time_event[event].set(lane, T(1.0));
        x.next_time_event[event].set(lane, x.t.get(lane));
      }
  }
  auto fires = mask_of<Real>::all(false);
  each<form::time_events>([&](int i) SALTUS_INLINE_LAMBDA { fires = fires | (due.time_event[i] > Real(0.5)); });
  fires = fires & where & is_under_way(x);
  if (none(fires)) return;
  if constexpr (E::directions > 0) find_rates_of_next_times(x, fires, x.t, times_of_next_rows(x, tol.records));
  const auto& g = x.constants.guard_values;
  fire(x, {due, g, g, mask_of<Real>::all(false)}, fires, tol, run);
}

}  // namespace saltus
