// The quantities that an instance carries behind the states of its model: none, their derivatives (form/sensitivities.hpp), or small
// differences whose growth is followed (form/growth.hpp). `carried` begins them, takes in accepted points, and stores them.
#pragma once

#include "engine/orthonormal.hpp"
#include "event/transition.hpp"

namespace saltus {

template <class Model>
SALTUS_FN constexpr double default_state(int i) {
  constexpr auto values = detail::default_values_of<Model>();
  return values.of[i];
}
template <class Model>
SALTUS_FN constexpr double default_discrete(int i) {
  constexpr auto values = detail::default_discretes_of<Model>();
  return values.of[i];
}

/// Initial values that were given; NaN where the model's own holds.
template <class Number, int states, int discretes>
struct given_values {
  vec<Number, states> y;
  vec<Number, discretes> d;
};
template <class E, class Real>
using given_to = given_values<Real, E::model_states, E::form::discretes>;

/// Sets the initial states and discrete variables, which first have the model's defaults. A value given in the spec holds before `initial`,
/// which may use it, and after `initial`, which cannot override it. Numbers may have derivatives; those of given values are then taken as
/// well.
template <class Form, class Number, int n, int params, int discretes, class Given>
SALTUS_FN void set_initial(Number t, vec<Number, n>& y, const vec<Number, params>& p, vec<Number, discretes>& d,
                           const Number* pieces, const Given& given) {
  using Model = typename Form::Model;
  const auto take_given = [&](auto otherwise) SALTUS_INLINE_LAMBDA {
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(given.y[i] == given.y[i], given.y[i], otherwise(i)); });
    each<discretes>([&](int i) SALTUS_INLINE_LAMBDA { d[i] = select(given.d[i] == given.d[i], given.d[i], d[i]); });
  };
  take_given([&](int i) SALTUS_INLINE_LAMBDA { return Number(default_state<Model>(i)); });
  if constexpr (Form::kinds::has_initial) {
    start<Model, Number> at{t, y, p, d, pieces};
    Model::initial(at);
    take_given([&](int i) SALTUS_INLINE_LAMBDA { return y[i]; });
  }
}

namespace detail {
/// The same with derivatives: 1 in each own direction, and those that the model's `initial` gives.
template <class E, class Real>
SALTUS_FN_COLD void begin_with_derivatives(instance<E, Real>& x, const given_to<E, Real>& given) {
  using form = typename E::form;
  using lifted = typename form::template lifted<Real>;
  given_to<E, lifted> from;
  vec<lifted, E::model_states> y;
  vec<lifted, form::discretes> d;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    from.y[i] = form::with_rates(
        given.y[i], [&](int j) SALTUS_INLINE_LAMBDA { return Real(form::is_of_initial(j, i) ? 1.0 : 0.0); });
  });
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA {
    from.d[i] = lifted(given.d[i]);
    d[i] = lifted(x.constants.d[i]);
  });
  vec<lifted, form::piece_numbers> pieces;
  each<form::piece_numbers>([&](int i) SALTUS_INLINE_LAMBDA { pieces[i] = lifted(x.constants.pieces[i]); });
  set_initial<form>(form::model_time(lifted(x.t)), y, form::template lift_parameters<Real>(x.constants.p), d,
                    pieces.data, from);
  x.y = form::template put_down<Real>(y);
  each<form::discretes>([&](int i) SALTUS_INLINE_LAMBDA {
    x.constants.d[i] = d[i].value;
    each<E::directions>([&](int j)
                            SALTUS_INLINE_LAMBDA { x.constants.discrete_rates[form::discretes * j + i] = d[i].d[j]; });
  });
  x.constants.jumped_at = Real(-limits<typename E::T>::largest);
}

/// Stores the Lyapunov exponents of an instance, their standard errors, and the number of grazed events; or the reason why there are none.
template <class E, class T, class Run>
SALTUS_FN_COLD void store_exponents(const instance<E, pack<T, 1>>& x, status why, const Run& run) {
  using form = typename E::form;
  const int64 count = run.batch.count, slot = x.slot.v;
  const auto& constants = x.constants;
  const auto number = [](pack<T, 1> of) SALTUS_INLINE_LAMBDA { return static_cast<double>(of.v); };
  const double time = number(x.t) - number(constants.begun), parts = number(constants.parts);
  const bool counts = is_ok(why) && time > 0.0 && number(constants.begun) >= number(constants.growth_from);
  auto reason = static_cast<sensitivity>(static_cast<int>(constants.undefined.v));
  if (!counts && reason != sensitivity::accumulation) reason = sensitivity::not_ended;
  double* const to = run.results.final_derivative;
  for (int j = 0; j < E::directions; ++j) {
    const double grown = number(constants.grown[j]), mean = number(constants.rates[j]) / parts;
    const double spread = number(constants.squared_rates[j]) / parts - mean * mean;
    const bool is_infinite = grown < -0.5 * limits<T>::largest;
    const double exponent = is_infinite ? 4.0 * grown : grown / time;
    const double error = static_cast<double>(sqrt(pack<double, 1>(spread > 0.0 ? spread / (parts - 1.0) : 0.0)).v);
    if (exponent != exponent && reason == sensitivity::defined) reason = sensitivity::not_finite;
    const bool is_known = reason == sensitivity::defined;
    to[j * count + slot] = is_known ? exponent : form::unset;
    to[(E::directions + j) * count + slot] = is_known && !is_infinite && parts > 1.5 ? error : form::unset;
  }
  to[2 * E::directions * count + slot] = number(constants.grazings);
  run.results.sensitivity[slot] = static_cast<unsigned char>(reason);
}

/// Stores the derivatives of the reductions in direction j; one that is not finite marks a reduction without a derivative.
template <class E, class T, class Run>
SALTUS_FN void store_reduced_rates(const instance<E, pack<T, 1>>& x, int j, double* to, const Run& run) {
  E::each_reduction([&](auto r, int item, int at) SALTUS_INLINE_LAMBDA {
    const double kept = static_cast<double>(x.reduced_rates[item * E::directions + j].v);
    const double rate = reduction_in<E, decltype(r)>::final_rate(x, {item, at}, j, kept, run);
    to[item] = rate - rate == 0.0 && rate < static_cast<double>(limits<T>::largest) ? rate : E::form::unset;
  });
}

/// Stores the derivatives of the final values, or the reason why there are none.
template <class E, class T, class Run>
SALTUS_FN_COLD void store_derivatives(instance<E, pack<T, 1>>& x, status why, const Run& run) {
  using Real = pack<T, 1>;
  using form = typename E::form;
  constexpr int of_end = E::model_states + form::outputs + 1, columns = of_end + E::reductions;
  if constexpr (form::model_guards > 0) look_at_end(x, mask_of<Real>::all(why == status::finished));
  const int64 count = run.batch.count, slot = x.slot.v;
  const auto out = form::model_form::output_values(form::time_of_event(x.t, x.constants), form::lift(x.y),
                                                   form::template lift_held<Real>(x.constants));
  auto reason = static_cast<sensitivity>(static_cast<int>(x.constants.undefined.v));
  if (!is_ok(why) && reason != sensitivity::accumulation) reason = sensitivity::not_ended;
  double all[columns * E::directions];
  bool finite = true;
  for (int j = 0; j < E::directions; ++j) {
    double* const of = all + columns * j;
    for (int i = 0; i < E::model_states; ++i) of[i] = static_cast<double>(x.y[form::rate_index(i, j)].v);
    for (int i = 0; i < form::outputs; ++i) of[E::model_states + i] = static_cast<double>(out[i].d[j].v);
    of[of_end - 1] = form::time_sign * static_cast<double>(x.constants.event_time[j].v);
    for (int i = 0; i < of_end; ++i) finite = finite && of[i] - of[i] == 0.0;
    store_reduced_rates(x, j, of + of_end, run);
  }
  if (!finite && reason == sensitivity::defined) reason = sensitivity::not_finite;
  for (int k = 0; k < columns * E::directions; ++k)
    run.results.final_derivative[k * count + slot] = reason == sensitivity::defined ? all[k] : form::unset;
  run.results.sensitivity[slot] = static_cast<unsigned char>(reason);
}

}  // namespace detail

/// An instance of the model alone. `run` is a chunk_run.
template <class E>
struct carried {
  /// Sets the states, and what is carried, at the beginning.
  template <class Real, class Run>
  SALTUS_FN static void begin(instance<E, Real>& x, const given_to<E, Real>& given, const Run&) {
    using form = typename E::form;
    vec<Real, E::model_states> y;
    set_initial<form>(form::model_time(x.t), y, x.constants.p, x.constants.d, x.constants.pieces.data, given);
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { x.y[i] = i < E::model_states ? y[i] : Real(0.0); });
  }
  /// Called at the first consistent point.
  SALTUS_FN static void look_at_start(const auto&...) {}
  /// Called at every accepted point.
  SALTUS_FN static void accept(const auto&...) {}
  /// Called at the end of the time span.
  SALTUS_FN static void finish(const auto&...) {}
  /// Stores the results of an instance that has ended with the status `why`.
  SALTUS_FN static void store(const auto&...) {}
};

/// With derivatives, which are results.
template <class E>
requires(E::directions > 0 && !E::form::lyapunov) struct carried<E> {
  template <class Real, class Run>
  SALTUS_FN static void begin(instance<E, Real>& x, const given_to<E, Real>& given, const Run&) {
    detail::begin_with_derivatives(x, given);
  }
  template <class Real>
  SALTUS_FN static void look_at_start(instance<E, Real>& x, mask_of<Real> where) {
    saltus::look_at_start(x, where);
  }
  SALTUS_FN static void accept(const auto&...) {}
  template <class Real>
  SALTUS_FN static void finish(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
    if constexpr (reduces_derivatives<E>) take_extrema_here<true>(x, where, tol);
  }
  template <class Real, class Run>
  SALTUS_FN static void store(instance<E, Real>& x, status why, const Run& run) {
    detail::store_derivatives(x, why, run);
  }
};

/// With differences, whose growth is.
template <class E>
requires(E::directions > 0 && E::form::lyapunov) struct carried<E> {
  template <class Real, class Run>
  SALTUS_FN static void begin(instance<E, Real>& x, const given_to<E, Real>& given, const Run& run) {
    detail::begin_with_derivatives(x, given);
    begin_growth<E>(x, run.settings.growth_from);
  }
  template <class Real>
  SALTUS_FN static void look_at_start(instance<E, Real>& x, mask_of<Real> where) {
    saltus::look_at_start(x, where);
  }
  template <class Real>
  SALTUS_FN static void accept(instance<E, Real>& x, mask_of<Real> where) {
    update_lyapunov(x, where);
  }
  SALTUS_FN static void finish(const auto&...) {}
  template <class Real, class Run>
  SALTUS_FN static void store(const instance<E, Real>& x, status why, const Run& run) {
    detail::store_exponents(x, why, run);
  }
};

}  // namespace saltus
