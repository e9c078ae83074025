// The number of the events of a guard, and the times of its first and last one.
//
// The first and the last time have the derivative of the event's time, and the number of events has derivative 0, as long as no event is at
// the very edge of a window.
#pragma once

#include "engine/reductions/quantity.hpp"

namespace saltus {

/// True if the time of a lane is inside a window, to rounding.
template <class E, class T, int W>
SALTUS_FN bool is_inside(const instance<E, pack<T, W>>& x, int lane, const time_window<pack<T, 1>>& window) {
  const T t = x.t.get(lane), near = rounding_of_time(x, x.t).get(lane);
  return window.from.v - near <= t && t <= window.to.v + near;
}

/// Derivatives of a reduction of events. `is_first`: the event is the first in the window. An
/// event at the edge of the window may be inside or outside: the derivative does not exist, which is kept as the largest number.
template <class Reduction, class E, class T, int W>
SALTUS_FN_COLD void reduce_rates_of_event(instance<E, pack<T, W>>& x, int item, const reduced_event<E, T>& event,
                                          const time_window<pack<T, 1>>& window, bool is_first) {
  const int lane = event.lane;
  const T t = x.t.get(lane), nothing = limits<T>::largest;
  const auto is_at = [&](T edge) SALTUS_INLINE_LAMBDA {
    return abs(pack<T, 1>(t - edge)).v <= T(64.0 * limits<T>::epsilon) * (abs(pack<T, 1>(t)).v + abs(x.h).get(lane));
  };
  const bool at_edge = Reduction::windowed && (is_at(window.from.v) || is_at(window.to.v));
  const bool inside = is_inside(x, lane, window);
  if (!at_edge && !inside) return;
  for (int j = 0; j < E::directions; ++j) {
    auto& rate = x.reduced_rates[item * E::directions + j];
    const T of_time = event.point[E::logged_point + j].v, before = rate.get(lane);
    const bool is_open = (at_edge && of_time != T(0.0)) || (Reduction::kind != reduce::last && before == nothing);
    if (Reduction::kind == reduce::first && !is_first) continue;
    if (is_open) rate.set(lane, nothing);
    else if (Reduction::kind != reduce::count && inside) rate.set(lane, of_time);
  }
}

template <class E, class R>
requires(is_of_event(R::kind)) struct reduction_in<E, R> : reduction_defaults<E> {
  template <class Real>
  SALTUS_FN static void begin(instance<E, Real>& x, int at, mask_of<Real> where) {
    if constexpr (R::kind != reduce::count) assign_where(where, x.reduced[at], Real(E::form::unset));
  }
  template <class T, int W, class Run>
  SALTUS_FN static void event(instance<E, pack<T, W>>& x, const kept_reduction& kept, const reduced_event<E, T>& event,
                              const Run& run) {
    const auto window = window_of<R, pack<T, 1>>(run, kept.item);
    const T t = x.t.get(event.lane), before = x.reduced[kept.at].get(event.lane);
    if constexpr (E::kept_directions > 0)
      if (R::index == event.number) reduce_rates_of_event<R>(x, kept.item, event, window, before != before);
    if (R::index != event.number || !is_inside(x, event.lane, window)) return;
    if constexpr (R::kind == reduce::count) x.reduced[kept.at].set(event.lane, before + T(1.0));
    else if (R::kind == reduce::last || before != before) x.reduced[kept.at].set(event.lane, t);
  }
  template <class T, class Run>
  SALTUS_FN static double final_value(instance<E, pack<T, 1>>& x, const kept_reduction& kept, const Run&) {
    const auto number = static_cast<double>(x.reduced[kept.at].v);
    return R::kind == reduce::count ? number : E::form::model_time(number);
  }

  template <class Real>
  SALTUS_FN static auto initial_rates(const instance<E, Real>&) {
    return reduction_in::template rates_of<Real>(R::kind == reduce::count ? 0.0 : E::form::unset);
  }
};

}  // namespace saltus
