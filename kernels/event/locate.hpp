// Location: from a bracket on the dense output to a point of the solution on the proper side of the guard.
//
//   root on the dense output -> re-integration to it -> Newton with the bracket kept -> the last step along f, to the side
//
// Bilateral guards are landed just past their root (CEL+, Compere 5.1.4), unilateral ones just before it (CEL-, 5.1.5). A result on the
// interpolant counts only when a re-integrated step has confirmed it. A root that does not exist (case III of Compere's Table 5.1) leaves an
// ordinary accepted point. A guard that crosses earlier than the target (case II) becomes the target.
#pragma once

#include "engine/trial.hpp"
#include "event/detect.hpp"
#include "event/kept_events.hpp"
#include "event/rounding.hpp"

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
  Real crossing;           ///< number of a guard that has crossed just after this point; -1: none
};

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

/// A root on the dense output, and its guard.
template <class Real>
struct estimate {
  Real theta, guard;
};

/// Near a root of multiplicity m Newton's steps shrink only by a factor of 1 - 1/m; returns their sum (Aitken).
template <class Real>
SALTUS_FN Real sum_of_newton(Real step, Real last) {
  const Real ratio = step / last;
  const auto is_slow = (ratio > Real(0.25)) & (ratio < Real(0.9));
  return any(is_slow) ? select(is_slow, step / (Real(1.0) - ratio), step) : step;
}

/// The next point in a bracket that Newton's estimate has left: four times as far inside as the estimate is outside, at most the middle. An
/// end of the bracket is often nearer to the root than Newton's error.
template <class E, class Real>
SALTUS_FN Real back_inside(const bracket<E, Real>& b, Real newton, int attempts) {
  const Real middle = Real(0.5) * (b.lo + b.hi);
  if (attempts % 3 == 2) return middle;
  const Real below = max(middle, b.hi - Real(4.0) * (newton - b.hi));
  const Real above = min(middle, b.lo + Real(4.0) * (b.lo - newton));
  return select(newton >= b.hi, below, select(newton <= b.lo, above, middle));
}

/// Refines a bracket on the dense output by Newton's method, kept inside it.
template <class E, class Real>
SALTUS_FN_COLD estimate<Real> root_on_dense(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side,
                                            bracket<E, Real>& b, mask_of<Real> where) {
  const auto is_guessed = (b.guess > b.lo) & (b.guess < b.hi);
  Real at = select(is_guessed, b.guess, Real(0.5) * (b.lo + b.hi)), guard = Real(-1.0);
  Real last = select(is_guessed, b.hi - b.lo, Real(0.0));
  mask_of<Real> open = where;
  for (int attempts = 0; attempts < 40 && any(open); ++attempts) {
    const auto here = on_step(at);
    const auto target = take_aim<E, Real>(side, here.g);
    assign_where(open & target.across, b.hi, at);
    assign_where(open & !target.across, b.lo, at);
    assign_where(open & (target.across | (guard < Real(0.0))), guard, target.guard);
    const auto inside = [&](Real s) SALTUS_INLINE_LAMBDA { return (s > b.lo) & (s < b.hi); };
    const Real newton = at + target.to_root;
    const Real far = at + select(target.unilateral, target.to_root, sum_of_newton(target.to_root, last));
    const Real next = select(inside(far), far, select(inside(newton), newton, back_inside(b, newton, attempts)));
    // At a root to rounding, Newton's step may leave the bracket, one end of which is this point.
    const auto arrived = abs(target.to_root) <= Real(0x1p-40);
    // If Newton's method squares its error in each step, the rest after this step needs no test.
    const auto squared = (abs(next - at) <= Real(0x1p-20)) & (abs(target.to_root) < Real(0x1p-7) * abs(last));
    const auto still = (abs(next - at) > Real(0x1p-40)) & !arrived & !squared;
    last = select(next == newton, target.to_root, Real(0.0));
    assign_where(open & !arrived, at, next);
    open = open & still;
  }
  return {at, guard};
}

/// Moves the upper end of a bracket close to the root at `at`; Newton may have approached it from below throughout.
template <class E, class Real>
SALTUS_FN_COLD void tighten(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side, Real at,
                            bracket<E, Real>& b, mask_of<Real> where) {
  for (double d = 0x1p-40; d < 1e-6; d *= 16.0) {
    const auto far = where & (b.hi - b.lo > Real(0x1p-20));
    if (none(far)) return;
    const Real past = min(at + Real(d), b.hi);
    const auto here = on_step(past);
    const auto target = take_aim<E, Real>(side, here.g);
    assign_where(far & target.across, b.hi, past);
    assign_where(far & !target.across, b.lo, past);
  }
}

/// Time tolerance of location at t: the user's, but at least a few ulps of t.
template <class E, class Real>
SALTUS_FN Real time_tolerance(Real t, Real h, const tolerances<E, Real>& tol) {
  return max(tol.event_tol, Real(4.0 * limits<typename E::T>::epsilon) * (abs(t) + abs(h)));
}

/// Over this part of a step a first-order move along f is exact to rounding.
template <class T>
inline constexpr double near_part = sizeof(T) == 8 ? 0x1p-27 : 0x1p-12;

/// A bracket of re-integrated points, in parts of the step. Its upper end comes from the interpolant until a re-integrated point lies
/// beyond the root. Newton stays within it; outside it could pass the first root and converge to a later one.
template <class Real>
struct proven_bracket {
  Real lo, hi;
  Real depth_lo, depth_hi;   ///< distance of the nearest guard from zero, negative beyond it
  mask_of<Real> proven;      ///< a guard is across at hi
  mask_of<Real> end_across;  ///< a guard is across at the step's own end
  Real begin;                ///< there is no root before this
  Real blind;                ///< within this distance of `begin`, rounding may hide a root
  Real tail;                 ///< within this distance of the step's end, a point counts as that end

  /// Takes in the result at theta, with the next root `ahead` of it. Returns the lanes without a root: no guard is across at hi. There may
  /// be several roots beyond hi, so hi moves on only if the next one is near, because the interpolant is slightly off, or if rounding may
  /// hide it.
  SALTUS_FN mask_of<Real> narrow(Real theta, const aim<Real>& here, Real ahead, mask_of<Real> open) {
    assign_where(open & here.across, hi, theta);
    assign_where(open & here.across, depth_hi, here.depth);
    assign_where(open & !here.across, lo, theta);
    assign_where(open & !here.across, depth_lo, here.depth);
    proven = proven | (open & here.across);
    const auto nothing = open & !here.across & !proven & (theta >= hi);
    const auto is_near = (ahead > Real(0.0)) & (ahead < Real(1.0 / 64)), is_blind = hi - begin < blind;
    // If the next root is near and beyond hi, hi itself needs no test.
    const auto short_of = open & !here.across & !proven & (theta < hi) & (theta + ahead >= hi) & is_near;
    const auto widens = (nothing & (hi < Real(1.0)) & (is_near | is_blind)) | short_of;
    const auto ends = nothing & end_across & (Real(1.0) - hi <= tail);
    const Real further = max(select(is_near, Real(4.0) * ahead, Real(0x1p-50)),
                             select(is_blind, Real(7.0) * (hi - begin), Real(0x1p-50)));
    assign_where(widens, hi, min(hi + further, Real(1.0)));
    assign_where(ends, hi, Real(1.0));
    proven = proven | ends;
    return nothing & !widens & !ends;
  }
  SALTUS_FN mask_of<Real> holds(Real theta) const { return (theta > lo) & (theta < hi); }
  /// The next point where Newton's is not to be used: ITP's, or an upper end that is not yet proven.
  SALTUS_FN Real without_newton(int attempts) const {
    return select(proven, interpolate_truncate_project(attempts), hi);
  }

 private:
  /// ITP (I. F. D. Oliveira, R. H. C. Takahashi, ACM Trans. Math. Softw. 47 (2020) 5): regula falsi, drawn towards the middle and kept so
  /// near to it that bisection's bound on the number of attempts holds, plus one.
  SALTUS_FN Real interpolate_truncate_project(int attempts) const {
    const Real width = hi - lo, middle = Real(0.5) * (lo + hi);
    const Real falsi = lo + width * (depth_lo / (depth_lo - depth_hi));
    const Real sane = select((falsi > lo) & (falsi < hi), falsi, middle);
    const Real pull = min(Real(0.2) * width * width, abs(middle - sane));
    const Real drawn = sane + copysign(pull, middle - sane);
    Real reach = Real(1.0);  // of bisection after `attempts` + 1 attempts, plus one to spare
    for (int k = 0; k < attempts - 3 && k < 60; ++k) reach = reach * Real(0.5);
    const Real room = max(reach - Real(0.5) * width, Real(0.0));
    return select(abs(drawn - middle) <= room, drawn, middle - copysign(room, middle - sane));
  }
};

/// Moves p to the end of a re-integrated step, in the lanes of `where`.
template <class E, class Real>
SALTUS_FN void take_point(landing<E, Real>& p, const stages<typename E::Method, Real, E::n>& s,
                          const typename E::form::template rated<Real, E::ng>& g, mask_of<Real> where) {
  assign_where(where, p.t, s.t + s.h);
  p.begin(s.h, where);
  p.s.take(s, where);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, p.y[i], s.y1[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, p.g.value[i], g.value[i]);
    assign_where(where, p.g.rate[i], g.rate[i]);
  });
}

/// Moves the landing point by d, a small part of the step, along the parabola through its slope and the slope found there (Heun): one
/// evaluation instead of a whole step. Returns the lanes of `where` that moved: those in which the parabola's error is far below the
/// tolerance.
template <class E, class Real>
SALTUS_FN mask_of<Real> move_by_parabola(landing<E, Real>& p, const instance<E, Real>& x, Real d, mask_of<Real> where,
                                         const tolerances<E, Real>& tol) {
  const auto from = p.s.f1();
  const auto to = E::form::rhs(p.t + d, detail::advance(p.y, d, from), x.constants);
  const Real part = Real(0.5) * d, left_out = abs(d / p.s.h);
  vec<Real, E::n> y;
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real bend = part * (to[i] - from[i]);
    if (i < E::model_states) {
      const Real tolerated = Real(0.01) * fma(tol.rtol, abs(p.y[i]), tol.atol[i]);
      where = where & (abs(bend) * left_out <= tolerated);
    }
    y[i] = fma(d, from[i], p.y[i]) + bend;
  });
  const auto g = E::form::guards_along(p.t + d, y, to, x.constants);
  move_quadratures<E>(p.s, x, {p.t, p.y, from}, {p.t + d, y, to}, where);
  assign_where(where, p.t, p.t + d);
  assign_where(where, p.s.h, p.s.h + d);
  p.follow_parabola(d, where);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, p.y[i], y[i]);
    p.s.y1[i] = p.y[i];
    p.s.set_end_slope(i, select(where, to[i], from[i]));
  });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, p.g.value[i], g.value[i]);
    assign_where(where, p.g.rate[i], g.rate[i]);
  });
  return where;
}

/// Follows the solution from the landing point to the target's root, by a few Newton steps along parabolas, all within (from, to). Returns
/// the lanes of `where` in which the root is near; `target` is then the target from there. These points lie on a curve of their own, which
/// differs from that of re-integrated steps by a part of the tolerance, so they do not change the bracket.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> follow_to_root(landing<E, Real>& p, instance<E, Real>& x, const vec<Real, E::ng>& side,
                                            aim<Real>& target, Real from, Real to, Real near, mask_of<Real> where,
                                            const tolerances<E, Real>& tol) {
  constexpr int moves = most_parabolas;
  aim<Real> here = target;
  auto arrived = mask_of<Real>::all(false);
  for (int move = 0; move < moves && any(where); ++move) {
    const Real goal = p.t + here.to_root;
    where = where & (goal > from) & (goal < to) & (abs(here.to_root) <= abs(p.s.h) * Real(1.0 / 64));
    if (none(where)) break;
    add_where(x.rhs_evaluations, where, 1);
    where = move_by_parabola(p, x, here.to_root, where, tol);
    here = take_aim<E, Real>(side, p.g);
    const auto there = where & (abs(here.to_root) <= near);
    target.across = (target.across & !there) | (here.across & there);
    target.unilateral = (target.unilateral & !there) | (here.unilateral & there);
    assign_where(there, target.to_root, here.to_root);
    assign_where(there, target.guard, here.guard);
    arrived = arrived | there;
    where = where & !there;
  }
  return arrived;
}

/// Re-integrates to a part of the step: its end becomes the landing point of the lanes in `where`, except those in which it is not finite
/// (`broken`) or the step's equations are not solved (`lost`). Returns the target from there, also in `result`.
template <class E, class Real>
SALTUS_FN aim<Real> step_to(landing<E, Real>& p, instance<E, Real>& x, const step_system<E, Real>& f,
                            const vec<Real, E::ng>& side, Real d, mask_of<Real>& where, mask_of<Real>& lost,
                            aim<Real>& result) {
  const auto s = part_of_step(x, f, p.s, d);
  count_evaluations(x, s, where);
  add_where(x.root_finding_steps, where, 1);
  if constexpr (!E::Method::is_explicit) {
    lost = lost | (where & !s.solved);
    where = where & s.solved;
  }
  const auto g = E::form::guards_along(s.t + s.h, s.y1, s.f1(), x.constants);
  Real finite = Real(0.0);  // or NaN
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { finite += not_finite(s.y1[i]) + not_finite(s.f1()[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { finite += not_finite(g.value[i]); });
  p.broken = p.broken | (where & !(finite == Real(0.0)));
  where = where & (finite == Real(0.0));
  take_point(p, s, g, where);
  const auto target = take_aim<E, Real>(side, p.g);
  result.across = (result.across & !where) | (target.across & where);
  result.unilateral = (result.unilateral & !where) | (target.unilateral & where);
  assign_where(where, result.to_root, target.to_root);
  return target;
}

/// Lanes in which the guard that has crossed just after the landing point is unilateral.
template <class E, class Real>
SALTUS_FN mask_of<Real> has_crossed_wall(const landing<E, Real>& p) {
  auto is_wall = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    if (E::form::traits(i).side == unilateral) is_wall = is_wall | (p.crossing == Real(static_cast<double>(i)));
  });
  return is_wall;
}

/// The bracket with which `approach` begins: no root before `from`, and the interpolant's `hi`. `end` is the target from the end of the
/// step.
template <class E, class Real>
SALTUS_FN proven_bracket<Real> bracket_of_step(const instance<E, Real>& x, const trial<E, Real>& a,
                                               const vec<Real, E::ng>& side, const aim<Real>& end, Real from, Real hi,
                                               const tolerances<E, Real>& tol) {
  const Real h = a.s.h;
  return {from,
          hi,
          take_aim<E, Real>(side, {x.constants.guard_values, x.rate}).depth,
          end.depth,
          end.across & (hi >= Real(1.0)),
          end.across,
          from,
          max(Real(0x1p-20), Real(64.0 * limits<typename E::T>::epsilon) * (abs(x.t) + h) / h),
          Real(2.0) * time_tolerance(a.t1, h, tol) / h};
}

/// A bracket that has closed without Newton (a guard that jumps, or is flat beyond its root) is left at the end at which its guard may
/// land: a bilateral one after the root, a unilateral one before it.
template <class E, class Real>
SALTUS_FN void leave_closed_bracket(landing<E, Real>& p, instance<E, Real>& x, const step_system<E, Real>& f,
                                    const vec<Real, E::ng>& side, const proven_bracket<Real>& b, Real h,
                                    mask_of<Real> closed, mask_of<Real>& lost, aim<Real>& result) {
  const auto is_wall = has_crossed_wall(p);
  auto wrong = closed & !p.failed & !(is_wall ^ result.across);
  seldom(x, wrong, [&]() SALTUS_INLINE_LAMBDA {
    step_to<E, Real>(p, x, f, side, select(is_wall, b.lo, b.hi) * h, wrong, lost, result);
  });
  result.unilateral = (result.unilateral & !closed) | (is_wall & closed);
  p.failed = p.failed | lost;
}

/// Re-integrates to theta, and corrects by Newton with a bracket, until the root is within `near_part` of the step, or the bracket has
/// closed. Leaves the last point in p, and returns the target from there. There is no root before `from`.
template <class E, class Real>
SALTUS_FN_COLD aim<Real> approach(landing<E, Real>& p, instance<E, Real>& x, const trial<E, Real>& a,
                                  const vec<Real, E::ng>& side, Real from, Real theta, Real hi, mask_of<Real> where,
                                  const tolerances<E, Real>& tol) {
  using T = typename E::T;
  const step_system<E, Real> f{x.constants, &tol};
  const Real h = a.s.h;
  const auto end = take_aim<E, Real>(side, a.g);
  auto b = bracket_of_step(x, a, side, end, from, hi, tol);
  aim<Real> result{where, Real(0.0), Real(-1.0), Real(0.0), where};
  mask_of<Real> open = where, lost = mask_of<Real>::all(false);  // lost: the step's Newton iteration has failed
  p.crossing = select(b.proven, end.guard, Real(-1.0));
  auto closed = mask_of<Real>::all(false);
  for (int attempts = 0; attempts < 80 && any(open); ++attempts) {
    const Real old_width = b.hi - b.lo;
    auto unsolved = mask_of<Real>::all(false);
    auto target = step_to<E, Real>(p, x, f, side, theta * h, open, unsolved, result);
    if constexpr (!E::Method::is_explicit) {
      // A guard that has jumped where the step begins is across at its every part, down to those too short to be solved.
      const auto jumped = (unsolved | p.broken) & b.proven & (b.hi <= Real(near_part<T>));
      closed = closed | jumped;
      lost = lost | (unsolved & !jumped);
      p.broken = p.broken & !jumped;
    }
    assign_where(open & target.across, p.crossing, target.guard);
    const auto known = b.proven;
    const auto absent = b.narrow(theta, target, target.to_root / h, open);
    assign_where(b.proven & !known & !target.across, p.crossing, end.guard);
    const Real near = Real(near_part<T>) * h + Real(0.5) * time_tolerance(p.t, h, tol);
    const auto is_near = abs(target.to_root) <= near;
    closed = closed | (open & !is_near & b.proven & (b.hi - b.lo <= Real(2.0 * limits<T>::epsilon)));
    p.spurious = p.spurious | (open & absent);
    open = open & !(absent | is_near | closed);
    // After a few attempts Newton is used only while it halves the bracket; in a rescue never.
    const auto trust = mask_of<Real>::all(!tol.conservative) &
                       (mask_of<Real>::all(attempts < 3) | (b.hi - b.lo < Real(0.5) * old_width));
    // Near roots are reached along parabolas. Without f, or with constraints, further steps are taken.
    if constexpr (E::form::has_field && !has_constraints<typename E::form>) {
      const auto close = open & trust & (abs(target.to_root) <= theta * h * Real(1.0 / 64));
      if (any(close))
        open = open & !follow_to_root<E, Real>(p, x, side, result, x.t + b.lo * h, x.t + b.hi * h, near, close, tol);
    }
    const Real newton = theta + target.to_root / h;
    const auto trusted = b.holds(newton) & trust;
    Real next = newton;
    seldom(x, open & !trusted,
           [&]() SALTUS_INLINE_LAMBDA { next = select(trusted, newton, b.without_newton(attempts)); });
    if constexpr (E::is_quick) open = open & is_under_way(x);
    theta = select(open, next, theta);
  }
  p.failed = open | lost;
  leave_closed_bracket(p, x, f, side, b, h, closed, lost, result);
  return result;
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

/// Region of concurrency (Compere 5.2.3), judged by linear estimates from the landing point: N_p are the bilateral guards whose roots
/// follow the first within eps_c; N_c those up to the last root before any of them is further than eps_ROC beyond zero. Returns the time
/// from the landing point to that last root, 0 if there is only one; a unilateral guard may not be passed.
template <class E, class Real>
SALTUS_FN_COLD Real time_to_last_concurrent(const landing<E, Real>& p, const vec<Real, E::ng>& side, Real first,
                                            const tolerances<E, Real>& tol) {
  const auto each_root = [&](auto&& body) SALTUS_INLINE_LAMBDA {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto coming = (side[i] != Real(0.0)) & (side[i] * p.g.rate[i] < Real(0.0));
      const Real root = -p.g.value[i] / p.g.rate[i];
      body(i, coming & (root >= first) & (root <= first + tol.concurrency_time), root);
    });
  };
  Real furthest = Real(limits<typename E::T>::largest), last = first;
  each_root([&](int i, mask_of<Real> within, Real root) SALTUS_INLINE_LAMBDA {
    const bool passes = E::form::traits(i).side == bilateral;
    const Real stay = passes ? tol.concurrency_value / abs(p.g.rate[i]) : -tol.concurrency_time;
    furthest = select(within, min(furthest, root + stay), furthest);
  });
  each_root([&](int i, mask_of<Real> within, Real root) SALTUS_INLINE_LAMBDA {
    if (E::form::traits(i).side == bilateral) last = select(within & (root <= furthest), max(last, root), last);
  });
  return select(last > first, last, Real(0.0));
}

/// Moves the landing point on to the last concurrent root: along f if that is exact enough, otherwise by re-integration. Returns the lanes
/// moved.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> include_concurrent(landing<E, Real>& p, instance<E, Real>& x, const vec<Real, E::ng>& side,
                                                Real first, mask_of<Real> where, const tolerances<E, Real>& tol) {
  const step_system<E, Real> f{x.constants, &tol};
  const Real onward = time_to_last_concurrent<E, Real>(p, side, first, tol);
  const auto moves = where & (onward > Real(0.0));
  seldom(x, moves, [&]() SALTUS_INLINE_LAMBDA {
    auto bent = mask_of<Real>::all(false);
    const Real part = Real(0.5) * onward * onward / p.s.h;
    const auto derivative = p.s.f1();
    vec<Real, E::n> y = move_along(f, p.t, p.y, onward, derivative);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      bent = bent | (abs(derivative[i] - x.f[i]) * part > Real(0.01) * fma(tol.rtol, abs(y[i]), tol.atol[i]));
    });
    const Real t = p.t + onward;
    const auto g = E::form::guards_along(t, y, derivative, x.constants);
    move_quadratures<E>(p.s, x, {p.t, p.y, derivative}, {t, y, derivative}, moves);
    assign_where(moves, p.t, t);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(moves, p.y[i], y[i]); });
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      assign_where(moves, p.g.value[i], g.value[i]);
      assign_where(moves, p.g.rate[i], g.rate[i]);
    });
    if (any(bent & moves)) {
      const auto s = part_of_step(x, f, p.s, t - x.t);
      count_evaluations(x, s, bent & moves);
      take_point(p, s, E::form::guards_along(t, s.y1, s.f1(), x.constants), bent & moves);
    }
  });
  return moves;
}

/// Where a guard jumps at a wall, or is flat beyond it, no time derivative shows that the wall is due. A guard that has crossed just after
/// this point shows it, and on the last attempt that suffices.
template <class E, class Real>
SALTUS_FN mask_of<Real> walls_jumped_over(const landing<E, Real>& p,
                                          const typename E::form::template rated<Real, E::ng>& g, mask_of<Real> last) {
  auto jumps = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    if (E::form::traits(i).side == unilateral)
      jumps = jumps | ((p.crossing == Real(static_cast<double>(i))) & (last | (g.rate[i] == Real(0.0))));
  });
  return jumps;
}

/// Sets the landing point of the lanes in `take`, with the due guards: those found, or the wall that was jumped over.
template <class E, class Real>
SALTUS_FN void land_at(landing<E, Real>& p, Real t, const vec<Real, E::n>& y,
                       const typename E::form::template rated<Real, E::ng>& g, const due_guards<E, Real>& found,
                       mask_of<Real> jumps, mask_of<Real> take) {
  assign_where(take, p.t, t);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(take, p.y[i], y[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(take, p.g.value[i], g.value[i]);
    assign_where(take, p.g.rate[i], g.rate[i]);
    const auto this_one = jumps & (p.crossing == Real(static_cast<double>(i)));
    assign_where(take, p.due[i], select(this_one, Real(1.0), found.due[i]));
  });
  p.fires = p.fires | (take & (found.settled | jumps));
  p.failed = p.failed | (take & found.any_due & !found.settled);
}

/// The time for which rounding hides the sides of guards near their roots: twice the rounding of a guard over its time derivative, the
/// longest of all guards that are within `reach` of their roots, or within their rounding.
template <class E, class Real>
SALTUS_FN_COLD Real time_in_rounding(const landing<E, Real>& p, const instance<E, Real>& x,
                                     const vec<Real, E::ng>& side, Real reach) {
  const auto rounding = rounding_of_guards<E>(p.t, p.y, x.constants);
  Real longest = Real(0.0);
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g = side[i] * p.g.value[i], speed = -side[i] * p.g.rate[i];
    const auto is_near = (speed > Real(0.0)) & (g <= fma(speed, reach, Real(4.0) * rounding[i]));
    longest = select(is_near, max(longest, Real(2.0) * rounding[i] / speed), longest);
  });
  return longest;
}

/// The last steps of root finding, along f, to the proper side. They use Newton again, since near a tangency g is not linear even over this
/// distance, and then a shift that grows until every due guard is on its proper side. In the lanes of `concurrent` several guards have been
/// passed, and no step goes back.
template <class E, class Real>
SALTUS_FN_COLD void step_aside(landing<E, Real>& p, instance<E, Real>& x, const vec<Real, E::ng>& side, Real h,
                               aim<Real> target, mask_of<Real> concurrent, mask_of<Real> where,
                               const tolerances<E, Real>& tol) {
  using T = typename E::T;
  // The shift grows to 65536 ulps of t, 1.5e-11 relative; if constraints determine states, to 3.7e-9. If a guard changes so slowly that
  // rounding hides its sign for longer, the shift grows until that is over.
  constexpr int shifts = E::form::has_field && has_constraints<typename E::form> ? 13 : 9, most_shifts = 26;
  const vec<Real, E::n> y0 = p.y, f = p.s.f1();
  const Real t0 = p.t;
  const Real tau = time_tolerance(t0, h, tol);
  Real reach = Real(8.0 * near_part<T>) * h + tau;  // a triple root is three Newton steps away
  Real shift = Real(limits<T>::epsilon) * max(abs(t0), h), d = Real(0.0), in_rounding = Real(0.0);
  mask_of<Real> seeking = where, is_drowned = mask_of<Real>::all(false);
  Real move = select(abs(target.to_root) <= reach, target.to_root, Real(0.0)), previous = move;
  for (int attempts = 0; attempts < most_shifts && any(seeking); ++attempts) {
    const Real onward = d + move + select(target.unilateral, -shift, shift);
    const auto drowns = seeking & !is_drowned & ((abs(onward) > reach) | mask_of<Real>::all(attempts == shifts - 1));
    seldom(x, drowns, [&]() SALTUS_INLINE_LAMBDA {
      is_drowned = is_drowned | drowns;
      in_rounding = select(drowns, min(time_in_rounding(p, x, side, reach), Real(0x1p-10) * h), in_rounding);
      reach = max(reach, Real(5.0) * in_rounding);
    });
    if constexpr (E::is_quick) seeking = seeking & is_under_way(x);
    d = select(abs(onward) <= reach, onward, d);
    auto y = move_along(step_system<E, Real>{x.constants, &tol}, t0, y0, d, f);
    // The result may not lie before the step, which begins on the proper side of every guard.
    const Real t = max(t0 + d, x.t);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(t > x.t, y[i], x.y[i]); });
    const auto g = E::form::guards_along(t, y, f, x.constants);
    const auto last = mask_of<Real>::all(attempts == most_shifts - 1) |
                      (mask_of<Real>::all(attempts >= shifts - 1) & !(shift < in_rounding));
    const auto found = find_due<E, Real>(side, g, tau + Real(2.0) * shift, last);
    const auto jumps = walls_jumped_over(p, g, last) & !found.any_due;
    // At a multiple root one Newton step is not enough; at a double root there may be none: NaN, or out of reach.
    const Real newton = take_aim<E, Real>(side, g).to_root;
    const auto onward_is_known = (!concurrent) & (abs(newton) <= reach);
    const auto is_far = onward_is_known & (!target.unilateral) & (abs(newton) > tau + Real(4.0) * shift);
    const auto take = seeking & ((found.settled & !is_far) | jumps | last);
    land_at(p, t, y, g, found, jumps, take);
    p.shift(d, take);
    target.unilateral = target.unilateral & !(seeking & found.bilateral);
    seeking = seeking & !take;
    shift = shift * Real(4.0);
    const Real summed = select(target.unilateral, newton, sum_of_newton(newton, previous));
    move = select(onward_is_known, summed, Real(0.0));
    previous = newton;
  }
  // The step that led here now ends at the landing point, for all later uses.
  move_quadratures<E>(p.s, x, {t0, y0, f}, {p.t, p.y, f}, where);
  p.s.y1 = p.y;
  p.s.h = p.t - x.t;
}

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
  p.fires = p.spurious = p.failed = p.broken = mask_of<Real>::all(false);
  p.crossing = Real(-1.0);
  return p;
}

/// Lands every lane in `where`, whose step `a` has a crossing in bracket `b` of its dense output and none before `from`.
template <class E, class Real>
SALTUS_FN_COLD landing<E, Real> locate(instance<E, Real>& x, const trial<E, Real>& a,
                                       const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side, Real from,
                                       bracket<E, Real> b, mask_of<Real> where, const tolerances<E, Real>& tol) {
  auto p = landing_at_start(x, a);
  const auto first = root_on_dense<E, Real>(on_step, side, b, where);
  auto target = approach<E, Real>(p, x, a, side, from, first.theta, b.hi, where, tol);
  const auto there = where & !p.spurious & !p.failed & !p.broken;
  auto concurrent = mask_of<Real>::all(false);
  if (any(tol.concurrency_time > Real(0.0))) {
    concurrent = include_concurrent<E, Real>(p, x, side, target.to_root, there, tol);
    target.to_root = select(concurrent, Real(0.0), target.to_root);
  }
  step_aside<E, Real>(p, x, side, a.s.h, target, concurrent, there, tol);
  // Counts the outcome of the guess (Compere's Table 5.1).
  auto guessed = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    guessed = guessed | ((first.guard == Real(static_cast<double>(i))) & (p.due[i] > Real(0.5)));
  });
  add_where(x.out_of_order_roots, p.fires & !guessed & (first.guard >= Real(0.0)), 1);
  add_where(x.spurious_roots, p.spurious, 1);
  return p;
}

}  // namespace saltus
