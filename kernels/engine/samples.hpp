// Samples: the values of a committed piece of trajectory on the time grid.
#pragma once

#include "engine/step_system.hpp"

namespace saltus {

/// Model time of sample j: given explicitly, or evenly over the instance's own span with both ends exact.
SALTUS_FN double sample_time(const abi::settings& s, double t_begin, double t_end, int64 j) {
  if (s.sample_times != nullptr) return s.sample_times[j];
  if (s.sample_count < 2) return t_end;
  if (j == s.sample_count - 1) return t_end;
  return t_begin + (t_end - t_begin) * (static_cast<double>(j) / static_cast<double>(s.sample_count - 1));
}

/// Sets number and time of the next sample at or after t (the first of all for a fresh instance).
template <class E, class Real, class Run>
SALTUS_FN void next_sample(instance<E, Real>& x, int lane, const Run& run) {
  using T = typename E::T;
  const int64 j = x.sample.get(lane);
  const bool more = j < run.settings.sample_count;
  constexpr int sign = E::form::time_sign;
  const double time = more ? sign * sample_time(run.settings, sign * static_cast<double>(x.t_begin.get(lane)),
                                                sign * static_cast<double>(x.t_end.get(lane)), j)
                           : 0.0;
  x.next_sample.set(lane, more ? static_cast<T>(time) : static_cast<T>(limits<T>::largest));
}

/// The first sample of a fresh instance. Samples before its beginning are NaN.
template <class E, class Real, class Run>
SALTUS_FN void first_sample(instance<E, Real>& x, int lane, const Run& run) {
  using T = typename E::T;
  constexpr int columns = (E::model_states + E::form::outputs) * (1 + E::directions);
  next_sample<E>(x, lane, run);
  while (x.next_sample.get(lane) < x.t_begin.get(lane)) {
    const int64 k = x.sample.get(lane);
    for (int i = 0; i < columns; ++i) run.store_sample(x.slot.get(lane), i, k, static_cast<T>(E::form::unset));
    x.sample.set(lane, static_cast<integer_of<T>>(k + 1));
    next_sample<E>(x, lane, run);
  }
}

/// The lanes in which t is the time of the last jump, to rounding.
template <class E, class Real>
SALTUS_FN mask_of<Real> is_time_of_jump(const instance<E, Real>& x, Real t) {
  return abs(t - x.constants.jumped_at) <= Real(64.0 * limits<typename E::T>::epsilon) * (abs(t) + abs(x.h));
}

/// Records the derivatives of the next sample, y, in the lanes of `due`. At the time of an event that moves with the parameters there are
/// none.
template <class E, class Real, class Run>
SALTUS_FN_COLD void record_derivatives(instance<E, Real>& x, const vec<Real, E::n>& y, mask_of<Real> due,
                                       const Run& run) {
  using form = typename E::form;
  using lifted = typename form::template lifted<Real>;
  constexpr int columns = E::model_states + form::outputs;
  const auto out = form::model_form::output_values(lifted(x.next_sample), form::lift(y),
                                                   form::template lift_held<Real>(x.constants));
  const auto undefined = is_time_of_jump(x, x.next_sample) | (x.constants.undefined > Real(0.0));
  for (int lane = 0; lane < Real::lanes; ++lane) {
    if (!due[lane]) continue;
    const int64 slot = x.slot.get(lane), k = x.sample.get(lane);
    const auto store = [&](int i, int j, Real rate) SALTUS_INLINE_LAMBDA {
      const auto number = undefined[lane] ? static_cast<typename E::T>(form::unset) : rate.get(lane);
      run.store_sample(slot, columns * (1 + j) + i, k, number);
    };
    for (int j = 0; j < E::directions; ++j) {
      for (int i = 0; i < E::model_states; ++i) store(i, j, y[form::rate_index(i, j)]);
      for (int i = 0; i < form::outputs; ++i) store(E::model_states + i, j, out[i].d[j]);
    }
  }
}

/// Projects a point of the dense output onto the constraints and invariants, like the end of a step. Returns their residual.
template <class E, class Real, class F, class Interpolant>
SALTUS_FN_COLD consistency<Real> project_within(const stages<typename E::Method, Real, E::n>& s, const F& f,
                                                const Interpolant& interpolant, Real time, vec<Real, E::n>& y,
                                                mask_of<Real> where) {
  auto rate = interpolant.slope((time - s.t) / s.h);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { rate[i] = rate[i] / s.h; });
  auto c = E::form::project(f, time, y, rate, where);
  if constexpr (keeps_invariants<typename E::form>) detail::keep_invariants<E>(f, time, s.h, y, where & c.found);
  return c;
}

/// The solution at a time within a step that ends at t1, in the lanes of `where`. `left` receives the residual of the constraints.
template <class E, class Real, class F, class Interpolant>
SALTUS_FN vec<Real, E::n> point_within(const stages<typename E::Method, Real, E::n>& s, const F& f,
                                       const Interpolant& interpolant, Real time, Real t1, mask_of<Real> where,
                                       [[maybe_unused]] consistency<Real>* left = nullptr) {
  const Real theta = (time - s.t) / s.h;
  auto y = interpolant(theta);
  const mask_of<Real> at_end = time >= t1;
  if constexpr (has_constraints<typename E::form>) {
    auto c = project_within<E>(s, f, interpolant, time, y, where & !at_end);
    if (left != nullptr) {
      c.residual = select(where & !at_end, c.residual, Real(0.0));
      *left = c;
    }
  }
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(at_end, y[i], s.y1[i]); });
  return y;
}

/// Records every sample with t <= time < t1 (time <= t1 where `last`): a sample at the time of an event shows the state after it.
template <class E, class Real, class F, class Run>
SALTUS_FN_COLD void record_samples(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f,
                                   Real t1, mask_of<Real> where, mask_of<Real> last, const Run& run) {
  using form = typename E::form;
  const auto within = [&]() SALTUS_INLINE_LAMBDA {
    return where & ((x.next_sample < t1) | (last & (x.next_sample <= t1)));
  };
  mask_of<Real> due = within();
  if (none(due)) return;
  const auto interpolant = interpolate<typename E::Method>(f, s);
  add_where(x.rhs_evaluations, due, E::Method::extra_stages);
  while (any(due)) {
    consistency<Real> left;
    const auto y = point_within<E>(s, f, interpolant, x.next_sample, t1, due, &left);
    if constexpr (has_constraints<form>) {
      const auto worse = due & (left.residual > x.residual);
      assign_where(worse, x.residual, left.residual);
      assign_where(worse, x.residual_of, left.of);
    }
    const auto out = form::output_values(x.next_sample, y, x.constants);
    if constexpr (E::directions > 0) record_derivatives(x, y, due, run);
    for (int lane = 0; lane < Real::lanes; ++lane) {
      if (!due[lane]) continue;
      const int64 slot = x.slot.get(lane), j = x.sample.get(lane);
      for (int i = 0; i < E::model_states; ++i) run.store_sample(slot, i, j, y[i].get(lane));
      for (int i = 0; i < form::outputs; ++i) run.store_sample(slot, E::model_states + i, j, out[i].get(lane));
      x.sample.set(lane, static_cast<integer_of<typename E::T>>(j + 1));
      next_sample<E>(x, lane, run);
    }
    due = within();
  }
}

}  // namespace saltus
