// Derivatives of reductions, if derivatives of the states are carried behind them (form/sensitivities.hpp).
//
// An integral up to a time t*(p) has the derivative  I_p + q t*',  q being its integrand there. An event at t* ends one piece of the
// trajectory and begins the next, so the integral gains (q- - q+) t*'. An extremum has the derivative of the quantity at the point where
// it is attained; the motion of this point does not contribute (envelope theorem). The derivative is at a fixed time for a turning point,
// and along with the event for an extremum at its side. The first and the last time of an event have its derivative, and the number of
// events has derivative 0, as long as no event is at the very edge of a window.
//
// If two extrema are equal within errors and have different derivatives, the reduction has no derivative: NaN for this one alone.
#pragma once

#include "engine/samples.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// True if there are reductions and derivatives are kept.
template <class E>
inline constexpr bool reduces_derivatives = E::reductions > 0 && E::kept_directions > 0;

/// True for reductions whose derivative changes at every event.
template <class Reduction>
inline constexpr bool follows_events =
    reduction_traits<Reduction>::is_integral || reduction_traits<Reduction>::is_extremum;

/// The size of direction j: that of the parameter, 1 if it is zero. Initial values are not kept, so their size is 1.
template <class E, class Real>
SALTUS_FN Real size_of_direction(const instance<E, Real>& x, int j) {
  Real size = Real(0.0);
  each<E::form::params>([&](int i) SALTUS_INLINE_LAMBDA {
    if (E::form::is_of_parameter(j, i)) size = abs(x.constants.p[i]);
  });
  return select(size > Real(0.0), size, Real(1.0));
}

/// A quantity and its time derivative with their parameter derivatives, at a point with its slopes. The time has derivatives at an event
/// that moves.
template <class E, class Reduction, class Real>
SALTUS_FN with_rate<typename E::form::template lifted<Real>> lifted_quantity(const instance<E, Real>& x,
                                                                             typename E::form::template lifted<Real> t,
                                                                             const vec<Real, E::n>& y,
                                                                             const vec<Real, E::n>& f) {
  using form = typename E::form;
  if constexpr (Reduction::of_output) {
    const auto r =
        form::model_form::outputs_along(t, form::lift(y), form::lift(f), form::template lift_held<Real>(x.constants));
    return {r.value[Reduction::index], r.rate[Reduction::index]};
  } else {
    constexpr int i = Reduction::index;
    const auto one = [&](const vec<Real, E::n>& of) SALTUS_INLINE_LAMBDA {
      return form::with_rates(of[i], [&](int j) SALTUS_INLINE_LAMBDA { return of[form::place(i, j)]; });
    };
    return {one(y), one(f)};
  }
}
/// The same at the accepted point: at a fixed time, or along with the current event.
template <class E, class Reduction, class Real>
SALTUS_FN auto lifted_quantity_here(const instance<E, Real>& x) {
  return lifted_quantity<E, Reduction>(x, E::form::time_of_event(x.t, x.constants), x.y, x.f);
}

/// Takes in a point at which reduction `item` may have its extremum.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD void take_rates_of_extremum(instance<E, Real>& x, int item,
                                           const typename E::form::template lifted<Real>& q, mask_of<Real> where,
                                           const tolerances<E, Real>& tol) {
  constexpr double sign = reduction_traits<Reduction>::sign;
  const Real best = x.extreme[item], beyond = Real(sign) * (q.value - best);
  Real noise = tol.rtol * max(abs(q.value), abs(best));
  if constexpr (!Reduction::of_output) noise = noise + tol.atol[Reduction::index < E::judged ? Reduction::index : 0];
  noise = Real(4.0) * noise;
  const auto clearly = where & (beyond > noise), tied = where & (abs(beyond) <= noise);
  const Real relative = Real(1e-7) + Real(100.0) * tol.rtol;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    Real& rate = x.reduced_rates[item * E::directions + j];
    const Real apart = abs(q.d[j] - rate), bound = max(abs(q.d[j]), abs(rate));
    const auto agree = apart <= max(relative * bound, Real(64.0) * noise / size_of_direction(x, j));
    const Real tie = select(agree, select(beyond > Real(0.0), q.d[j], rate), Real(E::form::unset));
    rate = select(clearly, q.d[j], select(tied, tie, rate));
  });
  assign_where(where & (beyond > Real(0.0)), x.extreme[item], q.value);
}

/// At the first point of an instance.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD void begin_reduced_rates(instance<E, Real>& x, int item, mask_of<Real> where) {
  constexpr bool adds = reduction_traits<Reduction>::is_integral || Reduction::kind == reduce::count;
  typename E::form::template lifted<Real> q;
  q.value = Real(E::form::unset);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { q.d[j] = Real(adds ? 0.0 : E::form::unset); });
  if constexpr (reduction_traits<Reduction>::is_extremum) q = lifted_quantity_here<E, Reduction>(x).value;
  assign_where(where, x.extreme[item], q.value);
  each<E::directions>(
      [&](int j) SALTUS_INLINE_LAMBDA { assign_where(where, x.reduced_rates[item * E::directions + j], q.d[j]); });
}

/// Derivatives of the value at a time within the step that begins with the slopes f; y is the point.
template <class Reduction, class E, class Real>
SALTUS_FN_COLD void take_rates_of_value(instance<E, Real>& x, int item, Real time, const vec<Real, E::n>& y,
                                        const vec<Real, E::n>& f, mask_of<Real> where) {
  const auto q = lifted_quantity<E, Reduction>(x, typename E::form::template lifted<Real>(time), y, f).value;
  const auto jumps = is_time_of_jump(x, time);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    const Real rate = select(jumps, Real(E::form::unset), q.d[j]);
    assign_where(where, x.reduced_rates[item * E::directions + j], rate);
  });
}

/// Removes the derivative of a value taken just before a moving event if it is at the event's very time.
template <class E, class Real, class Run>
SALTUS_FN_COLD void take_back_rates_of_values(instance<E, Real>& x, mask_of<Real> where, const Run& run) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    if constexpr (decltype(r)::kind == reduce::value) {
      const auto at_once = where & is_time_of_jump(x, Real(run.settings.windows[3 * item + 2]));
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        assign_where(at_once, x.reduced_rates[item * E::directions + j], Real(E::form::unset));
      });
    }
  });
}

/// The derivative of the value at the end of an instance, in direction j, after the events there.
template <class Reduction, class E, class Real>
SALTUS_FN_COLD Real rate_of_final_value(const instance<E, Real>& x, int j) {
  const Real moves = abs(x.constants.event_time[j]);
  const auto q = lifted_quantity<E, Reduction>(x, typename E::form::template lifted<Real>(x.t), x.y, x.f).value;
  return select((moves > Real(0.0)) | is_time_of_jump(x, x.t), Real(E::form::unset), q.d[j]);
}

/// Derivatives of a reduction of events, in a lane; `point` is the event's entry in the log, `is_first`: it is the first in the window. An
/// event at the edge of the window may be inside or outside: the derivative does not exist, which is kept as the largest number.
template <class Reduction, class E, class T, int W>
SALTUS_FN_COLD void reduce_rates_of_event(instance<E, pack<T, W>>& x, int lane, int item,
                                          const time_window<pack<T, 1>>& window, bool is_first,
                                          const vec<pack<T, 1>, E::logged>& point) {
  const T t = x.t.get(lane), nothing = limits<T>::largest;
  const auto is_at = [&](T edge) SALTUS_INLINE_LAMBDA {
    return abs(pack<T, 1>(t - edge)).v <= T(64.0 * limits<T>::epsilon) * (abs(pack<T, 1>(t)).v + abs(x.h).get(lane));
  };
  const bool at_edge = Reduction::windowed && (is_at(window.from.v) || is_at(window.to.v));
  const bool inside = window.from.v <= t && t <= window.to.v;
  if (!at_edge && !inside) return;
  for (int j = 0; j < E::directions; ++j) {
    auto& rate = x.reduced_rates[item * E::directions + j];
    const T of_time = point[E::logged_point + j].v, before = rate.get(lane);
    const bool is_open = (at_edge && of_time != T(0.0)) || (Reduction::kind != reduce::last && before == nothing);
    if (Reduction::kind == reduce::first && !is_first) continue;
    if (is_open) rate.set(lane, nothing);
    else if (Reduction::kind != reduce::count && inside) rate.set(lane, of_time);
  }
}

/// Takes in extrema at the accepted point, which ends or begins a smooth piece of the trajectory. `Arriving`: it ends one, and counts if
/// the quantity is moving towards the extremum.
template <bool Arriving, class E, class Real>
SALTUS_FN_COLD void take_extrema_here(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (reduction_traits<R>::is_extremum) {
      const auto q = lifted_quantity_here<E, R>(x);
      const Real sign = Real(reduction_traits<R>::sign);
      const auto counts = Arriving ? where & (sign * q.rate.value >= Real(0.0)) : where;
      take_rates_of_extremum<E, R>(x, item, q.value, counts, tol);
    }
  });
}

/// Converts derivatives of integrals from those up to a fixed time to those up to the current event, or back (-1).
template <class E, class Real>
SALTUS_FN void move_integrals(instance<E, Real>& x, mask_of<Real> where, double direction) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (reduction_traits<R>::is_integral) {
      Real q = x.y[R::of_output ? 0 : R::index];
      if constexpr (R::of_output) q = E::form::output_values(x.t, x.y, x.constants)[R::index];
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        Real& rate = x.reduced_rates[item * E::directions + j];
        assign_where(where, rate, fma(q, Real(direction) * x.constants.event_time[j], rate));
      });
    }
  });
}

/// The place in a step at which the quantity turns: the root of its time derivative on the dense output, between ends of opposite signs.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD Real turning_place(const instance<E, Real>& x, const Interpolant& step, Real guess, Real d0, Real d1) {
  using form = typename E::form;
  constexpr int most = 40;
  const auto rate_at = [&](Real at) SALTUS_INLINE_LAMBDA {
    const Real t = fma(at, step.h, step.t);
    const auto y = step(at);
    vec<Real, E::n> f = step.slope(at);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] / step.h; });
    if constexpr (form::has_field && E::Method::is_explicit) {
      const auto field = form::model_form::rhs(t, form::model_part(y), x.constants);
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = field[i]; });
    }
    if constexpr (Reduction::of_output) return form::outputs_along(t, y, f, x.constants).rate[Reduction::index];
    else return f[Reduction::index];
  };
  // Regula falsi in the Illinois form: the value at the end that stays is halved.
  Real low = Real(0.0), high = Real(1.0), at_low = d0, at_high = d1, at = guess;
  auto low_stayed = mask_of<Real>::all(false), high_stayed = low_stayed;
  auto open = mask_of<Real>::all(true);  // a lane that has settled keeps its place while others go on
  for (int attempts = 0; attempts < most; ++attempts) {
    const Real rate = rate_at(at);
    const auto is_low = at_low * rate > Real(0.0);
    at_high = select(is_low & high_stayed, Real(0.5) * at_high, at_high);
    at_low = select((!is_low) & low_stayed, Real(0.5) * at_low, at_low);
    low = select(is_low, at, low), at_low = select(is_low, rate, at_low);
    high = select(is_low, high, at), at_high = select(is_low, at_high, rate);
    high_stayed = is_low, low_stayed = !is_low;
    const Real next = low - at_low * (high - low) / (at_high - at_low);
    const Real safe = select((next >= low) & (next <= high), next, Real(0.5) * (low + high));
    const auto settled = (abs(safe - at) <= Real(16.0 * limits<typename E::T>::epsilon)) | (rate == Real(0.0));
    at = select(open & !(rate == Real(0.0)), safe, at);
    open = open & !settled;
    if (none(open)) break;
  }
  return at;
}

/// Takes in a committed step's part in the derivative of an extremum: the point at which the quantity turns, d0 and d1 being its time
/// derivatives at the ends.
template <class E, class Reduction, class F, class Real>
SALTUS_FN void turn_rates(instance<E, Real>& x, int item, const stages<typename E::Method, Real, E::n>& s, const F& f,
                          Real guess, Real d0, Real d1, mask_of<Real> where) {
  using lifted = typename E::form::template lifted<Real>;
  const Real sign = Real(reduction_traits<Reduction>::sign);
  const auto turns = where & (sign * d0 >= Real(0.0)) & (sign * d1 < Real(0.0));
  if (none(turns)) return;
  const auto step = interpolate<typename E::Method>(f, s);
  const auto from_start = d0 == Real(0.0);
  const Real at = select(from_start, Real(0.0),
                         turning_place<E, Reduction>(x, step, select(turns & !from_start, guess, Real(0.5)), d0, d1));
  const auto q = lifted_quantity<E, Reduction>(x, lifted(fma(at, s.h, s.t)), step(at), s.f0());
  take_rates_of_extremum<E, Reduction>(x, item, q.value, turns, *f.tol);
}

/// Two events at one time, taken in one order (x) and in the other: a reduction has a derivative if both orders give the same. An extremum
/// between the two vanishes when they coincide.
template <class E, class Real>
SALTUS_FN_COLD void compare_reduced_rates(instance<E, Real>& x, const instance<E, Real>& other, mask_of<Real> where,
                                          const tolerances<E, Real>& tol) {
  const Real relative = Real(1e-7) + Real(100.0) * tol.rtol;
  E::each_reduction([&](auto r, int item, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (!follows_events<R>) return;
    auto differs = mask_of<Real>::all(false);
    if constexpr (reduction_traits<R>::is_extremum)
      differs = abs(x.extreme[item] - other.extreme[item]) >
                Real(16.0) * tol.rtol * (abs(x.extreme[item]) + abs(other.extreme[item]));
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
      Real& rate = x.reduced_rates[item * E::directions + j];
      const Real b = other.reduced_rates[item * E::directions + j];
      const auto agree =
          !differs & (abs(rate - b) <= relative * max(abs(rate), abs(b)) +
                                           Real(1e-12) * (Real(1.0) + abs(x.reduced[at])) / size_of_direction(x, j));
      rate = select(where & !agree, Real(E::form::unset), rate);
    });
  });
}

/// Gives x the derivatives of the reductions of `from`; none where `from` has passed an extremum that x has not.
template <class E, class Real>
SALTUS_FN_COLD void take_reduced_rates(instance<E, Real>& x, const instance<E, Real>& from, mask_of<Real> where,
                                       const tolerances<E, Real>& tol) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (!follows_events<R>) return;
    auto differs = mask_of<Real>::all(false);
    if constexpr (reduction_traits<R>::is_extremum)
      differs = abs(x.extreme[item] - from.extreme[item]) >
                Real(16.0) * tol.rtol * (abs(x.extreme[item]) + abs(from.extreme[item]));
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
      const Real rate = from.reduced_rates[item * E::directions + j];
      assign_where(where, x.reduced_rates[item * E::directions + j], select(differs, Real(E::form::unset), rate));
    });
    assign_where(where, x.extreme[item], from.extreme[item]);
  });
}

}  // namespace saltus
