// The first step of an instance, and the largest step after a change of its equations.
#pragma once

#include "engine/history.hpp"
#include "engine/instance.hpp"
#include "engine/step_system.hpp"

namespace saltus {

/// Series limit their steps by their own terms, unless the right-hand side may jump, which no term shows.
template <class E>
inline constexpr bool is_limited_by_terms =
    is_series_method<typename E::Method>&& smoothness_of<typename E::Model>.equations < smoothness::piecewise;

/// True if a first step is so short that error estimates of integrals of outputs can be trusted. Series of smooth outputs need no such step:
/// their terms show how fast the outputs are.
template <class E>
inline constexpr bool looks_at_outputs =
    E::quantities::any_output &&
    !(is_limited_by_terms<E> && smoothness_of<typename E::Model>.outputs < smoothness::piecewise);

/// A first step size from two evaluations (Hairer, Norsett, Wanner II.4): an Euler step of a hundredth of |y|/|f| shows the second
/// derivative. If a series limits its steps by its terms, its first step is |y|/|f|, or the whole span if one of them is zero. Without
/// `looks_ahead` one evaluation is enough. The states do not show how fast outputs are, which count in the lanes of `for_outputs`.
template <bool looks_ahead = true, class E, class Real>
SALTUS_FN Real first_step(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                          mask_of<Real> for_outputs = mask_of<Real>::all(true)) {
  const step_system<E, Real> f{x.constants, &tol};
  vec<Real, E::model_states> scale;
  Real d0 = Real(0.0), d1 = Real(0.0), d2 = Real(0.0);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    scale[i] = Real(1.0) / fma(tol.rtol, abs(x.y[i]), tol.atol[i]);
    d0 = max(d0, abs(x.y[i] * scale[i]));
    d1 = max(d1, abs(x.f[i] * scale[i]));
  });
  const Real span = x.t_end - x.t_begin;
  const auto tiny = (d0 < Real(1e-5)) | (d1 < Real(1e-5));
  constexpr double part = is_limited_by_terms<E> ? 0.01 : 1e-6;
  Real h0 = min(select(tiny, Real(part) * span, Real(0.01) * d0 / d1), x.h_max);
  if constexpr (E::form::tables > 0 || has_delays<E>) h0 = min(h0, x.t_stop - x.t);  // beyond it f has other values
  if constexpr (looks_at_outputs<E>) h0 = select(for_outputs, min(h0, Real(0x1p-17) * span), h0);
  if constexpr (is_limited_by_terms<E> || !looks_ahead) {
    d2 = Real(0.0);
  } else if constexpr (E::form::has_field) {
    const auto probe = f(x.t + h0, detail::advance(x.y, h0, x.f));
    add_where(x.rhs_evaluations, where, 1);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { d2 = max(d2, abs((probe[i] - x.f[i]) * scale[i])); });
    d2 = d2 / h0;
  } else {
    d2 = d1 / h0;  // there is no f to probe
  }
  const Real steepest = max(d1, d2);
  // The order of a series says little about a right-hand side that may jump.
  constexpr double k = is_series_method<typename E::Method> ? 6.0 : E::Method::order + 1;
  const Real by_order = rough_exp2(Real(1.0 / k) * (Real(-6.643856) - rough_log2(max(steepest, Real(1e-15)))));
  const Real h1 = select(steepest <= Real(1e-15), max(Real(1e-6) * span, h0 * Real(1e-3)), by_order);
  const Real most = is_limited_by_terms<E> ? Real(limits<typename E::T>::largest) : h1;
  Real most_of_h0(100.0);
  if constexpr (looks_at_outputs<E>) most_of_h0 = select(for_outputs, Real(1.0), most_of_h0);
  const Real h = min(min(most_of_h0 * h0, most), x.h_max);
  return select((h > Real(0.0)) & (h < Real(limits<typename E::T>::largest)), h, Real(1e-6) * span);
}

/// Limits the next step of lanes in `where` to a first one, where the equations or what is asked of them may change. A model that compares
/// numbers may have rested there, in steps of any length, and pulses begin: such steps would pass over them.
template <class E, class Real>
SALTUS_FN void begin_anew(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                          mask_of<Real> for_outputs = mask_of<Real>::all(true)) {
  if (any(where)) assign_where(where, x.h, min(x.h, first_step<false>(x, where, tol, for_outputs)));
}
/// The same after an event. Where an error has limited the last step, the outputs are left to error control.
template <class E, class Real>
SALTUS_FN void begin_anew_after_event(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  constexpr double log2_of_small_error = -10.0;  // relative to the tolerance
  begin_anew(x, where, tol, from_rough<Real>(x.memory.log_error < rough_of<Real>(log2_of_small_error)));
}
/// After events and at knots.
template <class E>
inline constexpr bool begins_anew =
    !E::fixed_steps &&
    (smoothness_of<typename E::Model>.equations >= smoothness::piecewise ||
     (E::quantities::any_output && smoothness_of<typename E::Model>.outputs >= smoothness::piecewise));

}  // namespace saltus
