// The last step of location, along f, to the proper side of the guard: bilateral guards are landed just past their root (CEL+, Compere 5.1.4),
// unilateral ones just before it (CEL-, 5.1.5).
#pragma once

#include "engine/guard_errors.hpp"
#include "event/landing.hpp"

namespace saltus {

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

/// Ends the search in the lanes of `take`, with the due guards: those found, or the wall that was jumped over.
template <class E, class Real>
SALTUS_FN void set_due(landing<E, Real>& p, const due_guards<E, Real>& found, mask_of<Real> jumps, mask_of<Real> take) {
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto this_one = jumps & (p.crossing == Real(static_cast<double>(i)));
    assign_where(take, p.due[i], select(this_one, Real(1.0), found.due[i]));
  });
  p.fires = p.fires | (take & (found.settled | jumps));
  p.failed = p.failed | (take & found.any_due & !found.settled);
}

/// The time for which rounding hides the sides of guards near their roots: twice the rounding of a guard over its time derivative, the
/// longest of all guards that are within `reach` of their roots, or within their rounding.
template <class E, class Real>
SALTUS_FN_COLD Real time_in_rounding(const location<E, Real>& l, Real reach) {
  const landing<E, Real>& p = l.p;
  const auto rounding = rounding_of_guards<E>(p.t, p.y, l.x.constants);
  Real longest = Real(0.0);
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real g = l.side[i] * p.g.value[i], speed = -l.side[i] * p.g.rate[i];
    const auto is_near = (speed > Real(0.0)) & (g <= fma(speed, reach, Real(4.0) * rounding[i]));
    longest = select(is_near, max(longest, Real(2.0) * rounding[i] / speed), longest);
  });
  return longest;
}

/// The last steps of root finding, along f, to the proper side. They use Newton again, since near a tangency g is not linear even over this
/// distance, and then a shift that grows until every due guard is on its proper side. In the lanes of `concurrent` several guards have been
/// passed, and no step goes back.
template <class E, class Real>
SALTUS_FN_COLD void step_aside(const location<E, Real>& l, aim<Real> target, mask_of<Real> concurrent,
                               mask_of<Real> where) {
  using T = typename E::T;
  instance<E, Real>& x = l.x;
  landing<E, Real>& p = l.p;
  const Real h = l.step.s.h;
  // The shift grows to 65536 ulps of t, 1.5e-11 relative; if constraints determine states, to 3.7e-9. If a guard changes so slowly that
  // rounding hides its sign for longer, the shift grows until that is over.
  constexpr int shifts = E::form::has_field && has_constraints<typename E::form> ? 13 : 9, most_shifts = 26;
  const vec<Real, E::n> y0 = p.y, f = p.s.f1();
  const Real t0 = p.t;
  const Real tau = time_tolerance(t0, h, l.tol);
  Real reach = Real(8.0 * near_part<T>) * h + tau;  // a triple root is three Newton steps away
  if constexpr (!E::Method::is_explicit)
    reach = select(p.by_slope, max(reach, Real(2.0 * part_without_steps) * h), reach);
  Real shift = Real(limits<T>::epsilon) * max(abs(t0), h), d = Real(0.0), in_rounding = Real(0.0);
  mask_of<Real> seeking = where, is_drowned = mask_of<Real>::all(false);
  Real move = select(abs(target.to_root) <= reach, target.to_root, Real(0.0)), previous = move;
  for (int attempts = 0; attempts < most_shifts && any(seeking); ++attempts) {
    const Real onward = d + move + select(target.unilateral, -shift, shift);
    const auto drowns = seeking & !is_drowned & ((abs(onward) > reach) | mask_of<Real>::all(attempts == shifts - 1));
    seldom(x, drowns, [&]() SALTUS_INLINE_LAMBDA {
      is_drowned = is_drowned | drowns;
      in_rounding = select(drowns, min(time_in_rounding(l, reach), Real(0x1p-10) * h), in_rounding);
      reach = max(reach, Real(5.0) * in_rounding);
    });
    if constexpr (E::is_quick) seeking = seeking & is_under_way(x);
    d = select(abs(onward) <= reach, onward, d);
    auto y = move_along(l.system(), t0, y0, d, f);
    // The result may not lie before the step, which begins on the proper side of every guard.
    const Real t = max(t0 + d, x.t);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(t > x.t, y[i], x.y[i]); });
    const auto g = E::form::guards_along(t, y, f, x.constants);
    const auto last = mask_of<Real>::all(attempts == most_shifts - 1) |
                      (mask_of<Real>::all(attempts >= shifts - 1) & !(shift < in_rounding));
    const auto found = find_due<E, Real>(l.side, g, tau + Real(2.0) * shift, last);
    const auto jumps = walls_jumped_over(p, g, last) & !found.any_due;
    // At a multiple root one Newton step is not enough; at a double root there may be none: NaN, or out of reach.
    const Real newton = take_aim<E, Real>(l.side, g).to_root;
    const auto onward_is_known = (!concurrent) & (abs(newton) <= reach);
    const auto is_far = onward_is_known & (!target.unilateral) & (abs(newton) > tau + Real(4.0) * shift);
    const auto take = seeking & ((found.settled & !is_far) | jumps | last);
    p.move_to(t, y, g, take);
    set_due(p, found, jumps, take);
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

}  // namespace saltus
