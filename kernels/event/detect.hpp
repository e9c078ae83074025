// Detection in full: on the dense output of one step, the earliest interval in which an armed guard leaves its side.
//
// The step is looked at in a few sub-intervals (more for methods of high order, whose steps are long). In each, a guard
// that has changed sides is a crossing; one whose slopes show a dip is followed to the bottom of the dip, so that an even
// number of roots is found too. What comes out is a bracket [lo, hi]: no guard has left its side at lo, one has at hi.
#pragma once

#include "sail.hpp"

namespace saltus {

/// Guards at one place s in [0, 1] of a step, with rates per unit of s, and whether each has left its side.
template <class E, class Real>
struct guards_at {
  Real                s;
  vec<Real, E::ng>    g, rate;
};

template <class E, class Real>
struct bracket {
  mask_of<Real> found;
  Real          lo, hi;
};

/// The guards' sides at the start of the step: +1 or -1, and 0 for a guard that is not armed.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> armed_sides(const instance<E, Real>& x) {
  vec<Real, E::ng> side;
  static_for<E::ng>([&](auto i) SALTUS_INLINE_LAMBDA {
    const Real g = x.held.locked[i];
    side[i]      = select(armed<E, i>(g), side_of(g), Real(0.0));
  });
  return side;
}

/// Lanes in which any armed guard has left its side.
template <class E, class Real>
SALTUS_FN mask_of<Real> any_crossed(const vec<Real, E::ng>& side, const vec<Real, E::ng>& g, const vec<Real, E::ng>& rate) {
  mask_of<Real> r = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r = r | (has_crossed(side[i], g[i], rate[i]) & (side[i] != Real(0.0))); });
  return r;
}

/// Evaluates the guards on a step's dense output.
template <class E, class Real>
struct guards_on_step {
  const instance<E, Real>&                        x;
  const dense_output<typename E::Method, Real, E::n>& path;

  SALTUS_FN_COLD guards_at<E, Real> operator()(Real s) const {
    auto           f = path.slope(s);
    const Real     inverse = Real(1.0) / path.h;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = f[i] * inverse; });
    const auto     g = E::form::guards_along(fma(s, path.h, path.t), path(s), f, x.held);
    guards_at<E, Real> r{s, g.value, g.rate};
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r.rate[i] = r.rate[i] * path.h; });
    return r;
  }
};

/// Follows guard i to the bottom of its dip in [a, b] (secant steps on the rate, kept inside the bracket). Returns the
/// place, if there is one, at which the guard has left its side.
template <class E, class Real>
SALTUS_FN_COLD bracket<E, Real> probe_dip(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side, int i,
                                          const guards_at<E, Real>& a, const guards_at<E, Real>& b, mask_of<Real> where) {
  Real left = a.s, right = b.s;
  Real slope_left = side[i] * a.rate[i], slope_right = side[i] * b.rate[i];
  bracket<E, Real> r{mask_of<Real>::all(false), a.s, b.s};
  mask_of<Real>    open = where;
  for (int tries = 0; tries < 12 && any(open); ++tries) {
    const Real width  = right - left;
    const Real secant = fma(width, slope_left / (slope_left - slope_right), left);
    const auto good   = (secant > left) & (secant < right);
    // Every third try halves, so that a lopsided slope cannot hold one end for ever.
    const Real at     = select(good & mask_of<Real>::all(tries % 3 != 2), secant, fma(Real(0.5), width, left));
    const auto here   = on_step(at);
    const Real g = side[i] * here.g[i], slope = side[i] * here.rate[i];
    const auto below  = open & (g < Real(0.0));
    r.found           = r.found | below;
    assign_where(below, r.hi, at);
    const auto falling_still = slope < Real(0.0);
    assign_where(open & falling_still, left, at);
    assign_where(open & falling_still, slope_left, slope);
    assign_where(open & !falling_still, right, at);
    assign_where(open & !falling_still, slope_right, slope);
    // The value cannot fall below a tangent's reach: stop when the dip provably stays on its side, or cannot be told.
    const Real reach = max(-slope_left, slope_right) * (right - left);
    open             = open & !below & (g <= reach) & (right - left > Real(4.0 * limits<typename E::T>::epsilon));
  }
  return r;
}

/// The first bracket in a step that `attempt` found suspect. `end` holds the guards at its end.
template <class E, class Real>
SALTUS_FN_COLD bracket<E, Real> detect(const guards_on_step<E, Real>& on_step, const vec<Real, E::ng>& side,
                                       const guards_at<E, Real>& begin, const guards_at<E, Real>& end, mask_of<Real> where) {
  constexpr int pieces = E::Method::order >= 7 ? 8 : 4;
  bracket<E, Real>   r{mask_of<Real>::all(false), Real(0.0), Real(1.0)};
  guards_at<E, Real> a = begin;
  for (int piece = 1; piece <= pieces && any(where & !r.found); ++piece) {
    const guards_at<E, Real> b    = piece == pieces ? end : on_step(Real(piece * (1.0 / pieces)));
    const mask_of<Real>      open = where & !r.found;
    const mask_of<Real> crossed   = open & any_crossed<E, Real>(side, b.g, b.rate);
    r.found                       = r.found | crossed;
    assign_where(open, r.lo, a.s);
    assign_where(crossed, r.hi, b.s);
    for (int i = 0; i < E::ng; ++i) {
      const mask_of<Real> dip = open & !has_crossed(side[i], b.g[i], b.rate[i]) & (side[i] * a.rate[i] < Real(0.0)) &
                                (side[i] * b.rate[i] > Real(0.0));
      if (none(dip)) continue;
      const auto bottom = probe_dip<E, Real>(on_step, side, i, a, b, dip);
      assign_where(bottom.found, r.hi, select(r.found, min(r.hi, bottom.hi), bottom.hi));
      r.found = r.found | bottom.found;
    }
    a = b;
  }
  return r;
}

}  // namespace saltus
