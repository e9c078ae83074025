// Events whose roots follow each other within a tolerance, as one event (Compere 5.2.3).
#pragma once

#include "event/approach.hpp"

namespace saltus {

/// Region of concurrency (Compere 5.2.3), judged by linear estimates from the landing point: N_p are the bilateral guards whose roots
/// follow the first within eps_c; N_c those up to the last root before any of them is further than eps_ROC beyond zero. Returns the time
/// from the landing point to that last root, 0 if there is only one; a unilateral guard may not be passed.
template <class E, class Real>
SALTUS_FN_COLD Real time_to_last_concurrent(const location<E, Real>& l, Real first) {
  const landing<E, Real>& p = l.p;
  const tolerances<E, Real>& tol = l.tol;
  const auto each_root = [&](auto&& body) SALTUS_INLINE_LAMBDA {
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto coming = (l.side[i] != Real(0.0)) & (l.side[i] * p.g.rate[i] < Real(0.0));
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
SALTUS_FN_COLD mask_of<Real> include_concurrent(const location<E, Real>& l, Real first, mask_of<Real> where) {
  instance<E, Real>& x = l.x;
  landing<E, Real>& p = l.p;
  const auto f = l.system();
  const Real onward = time_to_last_concurrent(l, first);
  const auto moves = where & (onward > Real(0.0));
  seldom(x, moves, [&]() SALTUS_INLINE_LAMBDA {
    auto bent = mask_of<Real>::all(false);
    const Real part = Real(0.5) * onward * onward / p.s.h;
    const auto derivative = p.s.f1();
    vec<Real, E::n> y = move_along(f, p.t, p.y, onward, derivative);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      bent = bent | (abs(derivative[i] - x.f[i]) * part > Real(0.01) * fma(l.tol.rtol, abs(y[i]), l.tol.atol[i]));
    });
    const Real t = p.t + onward;
    const auto g = E::form::guards_along(t, y, derivative, x.constants);
    move_quadratures<E>(p.s, x, {p.t, p.y, derivative}, {t, y, derivative}, moves);
    p.move_to(t, y, g, moves);
    if (any(bent & moves)) {
      const auto s = part_of_step(x, f, p.s, t - x.t);
      count_evaluations(x, s, bent & moves);
      take_point(p, s, E::form::guards_along(t, s.y1, s.f1(), x.constants), bent & moves);
    }
  });
  return moves;
}

}  // namespace saltus
