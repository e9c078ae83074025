// The value below which a quantity is for a part of the time.
#pragma once

#include "engine/reductions/quantity.hpp"
#include "engine/reductions/time_in_bins.hpp"

namespace saltus {

/// Adds a stretch to the time in bins, as linear pieces. `value(u)` is the quantity, u from 0 to 1.
template <int Pieces, class E, class T, int W, class Value>
SALTUS_FN_COLD void spend_stretch(instance<E, pack<T, W>>& x, int at, const stretch<pack<T, W>>& p, const Value& value,
                                  mask_of<pack<T, W>> inside) {
  using Real = pack<T, W>;
  const Real dt = p.width * Real(1.0 / Pieces);
  Real q0 = p.q0;
  for (int k = 1; k <= Pieces; ++k) {
    const Real q1 = k == Pieces ? p.q1 : value(Real(k * (1.0 / Pieces)));
    for (int lane = 0; lane < W; ++lane)
      if (inside[lane]) time_in_bins<E, T, W>(x, lane, at).add(q0.get(lane), q1.get(lane), dt.get(lane));
    q0 = q1;
  }
}

/// Counts the time of a step in bins, in linear pieces of the cubic through its ends, or of the dense output of a long step.
template <class R, class E, class Real>
SALTUS_FN void count_time_of_step(instance<E, Real>& x, const committed_step<E, Real>& of, int at,
                                  mask_of<Real> inside) {
  stretch<Real> p;
  quantity_on_step<R, E, Real>{x, of.s}.at_ends(p);
  if constexpr (looks_at_pieces<R, E>) {
    const auto step = interpolate<typename E::Method>(of.f, of.s);
    const auto value = [&](Real u) SALTUS_INLINE_LAMBDA {
      Real q, d;
      look_within<R>(x, step, u, q, d);
      return q;
    };
    spend_stretch<32>(x, at, p, value, inside);
  } else {
    const Real rise = p.q1 - p.q0, first = fma(p.width, p.d0, -rise);
    const Real second = fma(-p.width, p.d0 + p.d1, rise + rise);
    const auto cubic = [&](Real u) SALTUS_INLINE_LAMBDA {
      return fma(u, fma(Real(1.0) - u, fma(u, second, first), rise), p.q0);
    };
    spend_stretch<8>(x, at, p, cubic, inside);
  }
}

template <class E, class R>
requires(row_of(R::kind).group == reduction_group::quantile) struct reduction_in<E, R> : reduction_defaults<E> {
  template <class Real, class Run>
  SALTUS_FN static void step(instance<E, Real>& x, const committed_step<E, Real>& of, const kept_reduction& kept,
                             mask_of<Real> where, const Run&) {
    count_time_of_step<R>(x, of, kept.at, where);
  }
  template <class T, class Run>
  SALTUS_FN static double final_value(instance<E, pack<T, 1>>& x, const kept_reduction& kept, const Run& run) {
    const T part = R::kind == reduce::median ? T(0.5) : static_cast<T>(run.settings.windows[3 * kept.item + 2]);
    return static_cast<double>(time_in_bins<E, T, 1>(x, 0, kept.at).quantile(part));
  }
};

}  // namespace saltus
