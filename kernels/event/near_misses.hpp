// Guards that come close to zero within a step and turn around: an error within the tolerance might have made this an event. There is no
// derivative after it, nor after an event that is met by as small a margin (look_for_grazing).
#pragma once

#include "event/detect.hpp"
#include "event/transition.hpp"

namespace saltus {

/// Lyapunov exponents hardly depend on single events, so for them only grazed events are reported.
template <class E>
inline constexpr bool watches_near_misses = (E::form::keeps_derivatives || E::gradient) && E::form::model_guards > 0;

namespace detail {
/// The point of a step at which guard i turns around, in the lanes of `where`, in which it falls at the beginning of the step and rises at
/// its end: by regula falsi for its time derivative (Illinois).
template <class E, class Real>
SALTUS_FN_COLD guards_at<E, Real> turning_point(const guards_on_step<E, Real>& on_step, int i, Real rate_at_begin,
                                                Real rate_at_end) {
  constexpr int attempts = 12;
  Real lo = Real(0.0), hi = Real(1.0), at_lo = rate_at_begin, at_hi = rate_at_end;
  guards_at<E, Real> here = on_step(Real(0.5));
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto falls = here.g.rate[i] * rate_at_begin > Real(0.0);
    at_hi = select(falls, Real(0.5) * at_hi, here.g.rate[i]);
    at_lo = select(falls, here.g.rate[i], Real(0.5) * at_lo);
    lo = select(falls, here.s, lo);
    hi = select(falls, hi, here.s);
    const Real next = lo + (hi - lo) * (at_lo / (at_lo - at_hi));
    here = on_step(select((next >= lo) & (next <= hi), next, Real(0.5) * (lo + hi)));
  }
  return here;
}

/// True if the crossing of guard i at a point of a step would have been an event. The crossing of a condition is one if it changes a mode.
template <class E, class T, int W>
SALTUS_FN mask_of<pack<T, W>> would_be_event(instance<E, pack<T, W>>& x, int i, pack<T, W> t,
                                             const vec<pack<T, W>, E::n>& y, const guards_at<E, pack<T, W>>& here,
                                             mask_of<pack<T, W>> where) {
  if constexpr (E::form::kinds::has_conditions)
    if (E::form::traits(i).condition) {
      auto beyond = here.g.value;
      beyond[i] = -side_of(x.constants.guard_values[i]) * pack<T, W>(limits<T>::smallest);
      for (int lane = 0; lane < W; ++lane)
        if (where[lane] && !changes_mode<E>(x, lane, t, y, beyond))
          where = where & !mask_of<pack<T, W>>::from_bits(1u << lane);
    }
  return where;
}

template <class E, class Real, class Stages>
SALTUS_FN_COLD void mark_near_misses(instance<E, Real>& x, const Stages& s,
                                     const vec<Real, E::form::model_guards>& dips, const vec<Real, E::ng>& rate_at_end,
                                     const tolerances<E, Real>& tol) {
  const auto interpolant = interpolate<typename E::Method>(step_system<E, Real>{x.constants, &tol}, s);
  const guards_on_step<E, Real> on_step{x, interpolant};
  for (int i = 0; i < E::form::model_guards; ++i) {
    const auto dip = dips[i] > Real(0.5);
    if (none(dip)) continue;
    const auto here = turning_point<E>(on_step, i, x.rate[i], rate_at_end[i]);
    const Real t = fma(here.s, interpolant.h, interpolant.t);
    const auto y = interpolant(here.s);
    const auto is_near = dip & (abs(here.g.value[i]) <= Real(errors_of_grazing) * errors_of_guards(x, t, y, tol)[i]);
    if (none(is_near)) continue;
    const auto moves = movable_guards<E>(x, t, y)[i] > Real(0.5);
    undefine(x, would_be_event(x, i, t, y, here, is_near & moves), sensitivity::grazing);
  }
}
}  // namespace detail

/// Marks lanes of `where` in which a guard has just missed zero within a step from the accepted point, at whose end the guards are `g`.
template <class E, class Real, class Stages>
SALTUS_FN void look_for_near_misses(instance<E, Real>& x, const Stages& s,
                                    const typename E::form::template rated<Real, E::ng>& g, mask_of<Real> where,
                                    const tolerances<E, Real>& tol) {
  if constexpr (watches_near_misses<E>) {
    vec<Real, E::form::model_guards> dips;
    auto dip = mask_of<Real>::all(false);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real side = side_of(x.constants.guard_values[i]);
      auto turns = where & (side * x.rate[i] < Real(0.0)) & (side * g.rate[i] >= Real(0.0));
      if constexpr (E::form::slides) turns = turns & !E::form::slides_along(x.constants, i);
      dips[i] = select(turns, Real(1.0), Real(0.0));
      dip = dip | turns;
    });
    if (any(dip)) detail::mark_near_misses(x, s, dips, g.rate, tol);
  }
}

}  // namespace saltus
