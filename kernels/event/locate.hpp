// Location: from a bracket on the dense output to a point of the solution on the proper side of the guard.
//
//   root on the dense output -> re-integration to it -> Newton with the bracket kept -> the last step along f, to the side
//
// Bilateral guards are landed just past their root (CEL+, Compere 5.1.4), unilateral ones just before it (CEL-, 5.1.5).
// Nothing found on the interpolant is believed until a re-integrated step has confirmed it: a root that proves not to be
// there (case III of Compere's Table 5.1) leaves an ordinary accepted point, a guard that proves to cross earlier than
// the one aimed at (case II) becomes the one aimed at.
#pragma once

#include "event/detect.hpp"

namespace saltus {

/// Where an instance has landed: an accepted point with its guards, and which guards are due there.
template <class E, class Real>
struct landing {
  Real                                               t;
  vec<Real, E::n>                                    y;
  stages<typename E::Method, Real, E::n>             s;      ///< the re-integrated step that led there
  vec<Real, E::ng>                                   g, rate;
  vec<Real, E::ng>                                   due;    ///< 1 for every guard that fires
  mask_of<Real>                                      fires;  ///< any guard due
  mask_of<Real>                                      phantom; ///< the interpolant's root does not exist (case III)
  mask_of<Real>                                      failed;  ///< not located in bounded tries
};

/// Per lane, the guard to aim at - of those that are across at `here`, the one whose root is estimated earliest; if none
/// is, the armed one expected to cross first - and the time from `here` to its root by Newton (in units of the rate).
template <class E, class Real>
SALTUS_FN Real newton_to_first(const vec<Real, E::ng>& side, const vec<Real, E::ng>& g, const vec<Real, E::ng>& rate,
                               mask_of<Real>& across, Real& unilateral_aim) {
  constexpr double far = limits<typename E::T>::largest;
  Real behind = Real(far), ahead = Real(far);
  Real uni_behind = Real(0.0), uni_ahead = Real(0.0);
  across = mask_of<Real>::all(false);
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    constexpr double uni    = guard_of<E, i>.side == unilateral ? 1.0 : 0.0;
    const auto       crossed = has_crossed(side[i], g[i], rate[i]) & (side[i] != Real(0.0));
    const Real       step_   = -g[i] / rate[i];
    const auto       outward = side[i] * rate[i] < Real(0.0);
    // A guard that is across but not moving outward gives no usable estimate: out of every bracket, so bisection follows.
    const Real estimate = select(outward, step_, Real(-far));
    across              = across | crossed;
    const auto earlier  = crossed & (estimate < behind);
    assign_where(earlier, behind, estimate);
    assign_where(earlier, uni_behind, Real(uni));
    const auto nearer = (side[i] != Real(0.0)) & !crossed & outward & (step_ < ahead);
    assign_where(nearer, ahead, step_);
    assign_where(nearer, uni_ahead, Real(uni));
  });
  unilateral_aim = select(across, uni_behind, uni_ahead);
  return select(across, behind, ahead);
}

/// Refines a bracket on the dense output by Newton kept inside it; returns the estimated root.
template <class E, class Real>
SALTUS_FN_COLD Real root_on_dense(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side,
                                  bracket<E, Real>& b, mask_of<Real> where) {
  Real          at   = Real(0.5) * (b.lo + b.hi);
  mask_of<Real> open = where;
  for (int tries = 0; tries < 40 && any(open); ++tries) {
    const auto    here = on_step(at);
    mask_of<Real> across;
    Real          uni;
    const Real    move = newton_to_first<E, Real>(side, here.g, here.rate, across, uni);
    assign_where(open & across, b.hi, at);
    assign_where(open & !across, b.lo, at);
    const Real newton = at + move;
    const auto inside = (newton > b.lo) & (newton < b.hi);
    const Real next   = select(inside, newton, Real(0.5) * (b.lo + b.hi));
    const auto still  = abs(next - at) > Real(0x1p-40);
    assign_where(open, at, next);
    open = open & still;
  }
  return at;
}

/// Time tolerance of location at t: what the user asks for, but never finer than a few roundings of t.
template <class E, class Real>
SALTUS_FN Real time_tolerance(Real t, Real h, const tolerances<E, Real>& tol) {
  return max(tol.event_tol, Real(4.0 * limits<typename E::T>::epsilon) * (abs(t) + abs(h)));
}

/// Lands every lane in `where`, whose step `a` holds a crossing in bracket `b` of its dense output.
template <class E, class Real>
SALTUS_FN_COLD landing<E, Real> locate(instance<E, Real>& x, const trial<E, Real>& a, const guards_on_step<E, Real>& on_step,
                                       const vec<Real, E::ng>& side, bracket<E, Real> b, mask_of<Real> where,
                                       const tolerances<E, Real>& tol) {
  using T = typename E::T;
  const held_rhs<E, Real> f{x.held};
  const Real              h = a.s.h;

  Real theta = root_on_dense<E, Real>(on_step, side, b, where);

  // Re-integrate, and correct by Newton, until a first-order move along f is exact to rounding. The bracket's upper end is
  // believed of the interpolant until a re-integrated point beyond a root is known; Newton may not leave it, or it might
  // pass the first root and settle for a later one.
  constexpr double    near = sizeof(T) == 8 ? 0x1p-27 : 0x1p-12;
  const mask_of<Real> end_is_across = any_crossed<E, Real>(side, a.g.value, a.g.rate);
  Real                lo = Real(0.0), hi = b.hi, uni = Real(0.0), move = Real(0.0);
  mask_of<Real>       hi_known = end_is_across & (b.hi >= Real(1.0));
  mask_of<Real>    open = where;
  landing<E, Real> p;
  p.phantom = mask_of<Real>::all(false);
  p.t = x.t;
  p.y = x.y;
  p.s = a.s;
  p.g = x.held.locked;
  p.rate = x.rate;
  for (int tries = 0; tries < 60 && any(open); ++tries) {
    const Real hs = theta * h;
    const auto s  = step<typename E::Method>(f, x.t, x.y, x.f, hs);
    const auto g  = E::form::guards_along(x.t + hs, s.y1, s.f1(), x.held);
    add_where(x.evaluations, open, evaluations_per_step<typename E::Method>);
    mask_of<Real> across;
    Real          aim;
    const Real    to_root = newton_to_first<E, Real>(side, g.value, g.rate, across, aim);
    // Lanes still open take this point.
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(open, p.y[i], s.y1[i]);
      assign_where(open, p.s.y1[i], s.y1[i]);
    });
    static_for<stages<typename E::Method, Real, E::n>::count>([&](auto j) SALTUS_INLINE_LAMBDA {
      each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(open, p.s.k[j][i], s.k[j][i]); });
    });
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(open, p.g[i], g.value[i]);
      assign_where(open, p.rate[i], g.rate[i]);
    });
    assign_where(open, p.t, x.t + hs);
    assign_where(open, p.s.h, hs);
    assign_where(open, uni, aim);
    assign_where(open, move, to_root);
    const Real old_width = hi - lo;
    assign_where(open & across, hi, theta);
    hi_known = hi_known | (open & across);
    assign_where(open & !across, lo, theta);
    // At the bracket's end nothing is across: the root lies behind it if the step's own end is across, else nowhere.
    const auto nothing = open & !across & !hi_known & (theta >= hi);
    const auto absent  = nothing & !end_is_across;
    p.phantom          = p.phantom | absent;
    assign_where(nothing & end_is_across, hi, Real(1.0));
    hi_known = hi_known | (nothing & end_is_across);
    const auto close_ = abs(to_root) <= Real(near) * h + Real(0.5) * time_tolerance(p.t, h, tol);
    const auto narrow = hi_known & (hi - lo <= Real(limits<T>::epsilon) * Real(2.0));
    open              = open & !absent & !close_ & !narrow;
    // Next try: Newton if it stays inside and the bracket shrinks well, else the bracket's middle or its unproven end.
    const Real newton  = theta + to_root / h;
    const auto inside  = (newton > lo) & (newton < hi);
    const auto shrinks = mask_of<Real>::all(tries < 3) | (hi - lo < Real(0.5) * old_width);
    const Real fallback = select(hi_known, Real(0.5) * (lo + hi), hi);
    theta = select(open, select(inside & shrinks, newton, fallback), theta);
  }
  p.failed = open;
  move     = select(abs(move) <= Real(2.0 * near) * h + time_tolerance(p.t, h, tol), move, Real(0.0));

  // The last corrections, along f, to the proper side: Newton again, since near a tangency g is far from linear even over
  // this distance, and beyond it by a shift that grows until every guard that is due is where it belongs.
  const vec<Real, E::n> y0 = p.y, f1 = p.s.f1();
  const Real            t0 = p.t;
  const Real tau   = time_tolerance(t0, h, tol);
  const Real reach = Real(2.0 * near) * h + tau;
  const Real tick  = Real(limits<T>::epsilon) * max(abs(t0), h);
  mask_of<Real> seeking = where & !p.phantom & !p.failed;
  p.fires               = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { p.due[i] = Real(0.0); });
  constexpr int shift_tries = 9;  // the last shift is 65536 roundings of t: 1.5e-11 relative
  Real          shift = tick, d = Real(0.0);
  for (int tries = 0; tries < shift_tries && any(seeking); ++tries) {
    const Real onward = d + move + select(uni > Real(0.5), -shift, shift);
    d                 = select(abs(onward) <= reach, onward, d);
    vec<Real, E::n> y;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = fma(d, f1[i], y0[i]); });
    const Real t    = max(t0 + d, x.t);
    const auto g    = E::form::guards_along(t, y, f1, x.held);
    const bool last = tries == shift_tries - 1;
    // Due: across already, or so close before its root that time cannot tell them apart. On the last try - a grazing guard
    // may have no clean side within reach - only what is across, and unilateral guards.
    mask_of<Real>    bilateral_short = mask_of<Real>::all(false), bilateral_due = bilateral_short;
    mask_of<Real>    unilateral_past = bilateral_short, any_due = bilateral_short;
    vec<Real, E::ng> due;
    static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
      constexpr bool is_bilateral = guard_of<E, i>.side == bilateral;
      const auto across = has_crossed(side[i], g.value[i], g.rate[i]);
      const auto close_ = (side[i] * g.rate[i] < Real(0.0)) &
                          (side[i] * g.value[i] <= abs(g.rate[i]) * (tau + Real(2.0) * shift)) &
                          mask_of<Real>::all(!(is_bilateral && last));
      const auto is_due = (side[i] != Real(0.0)) & (across | close_);
      any_due           = any_due | is_due;
      due[i]            = select(is_due, Real(1.0), Real(0.0));
      if constexpr (is_bilateral) {
        bilateral_due   = bilateral_due | is_due;
        bilateral_short = bilateral_short | (is_due & !(across & (g.value[i] != Real(0.0))));
      } else {
        unilateral_past = unilateral_past | (is_due & (side[i] * g.value[i] < Real(0.0)));
      }
    });
    // If guards of both kinds are due, the bilateral ones decide: past.
    assign_where(seeking & bilateral_due, uni, Real(0.0));
    const auto settled = any_due & !bilateral_short & (bilateral_due | !unilateral_past);
    const auto take_it = seeking & (settled | mask_of<Real>::all(last));
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(take_it, p.y[i], y[i]); });
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(take_it, p.g[i], g.value[i]);
      assign_where(take_it, p.rate[i], g.rate[i]);
      assign_where(take_it, p.due[i], due[i]);
    });
    assign_where(take_it, p.t, t);
    p.fires = p.fires | (take_it & any_due);
    seeking = seeking & !take_it;
    shift   = shift * Real(4.0);
    mask_of<Real> across;
    Real          aim;
    move = newton_to_first<E, Real>(side, g.value, g.rate, across, aim);
  }
  // The step that led there ends where the landing is, for all who look at it afterwards.
  p.s.y1 = p.y;
  p.s.h  = p.t - x.t;
  return p;
}

}  // namespace saltus
