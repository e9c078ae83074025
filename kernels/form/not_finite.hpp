// The function of a model that is not finite at a point. The host asks for it when an instance has ended for that reason.
#pragma once

#include "form/functions.hpp"

namespace saltus {

/// The kind of value that is not finite: a state itself, or the result of a function.
enum class model_value : int { none = 0, state, rate, guard, output, derivative };

/// The first derivative of a right-hand side by a state that is infinite or, if none is, that is no number: beside an infinite factor, a
/// state that does not act has the derivative 0 times infinity.
template <class Functions, class Real, class Held>
bool find_derivative(double t, const vec<Real, Functions::states>& y, const Held& c, int* which) {
  constexpr int n = Functions::states;
  bool any = false;
  for (int j = 0; j < n; ++j) {
    vec<dual<Real>, n> moving;
    for (int i = 0; i < n; ++i) moving[i] = dual<Real>(y[i], Real(i == j ? 1.0 : 0.0));
    const auto dy = Functions::rhs(dual<Real>(Real(t)), moving, c);
    for (int i = 0; i < n; ++i) {
      const double by = dy[i].d[0].v;
      if (by - by == 0.0) continue;
      if (by == by || !any) *which = i * n + j;
      if (by == by) return true;
      any = true;
    }
  }
  return any;
}

/// The first such value at a point, and its number; `rates` receives dy/dt if the model has a right-hand side. The derivative of rate i by
/// state j has the number i * states + j. Models with tables are not examined, because an instance holds the pieces of their tables.
template <class Model>
model_value first_not_finite(double t, const double* states, const double* parameters, const double* discretes,
                             double* rates, int* which) {
  using f = model_functions<Model, forward_time>;
  using Real = pack<double, 1>;
  const auto find = [&](const auto& values, int count) {
    for (int i = 0; i < count; ++i)
      if (!(values[i].v - values[i].v == 0.0)) {
        *which = i;
        return true;
      }
    return false;
  };
  if constexpr (f::tables == 0) {
    vec<Real, f::states> y;
    typename f::template step_constants<Real> c;
    for (int i = 0; i < f::states; ++i) y[i] = Real(states[i]);
    for (int i = 0; i < f::params; ++i) c.p[i] = Real(parameters[i]);
    for (int i = 0; i < f::discretes; ++i) c.d[i] = Real(discretes[i]);
    for (int i = 0; i < f::guards; ++i) c.guard_values[i] = Real(0.0);
    if (find(y, f::states)) return model_value::state;
    const auto g = f::guard_values(Real(t), y, c);  // their signs may be arguments of the other functions
    for (int i = 0; i < f::guards; ++i) c.guard_values[i] = g[i];
    if constexpr (contract<Model>::has_rhs) {
      const auto dy = f::rhs(Real(t), y, c);
      for (int i = 0; i < f::states; ++i) rates[i] = dy[i].v;
      if (find(dy, f::states)) return model_value::rate;
    }
    if (find(g, f::model_guards)) return model_value::guard;
    if constexpr (!detail::is_mechanical<Model>)
      if (find(f::output_values(Real(t), y, c), f::outputs)) return model_value::output;
    if constexpr (contract<Model>::has_rhs)
      if (find_derivative<f>(t, y, c, which)) return model_value::derivative;
  }
  return model_value::none;
}

}  // namespace saltus
