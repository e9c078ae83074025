// The rounding errors of guards: the sign of a guard within its rounding error of zero means nothing.
#pragma once

#include "engine/instance.hpp"
#include "number/rounded.hpp"

namespace saltus {

/// Ulps of time by which an event may be misplaced.
inline constexpr double misplaced = 1024.0;

/// Bounds on the rounding of the model's guards at (t, y) if all arguments are known to an ulp; 0 where none is found.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::form::model_guards> rounding_of_guards(
    Real t, const vec<Real, E::n>& y, const typename E::form::template step_constants<Real>& constants) {
  using number = rounded<Real>;
  vec<number, E::model_states> known;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { known[i] = number::to_an_ulp(y[i]); });
  const auto g = E::form::model_guards_at(number::to_an_ulp(t), known, constants);
  vec<Real, E::form::model_guards> r;
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real error = g[i].error;
    r[i] = select(error < Real(limits<typename E::T>::largest), error, Real(0.0));
  });
  return r;
}

}  // namespace saltus
