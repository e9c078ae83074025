// Steps of a Taylor series that do not resolve the derivatives. The states alone determine the steps, and a series has no meaning beyond its
// radius of convergence. Derivatives mostly have the radius of the states, but not if a parameter is zero, or a state at rest: the terms of
// the states then do not show what a change would excite.
#pragma once

#include "event/derivatives_at_events.hpp"

namespace saltus {

template <class E>
inline constexpr bool watches_resolution =
    is_series_method<typename E::Method>&& E::kept_directions > 0 && E::judged == E::model_states && !E::fixed_steps;

/// Marks lanes of `where` in which the local error of a derivative in the step `s` is more than this many times its tolerance, which is that
/// of `error_control`, but relative to the state's own size, too.
template <class E, class Real>
SALTUS_FN void look_for_unresolved(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                                   mask_of<Real> where, const tolerances<E, Real>& tol) {
  if constexpr (watches_resolution<E>) {
    constexpr double most = 1000.0;
    const auto error = local_error(s);
    auto missed = mask_of<Real>::all(false);
    for (int j = 0; j < E::directions; ++j) {
      const Real size = size_of_direction(x, j);
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        const int at = E::form::rate_index(i, j);
        const Real scale = max(abs(s.y[i]), abs(s.y1[i])) + size * max(abs(s.y[at]), abs(s.y1[at]));
        missed = missed | (size * abs(error[at]) > Real(most) * fma(tol.rtol, scale, tol.atol[i]));
      });
    }
    undefine(x, where & missed, sensitivity::unresolved);
  }
}

}  // namespace saltus
