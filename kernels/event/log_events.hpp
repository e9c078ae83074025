// Events that were due are logged, or counted.
#pragma once

#include "engine/record_event.hpp"
#include "event/derivatives_at_events.hpp"
#include "event/restart.hpp"

namespace saltus {

/// The points before and after a transition, what was due there, and the derivatives of the times.
template <class E, class Real>
struct passed_events {
  vec<Real, E::logged_point> before, after;
  const due_events<E, Real>& due;
  const event_times<E, Real>& times;
};

/// Records every guard and time event that was due in one lane, and the end of a slide.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void log_events(instance<E, pack<T, W>>& x, int lane, const passed_events<E, pack<T, W>>& passed,
                               const Run& run) {
  using form = typename E::form;
  const auto& due = passed.due;
  auto was = logged_lane<E>(passed.before, lane), is = logged_lane<E>(passed.after, lane);
  int count = 0;
  const auto log = [&](int number, int item) SALTUS_INLINE_LAMBDA {
    if constexpr (E::kept_directions > 0)
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        const bool is_defined = x.constants.undefined.get(lane) == T(0.0);
        was[E::logged_point + j].v = is[E::logged_point + j].v =
            is_defined ? form::time_sign * passed.times(item, j).get(lane) : T(form::unset);
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
      log(end_of_slide(x, lane), up ? form::leaving_up : form::leaving_down);
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
  const passed_events<E, pack<T, W>> passed{before, loggable(x), due, times};
  for (int lane = 0; lane < W; ++lane)
    if (where[lane]) log_events(x, lane, passed, run);
}

}  // namespace saltus
