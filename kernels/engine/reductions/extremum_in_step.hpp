// The smallest and the largest value of a quantity within steps.
#pragma once

#include "engine/reductions/quantity.hpp"

namespace saltus {

/// 1 for a maximum, -1 for a minimum.
template <class R>
inline constexpr double sign_of_extremum = R::kind == reduce::max || R::kind == reduce::time_of_max ? 1.0 : -1.0;

/// The extrema of a quantity, for functions that are the same for all of them but the `sign`.
template <class R>
using any_extremum = reduction<has_time<R> ? reduce::time_of_max : reduce::max, R::of_output, R::index>;

/// Takes a value at time t into an extremum, with its time if R has it.
template <class R, class E, class Real>
SALTUS_FN void take_extremum(instance<E, Real>& x, int at, Real sign, Real value, Real t, mask_of<Real> where) {
  if constexpr (has_time<R>) {
    const auto better = where & (sign * value > sign * x.reduced[at]);
    assign_where(better, x.reduced[at], value);
    assign_where(better, x.reduced[at + 1], t);
  } else {
    assign_where(where, x.reduced[at], sign * max(sign * x.reduced[at], sign * value));
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
SALTUS_FN_COLD void take_turning_point(instance<E, Real>& x, const committed_step<E, Real>& of, int at, Real sign,
                                       const stretch<Real>& p, mask_of<Real> turns) {
  constexpr bool with_time = has_time<R>;
  const Real part = turning_point(sign, p, p.width);
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
  const auto top = highest_between<attempts, may_have_corner<R, E>>(look, sign, p, of.s.h);
  take_extremum<R>(x, at, sign, sign * top.value, fma(top.at, of.s.h, of.s.t), turns);
}

/// Updates an extremum with a step.
template <class R, class E, class Real>
SALTUS_FN void extremum_of_step(instance<E, Real>& x, const committed_step<E, Real>& of, int at, mask_of<Real> inside) {
  const Real sign(sign_of_extremum<R>);
  stretch<Real> p;
  quantity_on_step<R, E, Real>{x, of.s}.at_ends(p);
  if constexpr (R::windowed) take_extremum<R>(x, at, sign, p.q0, of.s.t, inside);
  take_extremum<R>(x, at, sign, p.q1, of.t1, inside);
  if constexpr (looks_at_pieces<R, E>) {
    constexpr int pieces = 4;
    const auto step = interpolate<typename E::Method>(of.f, of.s);
    const stretch<Real> whole = p;
    p.width = of.s.h * Real(1.0 / pieces);
    for (int k = 1; k <= pieces; ++k) {
      p.right = Real(k * (1.0 / pieces));
      if (k == pieces) p.q1 = whole.q1, p.d1 = whole.d1;
      else look_within<R>(x, step, p.right, p.q1, p.d1);
      take_extremum<R>(x, at, sign, p.q1, fma(p.right, of.s.h, of.s.t), inside);
      if (const auto turns = inside & may_turn(sign, p); any(turns))
        take_turning_point<any_extremum<R>>(x, of, at, sign, p, turns);
      p.left = p.right, p.q0 = p.q1, p.d0 = p.d1;
    }
  } else {
    if (const auto turns = inside & may_turn(sign, p); any(turns))
      take_turning_point<any_extremum<R>>(x, of, at, sign, p, turns);
  }
}

}  // namespace saltus
