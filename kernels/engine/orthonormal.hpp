// Follows the growth of small differences of the states (form/growth.hpp): after steps and events they are made orthonormal.
#pragma once

#include "engine/step_system.hpp"
#include "number/math.hpp"

namespace saltus {

namespace detail {
/// Smallest fraction of a difference that is still above rounding after the faster-growing directions are removed.
template <class T>
inline constexpr double least_part_known = 4096.0 * limits<T>::epsilon;

/// body(number j of the first difference, the same of the second) for all quantities that depend linearly on differences.
template <class E, class Real, class F>
SALTUS_FN void each_of_difference(instance<E, Real>& x, int i, int j, F&& body) {
  using form = typename E::form;
  for (int s = 0; s < E::model_states; ++s) {
    body(x.y[form::rate_index(s, i)], x.y[form::rate_index(s, j)]);
    body(x.f[form::rate_index(s, i)], x.f[form::rate_index(s, j)]);
  }
  for (int d = 0; d < form::discretes; ++d)
    body(x.constants.discrete_rates[form::discretes * i + d], x.constants.discrete_rates[form::discretes * j + d]);
  for (int e = 0; e < form::time_events; ++e)
    body(x.constants.next_time_events[form::time_events * i + e],
         x.constants.next_time_events[form::time_events * j + e]);
}

template <class E, class Real>
SALTUS_FN Real product_of_differences(const instance<E, Real>& x, int i, int j) {
  Real sum = Real(0.0);
  for (int s = 0; s < E::model_states; ++s)
    sum = fma(x.y[E::form::rate_index(s, i)], x.y[E::form::rate_index(s, j)], sum);
  return sum;
}
}  // namespace detail

/// Makes the differences orthonormal in the lanes of `where`, and adds the logarithms of their growth. A difference with no remainder
/// beside the others has shrunk without bound: it is zero from there on, and its exponent -infinity.
template <class E, class Real>
SALTUS_FN_COLD void orthonormalise(instance<E, Real>& x, mask_of<Real> where) {
  constexpr double least = detail::least_part_known<typename E::T>;
  const auto set = [&](Real& to, Real value) SALTUS_INLINE_LAMBDA { assign_where(where, to, value); };
  for (int j = 0; j < E::directions; ++j) {
    const Real whole = sqrt(detail::product_of_differences(x, j, j));
    for (int turn = 0; turn < 2; ++turn)  // the first pass leaves rounding of the size of the whole
      for (int i = 0; i < j; ++i) {
        const Real along = detail::product_of_differences(x, i, j);
        detail::each_of_difference(
            x, i, j, [&](const Real& of, Real& from) SALTUS_INLINE_LAMBDA { set(from, fma(-along, of, from)); });
      }
    const Real left = sqrt(detail::product_of_differences(x, j, j));
    const auto known = !(left <= Real(least) * whole);
    const Real inverse = select(known, Real(1.0) / left, Real(0.0));
    detail::each_of_difference(x, j, j, [&](const Real&, Real& of) SALTUS_INLINE_LAMBDA { set(of, of * inverse); });
    const Real logarithm = select(known, log(select(known, left, Real(1.0))), Real(-limits<typename E::T>::largest));
    set(x.constants.grown[j], x.constants.grown[j] + logarithm);
  }
}

/// Begins to follow differences, at the first point of an instance.
template <class E, class Real>
SALTUS_FN_COLD void begin_growth(instance<E, Real>& x, double from) {
  E::form::set_differences(x.y);
  const double turned = E::form::time_sign * from;  // from = -infinity means the whole time, in either direction
  x.constants.growth_from = from >= -limits<double>::largest ? max(Real(turned), x.t_begin) : x.t_begin;
  x.constants.begun = x.constants.part_begun = x.t_begin;
  x.constants.parts = x.constants.grazings = Real(0.0);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    x.constants.grown[j] = x.constants.grown_before[j] = x.constants.rates[j] = x.constants.squared_rates[j] =
        Real(0.0);
  });
}

/// Called at an accepted point.
template <class E, class Real>
SALTUS_FN_COLD void update_lyapunov(instance<E, Real>& x, mask_of<Real> where) {
  using form = typename E::form;
  orthonormalise(x, where);
  auto& constants = x.constants;
  // Growth before counting begins is discarded.
  const auto begins = where & (constants.begun < constants.growth_from) & (x.t >= constants.growth_from);
  const auto at_start = where & (x.t <= x.t_begin);
  const auto afresh = begins | at_start;
  assign_where(begins, constants.begun, x.t);
  assign_where(afresh, constants.part_begun, x.t);
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    assign_where(afresh, constants.grown[j], Real(0.0));
    assign_where(afresh, constants.grown_before[j], Real(0.0));
  });
  const Real length = (x.t_end - constants.growth_from) * Real(1.0 / form::batches);
  const auto ends = where & (constants.begun >= constants.growth_from) & (x.t - constants.part_begun >= length);
  if (none(ends)) return;
  const Real time = x.t - constants.part_begun;
  each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
    const Real rate = (constants.grown[j] - constants.grown_before[j]) / time;
    assign_where(ends, constants.rates[j], constants.rates[j] + rate);
    assign_where(ends, constants.squared_rates[j], fma(rate, rate, constants.squared_rates[j]));
    assign_where(ends, constants.grown_before[j], constants.grown[j]);
  });
  assign_where(ends, constants.parts, constants.parts + Real(1.0));
  assign_where(ends, constants.part_begun, x.t);
}

}  // namespace saltus
