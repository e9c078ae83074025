// The interface of a reduction, a number accumulated over a trajectory, and what reductions evaluate: a quantity, that is a state or an
// output, at points and along steps, with its derivatives if derivatives of the states are carried (form/sensitivities.hpp).
#pragma once

#include "engine/samples.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// A step that has been committed: its stages, the system that it was made with, and its end.
template <class E, class Real>
struct committed_step {
  const stages<typename E::Method, Real, E::n>& s;
  const step_system<E, Real>& f;
  Real t1;
};

/// Where an instance keeps reduction number `item`: `at` is the index of its first number in instance::reduced.
struct kept_reduction {
  int item, at;
};

/// An event in a lane, for reductions: its number, and its entry in the event log.
template <class E, class T>
struct reduced_event {
  int lane, number;
  const vec<pack<T, 1>, E::logged>& point;
};

/// The functions of a reduction R, with defaults that do nothing. `kept` is a kept_reduction; some take its `item` or `at` alone. Within a
/// window a step counts as far as it lies in the window; steps end at the ends of windows.
template <class E>
struct reduction_defaults {
  /// True if its derivative changes at every event.
  static constexpr bool follows_events = false;

  /// begin(x, at, where): the initial numbers, which are zero before, at the first point of an instance.
  SALTUS_FN static void begin(const auto&...) {}
  /// step(x, step, kept, where, run): takes in a committed_step.
  SALTUS_FN static void step(const auto&...) {}
  /// jump(x, kept, where, tol): takes in the point after an event.
  SALTUS_FN static void jump(const auto&...) {}
  /// event(x, kept, event, run): a reduced_event has happened.
  SALTUS_FN static void event(const auto&...) {}

  /// The initial value and derivatives, and those in the second row.
  template <class Real>
  SALTUS_FN static auto initial_rates(const instance<E, Real>&) {
    return rates_of<Real>(E::form::unset);
  }
  static constexpr double initial_second_rate = 0.0;
  /// end_of_piece<Arriving>(x, item, where, tol): the accepted point ends (Arriving) or begins a smooth piece of the trajectory.
  template <bool Arriving>
  SALTUS_FN static void end_of_piece(const auto&...) {}
  /// follow_time(x, item, where, direction, windows): derivatives up to a fixed time become those up to the current event, or back (-1).
  SALTUS_FN static void follow_time(const auto&...) {}
  /// take_back(x, item, where, run): an event that moves has happened at the very time of the last value.
  SALTUS_FN static void take_back(const auto&...) {}
  /// The lanes in which two courses of events lead to different reductions.
  template <class Real>
  SALTUS_FN static mask_of<Real> differ(const instance<E, Real>&, const instance<E, Real>&, int,
                                        const tolerances<E, Real>&) {
    return mask_of<Real>::all(false);
  }
  /// The final derivative in direction j, `rate` being the one that is kept.
  template <class T, class Run>
  SALTUS_FN static double final_rate(const instance<E, pack<T, 1>>&, const kept_reduction&, int, double rate,
                                     const Run&) {
    return rate;
  }

 protected:
  template <class Real>
  SALTUS_FN static auto rates_of(double rate) {
    typename E::form::template lifted<Real> q;
    q.value = Real(E::form::unset);
    each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA { q.d[j] = Real(rate); });
    return q;
  }
};

/// Reduction R in an engine: a specialisation for each group of reductions, with
///
///     final_value(x, kept, run)      its value at the end of an instance; NaN if it is undefined
template <class E, class R>
struct reduction_in;

/// True if there are reductions and derivatives are kept.
template <class E>
inline constexpr bool reduces_derivatives = E::reductions > 0 && E::kept_directions > 0;

/// A quantity and its time derivative at a point: a state with its derivative, or an output by dual numbers.
template <class E, class Reduction, class Real>
SALTUS_FN void quantity_along(const solution_point<Real, E::n>& at,
                              const typename E::form::template step_constants<Real>& c, Real& value, Real& rate) {
  if constexpr (Reduction::of_output) {
    const auto r = E::form::outputs_along(at.t, at.y, at.rate, c);
    value = r.value[Reduction::index];
    rate = r.rate[Reduction::index];
  } else {
    value = at.y[Reduction::index];
    rate = at.rate[Reduction::index];
  }
}

/// A quantity at the ends of a part of a step, and its duration.
template <class Real>
struct stretch {
  Real left, right;  ///< as fractions of the step
  Real width;        ///< as a time
  Real q0, d0, q1, d1;
};

/// A quantity and its time derivative within a step, from the dense output.
template <class R, class E, class Real>
SALTUS_FN void look_within(const instance<E, Real>& x, const interpolant_of<E, Real>& step, Real at, Real& q, Real& d) {
  auto slope = step.slope(at);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] / step.h; });
  quantity_along<E, R>({fma(at, step.h, step.t), step(at), slope}, x.constants, q, d);
}

/// Evaluates the quantity of R along a step that ends at t1: at its ends, and between them on the dense output.
template <class R, class E, class Real>
struct quantity_on_step {
  const instance<E, Real>& x;
  const stages<typename E::Method, Real, E::n>& s;

  SALTUS_FN void at_ends(stretch<Real>& p) const {
    p.left = Real(0.0), p.right = Real(1.0), p.width = s.h;
    quantity_along<E, R>({s.t, s.y, s.f0()}, x.constants, p.q0, p.d0);
    quantity_along<E, R>({s.t + s.h, s.y1, s.f1()}, x.constants, p.q1, p.d1);
  }
  /// Time derivatives are those of the field if there is one: they vanish where those of the solution do.
  template <class F>
  SALTUS_FN void within(const interpolant_of<E, Real>& step, const F& f, Real at, Real& q, Real& d) const {
    if constexpr (E::Method::is_explicit && E::form::has_field && !has_constraints<typename E::form> &&
                  !is_series_method<typename E::Method> && has_time<R>) {
      const Real t = fma(at, s.h, s.t);
      const auto y = step(at);
      quantity_along<E, R>({t, y, f(t, y)}, x.constants, q, d);
    } else {
      look_within<R>(x, step, at, q, d);
    }
  }
};

/// Steps of methods of high order may be as long as an output's turning time, so they are examined in pieces.
template <class R, class E>
inline constexpr bool looks_at_pieces = is_series_method<typename E::Method> || (R::of_output && E::Method::order > 5);

/// A quantity and its time derivative with their parameter derivatives, at a point with its slopes. The time has derivatives at an event
/// that moves.
template <class E, class Reduction, class Real>
SALTUS_FN with_rate<typename E::form::template lifted<Real>> lifted_quantity(const instance<E, Real>& x,
                                                                             typename E::form::template lifted<Real> t,
                                                                             const vec<Real, E::n>& y,
                                                                             const vec<Real, E::n>& f) {
  using form = typename E::form;
  if constexpr (Reduction::of_output) {
    const auto r =
        form::model_form::outputs_along(t, form::lift(y), form::lift(f), form::template lift_held<Real>(x.constants));
    return {r.value[Reduction::index], r.rate[Reduction::index]};
  } else {
    constexpr int i = Reduction::index;
    const auto one = [&](const vec<Real, E::n>& of) SALTUS_INLINE_LAMBDA {
      return form::with_rates(of[i], [&](int j) SALTUS_INLINE_LAMBDA { return of[form::rate_index(i, j)]; });
    };
    return {one(y), one(f)};
  }
}
/// The same at the accepted point: at a fixed time, or along with the current event.
template <class E, class Reduction, class Real>
SALTUS_FN auto lifted_quantity_here(const instance<E, Real>& x) {
  return lifted_quantity<E, Reduction>(x, E::form::time_of_event(x.t, x.constants), x.y, x.f);
}

}  // namespace saltus
