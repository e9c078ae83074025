// 0 = F(t, y, dy/dt): the model's residual, or M(t, y) dy/dt - f(t, y) with a mass matrix that varies.
#pragma once

#include "form/consistent/by_rates.hpp"

namespace saltus {

template <class Functions>
struct residual_form : solved_for_rates<Functions> {
  using Functions::states;
  using kinds = typename Functions::kinds;
  using Model = typename Functions::Model;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// dF/d(dy/dt), or M, may become singular during the motion, unless it is singular from the start.
  static constexpr bool has_orientation = !kinds::mass_is_singular;
  template <class System, class Real>
  SALTUS_FN static Real orientation_at(const System& system, Real t, const vec<Real, states>& y,
                                       const vec<Real, states>& rate) requires(Functions::highest_index == 0) {
    if constexpr (kinds::has_residual) {
      return lu<Real, states>(detail::algebraic_equations_at(system, solution_point{t, y, rate}).by).orientation();
    } else {
      const auto m = mass(t, y, system.c);
      matrix<Real, states> r;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        each<states>([&](int j) SALTUS_INLINE_LAMBDA { r[i][j] = m.values[i][j]; });
      });
      return lu<Real, states>(r).orientation();
    }
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    vec<Value, states> r;
    if constexpr (kinds::has_residual) {
      named<typename kinds::state, Value, states> rate, out;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        rate.values[i] = Functions::time::turned(dy[i]);
        out.values[i] = Value(Functions::unset);
      });
      Model::residual(Functions::point_at(t, y, c), rate, out);
      r = out.values;
    } else {
      const auto f = Functions::rhs(t, y, c);
      const auto m = mass(t, y, c);
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        r[i] = -f[i];
        for (int j = 0; j < states; ++j) r[i] = fma(m.values[i][j], dy[j], r[i]);
      });
    }
    return r;
  }

 private:
  template <class Value, class Real>
  SALTUS_FN static auto mass(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    named_matrix<typename kinds::state, Value, states> m;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      each<states>([&](int j) SALTUS_INLINE_LAMBDA { m.values[i][j] = Value(0.0); });
    });
    Model::mass(Functions::point_at(t, y, c), m);
    return m;
  }
};

}  // namespace saltus
