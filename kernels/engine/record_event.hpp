// The records of an event: in reductions, and in the event log if that has it.
#pragma once

#include "engine/reduce.hpp"

namespace saltus {

/// A point as the event log has it: states, and outputs if requested.
template <class E, class Real>
SALTUS_FN vec<Real, E::logged_point> loggable(const instance<E, Real>& x) {
  vec<Real, E::logged_point> point;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { point[i] = x.y[i]; });
  if constexpr (E::logged_outputs > 0) {
    const auto out = E::form::output_values(x.t, x.y, x.constants);
    each<E::logged_outputs>([&](int i) SALTUS_INLINE_LAMBDA { point[E::model_states + i] = out[i]; });
  }
  return point;
}

/// One lane of a logged point, without derivatives so far.
template <class E, class T, int W>
SALTUS_FN vec<pack<T, 1>, E::logged> logged_lane(const vec<pack<T, W>, E::logged_point>& point, int lane) {
  vec<pack<T, 1>, E::logged> r;
  each<E::logged_point>([&](int i) SALTUS_INLINE_LAMBDA { r[i].v = point[i].get(lane); });
  for (int j = E::logged_point; j < E::logged; ++j) r[j].v = static_cast<T>(E::form::unset);
  return r;
}

/// True if the event log takes event number `event` at time t, known to `near`, apart from a bound on its rows.
SALTUS_FN bool is_logged(const abi::settings& s, int event, double t, double near) {
  return s.log_events != 0 && s.log_from - near <= t && t <= s.log_to + near &&
         (s.logged_events == nullptr || s.logged_events[event] != 0);
}

/// Records event number `event` of a lane, at its accepted point, with the points before and after it.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void record_event(instance<E, pack<T, W>>& x, int lane, int event,
                                 const vec<pack<T, 1>, E::logged>& before, const vec<pack<T, 1>, E::logged>& after,
                                 const Run& run) {
  const int64 slot = x.slot.get(lane);
  const double t = static_cast<double>(x.t.get(lane));
  run.note_event(slot, event);
  reduce_event(x, lane, event, before, run);
  if (!is_logged(run.settings, event, t, static_cast<double>(rounding_of_time(x, x.t).get(lane)))) return;
  int kept_row = -1;
  if constexpr (E::bounds_log) {
    const int64 row = x.logged[0].get(lane), behind = row - run.settings.log_first;
    x.logged[0].set(lane, static_cast<integer_of<T>>(row + 1));
    if (behind >= 0 && run.settings.log_last == 0) return;
    kept_row = static_cast<int>(behind < 0 ? row : run.settings.log_first + behind % run.settings.log_last);
  }
  run.log_event(slot, kept_row, E::form::model_time(t), event, before, after);
}

}  // namespace saltus
