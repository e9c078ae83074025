// Location: from a bracket on the dense output to a point of the solution on the proper side of the guard.
//
//     root on the dense output -> re-integration to it -> Newton with the bracket kept -> the last step along f, to the side
//
// A result on the interpolant counts only when a re-integrated step has confirmed it.
#pragma once

#include "event/concurrent.hpp"
#include "event/root_on_dense.hpp"
#include "event/step_aside.hpp"

namespace saltus {

/// Moves the point on to `hi` where a root of the interpolant does not exist. At `hi` the interpolant has a guard across; if the solution has
/// one, too, the point stays. A guard near zero would otherwise stop every step at the first such root.
template <class E, class Real>
SALTUS_FN_COLD void pass_spurious(const location<E, Real>& l, Real hi, mask_of<Real> where) {
  landing<E, Real>& p = l.p;
  const Real here = p.s.h, there = hi * l.step.s.h;
  auto tried = where & (there > here), lost = mask_of<Real>::all(false);
  aim<Real> target{tried, Real(0.0), Real(-1.0), Real(0.0), tried};
  step_to(l, there, tried, lost, target);
  p.broken = p.broken & !where;
  auto returns = where & (there > here) & (target.across | !tried);
  lost = mask_of<Real>::all(false);
  if (any(returns)) step_to(l, here, returns, lost, target);
}

/// Locates the event in every lane in `where`, whose step has a crossing in the bracket b of its dense output and none before `from`.
template <class E, class Real>
SALTUS_FN_COLD void locate(const location<E, Real>& l, const guards_on_step<E, Real>& on_step, Real from,
                           bracket<E, Real> b, mask_of<Real> where) {
  landing<E, Real>& p = l.p;
  const Real far_end = b.hi;  // the search for the root moves b.hi
  const auto first = root_on_dense<E, Real>(on_step, l.side, b, where);
  auto target = approach(l, from, first.theta, b.hi, where);
  if constexpr (!E::is_quick)
    if (any(where & p.spurious)) pass_spurious(l, far_end, where & p.spurious);
  const auto there = where & !p.spurious & !p.failed & !p.broken;
  auto concurrent = mask_of<Real>::all(false);
  if (any(l.tol.concurrency_time > Real(0.0))) {
    concurrent = include_concurrent(l, target.to_root, there);
    target.to_root = select(concurrent, Real(0.0), target.to_root);
  }
  step_aside(l, target, concurrent, there);
  // Counts the outcome of the guess (Compere's Table 5.1).
  auto guessed = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    guessed = guessed | ((first.guard == Real(static_cast<double>(i))) & (p.due[i] > Real(0.5)));
  });
  add_where(l.x.out_of_order_roots, p.fires & !guessed & (first.guard >= Real(0.0)), 1);
  add_where(l.x.spurious_roots, p.spurious, 1);
}

}  // namespace saltus
