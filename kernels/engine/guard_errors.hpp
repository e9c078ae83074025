// Errors of guards: by rounding, within which the sign of a guard means nothing, and by the tolerated errors of the states.
#pragma once

#include "engine/instance.hpp"
#include "number/rounded.hpp"

namespace saltus {

/// Ulps of time by which an event may be misplaced.
inline constexpr double misplaced = 1024.0;

/// Bounds, to first order, on the errors of the model's guards near (t, y) if t is known to an ulp and the states to `error(i)`; 0 where none
/// is found. They are those at the further end of the states' errors: near zero a power has no error of first order.
template <class E, class Real, class Error>
SALTUS_FN_COLD vec<Real, E::form::model_guards> errors_of_guards(
    Real t, const vec<Real, E::n>& y, const typename E::form::template step_constants<Real>& constants,
    const Error& error) {
  using number = rounded<Real>;
  vec<number, E::model_states> known;
  each<E::model_states>([&](int i)
                            SALTUS_INLINE_LAMBDA { known[i] = number(y[i] + copysign(error(i), y[i]), error(i)); });
  const auto g = E::form::model_guards_at(number::to_an_ulp(t), known, constants);
  vec<Real, E::form::model_guards> r;
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    r[i] = select(g[i].error < Real(limits<typename E::T>::largest), g[i].error, Real(0.0));
  });
  return r;
}

/// The same if all arguments are known to an ulp.
template <class E, class Real>
SALTUS_FN vec<Real, E::form::model_guards> rounding_of_guards(
    Real t, const vec<Real, E::n>& y, const typename E::form::template step_constants<Real>& constants) {
  return errors_of_guards<E>(
      t, y, constants, [&](int i) SALTUS_INLINE_LAMBDA { return Real(limits<typename E::T>::epsilon) * abs(y[i]); });
}

/// The same for states within their tolerances.
template <class E, class Real>
SALTUS_FN vec<Real, E::form::model_guards> tolerated_errors_of_guards(
    Real t, const vec<Real, E::n>& y, const typename E::form::template step_constants<Real>& constants,
    const tolerances<E, Real>& tol) {
  return errors_of_guards<E>(
      t, y, constants, [&](int i) SALTUS_INLINE_LAMBDA { return fma(Real(tol.rtol), abs(y[i]), Real(tol.atol[i])); });
}

}  // namespace saltus
