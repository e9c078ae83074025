// Reductions: numbers accumulated over a trajectory as its steps are committed. Extrema, integrals and their derived values, quantiles over
// time, the value at a time; for events their count, first and last time. Within a window a step counts as far as it lies in the window.
#pragma once

#include "engine/reduced_derivatives.hpp"
#include "engine/time_in_bins.hpp"

namespace saltus {

/// A quantity and its time derivative at a point: a state with its derivative, or an output by dual numbers.
template <class E, class Reduction, class Real>
SALTUS_FN void quantity_along(Real t, const vec<Real, E::n>& y, const vec<Real, E::n>& f,
                              const typename E::form::template step_constants<Real>& c, Real& value, Real& rate) {
  if constexpr (Reduction::of_output) {
    const auto r = E::form::outputs_along(t, y, f, c);
    value = r.value[Reduction::index];
    rate = r.rate[Reduction::index];
  } else {
    value = y[Reduction::index];
    rate = f[Reduction::index];
  }
}

/// The initial values of reductions, at the first point of an instance. Reductions with a window begin with the steps inside it.
template <class E, class Real>
SALTUS_FN void begin_reductions(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, [[maybe_unused]] int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    using of = reduction_traits<R>;
    for (int k = 0; k < numbers_kept_for<R>; ++k) assign_where(where, x.reduced[at + k], Real(0.0));
    if constexpr (R::kind == reduce::value || R::kind == reduce::first || R::kind == reduce::last)
      assign_where(where, x.reduced[at], Real(E::form::unset));
    if constexpr (of::is_extremum) {
      Real value = Real(-of::sign * limits<typename E::T>::largest), time = Real(E::form::unset), rate;
      if constexpr (!R::windowed) {
        quantity_along<E, R>(x.t, x.y, x.f, x.constants, value, rate);
        time = x.t;
      }
      assign_where(where, x.reduced[at], value);
      if constexpr (of::has_time) assign_where(where, x.reduced[at + 1], time);
    }
    if constexpr (E::kept_directions > 0) begin_reduced_rates<E, R>(x, j, where);
  });
}

/// Takes a value at time t into an extremum.
template <class R, class E, class Real>
SALTUS_FN void take_extremum(instance<E, Real>& x, int at, Real value, Real t, mask_of<Real> where) {
  constexpr double sign = reduction_traits<R>::sign;
  if constexpr (reduction_traits<R>::has_time) {
    const auto better = where & (Real(sign) * value > Real(sign) * x.reduced[at]);
    assign_where(better, x.reduced[at], value);
    assign_where(better, x.reduced[at + 1], t);
  } else {
    assign_where(where, x.reduced[at], Real(sign) * max(Real(sign) * x.reduced[at], Real(sign) * value));
  }
}

/// Takes the values after an event into extrema, which may exceed all values so far. Within a window the next step does this.
template <class E, class Real>
SALTUS_FN void reduce_jump(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, int, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (reduction_traits<R>::is_extremum && !R::windowed) {
      Real value, rate;
      quantity_along<E, R>(x.t, x.y, x.f, x.constants, value, rate);
      take_extremum<R>(x, at, value, x.t, where);
    }
  });
}

/// Event number `event` has happened in a lane; `point` is its entry in the event log.
template <class E, class T, int W, class Run>
SALTUS_FN void reduce_event(instance<E, pack<T, W>>& x, int lane, int event,
                            [[maybe_unused]] const vec<pack<T, 1>, E::logged>& point, const Run& run) {
  E::each_reduction([&](auto r, int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (is_of_event(R::kind)) {
      const auto window = window_of<R, pack<T, 1>>(run, j);
      const T t = x.t.get(lane), before = x.reduced[at].get(lane);
      if constexpr (E::kept_directions > 0)
        if (R::index == event) reduce_rates_of_event<R>(x, lane, j, window, before != before, point);
      if (R::index != event || !(window.from.v <= t && t <= window.to.v)) return;
      if constexpr (R::kind == reduce::count) x.reduced[at].set(lane, before + T(1.0));
      else if (R::kind == reduce::last || before != before) x.reduced[at].set(lane, t);
    }
  });
}

/// A quantity at the ends of a part of a step, and its duration.
template <class Real>
struct stretch {
  Real left, right;  ///< as fractions of the step
  Real width;        ///< as a time
  Real q0, d0, q1, d1;
};

/// Position of the maximum of `sign` times the cubic through the ends of a stretch, as a fraction of it: the root of its slope a s^2 + b s
/// + c at which the slope falls, in the form without cancellation. The result is outside (0, 1) if there is no maximum inside.
template <class Real>
SALTUS_FN Real turning_point(Real sign, const stretch<Real>& s, Real h) {
  const Real rise = sign * (s.q1 - s.q0), d0 = sign * s.d0, d1 = sign * s.d1;
  const Real a = Real(3.0) * (h * (d0 + d1) - (rise + rise));
  const Real b = Real(6.0) * rise - Real(2.0) * h * (d0 + d0 + d1);
  const Real c = h * d0;
  const Real root = sqrt(max(fma(b, b, Real(-4.0) * a * c), Real(0.0)));
  const Real at = select(b <= Real(0.0), (c + c) / (root - b), Real(-0.5) * (b + root) / a);
  return select(at == at, at, Real(-1.0));
}

/// True if the cubic through the ends can have a maximum between them. If its slope has one sign at both ends it may still turn twice, if
/// it rises less than these slopes require (F. N. Fritsch, R. E. Carlson, SIAM J. Numer. Anal. 17 (1980) 238).
template <class Real>
SALTUS_FN mask_of<Real> may_turn(Real sign, const stretch<Real>& s) {
  const Real rise = Real(3.0) * (s.q1 - s.q0), a = s.width * s.d0, b = s.width * s.d1;
  const auto turns = (sign * s.d0 > Real(0.0)) & (sign * s.d1 < Real(0.0));
  const auto alike = s.d0 * s.d1 > Real(0.0);
  return turns | (alike & ((abs(a) > abs(rise)) | (abs(b) > abs(rise)) | (a * rise < Real(0.0))));
}

/// An extremum between the ends of a stretch.
template <class Real>
struct turned {
  Real value, at;  ///< `sign` times the quantity; position as a fraction of the step
};

/// Iterations for a turning point if its time is asked for.
inline constexpr int attempts_for_time = 6;

/// The maximum of `sign` times a quantity in a stretch of a step of length h: at the turning point of the cubic through its ends, then of
/// the cubic through the last two points, if that lies between the ends behind which the maximum is known to lie. One of these ends may stay
/// where it is: cubics through it would converge slowly where the quantity turns within a step. The reported place is that of the smallest
/// slope. `look(at, q, d)` gives value and time derivative.
template <int Attempts, class Real, class Look>
SALTUS_FN_COLD turned<Real> highest_between(const Look& look, Real sign, stretch<Real> s, Real h) {
  turned<Real> r{max(sign * s.q0, sign * s.q1), select(sign * s.q0 > sign * s.q1, s.left, s.right)};
  Real flattest = Real(limits<scalar_of<Real>>::largest);
  stretch<Real> last = s;  // from the point before the last one to the last one
  for (int attempts = 0; attempts < Attempts; ++attempts) {
    const Real width = s.right - s.left, apart = last.right - last.left;
    Real at = fma(apart, turning_point(sign, last, apart * h), last.left);
    if (attempts > 0)
      at = select((at > s.left) & (at < s.right), at, fma(width, turning_point(sign, s, width * h), s.left));
    at = select((at > s.left) & (at < s.right), at, fma(width, Real(0.5), s.left));
    Real q, d;
    look(at, q, d);
    const auto better = abs(d) < flattest;
    flattest = select(better, abs(d), flattest);
    r.at = select(better, at, r.at);
    r.value = max(r.value, sign * q);
    const auto rises = sign * d > Real(0.0);
    const auto right_end =
        attempts > 0 ? mask_of<Real>::all(true) : rises;  // at first, the end behind which the maximum lies
    const stretch<Real> before = attempts > 0 ? last : s;
    last.left = select(right_end, before.right, before.left), last.right = at;
    last.q0 = select(right_end, before.q1, before.q0), last.q1 = q;
    last.d0 = select(right_end, before.d1, before.d0), last.d1 = d;
    s.left = select(rises, at, s.left), s.right = select(rises, s.right, at);
    s.q0 = select(rises, q, s.q0), s.q1 = select(rises, s.q1, q);
    s.d0 = select(rises, d, s.d0), s.d1 = select(rises, s.d1, d);
  }
  return r;
}

/// Adds a committed step of length h to a reduction that is based on integrals. The mean and squared deviations of the steps so far and of
/// this step are merged (T. F. Chan, G. H. Golub, R. J. LeVeque, The American Statistician 37 (1983) 242): no digits cancel.
template <class R, class E, class Real, class Run>
SALTUS_FN void integrate_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, int j, int at,
                              mask_of<Real> inside, const Run& run) {
  constexpr int i = E::quantities::template place_of<R>;
  const Real mean = s.at_start[i] + s.mean_change(i, s.h);
  if constexpr (R::kind == reduce::integral) {
    assign_where(inside, x.reduced[at], fma(s.h, mean, x.reduced[at]));
  } else if constexpr (R::kind == reduce::rms) {
    assign_where(inside, x.reduced[at], fma(s.h, fma(mean, mean, s.variance(i, s.h)), x.reduced[at]));
  } else {
    const Real before = max(s.t - max(x.t_begin, window_of<R, Real>(run, j).from), Real(0.0));
    const Real part = s.h / (before + s.h), off = mean - x.reduced[at];
    if constexpr (R::kind == reduce::deviation)
      assign_where(inside, x.reduced[at + 1],
                   x.reduced[at + 1] + s.h * s.variance(i, s.h) + off * off * (before * part));
    assign_where(inside, x.reduced[at], fma(off, part, x.reduced[at]));
  }
  if constexpr (E::kept_directions > 0 && reduction_traits<R>::is_integral) {
    each<E::kept_directions>([&](int direction) SALTUS_INLINE_LAMBDA {
      const int k = E::quantities::rate(i, E::kept_directions, direction);
      Real& rate = x.reduced_rates[j * E::kept_directions + direction];
      assign_where(inside, rate, fma(s.h, s.at_start[k], rate) + s.integral[k]);
    });
  }
}

/// Adds a stretch to the time in bins, as linear pieces. `value(u)` is the quantity, u from 0 to 1.
template <int Pieces, class E, class T, int W, class Value>
SALTUS_FN_COLD void spend_stretch(instance<E, pack<T, W>>& x, int at, const stretch<pack<T, W>>& p, const Value& value,
                                  mask_of<pack<T, W>> inside) {
  using Real = pack<T, W>;
  const Real dt = p.width * Real(1.0 / Pieces);
  Real q0 = p.q0;
  for (int k = 1; k <= Pieces; ++k) {
    const Real q1 = k == Pieces ? p.q1 : value(Real(k * (1.0 / Pieces)));
    for (int lane = 0; lane < W; ++lane)
      if (inside[lane]) time_in_bins<E, T, W>(x, lane, at).add(q0.get(lane), q1.get(lane), dt.get(lane));
    q0 = q1;
  }
}

/// Records the value at the requested time, if a step from t to t1 has reached it. At the time of an event it is the value after the event,
/// because the next step begins there.
template <class R, class E, class Real, class F, class Run>
SALTUS_FN void reduce_value(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f, Real t1,
                            int j, int at, mask_of<Real> where, const Run& run) {
  const Real time = Real(run.settings.windows[3 * j + 2]);
  const auto due = where & (s.t <= time) & (time <= t1);
  if (none(due)) return;
  const auto y = point_within<E>(s, f, interpolate<typename E::Method>(f, s), time, t1, due);
  Real value, rate;
  quantity_along<E, R>(time, y, s.f0(), x.constants, value, rate);
  assign_where(due, x.reduced[at], value);
  if constexpr (E::kept_directions > 0) take_rates_of_value<R>(x, j, time, y, s.f0(), due);
}

/// A quantity and its time derivative within a step, from the dense output.
template <class R, class E, class Real>
SALTUS_FN void look_within(const instance<E, Real>& x, const interpolant_of<E, Real>& step, Real at, Real& q, Real& d) {
  auto slope = step.slope(at);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] / step.h; });
  quantity_along<E, R>(fma(at, step.h, step.t), step(at), slope, x.constants, q, d);
}

/// Evaluates the quantity of R along a step that ends at t1: at its ends, and between them on the dense output.
template <class R, class E, class Real>
struct quantity_on_step {
  const instance<E, Real>& x;
  const stages<typename E::Method, Real, E::n>& s;

  SALTUS_FN void at_ends(stretch<Real>& p) const {
    p.left = Real(0.0), p.right = Real(1.0), p.width = s.h;
    quantity_along<E, R>(s.t, s.y, s.f0(), x.constants, p.q0, p.d0);
    quantity_along<E, R>(s.t + s.h, s.y1, s.f1(), x.constants, p.q1, p.d1);
  }
  /// Time derivatives are those of the field if there is one: they vanish where those of the solution do.
  template <class F>
  SALTUS_FN void within(const interpolant_of<E, Real>& step, const F& f, Real at, Real& q, Real& d) const {
    if constexpr (E::Method::is_explicit && E::form::has_field && !has_constraints<typename E::form> &&
                  !is_series_method<typename E::Method> && reduction_traits<R>::has_time) {
      const Real t = fma(at, s.h, s.t);
      const auto y = step(at);
      quantity_along<E, R>(t, y, f(t, y), x.constants, q, d);
    } else {
      look_within<R>(x, step, at, q, d);
    }
  }
};

/// The extremum inside a stretch whose ends show that there may be one: the turning point of the cubic through them, evaluated on the dense
/// output. If its time is asked for, the zero of the time derivative is located.
template <class R, class E, class Real, class F>
SALTUS_FN_COLD void take_turning_point(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                                       const F& f, int at, const stretch<Real>& p, mask_of<Real> turns) {
  constexpr double sign = reduction_traits<R>::sign;
  constexpr bool has_time = reduction_traits<R>::has_time;
  const Real part = turning_point(Real(sign), p, p.width);
  turns = turns & (part > Real(0.0)) & (part < Real(1.0));
  if (none(turns)) return;
  const auto step = interpolate<typename E::Method>(f, s);
  const auto look = [&](Real place, Real& q, Real& d) SALTUS_INLINE_LAMBDA {
    quantity_on_step<R, E, Real>{x, s}.within(step, f, place, q, d);
  };
  if constexpr (has_time && E::Method::is_explicit && E::form::has_field && !has_constraints<typename E::form> &&
                !is_series_method<typename E::Method>)
    add_where(x.rhs_evaluations, turns, attempts_for_time);
  // For methods of low order the steps are so short that the cubic through their ends suffices.
  constexpr int attempts = has_time ? attempts_for_time : R::of_output || E::Method::order > 5 ? 3 : 1;
  const auto top = highest_between<attempts>(look, Real(sign), p, s.h);
  take_extremum<R>(x, at, Real(sign) * top.value, fma(top.at, s.h, s.t), turns);
}

/// Steps of methods of high order may be as long as an output's turning time, so they are examined in pieces.
template <class R, class E>
inline constexpr bool looks_at_pieces = is_series_method<typename E::Method> || (R::of_output && E::Method::order > 5);

/// Updates an extremum with a step.
template <class R, class E, class Real, class F>
SALTUS_FN void extremum_of_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f,
                                Real t1, int at, mask_of<Real> inside) {
  constexpr double sign = reduction_traits<R>::sign;
  stretch<Real> p;
  quantity_on_step<R, E, Real>{x, s}.at_ends(p);
  if constexpr (R::windowed) take_extremum<R>(x, at, p.q0, s.t, inside);
  take_extremum<R>(x, at, p.q1, t1, inside);
  if constexpr (looks_at_pieces<R, E>) {
    constexpr int pieces = 4;
    const auto step = interpolate<typename E::Method>(f, s);
    const stretch<Real> whole = p;
    p.width = s.h * Real(1.0 / pieces);
    for (int k = 1; k <= pieces; ++k) {
      p.right = Real(k * (1.0 / pieces));
      if (k == pieces) p.q1 = whole.q1, p.d1 = whole.d1;
      else look_within<R>(x, step, p.right, p.q1, p.d1);
      take_extremum<R>(x, at, p.q1, fma(p.right, s.h, s.t), inside);
      if (const auto turns = inside & may_turn(Real(sign), p); any(turns)) take_turning_point<R>(x, s, f, at, p, turns);
      p.left = p.right, p.q0 = p.q1, p.d0 = p.d1;
    }
  } else {
    if (const auto turns = inside & may_turn(Real(sign), p); any(turns)) take_turning_point<R>(x, s, f, at, p, turns);
  }
}

/// Counts the time of a step in bins, in linear pieces of the cubic through its ends, or of the dense output of a series.
template <class R, class E, class Real, class F>
SALTUS_FN void count_time_of_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f,
                                  int at, mask_of<Real> inside) {
  stretch<Real> p;
  quantity_on_step<R, E, Real>{x, s}.at_ends(p);
  if constexpr (is_series_method<typename E::Method>) {
    const auto step = interpolate<typename E::Method>(f, s);
    const auto value = [&](Real u) SALTUS_INLINE_LAMBDA {
      Real q, d;
      look_within<R>(x, step, u, q, d);
      return q;
    };
    spend_stretch<32>(x, at, p, value, inside);
  } else {
    const Real rise = p.q1 - p.q0, first = fma(p.width, p.d0, -rise);
    const Real second = fma(-p.width, p.d0 + p.d1, rise + rise);
    const auto cubic = [&](Real u) SALTUS_INLINE_LAMBDA {
      return fma(u, fma(Real(1.0) - u, fma(u, second, first), rise), p.q0);
    };
    spend_stretch<8>(x, at, p, cubic, inside);
  }
}

/// Adds a committed step that ends at t1 to the reductions. Steps end at the ends of windows. With Extrema = false only integrals are
/// updated.
template <bool Extrema = true, class E, class Real, class F, class Run>
SALTUS_FN void reduce_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f, Real t1,
                           mask_of<Real> where, const Run& run) {
  E::each_reduction([&](auto r, int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    using of = reduction_traits<R>;
    if constexpr (R::kind == reduce::value) {
      reduce_value<R>(x, s, f, t1, j, at, where, run);
    } else if constexpr (counts_whole_steps(R::kind) && (Extrema || !of::is_extremum)) {
      auto inside = where;
      if constexpr (R::windowed) {
        const auto window = window_of<R, Real>(run, j);
        const Real late = rounding_of_time(x, t1);
        inside = inside & (s.t >= window.from - late) & (t1 <= window.to + late);
        if (none(inside)) return;
      }
      if constexpr (of::is_extremum) extremum_of_step<R>(x, s, f, t1, at, inside);
      else if constexpr (R::kind == reduce::quantile) count_time_of_step<R>(x, s, f, at, inside);
      else integrate_step<R>(x, s, j, at, inside, run);
      if constexpr (of::is_extremum && E::kept_directions > 0) {
        stretch<Real> p;
        quantity_on_step<R, E, Real>{x, s}.at_ends(p);
        const Real guess = turning_point(Real(of::sign), p, p.width);
        turn_rates<E, R>(x, j, s, f, select((guess > Real(0.0)) & (guess < Real(1.0)), guess, Real(0.5)), p.d0, p.d1,
                         inside);
      }
    }
  });
}

/// Final value of reduction j: NaN for a time that does not exist, and for averages over no time.
template <class R, class E, class T, class Run>
SALTUS_FN_COLD double final_reduction(instance<E, pack<T, 1>>& x, int j, int at, const Run& run) {
  using of = reduction_traits<R>;
  using one = pack<T, 1>;
  constexpr double unset = E::form::unset;
  const auto window = window_of<R, one>(run, j);
  const auto everyone = mask_of<one>::all(true);
  if constexpr (is_of_event(R::kind)) {
    const auto number = static_cast<double>(x.reduced[at].v);
    return R::kind == reduce::count ? number : E::form::model_time(number);
  } else if constexpr (R::kind == reduce::value || (of::is_extremum && R::windowed)) {
    // No step covers the values at the very end.
    one value, rate;
    quantity_along<E, R>(x.t, x.y, x.f, x.constants, value, rate);
    if constexpr (R::kind == reduce::value) {
      if (static_cast<T>(run.settings.windows[3 * j + 2]) == x.t.v) x.reduced[at] = value;
    } else if (window.from.v <= x.t.v && x.t.v <= window.to.v && x.t.v > x.t_begin.v) {
      take_extremum<R>(x, at, value, x.t, everyone);
    }
  }
  const double kept = static_cast<double>(x.reduced[at].v), number = kept == kept ? kept : unset;
  if constexpr (of::has_time) return E::form::model_time(static_cast<double>(x.reduced[at + 1].v));
  else if constexpr (of::is_extremum)
    return R::windowed && abs(x.reduced[at]).v == static_cast<T>(limits<T>::largest) ? unset : number;
  else if constexpr (R::kind == reduce::quantile)
    return static_cast<double>(
        time_in_bins<E, T, 1>(x, 0, at).quantile(static_cast<T>(run.settings.windows[3 * j + 2])));
  else if constexpr (R::kind == reduce::value || R::kind == reduce::integral) return number;
  else {
    const double begin = static_cast<double>(max(x.t_begin, window.from).v);
    const double span = static_cast<double>(min(x.t, window.to).v) - begin;
    if (!(span > 0.0)) return R::kind == reduce::mean && !R::windowed ? number : unset;
    if constexpr (R::kind == reduce::mean) return number;
    constexpr int of_squares = R::kind == reduce::deviation ? 1 : 0;
    return sqrt(pack<double, 1>(static_cast<double>(x.reduced[at + of_squares].v) / span)).v;
  }
}

}  // namespace saltus
