// The point at which an event is located, and the guards as seen from there.
#pragma once

#include "engine/trial.hpp"
#include "event/kept_events.hpp"
#include "event/sides.hpp"

namespace saltus {

/// The landing point of an instance: an accepted point with its guards, and the guards due there.
template <class E, class Real>
struct landing : way_to_landing<Real, E::gradient> {
  Real t;
  vec<Real, E::n> y;
  stages<typename E::Method, Real, E::n> s;  ///< the re-integrated step that led there
  with_rate<vec<Real, E::ng>> g;
  vec<Real, E::ng> due;    ///< 1 for every guard that fires
  mask_of<Real> fires;     ///< any guard due
  mask_of<Real> spurious;  ///< the interpolant's root does not exist (case III)
  mask_of<Real> failed;    ///< not located in the allowed attempts
  mask_of<Real> broken;    ///< a step shorter than the accepted one is not finite
  mask_of<Real> by_slope;  ///< no step leads to the root, which is near
  Real crossing;           ///< number of a guard that has crossed just after this point; -1: none

  /// Moves the point, in the lanes of `where`.
  SALTUS_FN void move_to(Real t1, const vec<Real, E::n>& y1, const typename E::form::template rated<Real, E::ng>& g1,
                         mask_of<Real> where) {
    assign_where(where, t, t1);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, y[i], y1[i]); });
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(where, g.value[i], g1.value[i]);
      assign_where(where, g.rate[i], g1.rate[i]);
    });
  }
};

/// A landing at the start of the step.
template <class E, class Real>
SALTUS_FN landing<E, Real> landing_at_start(const instance<E, Real>& x, const trial<E, Real>& a) {
  landing<E, Real> p;
  p.t = x.t;
  p.y = x.y;
  p.begin(a.s.h, mask_of<Real>::all(true));
  p.s = a.s;
  p.g = {x.constants.guard_values, x.rate};
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { p.due[i] = Real(0.0); });
  p.fires = p.spurious = p.failed = p.broken = p.by_slope = mask_of<Real>::all(false);
  p.crossing = Real(-1.0);
  return p;
}

/// The location of an event in a step: its data, and the point found so far.
template <class E, class Real>
struct location {
  instance<E, Real>& x;  ///< at the beginning of the step
  const trial<E, Real>& step;
  const vec<Real, E::ng>& side;  ///< of the armed guards; 0 for the others
  const tolerances<E, Real>& tol;
  landing<E, Real>& p;

  SALTUS_FN step_system<E, Real> system() const { return {x.constants, &tol}; }
};

/// Time tolerance of location at t: the user's, but at least a few ulps of t.
template <class E, class Real>
SALTUS_FN Real time_tolerance(Real t, Real h, const tolerances<E, Real>& tol) {
  return max(tol.event_tol, Real(4.0 * limits<typename E::T>::epsilon) * (abs(t) + abs(h)));
}

/// Over this part of a step a first-order move along f is exact to rounding.
template <class T>
inline constexpr double near_part = sizeof(T) == 8 ? 0x1p-27 : 0x1p-12;

/// Near a root at which the equations jump, implicit steps may have no solution, since Newton's iteration may stop on either side. Within this
/// part of the step, which was enough at rtol 1e-4, the rest of the way is along f, with an error of second order.
inline constexpr double part_without_steps = 0x1p-17;

/// The target seen from one point: of the guards that are across there, the one with the earliest estimated root; if none is across, the
/// armed guard expected to cross first.
template <class Real>
struct aim {
  mask_of<Real> across;  ///< any armed guard has left its side
  Real to_root;  ///< time to the root of the target by Newton; outside every bracket if Newton gives no estimate, so
                 ///< that ITP follows
  Real guard;    ///< its number; -1: none
  Real depth;    ///< smallest distance of all armed guards from zero, negative if any is across
  mask_of<Real> unilateral;  ///< the target is unilateral
};

template <class E, class Real>
SALTUS_FN aim<Real> take_aim(const vec<Real, E::ng>& side, const with_rate<vec<Real, E::ng>>& g) {
  constexpr double far = limits<typename E::T>::largest;
  const auto no = mask_of<Real>::all(false);
  Real behind = Real(far), ahead = Real(far), first_behind = Real(-1.0), first_ahead = Real(-1.0);
  Real depth = Real(far);
  mask_of<Real> across = no, uni_behind = no, uni_ahead = no;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto is_uni = mask_of<Real>::all(E::form::traits(i).side == unilateral);
    const auto watched = side[i] != Real(0.0);
    const auto crossed = has_crossed(side[i], g.value[i], g.rate[i]) & watched;
    const auto outward = side[i] * g.rate[i] < Real(0.0);
    const Real newton = -g.value[i] / g.rate[i];
    const Real estimate = select(outward, newton, Real(-far));
    const auto earlier = crossed & (estimate < behind);
    const auto nearer = watched & !crossed & outward & (newton < ahead);
    across = across | crossed;
    behind = select(earlier, estimate, behind);
    ahead = select(nearer, newton, ahead);
    first_behind = select(earlier, Real(static_cast<double>(i)), first_behind);
    first_ahead = select(nearer, Real(static_cast<double>(i)), first_ahead);
    depth = select(watched, min(depth, side[i] * g.value[i]), depth);
    uni_behind = (uni_behind & !earlier) | (is_uni & earlier);
    uni_ahead = (uni_ahead & !nearer) | (is_uni & nearer);
  });
  return {across, select(across, behind, ahead), select(across, first_behind, first_ahead), depth,
          (across & uni_behind) | (uni_ahead & !across)};
}

/// The guards that are due at a point, and whether it lies on the proper side of them.
template <class E, class Real>
struct due_guards {
  vec<Real, E::ng> due;
  mask_of<Real> any_due;
  mask_of<Real> bilateral;  ///< a bilateral guard is due
  mask_of<Real> settled;    ///< due bilateral guards are across, or, if only unilateral ones are due, none of them is
};

/// A guard is due if it is across, or within `tolerance` (a time) before its root. A grazing guard may have no clean side within reach, so
/// on the last attempt only guards that are across are due, and unilateral ones.
template <class E, class Real>
SALTUS_FN due_guards<E, Real> find_due(const vec<Real, E::ng>& side,
                                       const typename E::form::template rated<Real, E::ng>& g, Real tolerance,
                                       mask_of<Real> last) {
  const auto no = mask_of<Real>::all(false);
  due_guards<E, Real> r;
  mask_of<Real> falls_short = no, is_past = no;
  r.any_due = r.bilateral = no;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const bool is_bilateral = E::form::traits(i).side == bilateral;
    const auto across = has_crossed(side[i], g.value[i], g.rate[i]);
    const auto within = (side[i] * g.rate[i] < Real(0.0)) & (side[i] * g.value[i] <= abs(g.rate[i]) * tolerance) &
                        !(mask_of<Real>::all(is_bilateral) & last);
    const auto is_due = (side[i] != Real(0.0)) & (across | within);
    r.due[i] = select(is_due, Real(1.0), Real(0.0));
    r.any_due = r.any_due | is_due;
    if (is_bilateral) {
      r.bilateral = r.bilateral | is_due;
      falls_short = falls_short | (is_due & !(across & (g.value[i] != Real(0.0))));
    } else {
      is_past = is_past | (is_due & (side[i] * g.value[i] < Real(0.0)));
    }
  });
  // If guards of both kinds are due, the point must be past the root.
  r.settled = r.any_due & !falls_short & (r.bilateral | !is_past);
  return r;
}

}  // namespace saltus
