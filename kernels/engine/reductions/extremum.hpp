// The smallest and the largest value of a quantity, their times, and the derivatives of both.
#pragma once

#include "engine/reductions/derivatives_of_extremum.hpp"

namespace saltus {

template <class E, class R>
requires(row_of(R::kind).group == reduction_group::extremum) struct reduction_in<E, R> : reduction_defaults<E> {
  static constexpr bool follows_events = true;

  /// With a window it begins with the steps inside it.
  template <class Real>
  SALTUS_FN static void begin(instance<E, Real>& x, int at, mask_of<Real> where) {
    Real value = Real(-sign_of_extremum<R> * limits<typename E::T>::largest), time = Real(E::form::unset), rate;
    if constexpr (!R::windowed) {
      quantity_along<E, R>({x.t, x.y, x.f}, x.constants, value, rate);
      time = x.t;
    }
    assign_where(where, x.reduced[at], value);
    if constexpr (has_time<R>) assign_where(where, x.reduced[at + 1], time);
  }
  template <class Real, class Run>
  SALTUS_FN static void step(instance<E, Real>& x, const committed_step<E, Real>& of, const kept_reduction& kept,
                             mask_of<Real> where, const Run& run) {
    extremum_of_step<R>(x, of, kept.at, where);
    if constexpr (E::kept_directions > 0) {
      turn_rates<E, any_extremum<R>>(x, kept.item, of, Real(sign_of_extremum<R>), where);
      if constexpr (R::windowed) rates_at_edges(x, of, kept.item, where, window_of<R, Real>(run, kept.item));
    }
  }
  /// The value after an event may exceed all values so far. It counts at the end of a window, too.
  template <class Real>
  SALTUS_FN static void jump(instance<E, Real>& x, const kept_reduction& kept, mask_of<Real> where,
                             const tolerances<E, Real>& tol) {
    if constexpr (R::windowed) {
      const auto window = window_of<R, Real>(tol.windows, kept.item);
      const Real near = rounding_of_time(x, x.t);
      where = where & (x.t >= window.from - near) & (x.t <= window.to + near);
    }
    Real value, rate;
    quantity_along<E, R>({x.t, x.y, x.f}, x.constants, value, rate);
    take_extremum<R>(x, kept.at, Real(sign_of_extremum<R>), value, x.t, where);
  }
  /// No step covers the values at the very end of a window that is there.
  template <class T, class Run>
  SALTUS_FN static double final_value(instance<E, pack<T, 1>>& x, const kept_reduction& kept, const Run& run) {
    using one = pack<T, 1>;
    if constexpr (R::windowed) {
      const auto window = window_of<R, one>(run, kept.item);
      one value, rate;
      quantity_along<E, R>({x.t, x.y, x.f}, x.constants, value, rate);
      if (window.from.v <= x.t.v && x.t.v <= window.to.v && x.t.v > x.t_begin.v)
        take_extremum<R>(x, kept.at, one(sign_of_extremum<R>), value, x.t, mask_of<one>::all(true));
    }
    if constexpr (has_time<R>) return E::form::model_time(static_cast<double>(x.reduced[kept.at + 1].v));
    const auto value = x.reduced[kept.at];
    const bool is_there = value.v == value.v && !(R::windowed && abs(value).v == static_cast<T>(limits<T>::largest));
    return is_there ? static_cast<double>(value.v) : E::form::unset;
  }

  template <class Real>
  SALTUS_FN static auto initial_rates(const instance<E, Real>& x) {
    auto q = lifted_quantity_here<E, R>(x).value;
    if constexpr (R::windowed) {
      q = reduction_in::template rates_of<Real>(E::form::unset);
      q.value = Real(-sign_of_extremum<R> * limits<typename E::T>::largest);
    }
    return q;
  }
  static constexpr double initial_second_rate = R::windowed ? E::form::unset : 0.0;
  /// The time of an extremum has the derivatives in the second row. There are none if the extremum with the derivatives is not that of the
  /// values, as where an output has too many corners in a step.
  template <class T, class Run>
  SALTUS_FN static double final_rate(const instance<E, pack<T, 1>>& x, const kept_reduction& kept, int j, double rate,
                                     const Run& run) {
    if constexpr (may_have_corner<R, E>) {
      constexpr double some = 1000.0;
      const auto largest = x.reduced[kept.at + row_of(R::kind).numbers];
      const auto apart = abs(x.reduced[kept.at] - x.extreme[kept.item]);
      if (apart.v > static_cast<T>(some * run.settings.rtol) * largest.v) return E::form::unset;
    }
    if constexpr (!has_time<R>) return rate;
    else
      return E::form::time_sign * static_cast<double>(x.reduced_rates[E::second_row(kept.item) * E::directions + j].v);
  }
  /// A point that ends a piece counts if the quantity is moving towards the extremum. At the edge of a window, where it may be inside or
  /// not, it has no derivative if it moves.
  template <bool Arriving, class Real>
  SALTUS_FN static void end_of_piece(instance<E, Real>& x, int item, mask_of<Real> where,
                                     const tolerances<E, Real>& tol) {
    auto q = lifted_quantity_here<E, R>(x);
    auto counts = Arriving ? where & (Real(sign_of_extremum<R>) * q.rate.value >= Real(0.0)) : where;
    rates_of_time<E, R, Real> of_time;
    if constexpr (has_time<R>) of_time = x.constants.event_time;
    if constexpr (R::windowed) {
      const auto window = window_of<R, Real>(tol.windows, item);
      const Real near = rounding_of_time(x, x.t);
      counts = counts & (x.t >= window.from - near) & (x.t <= window.to + near);
      const auto at_edge = (abs(x.t - window.from) <= near) | (abs(x.t - window.to) <= near);
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        const auto moves = at_edge & (x.constants.event_time[j] != Real(0.0));
        q.value.d[j] = select(moves, Real(E::form::unset), q.value.d[j]);
        if constexpr (has_time<R>) of_time[j] = select(moves, Real(E::form::unset), of_time[j]);
      });
    }
    take_rates_of_extremum<E, any_extremum<R>>(x, item, q.value, of_time, Real(sign_of_extremum<R>), counts, tol);
  }
  template <class Real>
  SALTUS_FN static mask_of<Real> differ(const instance<E, Real>& x, const instance<E, Real>& other, int item,
                                        const tolerances<E, Real>& tol) {
    return abs(x.extreme[item] - other.extreme[item]) >
           Real(16.0) * tol.rtol * (abs(x.extreme[item]) + abs(other.extreme[item]));
  }

 private:
  /// Takes in the ends of a step at which the window begins or ends.
  template <class Real>
  SALTUS_FN static void rates_at_edges(instance<E, Real>& x, const committed_step<E, Real>& of, int item,
                                       mask_of<Real> where, const time_window<Real>& window) {
    using lifted = typename E::form::template lifted<Real>;
    const Real near = rounding_of_time(x, of.t1);
    const auto begins = where & (abs(of.s.t - max(window.from, x.t_begin)) <= near);
    const auto ends = where & (abs(of.t1 - window.to) <= near);
    rates_of_time<E, R, Real> fixed;
    if constexpr (has_time<R>) each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { fixed[j] = Real(0.0); });
    const auto take = [&](Real t, const vec<Real, E::n>& y, const vec<Real, E::n>& f,
                          mask_of<Real> there) SALTUS_INLINE_LAMBDA {
      if (any(there))
        take_rates_of_extremum<E, any_extremum<R>>(x, item, lifted_quantity<E, R>(x, lifted(t), y, f).value, fixed,
                                                   Real(sign_of_extremum<R>), there, *of.f.tol);
    };
    take(of.s.t, of.s.y, of.s.f0(), begins);
    take(of.t1, of.s.y1, of.s.f1(), ends);
  }
};

}  // namespace saltus
