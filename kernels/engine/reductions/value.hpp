// The value of a quantity at a time.
#pragma once

#include "engine/reductions/quantity.hpp"

namespace saltus {

/// Derivatives of the value at a time within a step, with the slopes of its beginning.
template <class Reduction, class E, class Real>
SALTUS_FN_COLD void take_rates_of_value(instance<E, Real>& x, int item, const solution_point<Real, E::n>& at,
                                        mask_of<Real> where) {
  const auto q = lifted_quantity<E, Reduction>(x, typename E::form::template lifted<Real>(at.t), at.y, at.rate).value;
  const auto jumps = is_time_of_jump(x, at.t);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    const Real rate = select(jumps, Real(E::form::unset), q.d[j]);
    assign_where(where, x.reduced_rates[item * E::directions + j], rate);
  });
}

/// Records the value at the requested time, if a step from t to t1 has reached it. At the time of an event it is the value after the event,
/// because the next step begins there; the times may differ by rounding.
template <class R, class E, class Real, class Run>
SALTUS_FN void reduce_value(instance<E, Real>& x, const committed_step<E, Real>& of, const kept_reduction& kept,
                            mask_of<Real> where, const Run& run) {
  const Real asked = Real(run.settings.windows[3 * kept.item + 2]);
  const auto due = where & (of.s.t - rounding_of_time(x, of.s.t) <= asked) & (asked <= of.t1);
  if (none(due)) return;
  const Real time = max(asked, of.s.t);
  const auto y = point_within<E>(of.s, of.f, interpolate<typename E::Method>(of.f, of.s), time, of.t1, due);
  const solution_point here{time, y, of.s.f0()};
  Real value, rate;
  quantity_along<E, R>(here, x.constants, value, rate);
  assign_where(due, x.reduced[kept.at], value);
  if constexpr (E::kept_directions > 0) take_rates_of_value<R>(x, kept.item, here, due);
}

/// The derivative of the value at the end of an instance, in direction j, after the events there.
template <class Reduction, class E, class Real>
SALTUS_FN_COLD Real rate_of_final_value(const instance<E, Real>& x, int j) {
  const Real moves = abs(x.constants.event_time[j]);
  const auto q = lifted_quantity<E, Reduction>(x, typename E::form::template lifted<Real>(x.t), x.y, x.f).value;
  return select((moves > Real(0.0)) | is_time_of_jump(x, x.t), Real(E::form::unset), q.d[j]);
}

/// True if the requested time is the end of the instance.
template <class E, class T, class Run>
SALTUS_FN bool is_asked_at_end(const instance<E, pack<T, 1>>& x, int item, const Run& run) {
  const pack<T, 1> asked(run.settings.windows[3 * item + 2]);
  return abs(asked - x.t).v <= rounding_of_time(x, x.t).v;
}

template <class E, class R>
requires(row_of(R::kind).group == reduction_group::value) struct reduction_in<E, R> : reduction_defaults<E> {
  template <class Real>
  SALTUS_FN static void begin(instance<E, Real>& x, int at, mask_of<Real> where) {
    assign_where(where, x.reduced[at], Real(E::form::unset));
  }
  template <class Real, class Run>
  SALTUS_FN static void step(instance<E, Real>& x, const committed_step<E, Real>& of, const kept_reduction& kept,
                             mask_of<Real> where, const Run& run) {
    reduce_value<R>(x, of, kept, where, run);
  }
  /// No step covers the value at the very end.
  template <class T, class Run>
  SALTUS_FN static double final_value(instance<E, pack<T, 1>>& x, const kept_reduction& kept, const Run& run) {
    pack<T, 1> value, rate;
    quantity_along<E, R>({x.t, x.y, x.f}, x.constants, value, rate);
    if (is_asked_at_end(x, kept.item, run)) x.reduced[kept.at] = value;
    const double number = static_cast<double>(x.reduced[kept.at].v);
    return number == number ? number : E::form::unset;
  }

  /// There is no derivative at the time of an event that moves.
  template <class Real, class Run>
  SALTUS_FN static void take_back(instance<E, Real>& x, int item, mask_of<Real> where, const Run& run) {
    const auto at_once = where & is_time_of_jump(x, Real(run.settings.windows[3 * item + 2]));
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
      assign_where(at_once, x.reduced_rates[item * E::directions + j], Real(E::form::unset));
    });
  }
  template <class T, class Run>
  SALTUS_FN static double final_rate(const instance<E, pack<T, 1>>& x, const kept_reduction& kept, int j, double rate,
                                     const Run& run) {
    return is_asked_at_end(x, kept.item, run) ? static_cast<double>(rate_of_final_value<R>(x, j).v) : rate;
  }
};

}  // namespace saltus
