// What is kept of a committed piece of trajectory: samples on the time grid and reductions.
#pragma once

#include "engine/reduced_derivatives.hpp"
#include "engine/system.hpp"

namespace saltus {

/// Model time of sample j: given explicitly, or evenly over the instance's own span with both ends exact.
SALTUS_FN double sample_time(const abi::settings& s, double t_begin, double t_end, int64 j) {
  if (s.sample_times != nullptr) return s.sample_times[j];
  if (s.sample_count < 2) return t_end;
  if (j == s.sample_count - 1) return t_end;
  return t_begin + (t_end - t_begin) * (static_cast<double>(j) / static_cast<double>(s.sample_count - 1));
}

/// Sets sample number and time of the next sample at or after t (which is the first of all for a fresh instance).
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

/// Are these times one, to rounding?
template <class E, class Real>
SALTUS_FN mask_of<Real> is_time_of_jump(const instance<E, Real>& x, Real t) {
  return abs(t - x.held.jumped_at) <= Real(64.0 * limits<typename E::T>::epsilon) * (abs(t) + abs(x.h));
}

/// Records the derivatives of the next sample, y, in the lanes of `due`. At the time of an event that moves with what is differentiated
/// by there are none.
template <class E, class Real, class Run>
SALTUS_FN_COLD void record_derivatives(instance<E, Real>& x, const vec<Real, E::n>& y, mask_of<Real> due,
                                       const Run& run) {
  using form = typename E::form;
  using lifted = typename form::template lifted<Real>;
  constexpr int columns = E::model_states + form::outputs;
  const auto out =
      form::model_form::output_values(lifted(x.next_sample), form::lift(y), form::template lift_held<Real>(x.held));
  const auto undefined = is_time_of_jump(x, x.next_sample);
  for (int lane = 0; lane < Real::lanes; ++lane) {
    if (!due[lane]) continue;
    const int64 slot = x.slot.get(lane), k = x.sample.get(lane);
    const auto store = [&](int i, int j, Real rate) SALTUS_INLINE_LAMBDA {
      const auto number = undefined[lane] ? static_cast<typename E::T>(form::unset) : rate.get(lane);
      run.store_sample(slot, columns * (1 + j) + i, k, number);
    };
    for (int j = 0; j < E::directions; ++j) {
      for (int i = 0; i < E::model_states; ++i) store(i, j, y[form::place(i, j)]);
      for (int i = 0; i < form::outputs; ++i) store(E::model_states + i, j, out[i].d[j]);
    }
  }
}

/// Records every sample with t <= time < t1 (time <= t1 where `last`): an instant of an event belongs to what follows it.
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
    const Real theta = (x.next_sample - s.t) / s.h;
    auto y = interpolant(theta);
    const mask_of<Real> at_end = x.next_sample >= t1;
    if constexpr (form::projects_samples) {
      auto rate = y;
      form::project(f, x.next_sample, y, rate, due & !at_end);
    }
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(at_end, y[i], s.y1[i]); });
    const auto out = form::output_values(x.next_sample, y, x.held);
    if constexpr (E::kept_directions > 0) record_derivatives(x, y, due, run);
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

/// A quantity and its rate at a point: a state with its derivative, or an output by dual numbers.
template <class E, class Reduction, class Real>
SALTUS_FN void quantity_along(Real t, const vec<Real, E::n>& y, const vec<Real, E::n>& f,
                              const typename E::form::template held<Real>& c, Real& value, Real& rate) {
  if constexpr (Reduction::of_output) {
    const auto r = E::form::outputs_along(t, y, f, c);
    value = r.value[Reduction::index];
    rate = r.rate[Reduction::index];
  } else {
    value = y[Reduction::index];
    rate = f[Reduction::index];
  }
}

/// What a reduction starts from, at the first point of an instance.
template <class E, class Real>
SALTUS_FN void begin_reductions(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, int j) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    Real value, rate;
    quantity_along<E, R>(x.t, x.y, x.f, x.held, value, rate);
    if constexpr (R::kind == reduce::mean || R::kind == reduce::integral) value = Real(0.0);
    assign_where(where, x.reduced[j], value);
    if constexpr (E::kept_directions > 0) begin_reduced_rates<E, R>(x, j, where);
  });
}

/// An event may move a quantity beyond everything seen so far.
template <class E, class Real>
SALTUS_FN void reduce_jump(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, int j) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    Real value, rate;
    quantity_along<E, R>(x.t, x.y, x.f, x.held, value, rate);
    if constexpr (R::kind == reduce::max) assign_where(where, x.reduced[j], max(x.reduced[j], value));
    if constexpr (R::kind == reduce::min) assign_where(where, x.reduced[j], min(x.reduced[j], value));
  });
}

/// Where a cubic with these values and rates at its ends turns, as a part of h.
template <class Real>
SALTUS_FN Real turning_point(Real q0, Real d0, Real q1, Real d1, Real h, mask_of<Real> where) {
  // Root in (0, 1) of the cubic's slope a s^2 + b s + c with c = h d0, by the form that does not cancel.
  const Real a = Real(3.0) * (h * (d0 + d1) - Real(2.0) * (q1 - q0));
  const Real b = Real(6.0) * (q1 - q0) - Real(2.0) * h * (d0 + d0 + d1);
  const Real c = h * d0;
  const Real root = sqrt(max(b * b - Real(4.0) * a * c, Real(0.0)));
  const Real theta = select(where, Real(2.0) * c / (-b + copysign(root, c)), Real(0.5));
  const auto inside = (theta > Real(0.0)) & (theta < Real(1.0));
  return select(inside, theta, Real(0.5));
}

/// `sign` times a quantity at its extremum in piece k of a step, with these values and rates at the piece's ends: at the turning
/// point of the cubic through them, and again of the cubic through that and the end behind which it lies.
template <class Real, class Look>
SALTUS_FN_COLD Real highest_between(const Look& look, Real sign, Real q0, Real d0, Real q1, Real d1, Real left,
                                    Real right, Real h) {
  Real best = max(sign * q0, sign * q1);
  for (int attempts = 0; attempts < 2; ++attempts) {
    const Real width = right - left;
    const Real at = fma(width, turning_point(q0, d0, q1, d1, width * h, mask_of<Real>::all(true)), left);
    Real q, d;
    look(at, q, d);
    best = max(best, sign * q);
    const auto rises = sign * d > Real(0.0);
    left = select(rises, at, left), right = select(rises, right, at);
    q0 = select(rises, q, q0), q1 = select(rises, q1, q);
    d0 = select(rises, d, d0), d1 = select(rises, d1, d);
  }
  return best;
}

/// Adds a step of a series to the reductions. Such a step is long, and its dense output is as good as its end: integrals are
/// Gauss' of 8 nodes, and extrema are sought in four pieces.
template <bool Extrema, class E, class Real>
SALTUS_FN_COLD void reduce_series(instance<E, Real>& x, const interpolant_of<E, Real>& step, mask_of<Real> where) {
  constexpr double node[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  constexpr int pieces = 4;
  E::each_reduction([&](auto r, int j) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    const auto look = [&](Real at, Real& q, Real& d) SALTUS_INLINE_LAMBDA {
      auto slope = step.slope(at);
      each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] / step.h; });
      quantity_along<E, R>(fma(at, step.h, step.t), step(at), slope, x.held, q, d);
    };
    if constexpr (R::kind == reduce::mean || R::kind == reduce::integral) {
      Real sum = Real(0.0);
      for (int k = 0; k < 8; ++k) {
        Real q, d;
        look(Real(0.5 + (k % 2 == 0 ? -0.5 : 0.5) * node[k / 2]), q, d);
        sum = fma(Real(0.5 * weight[k / 2]), q, sum);
      }
      assign_where(where, x.reduced[j], fma(step.h, sum, x.reduced[j]));
    } else if constexpr (Extrema) {
      constexpr double sign = R::kind == reduce::max ? 1.0 : -1.0;
      Real best = Real(sign) * x.reduced[j], q0, d0;
      look(Real(0.0), q0, d0);
      for (int k = 1; k <= pieces; ++k) {
        Real q1, d1;
        look(Real(k * (1.0 / pieces)), q1, d1);
        best = max(best, Real(sign) * q1);
        const auto turns = where & (Real(sign) * d0 > Real(0.0)) & (Real(sign) * d1 < Real(0.0));
        if (any(turns))
          best = select(turns,
                        max(best, highest_between(look, Real(sign), q0, d0, q1, d1, Real((k - 1) * (1.0 / pieces)),
                                                  Real(k * (1.0 / pieces)), step.h)),
                        best);
        q0 = q1;
        d0 = d1;
      }
      assign_where(where, x.reduced[j], Real(sign) * best);
    }
  });
}

/// Adds a committed step to the reductions. Extrema are sought inside the step where the end slopes show one: at the
/// extremum of the cubic Hermite interpolant, valued on the dense output. Integrals are Hermite's: trapezoid with end
/// correction h^2/12 (q0' - q1').
/// With Extrema = false only the integrals go on.
template <bool Extrema = true, class E, class Real, class F>
SALTUS_FN void reduce_step(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s, const F& f,
                           mask_of<Real> where) {
  if constexpr (is_series_method<typename E::Method>)
    return reduce_series<Extrema>(x, interpolate<typename E::Method>(f, s), where);
  E::each_reduction([&](auto r, int j) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    Real q0, q1, d0, d1;
    const Real t1 = s.t + s.h;
    quantity_along<E, R>(s.t, s.y, s.f0(), x.held, q0, d0);
    quantity_along<E, R>(t1, s.y1, s.f1(), x.held, q1, d1);
    if constexpr (R::kind == reduce::mean || R::kind == reduce::integral) {
      const Real area = s.h * (fma(s.h * Real(1.0 / 12.0), d0 - d1, Real(0.5) * (q0 + q1)));
      assign_where(where, x.reduced[j], x.reduced[j] + area);
      if constexpr (E::kept_directions > 0) integrate_rates<E, R>(x, j, s, where);
    } else if constexpr (Extrema) {
      constexpr double sign = R::kind == reduce::max ? 1.0 : -1.0;
      Real best = max(Real(sign) * x.reduced[j], Real(sign) * q1);
      const mask_of<Real> turns = where & (Real(sign) * d0 > Real(0.0)) & (Real(sign) * d1 < Real(0.0));
      if (any(turns)) {
        const Real at = turning_point(q0, d0, q1, d1, s.h, turns);
        const auto interpolant = interpolate<typename E::Method>(f, s);
        const auto y = interpolant(at);
        Real q, d;
        quantity_along<E, R>(fma(at, s.h, s.t), y, s.f0(), x.held, q, d);
        best = select(turns, max(best, Real(sign) * q), best);
      }
      assign_where(where, x.reduced[j], Real(sign) * best);
      if constexpr (E::kept_directions > 0)
        turn_rates<E, R>(x, j, s, f, turning_point(q0, d0, q1, d1, s.h, turns), d0, d1, where);
    }
  });
}

}  // namespace saltus
