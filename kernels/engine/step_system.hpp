// The equations of an instance in flight, as a step uses them: parameters, discrete variables and guard signs held. Also the one place that
// makes a step, for every method, and projects its end onto the constraints of the model.
#pragma once

#include "engine/quantities.hpp"
#include "form/consistent/consistency.hpp"
#include "form/local_coordinates.hpp"
#include "method/step_derivatives.hpp"

namespace saltus {

template <class E>
struct engine_of_model;

/// The model's equations over numbers with the derivatives in `width` directions, and the integrated quantities.
template <class E, class Real, int width>
struct lifted_equations : E::form::template lifted_system<Real, width> {
  using number = dual<Real, width>;
  const tolerances<typename E::whole, Real>* tol = nullptr;

  SALTUS_FN number floor(int i) const { return number(tol->atol[i] / tol->rtol); }
  SALTUS_FN vec<number, E::model_states> weight(const vec<number, E::model_states>& y) const {
    vec<number, E::model_states> r;
    each<E::model_states>(
        [&](int i) SALTUS_INLINE_LAMBDA { r[i] = number(Real(1.0) / fma(tol->rtol, abs(y[i].value), tol->atol[i])); });
    return r;
  }
  template <class Value>
  SALTUS_FN auto quantities(Value t, const vec<Value, E::model_states>& y) const {
    return quantities_at<engine_of_model<E>>(t, y, this->c);
  }
  template <class Value>
  SALTUS_FN auto quantities_through(Value t, Value dt, const vec<Value, E::model_states>& y,
                                    const vec<Value, E::model_states>& dy) const {
    return saltus::quantities_through<engine_of_model<E>>(t, dt, y, dy, this->c).rate;
  }
};

/// A system (linear/system.hpp). Tolerances are needed if equations are solved.
template <class E, class Real>
struct step_system {
  using form = typename E::form;
  static constexpr auto kind = form::equations;
  static constexpr bool steps_are_fixed = E::fixed_steps;
  static constexpr int highest_index = form::highest_index;

  const typename form::template step_constants<Real>& c;
  const tolerances<typename E::whole, Real>* tol = nullptr;

  SALTUS_FN static constexpr int index(int i) { return form::index(i); }
  SALTUS_FN static constexpr bool counts(int i) { return form::counts(i); }
  static constexpr int widest_sweep = form::widest_sweep;
  static constexpr int colours = form::colours;
  SALTUS_FN static constexpr int colour(int j) { return form::colour(j); }
  SALTUS_FN static constexpr bool entry(int i, int j) { return form::entry(i, j); }

  SALTUS_FN vec<Real, E::n> operator()(Real t, const vec<Real, E::n>& y) const { return form::rhs(t, y, c); }
  template <class Value>
  SALTUS_FN vec<Value, E::n> rhs(Value t, const vec<Value, E::n>& y) const {
    if constexpr (requires { form::implicit_rhs(t, y, c); }) return form::implicit_rhs(t, y, c);
    else return form::rhs(t, y, c);
  }
  template <class Value>
  SALTUS_FN vec<Value, E::n> residual(Value t, const vec<Value, E::n>& y, const vec<Value, E::n>& rate) const {
    return form::residual(t, y, rate, c);
  }
  /// The quantities that are integrated beside the states (method/quadrature.hpp).
  template <class Value>
  SALTUS_FN auto quantities(Value t, const vec<Value, E::n>& y) const {
    return quantities_at<E>(t, y, c);
  }
  SALTUS_FN auto quantities_through(Real t, Real dt, const vec<Real, E::n>& y, const vec<Real, E::n>& dy) const {
    return saltus::quantities_through<E>(t, dt, y, dy, c).rate;
  }
  SALTUS_FN matrix<Real, E::n> mass() const { return form::mass(c); }
  template <int n>
  SALTUS_FN vec<Real, n> weight(const vec<Real, n>& y) const {
    vec<Real, n> r;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = Real(1.0) / fma(tol->rtol, abs(y[i]), tol->atol[i]); });
    return r;
  }
  /// The field at the points of a step from (t, y), as its method evaluates it in local coordinates.
  SALTUS_FN auto within_step(Real t, const vec<Real, E::n>& y) const requires(E::in_local_coordinates);
  SALTUS_FN const abi::dense_algebra* algebra() const { return tol->algebra; }
  /// The method's memory, for the system of an instance.
  SALTUS_FN const auto& past() const requires(methods::has_memory<typename E::Method>) {
    return static_cast<const typename E::whole::template step_constants<Real>&>(c).past;
  }
  /// The equations of the model alone, for a form that integrates more (form/sensitivities.hpp); and those over numbers with the
  /// derivatives.
  SALTUS_FN auto of_model() const { return step_system<engine_of_model<E>, Real>{c, tol}; }
  SALTUS_FN auto lifted() const {
    return lifted_equations<E, Real, form::directions>{{form::template lift_held<Real>(c)}, tol};
  }
  /// The same in direction j alone.
  SALTUS_FN auto lifted_in(int j) const {
    return lifted_equations<E, Real, 1>{{form::template lift_held<Real, 1>(c, j)}, tol};
  }
  /// The integrated quantities without their derivatives, of which there are `quantity_directions` each: those of quantity i in direction
  /// j is the quantity rate_of_quantity(i, j).
  static constexpr int own_quantities = E::quantities::count, quantity_directions = E::kept_directions;
  SALTUS_FN static constexpr int rate_of_quantity(int i, int j) {
    return E::quantities::rate(i, quantity_directions, j);
  }
  /// True if a single instance looks for consistent states off the lanes, where slower methods are allowed.
  SALTUS_FN bool is_conservative() const { return tol->conservative; }
  /// The size of state i below which its absolute tolerance counts.
  SALTUS_FN Real floor(int i) const { return tol->atol[i] / tol->rtol; }
};

/// The time derivatives of the model's states at a point of a solution; `f` has them, unless the form must find them.
template <class E, class Real>
SALTUS_FN vec<Real, E::model_states> all_rates(const step_system<E, Real>& system, Real t, const vec<Real, E::n>& y,
                                               const vec<Real, E::n>& f) {
  using form = typename E::form::model_form;
  if constexpr (form::finds_rates)
    return form::rates_at(system.of_model(), t, E::form::model_part(y), E::form::model_part(f));
  else return E::form::model_part(f);
}

/// The states of the model at a point of a solution, with two time derivatives.
template <class E, class Real>
SALTUS_FN vec<dual<dual<Real>>, E::model_states> with_two_rates(const step_system<E, Real>& system, Real t,
                                                                const vec<Real, E::n>& y, const vec<Real, E::n>& f) {
  using form = typename E::form::model_form;
  using once = dual<Real>;
  const auto rate = all_rates<E>(system, t, y, f);
  vec<once, E::model_states> at;
  vec<dual<once>, E::model_states> r;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { at[i] = once(y[i], rate[i]); });
  const auto with_second = [&](const vec<once, E::model_states>& second) SALTUS_INLINE_LAMBDA {
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dual<once>(at[i], second[i]); });
  };
  if constexpr (form::has_field) {
    with_second(form::rhs(once(t, Real(1.0)), at, system.c));
  } else if constexpr (form::finds_rates) {
    vec<once, E::model_states> guess;
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { guess[i] = once(rate[i]); });
    with_second(form::rates_at(system.of_model(), once(t, Real(1.0)), at, guess));
  } else {
    const auto second = second_rates(system.of_model(), t, E::form::model_part(y), rate);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dual<once>(at[i], once(rate[i], second[i])); });
  }
  return r;
}
/// The time with two time derivatives.
template <class Real>
SALTUS_FN dual<dual<Real>> time_with_two_rates(Real t) {
  return {dual<Real>(t, Real(1.0)), dual<Real>(Real(1.0))};
}

/// The outcome of the projection of a step's end onto constraints.
template <class Real>
struct constraint_report {
  Real orientation = Real(0.0);                    ///< at the end, for forms that have it
  Real moved = Real(0.0);                          ///< how far the end was moved, by detail::moved_by
  mask_of<Real> lost = mask_of<Real>::all(false);  ///< a stage has no point on the branch on which the step has begun
};

namespace detail {
/// How far a projection has moved the end of a step, relative to the size that the step's error explains: h^(p-1), p the order of the
/// method, or rounding (Compere 3.4.1 with C = 1).
template <class Method, class Real, int n>
SALTUS_FN Real adjustment(const vec<Real, n>& from, const vec<Real, n>& to, Real h) {
  constexpr double ulps = 64.0 * limits<scalar_of<Real>>::epsilon;
  Real bound = Real(1.0), moved = Real(0.0), size = Real(1.0);
  for (int i = 1; i < Method::order; ++i) bound = bound * h;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    moved = max(moved, abs(to[i] - from[i]));
    size = max(size, abs(from[i]));
  });
  return moved / max(bound, Real(ulps) * size);
}

/// The same relative to the tolerance of each state, with error control: moves within the tolerance need no explanation.
template <class E, class Real, int n>
SALTUS_FN Real adjustment_over_tolerance(const step_system<E, Real>& system, const vec<Real, n>& from,
                                         const vec<Real, n>& to) {
  const auto weight = system.weight(from);
  Real moved = Real(0.0);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { moved = max(moved, abs(to[i] - from[i]) * weight[i]); });
  return moved;
}

/// The distance by which a projection has moved the states at the end of a step, relative to the larger of the explained error and the
/// tolerance.
template <class E, class Real>
SALTUS_FN Real moved_by(const step_system<E, Real>& system, const vec<Real, E::n>& from, const vec<Real, E::n>& to,
                        Real h) {
  const auto &was = E::form::model_part(from), &is = E::form::model_part(to);
  const Real moved = adjustment<typename E::Method>(was, is, h);
  if constexpr (E::fixed_steps) return moved;
  else return min(moved, adjustment_over_tolerance(system, was, is));
}

/// Projects the end of a step, which satisfies the constraints, onto the invariants, too, but moves it no further than its error explains.
/// Returns the full distance, in units of `moved_by`.
template <class E, class Real>
SALTUS_FN Real keep_invariants(const step_system<E, Real>& system, Real t, Real h, vec<Real, E::n>& y,
                               mask_of<Real> where) {
  const auto to = E::form::nearer_to_invariants(t, h, y, system.c);
  const auto moves = where & to.sound;
  const Real way = select(moves, moved_by<E>(system, y, to.y, h), Real(0.0));
  const Real part = Real(1.0) / max(way, Real(1.0));
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(moves, fma(part, to.y[i] - y[i], y[i]), y[i]); });
  vec<Real, E::n> rate;
  E::form::project(system, t, y, rate, moves);
  return way;
}

/// An explicit step with its end projected onto the constraints, and the time derivative there. A step without a projection ends with NaN.
template <class E, class Stages, class Real>
SALTUS_FN Stages projected(const step_system<E, Real>& system, Stages s, constraint_report<Real>* report) {
  const Real t1 = s.t + s.h;
  auto rate = s.f1();
  const auto before = s.y1;
  const auto c = E::form::project(system, t1, s.y1, rate, mask_of<Real>::all(true));
  if (report != nullptr) {
    report->moved = moved_by<E>(system, before, s.y1, s.h);
    report->orientation = c.orientation;
  }
  if constexpr (keeps_invariants<typename E::form>) {
    const Real way = keep_invariants<E>(system, t1, s.h, s.y1, c.found);
    if (report != nullptr) report->moved = max(report->moved, way);
  }
  const auto f = system(t1, s.y1);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    s.y1[i] = select(c.found, s.y1[i], Real(E::form::unset));
    s.set_end_slope(i, f[i]);
  });
  return s;
}
}  // namespace detail

/// The engine's dense output: the type that the method's `interpolate` returns (method/dense_output.hpp).
template <class E, class Real>
using interpolant_of =
    decltype(interpolate<typename E::Method>(*static_cast<const step_system<E, Real>*>(nullptr),
                                             *static_cast<const stages<typename E::Method, Real, E::n>*>(nullptr)));

namespace detail {
/// The system of a step in local coordinates: its method projects the points of stages onto the constraints by `settle`.
template <class E, class Real>
struct local_system : step_system<E, Real> {
  using coordinates = local_coordinates<typename E::form, E::coordinates, Real>;
  coordinates* of_step;
  template <bool at_end>
  SALTUS_FN void settle(Real t, vec<Real, E::n>& y) const {
    of_step->template settle<at_end>(static_cast<const step_system<E, Real>&>(*this), t, y);
  }
};

/// The same after the step was made, for the stages of its dense output.
template <class E, class Real>
struct system_within_step {
  const step_system<E, Real>& system;
  mutable local_coordinates<typename E::form, E::coordinates, Real> of_step;
  SALTUS_FN vec<Real, E::n> operator()(Real t, vec<Real, E::n> y) const {
    of_step.template settle<false>(system, t, y);
    return system(t, y);
  }
};

/// The step that make(system) makes in the local coordinates of its start. A step that leaves its branch ends with NaN.
template <class E, class Real, class Make>
SALTUS_FN stages<typename E::Method, Real, E::n> in_coordinates(const step_system<E, Real>& system, Real t,
                                                                const vec<Real, E::n>& y,
                                                                constraint_report<Real>* report, Make&& make) {
  typename local_system<E, Real>::coordinates of_step(system, t, y);
  auto s = make(local_system<E, Real>{system, &of_step});
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { s.y1[i] = select(of_step.lost(), Real(E::form::unset), s.y1[i]); });
  if (report != nullptr) {
    report->lost = of_step.lost();
    if constexpr (E::form::has_orientation) report->orientation = E::form::orientation_at(s.t + s.h, s.y1, system.c);
  }
  return s;
}
}  // namespace detail

template <class E, class Real>
SALTUS_FN auto step_system<E, Real>::within_step(Real t, const vec<Real, E::n>& y) const
    requires(E::in_local_coordinates) {
  return detail::system_within_step<E, Real>{*this, {*this, t, y}};
}

namespace detail {
/// Projects the end of an implicit step onto the constraints, if there are any, before the step is judged.
template <class E, class Real>
struct on_constraints {
  const step_system<E, Real>& system;
  const vec<Real, E::n>& f0;
  constraint_report<Real>* report = nullptr;

  template <class Stages>
  SALTUS_FN void operator()(Stages& s) const {
    if constexpr (has_constraints<typename E::form>) {
      auto rate = s.slope1;
      const auto c = E::form::project(system, s.t + s.h, s.y1, rate, s.solved);
      s.solved = s.solved & c.found;
      if (report != nullptr) report->orientation = c.orientation;
      s.residual = c.residual;
      s.residual_of = c.of;
      if constexpr (keeps_invariants<typename E::form>) keep_invariants<E>(system, s.t + s.h, s.h, s.y1, s.solved);
      // If the dense output is the cubic through slopes, the constraints give the slopes of algebraic states: those of the stages have
      // lower order.
      if constexpr (E::keeps_derivative && E::form::gives_algebraic_rates && E::Method::dense_rows == 0)
        each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
          if (E::form::index(i) == 0) return;
          s.slope0[i] = f0[i];
          s.slope1[i] = rate[i];
        });
    }
  }
};

/// An implicit step of the states, and that of their derivatives: the same step, differentiated.
template <class E, class Real, bool WithInterpolant>
SALTUS_FN stages<typename E::Method, Real, E::n> step_with_derivatives(const step_system<E, Real>& system,
                                                                       const solution_point<Real, E::n>& from, Real h,
                                                                       constraint_report<Real>* report);
}  // namespace detail

/// One step of the engine's method. In a model with constraints it ends on them; `report` receives the outcome of the projection.
template <class E, class Real, bool WithInterpolant = false>
SALTUS_FN stages<typename E::Method, Real, E::n> make_step(const step_system<E, Real>& system,
                                                           const solution_point<Real, E::n>& from, Real h,
                                                           constraint_report<Real>* report = nullptr) {
  if constexpr (E::in_local_coordinates) {
    return detail::in_coordinates<E>(system, from.t, from.y, report, [&](const auto& local) SALTUS_INLINE_LAMBDA {
      return step<typename E::Method>(local, from, h);
    });
  } else if constexpr (E::directions > 0 && !E::Method::is_explicit) {
    return detail::step_with_derivatives<E, Real, WithInterpolant>(system, from, h, report);
  } else if constexpr (has_constraints<typename E::form> && E::Method::is_explicit) {
    return detail::projected<E>(system, step<typename E::Method>(system, from, h), report);
  } else if constexpr (has_constraints<typename E::form> && E::Method::for_mechanics) {
    return step<typename E::Method, WithInterpolant>(system, from, h, [&](auto& s) SALTUS_INLINE_LAMBDA {
      if constexpr (keeps_invariants<typename E::form>)
        detail::keep_invariants<E>(system, from.t + h, h, s.y1, s.solved);
      const auto c = E::form::constraint_residual(from.t + h, s.y1, system.c);
      s.residual = c.residual;
      s.residual_of = select(s.singular & (s.residual_of >= Real(0.0)), s.residual_of, c.of);
    });
  } else if constexpr (has_constraints<typename E::form>) {
    return step<typename E::Method, WithInterpolant>(system, from, h,
                                                     detail::on_constraints<E, Real>{system, from.rate, report});
  } else if constexpr (E::Method::is_explicit) {
    return step<typename E::Method>(system, from, h);
  } else {
    return step<typename E::Method, WithInterpolant>(system, from, h);
  }
}

namespace detail {
template <class E, class Real, bool WithInterpolant>
SALTUS_FN stages<typename E::Method, Real, E::n> step_with_derivatives(const step_system<E, Real>& system,
                                                                       const solution_point<Real, E::n>& from, Real h,
                                                                       constraint_report<Real>* report) {
  using form = typename E::form;
  using Method = typename E::Method;
  using of_model = engine_of_model<E>;
  constexpr int n = E::model_states;
  const auto model = system.of_model();
  const auto y_of_model = form::model_part(from.y), f0_of_model = form::model_part(from.rate);
  const auto lift = [&](int j) SALTUS_INLINE_LAMBDA { return system.lifted_in(j); };
  // Unused results are not computed: slopes and terms of the dense output, errors that are not judged.
  constexpr bool with_dense = E::keeps_derivative, with_error = form::judged > n;
  stages<Method, Real, E::n> s;
  derived_step<Method, with_dense, with_error, on_constraints<of_model, Real>, step_system<of_model, Real>,
               decltype(lift), Real, n, E::directions>
      derived{{model, f0_of_model, report}, model, lift, from.t, h, from.y, from.rate, s};
  const auto of = step<Method, WithInterpolant>(model, solution_point{from.t, y_of_model, f0_of_model}, h, derived);
  s.t = from.t;
  s.h = h;
  each<with_dense || with_error ? E::n : n>([&](int i) SALTUS_INLINE_LAMBDA { s.y[i] = from.y[i]; });
  if constexpr (WithInterpolant)
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
      s.interpolant_error[i] = i < n ? of.interpolant_error[i < n ? i : 0] : Real(0.0);
    });
  if constexpr (E::quantities::count > 0) s.take_values(of, E::quantities::count);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    s.y1[i] = of.y1[i];
    s.error[i] = of.error[i];
    if constexpr (with_dense) {
      s.slope0[i] = of.slope0[i];
      s.slope1[i] = of.slope1[i];
      for (int row = 0; row < Method::dense_rows; ++row) s.extra[row][i] = of.extra[row][i];
    }
  });
  s.solved = of.solved;
  s.singular = of.singular;
  s.residual = of.residual;
  s.residual_of = of.residual_of;
  s.evaluations = of.evaluations;
  if constexpr (Method::is_rosenbrock) s.rounding = of.rounding;
  if constexpr (has_constraints<form>) {
    auto rate = s.slope1;
    form::template settle_derivatives<form::gives_algebraic_rates>(
        system, typename form::template lifted<Real>(from.t + h), s.y1, rate, s.solved);
    if constexpr (E::keeps_derivative && form::gives_algebraic_rates && Method::dense_rows == 0)
      for (int j = 0; j < E::directions; ++j)
        for (int i = 0; i < n; ++i)
          if (form::index(i) != 0) {
            s.slope0[form::rate_index(i, j)] = from.rate[form::rate_index(i, j)];
            s.slope1[form::rate_index(i, j)] = rate[form::rate_index(i, j)];
          }
  }
  return s;
}
}  // namespace detail

/// True if the code of a step is short enough for every place where landing makes one. On a device a call would keep the stages of a long one
/// in slow local memory.
template <class E>
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
inline constexpr bool is_short_step = E::Method::is_explicit;
#else
inline constexpr bool is_short_step =
    E::Method::is_explicit&& E::n <= 8 && E::directions == 0 && !has_constraints<typename E::form>;
#endif

/// `make_step` out of line.
template <class E, class Real>
SALTUS_FN_COLD stages<typename E::Method, Real, E::n> make_step_apart(const step_system<E, Real>& system,
                                                                      const solution_point<Real, E::n>& from, Real h) {
  return make_step(system, from, h);
}
template <class E, class Real>
SALTUS_FN stages<typename E::Method, Real, E::n> make_step_while_landing(const step_system<E, Real>& system,
                                                                         const solution_point<Real, E::n>& from,
                                                                         Real h) {
  if constexpr (is_short_step<E>) return make_step(system, from, h);
  else return make_step_apart(system, from, h);
}

/// Gives a series an end at h, on the constraints.
template <class E, class Real>
SALTUS_FN void end_series(const step_system<E, Real>& system, stages<typename E::Method, Real, E::n>& s, Real h,
                          constraint_report<Real>* report = nullptr) {
  if constexpr (E::in_local_coordinates) {
    s = detail::in_coordinates<E>(system, s.t, s.y, report, [&](const auto& local) SALTUS_INLINE_LAMBDA {
      detail::end_at<typename E::Method>(local, s, h);
      return s;
    });
  } else {
    detail::end_at<typename E::Method>(system, s, h);
    if constexpr (has_constraints<typename E::form>) s = detail::projected<E>(system, s, report);
  }
}

/// The lengths over which a solution changes by rounding: a tiny part of the step that x tries, or some ulps of t. The matrix M/h - J of so
/// short a step is that of M alone to rounding, and where M is singular the step's equations have no solution.
template <class E, class Real>
SALTUS_FN Real length_of_rounding(const instance<E, Real>& x) {
  using T = typename E::T;
  constexpr double part = sizeof(T) == 8 ? 0x1p-40 : 0x1p-17;
  return max(Real(part) * x.h, Real(8.0 * limits<T>::epsilon) * abs(x.t));
}

/// Makes the lanes of `where` a step of length h along f from its start, without a solution of its equations.
template <class E, class Real>
SALTUS_FN void step_along(stages<typename E::Method, Real, E::n>& s, const vec<Real, E::n>& f, Real h,
                          mask_of<Real> where) {
  const auto set = [&](Real& to, Real value) SALTUS_INLINE_LAMBDA { to = select(where, value, to); };
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
    set(s.y1[i], fma(h, f[i], s.y[i]));
    set(s.slope0[i], f[i]);
    set(s.slope1[i], f[i]);
    set(s.error[i], Real(0.0));
    for (int row = 0; row < E::Method::dense_rows; ++row) set(s.extra[row][i], Real(0.0));
  });
  set(s.residual, Real(0.0));
  s.solved = s.solved | where;
  s.singular = s.singular & !where;
  s.empty_quadratures(where);
}

/// The step of length h from the start of `s`, a part of the step that x tries. A series is not found again.
template <class E, class Real>
SALTUS_FN stages<typename E::Method, Real, E::n> part_of_step(const instance<E, Real>& x,
                                                              const step_system<E, Real>& system,
                                                              const stages<typename E::Method, Real, E::n>& s, Real h) {
  if constexpr (is_series_method<typename E::Method>) {
    auto part = s;
    end_series<E>(system, part, h);
    return part;
  } else {
    auto part = make_step_while_landing(system, solution_point{s.t, s.y, x.f}, h);
    if constexpr (!E::Method::is_explicit)
      if (const auto unmoved = abs(h) <= length_of_rounding(x); any(unmoved)) step_along<E>(part, x.f, h, unmoved);
    return part;
  }
}

/// Counts the evaluations of a step.
template <class E, class Real>
SALTUS_FN void count_evaluations(instance<E, Real>& x, const stages<typename E::Method, Real, E::n>& s,
                                 mask_of<Real> where) {
  if constexpr (E::Method::is_explicit)
    add_where(x.rhs_evaluations, where,
              evaluations_per_step<typename E::Method> +
                  (has_constraints<typename E::form> && !E::in_local_coordinates ? 1 : 0));
  else x.rhs_evaluations = x.rhs_evaluations + select(where, s.evaluations, typename Real::integer(int64(0)));
}

/// Moves y a small distance along its time derivative, on the constraints.
template <class E, class Real>
SALTUS_FN vec<Real, E::n> move_along(const step_system<E, Real>& system, Real t, const vec<Real, E::n>& y, Real d,
                                     const vec<Real, E::n>& derivative) {
  auto r = detail::advance(y, d, derivative);
  if constexpr (has_constraints<typename E::form>) {
    auto rate = derivative;
    E::form::project(system, t + d, r, rate, mask_of<Real>::all(true));
  }
  return r;
}

}  // namespace saltus
