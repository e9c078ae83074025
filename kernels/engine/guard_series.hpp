// Guards along a step of a Taylor method: their own series, found in the same way.
#pragma once

#include "engine/step_system.hpp"

namespace saltus {

/// True if events are detected on the series of the guards; all guards must be the model's own.
template <class E>
inline constexpr bool detects_on_series =
    is_series_method<typename E::Method> && !E::certified && E::ng > 0 && E::ng == E::form::model_guards;

/// Guards as polynomials in s in [0, 1] over a step. Empty if events are not detected on series.
template <class E, class Real, bool = detects_on_series<E>>
struct guard_polynomials {};
template <class E, class Real>
struct guard_polynomials<E, Real, true> {
  static constexpr int degree = E::Method::order;
  Real of[E::ng][degree + 1];

  SALTUS_FN Real operator()(int i, Real s) const {
    Real sum = of[i][degree];
    for (int k = degree - 1; k >= 0; --k) sum = fma(s, sum, of[i][k]);
    return sum;
  }
  /// Rescales the series to a step from the same point, `ratio` times as long.
  SALTUS_FN void rescale(Real ratio) {
    Real power = ratio;
    for (int k = 1; k <= degree; ++k, power = power * ratio)
      for (int i = 0; i < E::ng; ++i) of[i][k] = power * of[i][k];
  }
};

/// Finds the series of the guards over the step `s`. If they need more room than was counted, the step is made not finite.
template <class E, class Real>
SALTUS_FN_FLAT void find_guards(const instance<E, Real>& x, stages<typename E::Method, Real, E::n>& s,
                                guard_polynomials<E, Real>& g) {
  const auto known = [&](int k, int i) SALTUS_INLINE_LAMBDA { return k == 0 ? s.y[i] : s.coefficient[k - 1][i]; };
  const bool is_complete =
      detail::run_by_orders<detail::equations_and_guards<typename E::Model>, E::Method::order + 1, E::model_states>(
          s.t, known,
          [&](const auto& time, const auto& y)
              SALTUS_INLINE_LAMBDA { return E::form::model_guards_at(time, y, x.constants); },
          [&](int k, int i, Real value) SALTUS_INLINE_LAMBDA { g.of[i][k] = value; });
  if (!is_complete)
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { s.coefficient[0][i] = s.y1[i] = Real(E::form::unset); });
  g.rescale(s.h);
}

}  // namespace saltus
