// The quantities integrated beside the states (method/quadrature.hpp): their values, and their part in error control.
#pragma once

#include "engine/instance.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// State number i: its value, or, in a run over series, the row of the run (number/jet.hpp).
template <class Value>
SALTUS_FN Value own_argument(const Value& t, const Value& state, int i) {
  if constexpr (requires { Value::argument(t, i); }) return Value::argument(t, i);
  else return state;
}

/// The quantities at a point, followed by their derivatives if these are carried.
template <class E, class Value, class Held>
SALTUS_FN vec<Value, E::Method::quadratures> quantities_at(Value t, const vec<Value, E::n>& y, const Held& c) {
  using list = typename E::quantities;
  vec<Value, E::Method::quadratures> q;
  if constexpr (E::kept_directions > 0) {
    using form = typename E::form;
    using lifted = typename form::template lifted<Value>;
    vec<lifted, form::outputs> out;
    if constexpr (list::any_output)
      out = form::model_form::output_values(lifted(t), form::lift(y), form::template lift_held<Value>(c));
    static_for<list::count>([&](auto number) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(number)::value, index = list::all.of[i].index;
      constexpr bool of_output = list::all.of[i].of_output;
      constexpr bool squared = list::all.of[i].squared;
      const Value one = of_output ? out[of_output ? index : 0].value : y[of_output ? 0 : index];
      q[i] = squared ? one * one : one;
      each<E::kept_directions>([&](int j) SALTUS_INLINE_LAMBDA {
        const Value rate = of_output ? out[of_output ? index : 0].d[j] : y[of_output ? 0 : form::rate_index(index, j)];
        q[list::rate(i, E::kept_directions, j)] = squared ? (one + one) * rate : rate;
      });
    });
  } else {
    vec<Value, E::form::outputs> out;
    if constexpr (list::any_output) out = E::form::output_values(t, y, c);
    static_for<list::count>([&](auto number) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(number)::value, index = list::all.of[i].index;
      if constexpr (list::all.of[i].of_output) q[i] = out[index];
      else q[i] = own_argument(t, y[index], index);
      if constexpr (list::all.of[i].squared) q[i] = q[i] * q[i];
    });
    for (int i = list::count; i < E::Method::quadratures; ++i) q[i] = Value(0.0);
  }
  return q;
}

/// The quantities at a point that moves in the direction (dt, dy), and their changes.
template <class E, class Value, class Held>
SALTUS_FN with_rate<vec<Value, E::Method::quadratures>> quantities_through(Value t, Value dt, const vec<Value, E::n>& y,
                                                                           const vec<Value, E::n>& dy, const Held& c) {
  using list = typename E::quantities;
  with_rate<vec<Value, E::Method::quadratures>> q;
  with_rate<vec<Value, E::form::outputs>> out;
  if constexpr (list::any_output) out = E::form::outputs_through(t, dt, y, dy, c);
  static_for<list::count>([&](auto number) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(number)::value, index = list::all.of[i].index;
    if constexpr (list::all.of[i].of_output) {
      q.value[i] = out.value[index];
      q.rate[i] = out.rate[index];
    } else {
      q.value[i] = y[index];
      q.rate[i] = dy[index];
    }
    if constexpr (list::all.of[i].squared) {
      q.rate[i] = (q.value[i] + q.value[i]) * q.rate[i];
      q.value[i] = q.value[i] * q.value[i];
    }
  });
  for (int i = list::count; i < E::Method::quadratures; ++i) q.value[i] = q.rate[i] = Value(0.0);
  return q;
}

/// body(reduction type instance, constant index, constant index of the size of its quantity in `reduced`, number of the quantity) for
/// every reduction whose quantity takes part in error control.
template <class E, class F>
SALTUS_FN void each_integrated(F&& body) {
  E::each_reduction([&](auto r, int j, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (is_integrated<R>)
      body(r, j, at + row_of(R::kind).numbers, constant<E::quantities::template number_of<R>>{});
  });
}

/// The share of a quantity's tolerance that the integral over a step of length h may use, of a time `span`. The part in proportion to h
/// keeps the mean within five tolerances for any number of steps. The second part is for steps that cannot resolve an output. An output
/// that jumps without an event has an error of order h, which meets this part after some halvings, before h is rounding of t.
template <class Real>
SALTUS_FN Real share_of_tolerance(Real h, Real span, Real rtol) {
  const Real unresolved = max(Real(0x1p-10), Real(64.0 * limits<scalar_of<Real>>::epsilon) / rtol);
  return fma(Real(5.0), h, unresolved * span);
}

/// The changes of the parts of the outputs in a step. An output that is a small difference of large parts, such as the drift of an
/// invariant, is known no better than its parts: the stages of a step deviate from the solution, and those of implicit methods have errors
/// of their own. The changes of the states are combined with the signs of Thue and Morse, in which no usual sum cancels. A change of the
/// output that is much larger than the stages show does not count as such a part: the stages do not resolve it. A thousandth of what the
/// absolute tolerances of the states allow is added, or an output that is only rounding of states at rest would control the steps.
template <class E, class Real>
SALTUS_FN vec<Real, E::form::outputs> change_of_parts(const instance<E, Real>& x,
                                                      const stages<typename E::Method, Real, E::n>& s,
                                                      const tolerances<E, Real>& tol) {
  using list = typename E::quantities;
  constexpr double of_stages = E::Method::is_explicit ? 0.0 : 0.01, resolved = 4.0, at_rest = 0x1p-10;
  constexpr auto is_odd = [](int i) {
    bool odd = false;
    for (; i > 0; i /= 2) odd = odd != (i % 2 == 1);
    return odd;
  };
  const Real noise = Real(of_stages) + Real(16.0 * limits<typename E::T>::epsilon) / tol.rtol;
  const auto of_tolerance = [&](int i) SALTUS_INLINE_LAMBDA {
    return Real(at_rest) * (tol.atol[i < E::judged ? i : 0] / tol.rtol);
  };
  vec<Real, E::n> with_signs, change;
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    change[i] = i < E::model_states ? s.y1[i] - s.y[i] : Real(0.0);
    with_signs[i] = i < E::model_states ? fma(noise, abs(s.y[i]), abs(change[i])) + of_tolerance(i) : Real(0.0);
    if (is_odd(i)) with_signs[i] = -with_signs[i];
  });
  auto parts = E::form::outputs_through(s.t, fma(noise, abs(s.t), s.h), s.y, with_signs, x.constants).rate;
  const auto whole = E::form::outputs_through(s.t, s.h, s.y, change, x.constants).rate;
  static_for<list::count>([&](auto number) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(number)::value;
    if constexpr (list::all.of[i].of_output && !list::all.of[i].squared) {
      Real& of = parts[list::all.of[i].index];
      const Real seen = Real(resolved) * (s.high[i] - s.low[i]), moved = abs(whole[list::all.of[i].index]);
      of = max(abs(of) - max(moved - seen, Real(0.0)), Real(0.0));
    }
  });
  return parts;
}

/// The tolerance of a quantity in a step, with its magnitude `here` and the change `parts` of its parts; `size` is the index in `reduced`
/// of its largest magnitude so far.
template <class R, class E, class Real>
SALTUS_FN Real tolerance_of(const instance<E, Real>& x, int size, Real here, Real parts,
                            const tolerances<E, Real>& tol) {
  const Real largest = max(x.reduced[size], here);
  // The error of an extremum is the square of the error of its time, so steps that resolve the output to half of the digits show every
  // extremum.
  if constexpr (!reduces_integrals<R>) return fma(Real(0.1) * sqrt(tol.rtol), largest, tol.rtol * parts);
  else if constexpr (R::of_output) return tol.rtol * max(largest, parts);
  else return fma(tol.rtol, largest, tol.atol[R::index < E::judged ? R::index : 0]);
}

/// A step resolves a quantity if its bulge is at most this: the area between the quantity and the straight line through its ends, over the
/// length of the step and the largest magnitude. A wave then turns by 1.5 rad at most; in longer steps error estimates are small by
/// accident. A quantity that grows beyond twice its largest magnitude so far is not judged: near zero, the bulge of a square is 1/6 over steps
/// of any length.
inline constexpr double largest_bulge = 0.15;

/// A bulge, which is of second order, as an error that grows with the power of the step size that the controller expects.
template <class Method, class Real>
SALTUS_FN Real error_of_bulge(Real bulge) {
  constexpr int power = methods::error_order<Method> + 1;
  Real r = power % 2 == 1 ? sqrt(bulge) : Real(1.0);
  for (int i = 0; i < power / 2; ++i) r = r * bulge;
  return r;
}

/// The distances of the outputs from their series at the end of a step. They show the error of the series, and a change of branch within the
/// step, as of an absolute value or a `floor`. Outputs that compare series are also compared inside the step: a branch may end and begin
/// again.
template <class E, class Real>
SALTUS_FN vec<Real, E::quantities::count> defects_of_outputs(const instance<E, Real>& x,
                                                             const stages<typename E::Method, Real, E::n>& s) {
  using list = typename E::quantities;
  vec<Real, list::count> defect;
  each<list::count>([&](int i) SALTUS_INLINE_LAMBDA { defect[i] = Real(0.0); });
  if constexpr (list::any_output) {
    const auto compare = [&](Real length, const vec<Real, E::n>& y) SALTUS_INLINE_LAMBDA {
      const auto out = E::form::output_values(s.t + length, y, x.constants);
      static_for<list::count>([&](auto number) SALTUS_INLINE_LAMBDA {
        constexpr int i = decltype(number)::value;
        if constexpr (list::all.of[i].of_output)
          defect[i] = max(defect[i], abs(out[list::all.of[i].index] - (s.at_start[i] + s.change(i, length))));
      });
    };
    compare(s.h, s.y1);
    if constexpr (smoothness_of<typename E::Model>.outputs >= smoothness::piecewise) {
      const auto series = interpolate<typename E::Method>(x.constants, s);
      for (int k = 1; k <= 2; ++k) {
        const Real at = detail::inner_point<Real>(k);
        compare(at * s.h, series(at));
      }
    }
  }
  return defect;
}

/// The errors of the integrals over a step that crosses a corner of an output, 0 for other steps (engine/corners.hpp).
template <class E, class Real>
using errors_at_corners = vec<Real, watches_corners_of_outputs<E> ? stages<typename E::Method, Real, E::n>::sums : 0>;

/// True where a step is so short that its length is the error of the time of a jump within it.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_as_short_as_a_jump(const instance<E, Real>& x, Real h, const tolerances<E, Real>& tol) {
  constexpr double part = 0x1p-3;
  return abs(h) <= Real(part) * tol.rtol * (x.t_end - x.t_begin);
}

/// True in lanes whose step from t on counts for a reduction.
template <class R, class E, class Real, class Window>
SALTUS_FN mask_of<Real> is_in_window([[maybe_unused]] const instance<E, Real>& x, [[maybe_unused]] Real t,
                                     [[maybe_unused]] const Window& window) {
  if constexpr (!R::windowed) return mask_of<Real>::all(true);
  else {
    const Real late = rounding_of_time(x, t);
    return (t >= window.from - late) & (t < window.to - late);
  }
}

/// The square of the largest error of an integral, relative to its share: a step is accepted if this is <= 1. A quantity that is NaN does
/// not count, because its reduction is NaN anyway.
template <class E, class Real>
SALTUS_FN Real quadrature_error_squared(const instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                                        const vec<Real, E::quantities::any_output ? E::form::outputs : 0>& parts,
                                        [[maybe_unused]] const errors_at_corners<E, Real>& at_corners,
                                        const tolerances<E, Real>& tol) {
  const Real tiny(limits<typename E::T>::smallest);
  Real worst = Real(0.0);
  vec<Real, is_series_method<typename E::Method> ? E::quantities::count : 0> defect;
  if constexpr (is_series_method<typename E::Method>) defect = defects_of_outputs(x, s);
  each_integrated<E>([&](auto r, int j, int size, auto number) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    constexpr int i = decltype(number)::value;
    const auto window = window_of<R, Real>(tol.windows, j);
    const Real span = min(x.t_end, window.to) - max(x.t_begin, window.from);
    const Real change = parts[R::of_output ? R::index : 0];
    const Real most =
        fma(tolerance_of<R>(x, size, s.largest(i), change, tol), share_of_tolerance(s.h, span, tol.rtol), tiny);
    const auto take = [&](Real error, Real bound) SALTUS_INLINE_LAMBDA {
      const Real part = error / bound, square = part * part;
      worst = select(is_in_window<R>(x, s.t, window) & (square > worst), square, worst);
    };
    take(s.integral_error[i], most);
    // At its own corner an extremum has an error of first order in h.
    constexpr bool has_corners_of_its_own =
        R::of_output && smoothness_of<typename E::Model>.output(R::index) >= smoothness::piecewise;
    const auto take_at_corner = [&](Real error) SALTUS_INLINE_LAMBDA {
      if constexpr (reduces_integrals<R> || !has_corners_of_its_own) return take(error, most);
      const Real of_value = s.h * tol.rtol * max(x.reduced[size], s.largest(i)) + tiny;
      take(select(is_as_short_as_a_jump(x, s.h, tol), Real(0.0), error), of_value);
    };
    if constexpr (is_series_method<typename E::Method>) {
      take(Real(0.5) * s.h * defect[i], most);
      if constexpr (!reduces_integrals<R> && has_corners_of_its_own) take_at_corner(Real(0.5) * s.h * defect[i]);
    } else if constexpr (R::of_output) {
      const Real largest = s.h * max(x.reduced[size], s.largest(i)), bulge = s.bulge(i, s.h) / (largest + tiny);
      const auto is_judged =
          (s.largest(i) <= x.reduced[size] + x.reduced[size]) & (most < Real(largest_bulge) * largest);
      take(select(is_judged, error_of_bulge<typename E::Method>(Real(1.0 / largest_bulge) * bulge), Real(0.0)),
           Real(1.0));
    }
    if constexpr (watches_corners_of_outputs<E>) {
      take_at_corner(at_corners[i]);
      if constexpr (E::kept_directions > 0)
        for (int d = 0; d < E::kept_directions; ++d) {
          const int k = E::quantities::rate(i, E::kept_directions, d);
          const Real of_direction = size_of_direction(x, d), share = share_of_tolerance(s.h, span, tol.rtol);
          take(of_direction * at_corners[k], fma(tol.rtol * of_direction * s.largest(k), share, most));
        }
    }
    if constexpr (integrates_squares<R>) {
      // The error of a root is that of the square over twice the current root; the sum of squares is the number before the size.
      const Real elapsed = s.t + s.h - max(x.t_begin, window.from);
      const Real sum = x.reduced[size - 1];
      const Real root = max(s.spread(i), sqrt(max(sum, Real(0.0)) / elapsed));
      const Real of_square = fma(root + root, most, tiny);
      take(s.integral_error[E::Method::quadratures + i], of_square);
      if constexpr (watches_corners_of_outputs<E>) take(at_corners[E::Method::quadratures + i], of_square);
    }
  });
  return worst;
}

/// Updates the sizes of the quantities with an accepted step. Outside its window no quantity limits a step, which may be too long for it.
template <class E, class Real>
SALTUS_FN void keep_sizes(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                          const vec<Real, E::quantities::any_output ? E::form::outputs : 0>& parts, mask_of<Real> where,
                          const tolerances<E, Real>& tol) {
  each_integrated<E>([&](auto r, int j, int size, auto number) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    Real here = s.largest(decltype(number)::value);
    if constexpr (R::of_output) here = max(here, parts[R::index]);
    const auto grows = where & is_in_window<R>(x, s.t, window_of<R, Real>(tol.windows, j)) & (here > x.reduced[size]);
    assign_where(grows, x.reduced[size], here);
  });
}

/// The reach of a series for the integrals: the last two terms must be within the tolerance, as for the states (method/taylor_step.hpp). The
/// result is a fraction of the step `s`, at most 1.
template <class E, class Real>
SALTUS_FN Real reach_of_quantities(const instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                                   const tolerances<E, Real>& tol) {
  constexpr int order = E::Method::order;
  const Real tiny(limits<typename E::T>::smallest);
  Real log_h = rough_log2(s.h);
  const Real longest = log_h;
  each_integrated<E>([&](auto r, int, int size, auto number) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    constexpr int i = decltype(number)::value;
    const Real most = tolerance_of<R>(x, size, s.largest_within(i, s.h), Real(0.0), tol);
    for (int k = order - 1; k <= order; ++k) {
      const Real room = fma(Real(5.0 * (k + 1)), most, tiny) / (abs(s.of[i][k]) + tiny);
      const Real here = Real(1.0 / k) * rough_log2(min(max(room, Real(0x1p-1000)), Real(0x1p1000)));
      log_h = select((room == room) & (here < log_h), here, log_h);
    }
  });
  return select(log_h < longest, rough_exp2(max(log_h - longest, Real(-60.0))), Real(1.0));
}

/// Extends the integrals of a step when its end moves.
template <class E, class Real>
SALTUS_FN void move_quadratures(stages<typename E::Method, Real, E::n>& s, const instance<E, Real>& x,
                                const solution_point<Real, E::n>& from, const solution_point<Real, E::n>& to,
                                mask_of<Real> where) {
  if constexpr (E::quantities::count > 0 && !is_series_method<typename E::Method>) {
    const auto slopes = [&](const solution_point<Real, E::n>& at) SALTUS_INLINE_LAMBDA {
      auto q = quantities_through<E>(at.t, Real(1.0), at.y, at.rate, x.constants);
      // Time derivatives of the parameter derivatives are not needed over so short a distance.
      if constexpr (E::kept_directions > 0) q.value = quantities_at<E>(at.t, at.y, x.constants);
      return q;
    };
    extend_quadratures(s, to.t - from.t, slopes(from), slopes(to), where);
  }
}

/// Lanes in which a window of an output begins after `from` and not after `to`.
template <class E, class Real>
SALTUS_FN mask_of<Real> begins_window_of_output(const double* windows, Real from, Real to) {
  auto r = mask_of<Real>::all(false);
  E::each_reduction([&](auto of, int j, int) SALTUS_INLINE_LAMBDA {
    using R = decltype(of);
    if constexpr (R::of_output && R::windowed) {
      const Real begin = window_of<R, Real>(windows, j).from;
      r = r | ((begin > from) & (begin <= to));
    }
  });
  return r;
}

/// The first end of a window of time after t.
template <class E, class Real>
SALTUS_FN Real next_end_of_window(const double* windows, Real t) {
  Real next = Real(limits<typename E::T>::largest);
  E::each_reduction([&](auto r, int j, int) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (R::windowed && counts_whole_steps(R::kind)) {
      const auto window = window_of<R, Real>(windows, j);
      next = select(window.from > t, min(next, window.from), next);
      next = select(window.to > t, min(next, window.to), next);
    }
  });
  return next;
}

}  // namespace saltus
