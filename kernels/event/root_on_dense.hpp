// The root of a guard on the dense output of a step, by Newton's method in a bracket.
#pragma once

#include "event/detect.hpp"
#include "event/landing.hpp"

namespace saltus {

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

}  // namespace saltus
