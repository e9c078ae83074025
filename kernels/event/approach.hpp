// From a root on the dense output to a point of the solution near the root: re-integration, then Newton's method in a bracket of
// re-integrated points. A root that does not exist (case III of Compere's Table 5.1) leaves an ordinary accepted point. A guard that
// crosses earlier than the target (case II) becomes the target.
#pragma once

#include "event/landing.hpp"

namespace saltus {

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
  Real noisy;                ///< up to here, rounding of t in the stages may put a guard across that has left zero
  Real tail;                 ///< within this distance of the step's end, a point counts as that end
  mask_of<Real> unsolved;    ///< the step to hi has no solution

  /// Takes in the result at theta, with the next root `ahead` of it. Returns the lanes without a root: no guard is across at hi. There may
  /// be several roots beyond hi, so hi moves on only if the next one is near, because the interpolant is slightly off, or if rounding may
  /// hide it.
  SALTUS_FN mask_of<Real> narrow(Real theta, const aim<Real>& here, Real ahead, mask_of<Real> open) {
    assign_where(open & here.across, hi, theta);
    assign_where(open & here.across, depth_hi, here.depth);
    unsolved = unsolved & !(open & here.across);
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
  /// The step to theta has no solution. The root is presumed before it: where the equations jump at the root, an implicit step that would end
  /// between their two branches has none. If no root is found there, location fails.
  SALTUS_FN void end_before(Real theta, mask_of<Real> where) {
    assign_where(where, hi, theta);
    assign_where(where, depth_hi, -depth_lo);
    unsolved = unsolved | where;
    proven = proven | where;
  }
  /// Lanes in which a guard is across so near to the beginning that this counts only if one is across at the end of that distance, too: it
  /// is the next point.
  SALTUS_FN mask_of<Real> looks_further(Real theta, const aim<Real>& here, mask_of<Real> open) {
    const auto doubtful = open & here.across & !proven & (theta < noisy);
    assign_where(doubtful, hi, max(hi, noisy));
    return doubtful;
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
  p.begin(s.h, where);
  p.s.take(s, where);
  p.move_to(s.t + s.h, s.y1, g, where);
}

/// Moves the landing point by d, a small part of the step, along the parabola through its slope and the slope found there (Heun): one
/// evaluation instead of a whole step. Returns the lanes of `where` that moved: those in which the parabola's error is far below the
/// tolerance.
template <class E, class Real>
SALTUS_FN mask_of<Real> move_by_parabola(const location<E, Real>& l, Real d, mask_of<Real> where) {
  const instance<E, Real>& x = l.x;
  landing<E, Real>& p = l.p;
  const auto from = p.s.f1();
  const auto to = E::form::rhs(p.t + d, detail::advance(p.y, d, from), x.constants);
  const Real part = Real(0.5) * d, left_out = abs(d / p.s.h);
  vec<Real, E::n> y;
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real bend = part * (to[i] - from[i]);
    if (i < E::model_states) {
      const Real tolerated = Real(0.01) * fma(l.tol.rtol, abs(p.y[i]), l.tol.atol[i]);
      where = where & (abs(bend) * left_out <= tolerated);
    }
    y[i] = fma(d, from[i], p.y[i]) + bend;
  });
  const auto g = E::form::guards_along(p.t + d, y, to, x.constants);
  move_quadratures<E>(p.s, x, {p.t, p.y, from}, {p.t + d, y, to}, where);
  assign_where(where, p.s.h, p.s.h + d);
  p.follow_parabola(d, where);
  p.move_to(p.t + d, y, g, where);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    p.s.y1[i] = p.y[i];
    p.s.set_end_slope(i, select(where, to[i], from[i]));
  });
  return where;
}

/// Follows the solution from the landing point to the target's root, by a few Newton steps along parabolas, all within the bracket b. Returns
/// the lanes of `where` in which the root is near; `target` is then the target from there. These points lie on a curve of their own, which
/// differs from that of re-integrated steps by a part of the tolerance, so they do not change the bracket.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> follow_to_root(const location<E, Real>& l, const proven_bracket<Real>& b,
                                            aim<Real>& target, Real near, mask_of<Real> where) {
  constexpr int moves = most_parabolas;
  const Real from = l.x.t + b.lo * l.step.s.h, to = l.x.t + b.hi * l.step.s.h;
  landing<E, Real>& p = l.p;
  aim<Real> here = target;
  auto arrived = mask_of<Real>::all(false);
  for (int move = 0; move < moves && any(where); ++move) {
    const Real goal = p.t + here.to_root;
    where = where & (goal > from) & (goal < to) & (abs(here.to_root) <= abs(p.s.h) * Real(1.0 / 64));
    if (none(where)) break;
    add_where(l.x.rhs_evaluations, where, 1);
    where = move_by_parabola(l, here.to_root, where);
    here = take_aim<E, Real>(l.side, p.g);
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
SALTUS_FN aim<Real> step_to(const location<E, Real>& l, Real d, mask_of<Real>& where, mask_of<Real>& lost,
                            aim<Real>& result) {
  instance<E, Real>& x = l.x;
  landing<E, Real>& p = l.p;
  const auto s = part_of_step(x, l.system(), p.s, d);
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
  const auto target = take_aim<E, Real>(l.side, p.g);
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
SALTUS_FN proven_bracket<Real> bracket_of_step(const location<E, Real>& l, const aim<Real>& end, Real from, Real hi) {
  const instance<E, Real>& x = l.x;
  const Real h = l.step.s.h, ulps = Real(limits<typename E::T>::epsilon) * (abs(x.t) + h) / h;
  return {from,
          hi,
          take_aim<E, Real>(l.side, {x.constants.guard_values, x.rate}).depth,
          end.depth,
          end.across & (hi >= Real(1.0)),
          end.across,
          from,
          max(Real(0x1p-20), Real(64.0) * ulps),
          min(Real(256.0) * ulps, Real(1.0)),
          Real(2.0) * time_tolerance(l.step.t1, h, l.tol) / h,
          mask_of<Real>::all(false)};
}

/// A bracket that has closed without Newton (a guard that jumps, or is flat beyond its root) is left at the end at which its guard may
/// land: a bilateral one after the root, a unilateral one before it.
template <class E, class Real>
SALTUS_FN void leave_closed_bracket(const location<E, Real>& l, const proven_bracket<Real>& b, mask_of<Real> closed,
                                    mask_of<Real>& lost, aim<Real>& result) {
  landing<E, Real>& p = l.p;
  const auto is_wall = has_crossed_wall(p);
  auto wrong = closed & !p.failed & !(is_wall ^ result.across);
  seldom(l.x, wrong,
         [&]() SALTUS_INLINE_LAMBDA { step_to(l, select(is_wall, b.lo, b.hi) * l.step.s.h, wrong, lost, result); });
  result.unilateral = (result.unilateral & !closed) | (is_wall & closed);
  p.failed = p.failed | lost;
}

/// Re-integrates to theta, and corrects by Newton with a bracket, until the root is within `near_part` of the step, or the bracket has
/// closed. Leaves the last point in p, and returns the target from there. There is no root before `from`.
template <class E, class Real>
SALTUS_FN_COLD aim<Real> approach(const location<E, Real>& l, Real from, Real theta, Real hi, mask_of<Real> where) {
  using T = typename E::T;
  [[maybe_unused]] instance<E, Real>& x = l.x;
  landing<E, Real>& p = l.p;
  const Real h = l.step.s.h;
  const auto end = take_aim<E, Real>(l.side, l.step.g);
  auto b = bracket_of_step(l, end, from, hi);
  aim<Real> result{where, Real(0.0), Real(-1.0), Real(0.0), where};
  mask_of<Real> open = where, lost = mask_of<Real>::all(false);  // lost: the step's Newton iteration has failed
  p.crossing = select(b.proven, end.guard, Real(-1.0));
  auto closed = mask_of<Real>::all(false);
  for (int attempts = 0; attempts < 80 && any(open); ++attempts) {
    const Real old_width = b.hi - b.lo;
    auto unsolved = mask_of<Real>::all(false);
    auto target = step_to(l, theta * h, open, unsolved, result);
    auto judged = open;
    if constexpr (!E::Method::is_explicit) {
      // A guard that has jumped where the step begins is across at its every part, down to those too short to be solved.
      const auto jumped = (unsolved | p.broken) & b.proven & !b.unsolved & (b.hi <= Real(near_part<T>));
      closed = closed | jumped;
      p.broken = p.broken & !jumped;
      const auto between = unsolved & !jumped & (theta > b.lo);
      b.end_before(theta, between);
      lost = lost | (unsolved & !jumped & !between);
      open = open | between;
    }
    const auto further = b.looks_further(theta, target, judged);
    judged = judged & !further;
    assign_where(judged & target.across, p.crossing, target.guard);
    const auto known = b.proven;
    const auto absent = b.narrow(theta, target, target.to_root / h, judged);
    assign_where(b.proven & !known & !target.across, p.crossing, end.guard);
    const Real near = Real(near_part<T>) * h + Real(0.5) * time_tolerance(p.t, h, l.tol);
    Real reached = near;
    if constexpr (!E::Method::is_explicit) reached = select(b.unsolved, max(Real(part_without_steps) * h, near), near);
    const auto is_near = judged & (abs(target.to_root) <= reached);
    p.by_slope = p.by_slope | (is_near & b.unsolved);
    closed = closed | (open & !is_near & b.proven & (b.hi - b.lo <= Real(2.0 * limits<T>::epsilon)));
    p.spurious = p.spurious | (open & absent);
    open = open & !(absent | is_near | closed);
    // After a few attempts Newton is used only while it halves the bracket; in a rescue never.
    const auto trust = mask_of<Real>::all(!l.tol.conservative) &
                       (mask_of<Real>::all(attempts < 3) | (b.hi - b.lo < Real(0.5) * old_width));
    // Near roots are reached along parabolas. Without f, or with constraints, further steps are taken.
    if constexpr (E::form::has_field && !has_constraints<typename E::form>) {
      const auto close = judged & open & trust & (abs(target.to_root) <= theta * h * Real(1.0 / 64));
      if (any(close)) open = open & !follow_to_root(l, b, result, near, close);
    }
    const Real newton = theta + target.to_root / h;
    const auto trusted = judged & b.holds(newton) & trust;
    Real next = newton;
    seldom(x, open & !trusted, [&]() SALTUS_INLINE_LAMBDA {
      next = select(further, b.noisy, select(trusted, newton, b.without_newton(attempts)));
    });
    if constexpr (E::is_quick) open = open & is_under_way(x);
    theta = select(open, next, theta);
  }
  lost = lost | (closed & b.unsolved);
  p.failed = open | lost;
  leave_closed_bracket(l, b, closed, lost, result);
  return result;
}

}  // namespace saltus
