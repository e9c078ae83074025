// The sides of an instance's guards, and the definition of a crossing.
//
// A guard's side is the sign of its value at the accepted point, which is never left at an undecided zero (`settle`): the root of a guard
// that is zero at t_k is not in (t_k, t_{k+1}] and does not fire. A guard is armed if its value may cross in its declared direction from
// there: falling guards above zero, rising ones below.
//
// Guards are addressed by their number i, a compile-time constant in unrolled loops, so that tests of a guard's declaration cost nothing.
#pragma once

#include "engine/trial.hpp"
#include "model/declare.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// Decides the side of guards that are exactly zero. Bilateral ones belong to the side they are moving to; unilateral ones stay on the side
/// they may not leave, so that a body starting in contact cannot fall through.
template <class E, class Real>
SALTUS_FN Real settle(int i, Real g, Real rate) {
  const auto guard = E::form::traits(i);
  constexpr double below = -limits<typename E::T>::smallest;
  if (guard.side == unilateral && guard.which == falling) return select(g == Real(0.0), Real(0.0), g);
  if (guard.side == unilateral && guard.which == rising) return select(g == Real(0.0), Real(below), g);
  return select(g == Real(0.0), select(rate < Real(0.0), Real(below), Real(0.0)), g);
}

/// The same after a step that began on the side of `before`: a guard that is flat at zero, as at a double or triple root, has no direction
/// and keeps its side.
template <class E, class Real>
SALTUS_FN Real settle(int i, Real g, Real rate, Real before) {
  constexpr double below = -limits<typename E::T>::smallest;
  const auto flat = (g == Real(0.0)) & (rate == Real(0.0));
  return select(flat, select(before < Real(0.0), Real(below), Real(0.0)), settle<E>(i, g, rate));
}

/// The same after a jump, and at a knot of a table. A bilateral guard that was zero and stays zero, as where a table stays at its level, keeps
/// its side.
template <class E, class Real>
SALTUS_FN Real settle_at_restart(int i, Real g, Real rate, Real before) {
  if (E::form::traits(i).side == unilateral) return settle<E>(i, g, rate);
  const auto was_zero = abs(before) <= Real(limits<typename E::T>::smallest);
  return settle<E>(i, g, rate, select(was_zero, before, Real(0.0)));
}

/// Puts a unilateral guard back on zero that is beyond it by less than `tolerance` (a time), by rounding or by a bilateral guard due at the
/// same time, and is on its way back. Otherwise it would not be armed for the next contact.
template <class E, class Real>
SALTUS_FN Real put_back(int i, Real settled, Real rate, Real tolerance) {
  const auto guard = E::form::traits(i);
  if (guard.side == unilateral && guard.which == falling)
    return select((settled < Real(0.0)) & (-settled <= rate * tolerance), Real(0.0), settled);
  if (guard.side == unilateral && guard.which == rising)
    return select((settled > Real(0.0)) & (settled <= -rate * tolerance), Real(-limits<typename E::T>::smallest),
                  settled);
  return settled;
}

/// True if a unilateral guard is beyond zero, where it may never be, and moving further.
template <class E, class Real>
SALTUS_FN mask_of<Real> violated(int i, Real settled, Real rate) {
  const auto guard = E::form::traits(i);
  if (guard.side == unilateral && guard.which == falling) return (settled < Real(0.0)) & (rate < Real(0.0));
  if (guard.side == unilateral && guard.which == rising) return (settled >= Real(0.0)) & (rate > Real(0.0));
  return mask_of<Real>::all(false);
}

/// `number` ulps of the time and step of an instance, as a time.
template <class E, class Real>
SALTUS_FN Real ulps_of_time(const instance<E, Real>& x, double number) {
  return Real(number * limits<typename E::T>::epsilon) * (abs(x.t) + abs(x.h));
}

/// Lanes that stand at a unilateral guard i and move towards it, as near as a double root can be distinguished from its surroundings. If
/// the equations end behind the guard, as those of a square root do, no step is short enough, and this is the last point reached.
template <class E, class Real>
SALTUS_FN mask_of<Real> stands_at_wall(const instance<E, Real>& x, int i) {
  if (E::form::traits(i).side != unilateral) return mask_of<Real>::all(false);
  constexpr double near = sizeof(typename E::T) == 8 ? 0x1p-24 : 0x1p-10;  // four roots of the rounding
  const Real g = x.constants.guard_values[i], side = side_of(g);
  return armed<E>(i, g) & (side * x.rate[i] < Real(0.0)) &
         (abs(g) <= abs(x.rate[i]) * Real(near) * (abs(x.t) + abs(x.h)));
}
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> stands_at_any_wall(const instance<E, Real>& x) {
  mask_of<Real> r = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r = r | stands_at_wall(x, i); });
  return r;
}

/// True if a unilateral guard has reached zero with time derivative zero.
template <class E, class Real>
SALTUS_FN mask_of<Real> comes_to_rest(int i, Real before, Real now, Real rate) {
  if (E::form::traits(i).side != unilateral) return mask_of<Real>::all(false);
  return armed<E>(i, before) & (abs(before) > Real(limits<typename E::T>::smallest)) & (now == Real(0.0)) &
         (rate == Real(0.0));
}

/// +1 above zero, -1 below.
template <class Real>
SALTUS_FN Real side_of(Real settled) {
  return copysign(Real(1.0), settled);
}

template <class E, class Real>
SALTUS_FN mask_of<Real> armed(int i, Real settled) {
  const auto guard = E::form::traits(i);
  if (guard.which == falling) return settled >= Real(0.0);
  if (guard.which == rising) return settled < Real(0.0);
  return mask_of<Real>::all(true);
}

/// True if a guard that started on `side` has left it. At exactly zero it has if it is moving out: roots count when t* is in (t_k,
/// t_{k+1}].
template <class Real>
SALTUS_FN mask_of<Real> has_crossed(Real side, Real g, Real rate) {
  const Real s = side * g;
  return (s < Real(0.0)) | ((s == Real(0.0)) & (side * rate < Real(0.0)));
}

/// The smallest Bernstein coefficient of the cubic Hermite polynomial between two points, without that of `a`: the cubic lies above it and
/// `a` (interval exclusion: it lies in the hull of its coefficients). Here and below, rates are changes of a guard over the piece between
/// them.
template <class Real>
SALTUS_FN Real least_coefficient(const with_rate<Real>& a, const with_rate<Real>& b) {
  return min(min(fma(Real(1.0 / 3.0), a.rate, a.value), fma(Real(-1.0 / 3.0), b.rate, b.value)), b.value);
}

/// True for a guard that falls at one point and rises at the next, with tangents that meet at or below zero: it is error-prone (Compere
/// 5.2.1) and examined more closely even if the cubic excludes it. A convex dip lies above the point where the tangents at its ends meet.
template <class Real>
SALTUS_FN mask_of<Real> may_dip(const with_rate<Real>& a, const with_rate<Real>& b) {
  return (a.rate < Real(0.0)) & (b.rate > Real(0.0)) & (fma(a.value, b.rate, -b.value * a.rate) <= -a.rate * b.rate);
}

/// True if a guard, seen from its side, may leave it on the way from `a` to `b`.
template <class Real>
SALTUS_FN mask_of<Real> may_cross(const with_rate<Real>& a, const with_rate<Real>& b) {
  // At zero itself its direction decides; a body at rest on its support is there for many steps.
  const auto excluded = (least_coefficient(a, b) >= Real(0.0)) & ((b.value > Real(0.0)) | !(b.rate < Real(0.0)));
  return (!excluded) | may_dip(a, b);
}

/// A dip between `a` and `b`, with the value at `middle`: in the half at whose end the guard rises.
template <class Real>
SALTUS_FN mask_of<Real> may_dip(const with_rate<Real>& a, const with_rate<Real>& middle, const with_rate<Real>& b) {
  const auto rises = middle.rate > Real(0.0);
  const with_rate<Real> falling{select(rises, a.value, middle.value), select(rises, a.rate, middle.rate)};
  const with_rate<Real> rising{select(rises, middle.value, b.value), select(rises, middle.rate, b.rate)};
  return may_dip(falling, rising);
}

/// A guard over a step, or a piece of one, by its values at both ends and in the middle: two cubics, and how far it may be off them. Where it
/// is off the cubic through the ends by d in the middle, a constant fourth derivative means that it is off its halves by d/16 in their
/// middles. This changes one Bernstein coefficient of each half as a quartic, the middle one, by d/6. The fourth derivative is not constant.
template <class Real>
struct halves_of_guard {
  with_rate<Real> a, middle, b;
  Real off;  ///< twelve times d/6: of random polynomials along long steps, few need more

  /// With the middle on the cubic through the ends, or somewhere else.
  SALTUS_FN halves_of_guard(const with_rate<Real>& begin, const with_rate<Real>& end)
      : a(begin), middle(middle_of_cubic(begin, end)), b(end), off(0.0) {}
  SALTUS_FN halves_of_guard(const with_rate<Real>& begin, const with_rate<Real>& between, const with_rate<Real>& end)
      : a(begin), middle(between), b(end) {
    const auto d = distance_from_cubic(begin, between, end);
    off = Real(2.0) * max(d.value, Real(0.5) * d.rate);
  }

  /// The coefficients of the cubics on both sides of their ends.
  SALTUS_FN Real first() const { return fma(Real(1.0 / 3.0), a.rate, a.value); }
  SALTUS_FN Real before_middle() const { return fma(Real(-1.0 / 3.0), middle.rate, middle.value); }
  SALTUS_FN Real behind_middle() const { return fma(Real(1.0 / 3.0), middle.rate, middle.value); }
  SALTUS_FN Real last() const { return fma(Real(-1.0 / 3.0), b.rate, b.value); }
};

/// True if a guard, seen from its side, may leave it in either half.
template <class Real>
SALTUS_FN mask_of<Real> may_cross(const halves_of_guard<Real>& g) {
  const Real first = g.first(), before = g.before_middle(), behind = g.behind_middle(), last = g.last();
  const Real least = min(min(first, min(before, behind)), min(last, g.b.value));
  const auto excluded = (least >= Real(0.0)) & (min(first + before, behind + last) >= g.off + g.off) &
                        ((g.b.value > Real(0.0)) | !(g.b.rate < Real(0.0)));
  return (!excluded) | may_dip(g.a, g.middle, g.b);
}

/// True if a guard, seen from a side from which it cannot fire, may leave that side and come back to it. Judged by the signs of the
/// Bernstein coefficients of the two halves: they have at least as many changes as the halves have roots.
template <class Real>
SALTUS_FN mask_of<Real> may_come_back(const halves_of_guard<Real>& g) {
  const auto& [a, middle, b, off] = g;
  const auto comes_at_end = (b.value == Real(0.0)) & (b.rate > Real(0.0));
  const Real half(0.5), none(0.0), first = g.first(), before = g.before_middle(), behind = g.behind_middle(),
                                   last = g.last();
  const Real in_order[] = {first, half * (first + before), before, middle.value, behind, half * (behind + last), last};
  const Real may_be_off[] = {none, off, none, none, none, off, none};
  auto comes_back = mask_of<Real>::all(false);
  Real most = select(comes_at_end, Real(limits<scalar_of<Real>>::smallest), b.value);  // of the later coefficients
  for (int k = 6; k >= 0; --k) {
    comes_back = comes_back | ((in_order[k] - may_be_off[k] < Real(0.0)) & (most > Real(0.0)));
    most = max(most, in_order[k] + may_be_off[k]);
  }
  // Shapes that the cubics miss: a dip on its side, or a hump beyond it.
  const auto humped = (middle.value < Real(0.0)) & (b.value < Real(0.0)) &
                      may_dip(with_rate<Real>{-middle.value, -middle.rate}, with_rate<Real>{-b.value, -b.rate});
  return comes_back | may_dip(a, middle, b) | humped;
}

/// True if guard i is known to be linear in t and the states: its error is that of the states, and on the cubic through the ends of a step it
/// is the cubic through its own values there.
template <class E>
SALTUS_FN constexpr bool is_linear(int i) {
  return E::form::traits(i).how_smooth <= smoothness::linear;
}

/// True if a guard may have corners or jumps within a step.
template <class E>
inline constexpr bool has_piecewise_guards = [] {
  for (int i = 0; i < E::form::model_guards; ++i)
    if (E::form::traits(i).how_smooth >= smoothness::piecewise) return true;
  return false;
}();

/// True if guard i may go back over zero without an event. The engine's own guards are not examined beyond zero: they end a slide.
template <class E>
SALTUS_FN constexpr bool is_one_way(int i) {
  return i < E::form::model_guards && E::form::traits(i).which != both;
}
template <class E>
inline constexpr bool has_one_way_guards = [] {
  for (int i = 0; i < E::form::model_guards; ++i)
    if (is_one_way<E>(i)) return true;
  return false;
}();

/// The guards that may leave their side within a step.
template <class E, class Real>
struct suspected_guards {
  mask_of<Real> leaves;         ///< an armed guard may leave its side
  vec<Real, E::ng> comes_back;  ///< the side of a guard that is not armed, but may cross and come back; else 0
  mask_of<Real> bends = mask_of<Real>::all(false);  ///< a guard is no cubic (`error_between_squared`)

  SALTUS_FN mask_of<Real> any_comes_back() const {
    auto r = mask_of<Real>::all(false);
    if constexpr (has_one_way_guards<E>)
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        if (is_one_way<E>(i)) r = r | (comes_back[i] != Real(0.0));
      });
    return r;
  }
  /// Takes in guard i, if it may come back once it has left its side. `may` is evaluated only if a lane needs it.
  template <class May>
  SALTUS_FN void take(int i, Real settled, const May& may) {
    comes_back[i] = Real(0.0);
    if (!is_one_way<E>(i)) return;
    const auto unheard = !armed<E>(i, settled);
    if (any(unheard)) comes_back[i] = select(unheard & may(), side_of(settled), Real(0.0));
  }
};

/// The model's guards in the middle of a step, on the cubic through its ends; rates are changes in half a step.
template <class E, class Real>
SALTUS_FN auto guards_in_middle(const instance<E, Real>& x, const trial<E, Real>& a) {
  const Real half = Real(0.5) * a.s.h;
  const middle_of_step<E, Real> point(a);
  return E::form::model_guards_through(a.s.t + half, half, point.y, point.dy, x.constants);
}
template <class E, class Real>
using guards_in_middle_of = typename E::form::template rated<Real, E::form::model_guards>;

/// The guards that may leave their side, judged by their values and time derivatives at both ends and in the middle of the step. A guard
/// `bends` if its error between the ends matters to the next step, which may be eight times as long. The error of the states says nothing
/// of it: a guard may swing with time, or with a phase that grows evenly, within a step of any length. A linear guard does not bend.
template <class E, class Real>
SALTUS_FN suspected_guards<E, Real> suspect_guards(const instance<E, Real>& x, const trial<E, Real>& a,
                                                   const guards_in_middle_of<E, Real>& middle) {
  using form = typename E::form;
  const Real half = Real(0.5) * a.s.h;
  suspected_guards<E, Real> r{mask_of<Real>::all(false), {}};
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g0 = x.constants.guard_values[i], side = side_of(g0), pace = side * half;
    const with_rate<Real> begin{side * g0, pace * x.rate[i]}, end{side * a.g.value[i], pace * a.g.rate[i]};
    mask_of<Real> leaves;
    r.comes_back[i] = Real(0.0);
    if (i >= form::model_guards) {  // the engine's own guards
      if constexpr (form::slides) {
        const int j = i - form::leaving_up;
        const with_rate<Real> between{a.leaving.value[j], a.leaving.rate[j]};
        leaves = form::is_sliding(x.constants) & may_cross(halves_of_guard<Real>(begin, between, end));
      } else
        leaves = may_cross(with_rate<Real>{begin.value, begin.rate + begin.rate},
                           with_rate<Real>{end.value, end.rate + end.rate});
    } else {
      const with_rate<Real> between{side * middle.value[i], side * middle.rate[i]};
      const bool is_cubic = is_linear<E>(i) && !knows_middle<typename E::Method>;
      const auto halves = is_cubic ? halves_of_guard<Real>(begin, end) : halves_of_guard<Real>(begin, between, end);
      leaves = may_cross(halves);
      if (!is_linear<E>(i))
        r.bends =
            r.bends | (abs(between.value - middle_of_cubic(begin, end).value) > Real(0x1p-20) * abs(between.value));
      if constexpr (form::slides) leaves = leaves & !form::slides_along(x.constants, i);
      r.take(i, g0, [&]() SALTUS_INLINE_LAMBDA { return may_come_back(halves); });
    }
    r.leaves = r.leaves | (armed<E>(i, g0) & leaves);
  });
  return r;
}

}  // namespace saltus
