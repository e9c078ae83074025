// On which side of its guards an instance is, and what counts as a crossing.
//
// A guard's side is the sign of its value at the accepted point, which is never left at an undecided zero (`settle`):
// the root of a guard that is zero at t_k is not in (t_k, t_{k+1}] and does not fire. A guard is armed when its value may
// cross in its declared direction from there: falling guards above zero, rising ones below.
#pragma once

#include "model/instance.hpp"

namespace saltus {

template <class E, int I>
inline constexpr auto guard_of = E::Model::guard_list[I];

/// Decides the side of guards that are exactly zero: bilateral ones belong to the side they are heading to; unilateral
/// ones stay on the side they may not leave, so that a body starting in contact cannot fall through.
template <class E, int I, class Real>
SALTUS_FN Real settle(Real g, Real rate) {
  constexpr auto   info  = guard_of<E, I>;
  constexpr double below = -limits<typename E::T>::smallest;
  if constexpr (info.side == unilateral && info.which == falling) {
    return select(g == Real(0.0), Real(0.0), g);
  } else if constexpr (info.side == unilateral && info.which == rising) {
    return select(g == Real(0.0), Real(below), g);
  } else {
    return select(g == Real(0.0), select(rate < Real(0.0), Real(below), Real(0.0)), g);
  }
}

/// A unilateral guard that rounding, or a bilateral guard due at the same instant, has left a hair beyond zero (in time:
/// `hair`) while it is on its way back, is put back on zero: else it would not be armed against the next contact.
template <class E, int I, class Real>
SALTUS_FN Real put_back(Real settled, Real rate, Real hair) {
  constexpr auto info = guard_of<E, I>;
  if constexpr (info.side == unilateral && info.which == falling)
    return select((settled < Real(0.0)) & (-settled <= rate * hair), Real(0.0), settled);
  else if constexpr (info.side == unilateral && info.which == rising)
    return select((settled > Real(0.0)) & (settled <= -rate * hair), Real(-limits<typename E::T>::smallest), settled);
  else return settled;
}

/// Is a unilateral guard beyond zero, where it may never be, and moving further?
template <class E, int I, class Real>
SALTUS_FN mask_of<Real> violated(Real settled, Real rate) {
  constexpr auto info = guard_of<E, I>;
  if constexpr (info.side == unilateral && info.which == falling) return (settled < Real(0.0)) & (rate < Real(0.0));
  else if constexpr (info.side == unilateral && info.which == rising)
    return (settled >= Real(0.0)) & (rate > Real(0.0));
  else return mask_of<Real>::all(false);
}

/// +1 above zero, -1 below.
template <class Real>
SALTUS_FN Real side_of(Real settled) {
  return copysign(Real(1.0), settled);
}

template <class E, int I, class Real>
SALTUS_FN mask_of<Real> armed(Real settled) {
  constexpr auto info = guard_of<E, I>;
  if constexpr (info.which == falling) return settled >= Real(0.0);
  else if constexpr (info.which == rising) return settled < Real(0.0);
  else return mask_of<Real>::all(true);
}

/// Has a guard that started on `side` left it? At exactly zero it has if it is on its way out: roots count when
/// t* is in (t_k, t_{k+1}].
template <class Real>
SALTUS_FN mask_of<Real> has_crossed(Real side, Real g, Real rate) {
  const Real s = side * g;
  return (s < Real(0.0)) | ((s == Real(0.0)) & (side * rate < Real(0.0)));
}

/// May g have a root within a step, judged by its cubic Hermite interpolant? No if all four Bernstein coefficients lie on
/// the starting side (interval exclusion: the cubic lies in their hull), unless the end slopes show a dip towards zero:
/// then the guard is error-prone (Compere 5.2.1) and is looked at more closely although the cubic excludes it.
template <class Real>
SALTUS_FN mask_of<Real> may_cross(Real side, Real g0, Real rate0, Real g1, Real rate1, Real h) {
  const Real          third = h * Real(1.0 / 3.0);
  const Real          b1 = side * fma(third, rate0, g0), b2 = side * fma(-third, rate1, g1), b3 = side * g1;
  const mask_of<Real> excluded = min(min(b1, b2), b3) > Real(0.0);
  const mask_of<Real> dip      = (side * rate0 < Real(0.0)) & (side * rate1 > Real(0.0));
  return (!excluded) | dip;
}

}  // namespace saltus
