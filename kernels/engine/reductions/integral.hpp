// The integral of a quantity over time, and what follows from it: mean, root mean square, standard deviation.
//
// An integral up to a time t*(p) has the derivative  I_p + q t*',  q being its integrand there. An event at t* ends one piece of the
// trajectory and begins the next, so the integral gains (q- - q+) t*'.
#pragma once

#include "engine/reductions/quantity.hpp"

namespace saltus {

/// body(row of reduced_rates, constant: of the square?) for each integral whose derivatives a reduction keeps: that of the quantity, or of
/// its square; a standard deviation needs both.
template <class R, class E, class Body>
SALTUS_FN void each_integral_with_rates(int item, const Body& body) {
  body(item, constant<integrates_squares<R>>{});
  if constexpr (keeps_two_rates<R>) body(E::second_row(item), constant<false>{});
}

/// `sum` and the integral over a step of the derivative of the quantity of R, or of its square. Series multiply the series of the quantity
/// and of its derivative: the first terms of the series of the square, which varies twice as fast, would not reach to the end of the step.
template <class R, bool of_square, class E, class Real>
SALTUS_FN Real add_integral_of_rate(Real sum, const stages<typename E::Method, Real, E::n>& s, int direction) {
  using list = typename E::quantities;
  constexpr int i = list::template number_of<R>;
  if constexpr (of_square && is_series_method<typename E::Method>) {
    return sum + s.integral_of_rate_of_square(i, list::rate(i, E::kept_directions, direction), s.h);
  } else {
    const int k = list::rate(of_square ? list::template square_of<R> : i, E::kept_directions, direction);
    return fma(s.h, s.at_start[k], sum) + s.integral[k];
  }
}

/// Adds a committed step of length h to a reduction that is based on integrals. The mean and squared deviations of the steps so far and of
/// this step are merged (T. F. Chan, G. H. Golub, R. J. LeVeque, The American Statistician 37 (1983) 242): no digits cancel.
template <class R, class E, class Real, class Run>
SALTUS_FN void integrate_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                              const kept_reduction& kept, mask_of<Real> inside, const Run& run) {
  constexpr int i = E::quantities::template number_of<R>;
  const int at = kept.at;
  const Real mean = s.at_start[i] + s.mean_change(i, s.h);
  if constexpr (R::kind == reduce::integral) {
    assign_where(inside, x.reduced[at], fma(s.h, mean, x.reduced[at]));
  } else if constexpr (R::kind == reduce::rms) {
    assign_where(inside, x.reduced[at], fma(s.h, fma(mean, mean, s.variance(i, s.h)), x.reduced[at]));
  } else {
    const Real before = max(s.t - max(x.t_begin, window_of<R, Real>(run, kept.item).from), Real(0.0));
    const Real part = s.h / (before + s.h), off = mean - x.reduced[at];
    if constexpr (R::kind == reduce::deviation)
      assign_where(inside, x.reduced[at + 1],
                   x.reduced[at + 1] + s.h * s.variance(i, s.h) + off * off * (before * part));
    assign_where(inside, x.reduced[at], fma(off, part, x.reduced[at]));
  }
  if constexpr (E::kept_directions > 0)
    each_integral_with_rates<R, E>(kept.item, [&](int row, auto of_square) SALTUS_INLINE_LAMBDA {
      each<E::kept_directions>([&](int direction) SALTUS_INLINE_LAMBDA {
        Real& rate = x.reduced_rates[row * E::kept_directions + direction];
        assign_where(inside, rate, add_integral_of_rate<R, decltype(of_square)::value, E>(rate, s, direction));
      });
    });
}

template <class E, class R>
requires(reduces_integrals<R>) struct reduction_in<E, R> : reduction_defaults<E> {
  static constexpr bool follows_events = true;

  template <class Real, class Run>
  SALTUS_FN static void step(instance<E, Real>& x, const committed_step<E, Real>& of, const kept_reduction& kept,
                             mask_of<Real> where, const Run& run) {
    integrate_step<R>(x, of.s, kept, where, run);
  }
  /// Averages over no time are NaN.
  template <class T, class Run>
  SALTUS_FN static double final_value(instance<E, pack<T, 1>>& x, const kept_reduction& kept, const Run& run) {
    constexpr double unset = E::form::unset;
    const double value = static_cast<double>(x.reduced[kept.at].v), number = value == value ? value : unset;
    if constexpr (R::kind == reduce::integral) return number;
    const auto window = window_of<R, pack<T, 1>>(run, kept.item);
    const double begin = static_cast<double>(max(x.t_begin, window.from).v);
    const double span = static_cast<double>(min(x.t, window.to).v) - begin;
    if (!(span > 0.0)) return R::kind == reduce::mean && !R::windowed ? number : unset;
    if constexpr (R::kind == reduce::mean) return number;
    constexpr int of_squares = R::kind == reduce::deviation ? 1 : 0;
    return sqrt(pack<double, 1>(static_cast<double>(x.reduced[kept.at + of_squares].v) / span)).v;
  }

  template <class Real>
  SALTUS_FN static auto initial_rates(const instance<E, Real>&) {
    return reduction_in::template rates_of<Real>(0.0);
  }
  /// An event at the edge of a window may be inside or not: if it moves, there is no derivative.
  template <class Real>
  SALTUS_FN static void follow_time(instance<E, Real>& x, int item, mask_of<Real> where, double direction,
                                    const double* windows) {
    const auto window = window_of<R, Real>(windows, item);
    const Real near = rounding_of_time(x, x.t);
    const auto inside = where & (x.t >= window.from - near) & (x.t <= window.to + near);
    const auto at_edge = inside & ((abs(x.t - window.from) <= near) | (abs(x.t - window.to) <= near));
    Real q = x.y[R::of_output ? 0 : R::index];
    if constexpr (R::of_output) q = E::form::output_values(x.t, x.y, x.constants)[R::index];
    each_integral_with_rates<R, E>(item, [&](int row, auto of_square) SALTUS_INLINE_LAMBDA {
      const Real integrand = decltype(of_square)::value ? q * q : q;
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        Real& rate = x.reduced_rates[row * E::directions + j];
        assign_where(inside, rate, fma(integrand, Real(direction) * x.constants.event_time[j], rate));
        assign_where(at_edge & (x.constants.event_time[j] != Real(0.0)), rate, Real(E::form::unset));
      });
    });
  }
  /// For the square of a root, its derivative is over twice the root. Where the instance ends at an event, the time over which it is
  /// averaged moves with the event.
  template <class T, class Run>
  SALTUS_FN static double final_rate(const instance<E, pack<T, 1>>& x, const kept_reduction& kept, int j, double rate,
                                     const Run& run) {
    if constexpr (R::kind == reduce::integral) return rate;
    const auto window = window_of<R, pack<T, 1>>(run, kept.item);
    const double span = static_cast<double>(min(x.t, window.to).v) - static_cast<double>(max(x.t_begin, window.from).v);
    if (!(span > 0.0)) return R::kind == reduce::mean && !R::windowed ? rate : E::form::unset;
    const double longer = x.t.v < window.to.v ? static_cast<double>(x.constants.event_time[j].v) : 0.0;
    const double kept_value = static_cast<double>(x.reduced[kept.at].v);
    if constexpr (R::kind == reduce::mean) return (rate - kept_value * longer) / span;
    double square, change;  // of the root
    if constexpr (R::kind == reduce::rms) {
      square = kept_value / span;
      change = (rate - square * longer) / span;
    } else {
      const double of_integral = static_cast<double>(x.reduced_rates[E::second_row(kept.item) * E::directions + j].v);
      square = static_cast<double>(x.reduced[kept.at + 1].v) / span;
      change = (rate - (square + kept_value * kept_value) * longer) / span -
               2.0 * kept_value * (of_integral - kept_value * longer) / span;
    }
    return 0.5 * change / sqrt(pack<double, 1>(square)).v;
  }
};

}  // namespace saltus
