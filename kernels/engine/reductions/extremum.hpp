// The smallest and the largest value of a quantity, and their times.
//
// An extremum has the derivative of the quantity at the point where it is attained; the motion of this point does not contribute (envelope
// theorem). The derivative is at a fixed time for a turning point, and along with the event for an extremum at its side. If two extrema are
// equal within errors and have different derivatives, the reduction has no derivative: NaN for this one alone.
//
// The time of an extremum is that of an event, a fixed one at the ends of the span and of windows, or that of a turning point: q'(t*, p) = 0,
// so dt*/dp = -(dq'/dp) / q''.
#pragma once

#include "engine/reductions/quantity.hpp"

namespace saltus {

/// 1 for a maximum, -1 for a minimum.
template <class R>
inline constexpr double sign_of_extremum = R::kind == reduce::max || R::kind == reduce::time_of_max ? 1.0 : -1.0;

/// Takes a value at time t into an extremum.
template <class R, class E, class Real>
SALTUS_FN void take_extremum(instance<E, Real>& x, int at, Real value, Real t, mask_of<Real> where) {
  constexpr double sign = sign_of_extremum<R>;
  if constexpr (has_time<R>) {
    const auto better = where & (Real(sign) * value > Real(sign) * x.reduced[at]);
    assign_where(better, x.reduced[at], value);
    assign_where(better, x.reduced[at + 1], t);
  } else {
    assign_where(where, x.reduced[at], Real(sign) * max(Real(sign) * x.reduced[at], Real(sign) * value));
  }
}

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
/// where it is: cubics through it would converge slowly where the quantity turns within a step. The result is where the slope is smallest, of
/// points whose values differ by no more than rounding if there may be a corner.
/// `look(at, q, d)` gives value and time derivative.
template <int Attempts, bool MayHaveCorner, class Real, class Look>
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
    auto better = abs(d) < flattest;
    if constexpr (MayHaveCorner) {
      const Real noise = Real(64.0 * limits<scalar_of<Real>>::epsilon) * abs(q);
      better = (sign * q > r.value + noise) | (better & (sign * q >= r.value - noise));
    }
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

template <class R, class E>
inline constexpr bool may_have_corner =
    R::of_output&& smoothness_of<typename E::Model>.output(R::index) >= smoothness::piecewise;

/// The extremum inside a stretch whose ends show that there may be one: the turning point of the cubic through them, evaluated on the dense
/// output. If its time is asked for, the zero of the time derivative is located.
template <class R, class E, class Real>
SALTUS_FN_COLD void take_turning_point(instance<E, Real>& x, const committed_step<E, Real>& of, int at,
                                       const stretch<Real>& p, mask_of<Real> turns) {
  constexpr double sign = sign_of_extremum<R>;
  constexpr bool with_time = has_time<R>;
  const Real part = turning_point(Real(sign), p, p.width);
  turns = turns & (part > Real(0.0)) & (part < Real(1.0));
  if (none(turns)) return;
  const auto step = interpolate<typename E::Method>(of.f, of.s);
  const auto look = [&](Real fraction, Real& q, Real& d) SALTUS_INLINE_LAMBDA {
    quantity_on_step<R, E, Real>{x, of.s}.within(step, of.f, fraction, q, d);
  };
  if constexpr (with_time && E::Method::is_explicit && E::form::has_field && !has_constraints<typename E::form> &&
                !is_series_method<typename E::Method>)
    add_where(x.rhs_evaluations, turns, attempts_for_time);
  // For methods of low order the steps are so short that the cubic through their ends suffices.
  constexpr int attempts = with_time ? attempts_for_time : R::of_output || E::Method::order > 5 ? 3 : 1;
  const auto top = highest_between<attempts, may_have_corner<R, E>>(look, Real(sign), p, of.s.h);
  take_extremum<R>(x, at, Real(sign) * top.value, fma(top.at, of.s.h, of.s.t), turns);
}

/// Updates an extremum with a step.
template <class R, class E, class Real>
SALTUS_FN void extremum_of_step(instance<E, Real>& x, const committed_step<E, Real>& of, int at, mask_of<Real> inside) {
  constexpr double sign = sign_of_extremum<R>;
  stretch<Real> p;
  quantity_on_step<R, E, Real>{x, of.s}.at_ends(p);
  if constexpr (R::windowed) take_extremum<R>(x, at, p.q0, of.s.t, inside);
  take_extremum<R>(x, at, p.q1, of.t1, inside);
  if constexpr (looks_at_pieces<R, E>) {
    constexpr int pieces = 4;
    const auto step = interpolate<typename E::Method>(of.f, of.s);
    const stretch<Real> whole = p;
    p.width = of.s.h * Real(1.0 / pieces);
    for (int k = 1; k <= pieces; ++k) {
      p.right = Real(k * (1.0 / pieces));
      if (k == pieces) p.q1 = whole.q1, p.d1 = whole.d1;
      else look_within<R>(x, step, p.right, p.q1, p.d1);
      take_extremum<R>(x, at, p.q1, fma(p.right, of.s.h, of.s.t), inside);
      if (const auto turns = inside & may_turn(Real(sign), p); any(turns)) take_turning_point<R>(x, of, at, p, turns);
      p.left = p.right, p.q0 = p.q1, p.d0 = p.d1;
    }
  } else {
    if (const auto turns = inside & may_turn(Real(sign), p); any(turns)) take_turning_point<R>(x, of, at, p, turns);
  }
}

/// Values of a quantity that differ by no more than this are equal within errors.
template <class E, class Reduction, class Real>
SALTUS_FN Real noise_of_quantity(Real size, const tolerances<E, Real>& tol) {
  Real noise = tol.rtol * size;
  if constexpr (!Reduction::of_output) noise = noise + tol.atol[Reduction::index < E::judged ? Reduction::index : 0];
  return Real(4.0) * noise;
}

/// The derivatives of the time of an extremum, if that is asked for.
template <class E, class Reduction, class Real>
using rates_of_time = vec<Real, has_time<Reduction> ? E::directions : 0>;

/// Takes in a point at which reduction `item` may have its extremum; its time has the derivatives `of_time`.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD void take_rates_of_extremum(instance<E, Real>& x, int item,
                                           const typename E::form::template lifted<Real>& q,
                                           const rates_of_time<E, Reduction, Real>& of_time, mask_of<Real> where,
                                           const tolerances<E, Real>& tol) {
  constexpr double sign = sign_of_extremum<Reduction>;
  const Real best = x.extreme[item], beyond = Real(sign) * (q.value - best);
  const Real noise = noise_of_quantity<E, Reduction>(max(abs(q.value), abs(best)), tol);
  const auto clearly = where & (beyond > noise), tied = where & (abs(beyond) <= noise);
  const Real relative = Real(1e-7) + Real(100.0) * tol.rtol;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    Real& rate = x.reduced_rates[item * E::directions + j];
    const Real apart = abs(q.d[j] - rate), bound = max(abs(q.d[j]), abs(rate));
    const auto agree = apart <= max(relative * bound, Real(64.0) * noise / size_of_direction(x, j));
    const Real tie = select(agree, select(beyond > Real(0.0), q.d[j], rate), Real(E::form::unset));
    rate = select(clearly, q.d[j], select(tied, tie, rate));
    if constexpr (has_time<Reduction>) {
      Real& moves = x.reduced_rates[E::second_row(item) * E::directions + j];
      const Real other = of_time[j], most = max(abs(other), abs(moves));
      const Real rounding = Real(1e-12) * (x.t_end - x.t_begin) / size_of_direction(x, j);
      const auto together = agree & (abs(other - moves) <= max(relative * most, rounding));
      moves = select(clearly, other, select(tied & !together, Real(E::form::unset), moves));
    }
  });
  assign_where(where & (beyond > Real(0.0)), x.extreme[item], q.value);
}

/// The fraction of a step at which the quantity turns: the root of its time derivative on the dense output, in a stretch with ends of
/// opposite signs.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD Real zero_of_rate(const instance<E, Real>& x, const Interpolant& step, const stretch<Real>& p,
                                 Real guess) {
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
  Real low = p.left, high = p.right, at_low = p.d0, at_high = p.d1, at = guess;
  auto low_stayed = mask_of<Real>::all(false), high_stayed = low_stayed;
  auto open = mask_of<Real>::all(true);  // a lane that has settled stays while others go on
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

/// The second time derivative of the quantity at a fraction of a step. `y` and `f` receive the states and their time derivatives there.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD Real curvature_at(const instance<E, Real>& x, const step_system<E, Real>& system,
                                 const Interpolant& step, Real at, vec<Real, E::n>& y, vec<Real, E::n>& f) {
  using form = typename E::form;
  const Real t = fma(at, step.h, step.t);
  y = step(at);
  if constexpr (form::has_field) {
    f = form::rhs(t, y, x.constants);
  } else {
    f = step.slope(at);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] / step.h; });
    const auto everywhere = mask_of<Real>::all(true);
    if constexpr (has_constraints<form>) form::project(system, t, y, f, everywhere);
    if constexpr (!has_constraints<form> || form::model_form::finds_rates)
      form::settle_derivatives(system, typename form::template lifted<Real>(t), y, f, everywhere);
    const auto rate = all_rates<E>(system, t, y, f);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = rate[i]; });
  }
  const auto along = with_two_rates<E>(system, t, y, f);
  if constexpr (Reduction::of_output)
    return form::model_form::output_values(time_with_two_rates(t), along, x.constants)[Reduction::index].d[0].d[0];
  else return along[Reduction::index].d[0].d[0];
}

/// The change of the time derivative of the quantity, whose value is q, by errors of the states as large as the tolerance: of equal and of
/// alternating signs. Without a field it is that of the dense output.
template <class E, class Reduction, class Real>
SALTUS_FN_COLD Real error_of_rate(const instance<E, Real>& x, const committed_step<E, Real>& of, Real t,
                                  const vec<Real, E::n>& y, const vec<Real, E::n>& f, Real q) {
  using form = typename E::form;
  if constexpr (form::has_field) {
    Real value, rate, worst = Real(0.0);
    quantity_along<E, Reduction>({t, y, f}, x.constants, value, rate);
    for (int turn = 0; turn < 2; ++turn) {
      auto off = y;
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        const Real error = fma(of.f.tol->rtol, abs(y[i]), of.f.tol->atol[i < E::judged ? i : 0]);
        off[i] = turn == 1 && i % 2 == 1 ? y[i] - error : y[i] + error;
      });
      Real other;
      quantity_along<E, Reduction>({t, off, form::rhs(t, off, x.constants)}, x.constants, value, other);
      worst = max(worst, abs(other - rate));
    }
    return worst;
  } else {
    return noise_of_quantity<E, Reduction>(abs(q), *of.f.tol) / of.s.h;
  }
}

/// The derivatives of the time at which the quantity, with the value q, turns in a step. There are none if the second time derivative changes
/// by more than half a percent within the error of that time. The change is looked at a hundred such errors away, or half a step away if that
/// is nearer: the part that is odd in the distance then counts in proportion to it, and the even part to its square.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN_COLD vec<Real, E::directions> rates_of_turning_time(const instance<E, Real>& x,
                                                              const committed_step<E, Real>& of,
                                                              const Interpolant& step, Real at, Real q) {
  constexpr double errors = 100.0;
  vec<Real, E::n> y, f, beside, rate;
  Real bend = curvature_at<E, Reduction>(x, of.f, step, at, y, f);
  if constexpr (!E::form::has_field) {
    // Dense output shows the time with a lower order than the equations.
    constexpr int turns = 2;
    for (int turn = 0; turn < turns; ++turn) {
      Real value, slope;
      quantity_along<E, Reduction>({fma(at, step.h, step.t), y, f}, x.constants, value, slope);
      const Real next = at - slope / (bend * step.h);
      at = select((next > Real(-0.5)) & (next < Real(1.5)), next, at);
      bend = curvature_at<E, Reduction>(x, of.f, step, at, y, f);
    }
  }
  const Real t = fma(at, step.h, step.t);
  const Real away = Real(errors) * error_of_rate<E, Reduction>(x, of, t, y, f, q) / (abs(bend) * step.h);
  const Real near = min(away, Real(0.5)), further = max(Real(2.0) * away, Real(1.0));
  const Real before = curvature_at<E, Reduction>(x, of.f, step, at - near, beside, rate);
  const Real after = curvature_at<E, Reduction>(x, of.f, step, at + near, beside, rate);
  const Real odd = Real(0.5) * (after - before), even = Real(0.5) * (after + before) - bend;
  const Real change = further * fma(further, abs(even), abs(odd));
  const auto known = (away * step.h < x.t_end - x.t_begin) & (change <= Real(0.005 * errors) * abs(bend));
  const auto slope = lifted_quantity<E, Reduction>(x, typename E::form::template lifted<Real>(t), y, f);
  vec<Real, E::directions> r;
  each<E::directions>(
      [&](int j) SALTUS_INLINE_LAMBDA { r[j] = select(known, -slope.rate.d[j] / bend, Real(E::form::unset)); });
  return r;
}

/// Takes in the point at which the quantity turns in a stretch of a step, if it does.
template <class E, class Reduction, class Interpolant, class Real>
SALTUS_FN void turn_rates_within(instance<E, Real>& x, int item, const committed_step<E, Real>& of,
                                 const Interpolant& step, const stretch<Real>& p, mask_of<Real> where) {
  using lifted = typename E::form::template lifted<Real>;
  const Real sign = Real(sign_of_extremum<Reduction>);
  auto turns = where & (sign * p.d0 >= Real(0.0)) & (sign * p.d1 < Real(0.0));
  if (none(turns)) return;
  const Real top = turning_point(sign, p, p.width);
  const auto from_start = p.d0 == Real(0.0);
  const auto is_inside = turns & !from_start & (top > Real(0.0)) & (top < Real(1.0));
  const Real guess = fma(p.right - p.left, select(is_inside, top, Real(0.5)), p.left);
  const Real at = select(from_start, p.left, zero_of_rate<E, Reduction>(x, step, p, guess));
  const auto q = lifted_quantity<E, Reduction>(x, lifted(fma(at, of.s.h, of.s.t)), step(at), of.s.f0());
  rates_of_time<E, Reduction, Real> of_time;
  if constexpr (has_time<Reduction>) {
    // Most turning points are no new extremum.
    const Real beyond = Real(sign) * (q.value.value - x.extreme[item]);
    turns = turns & !(beyond < -noise_of_quantity<E, Reduction>(abs(x.extreme[item]), *of.f.tol));
    if (none(turns)) return;
    of_time = rates_of_turning_time<E, Reduction>(x, of, step, at, q.value.value);
  }
  take_rates_of_extremum<E, Reduction>(x, item, q.value, of_time, turns, *of.f.tol);
}

/// Where the cubic through the ends of a stretch bends, as a fraction of it; the middle if it does so elsewhere.
template <class Real>
SALTUS_FN Real bending_point(const stretch<Real>& s) {
  const Real rise = s.q1 - s.q0, a = s.width * (s.d0 + s.d1) - (rise + rise);
  const Real at = (s.width * (s.d0 + s.d0 + s.d1) - Real(3.0) * rise) / (Real(3.0) * a);
  return select((at > Real(0.0)) & (at < Real(1.0)), at, Real(0.5));
}

/// Takes in a committed step's part in the derivative of an extremum, in the pieces in which its value is looked for. A piece whose slopes
/// have one sign at both ends may contain a maximum and a minimum: it is divided where the cubic through its ends bends.
template <class E, class Reduction, class Real>
SALTUS_FN void turn_rates(instance<E, Real>& x, int item, const committed_step<E, Real>& of, mask_of<Real> where) {
  constexpr int pieces = looks_at_pieces<Reduction, E> ? 4 : 1;
  const Real sign = Real(sign_of_extremum<Reduction>);
  const auto turns = [&](const stretch<Real>& p)
                         SALTUS_INLINE_LAMBDA { return (sign * p.d0 >= Real(0.0)) & (sign * p.d1 < Real(0.0)); };
  stretch<Real> p;
  quantity_on_step<Reduction, E, Real>{x, of.s}.at_ends(p);
  if (pieces == 1 && none(where & (turns(p) | may_turn(sign, p)))) return;
  const auto step = interpolate<typename E::Method>(of.f, of.s);
  const auto whole = p;
  p.width = whole.width * Real(1.0 / pieces);
  for (int k = 1; k <= pieces; ++k) {
    p.right = Real(k * (1.0 / pieces));
    if (k == pieces) p.q1 = whole.q1, p.d1 = whole.d1;
    else look_within<Reduction>(x, step, p.right, p.q1, p.d1);
    turn_rates_within<E, Reduction>(x, item, of, step, p, where);
    if (const auto twice = where & may_turn(sign, p) & !turns(p); any(twice)) {
      const Real part = bending_point(p);
      auto first = p, second = p;
      first.right = second.left = fma(p.right - p.left, part, p.left);
      first.width = part * p.width, second.width = p.width - first.width;
      look_within<Reduction>(x, step, first.right, first.q1, first.d1);
      second.q0 = first.q1, second.d0 = first.d1;
      turn_rates_within<E, Reduction>(x, item, of, step, first, twice);
      turn_rates_within<E, Reduction>(x, item, of, step, second, twice);
    }
    p.left = p.right, p.q0 = p.q1, p.d0 = p.d1;
  }
}

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
      turn_rates<E, R>(x, kept.item, of, where);
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
    take_extremum<R>(x, kept.at, value, x.t, where);
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
        take_extremum<R>(x, kept.at, value, x.t, mask_of<one>::all(true));
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
  /// The time of an extremum has the derivatives in the second row.
  template <class T, class Run>
  SALTUS_FN static double final_rate(const instance<E, pack<T, 1>>& x, const kept_reduction& kept, int j, double rate,
                                     const Run&) {
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
    take_rates_of_extremum<E, R>(x, item, q.value, of_time, counts, tol);
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
        take_rates_of_extremum<E, R>(x, item, lifted_quantity<E, R>(x, lifted(t), y, f).value, fixed, there, *of.f.tol);
    };
    take(of.s.t, of.s.y, of.s.f0(), begins);
    take(of.t1, of.s.y1, of.s.f1(), ends);
  }
};

}  // namespace saltus
