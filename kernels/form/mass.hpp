// M dy/dt = f(t, y) with a matrix M of parameters and discrete variables alone; it may be singular.
#pragma once

#include "form/consistent/by_rates.hpp"
#include "linear/lu.hpp"

namespace saltus {

template <class Functions>
struct mass_form : solved_for_rates<Functions> {
  using Functions::states;
  using kinds = typename Functions::kinds;
  using Model = typename Functions::Model;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  /// The constant mass matrix.
  template <class Real>
  SALTUS_FN static matrix<Real, states> mass(const step_constants<Real>& c) {
    named_matrix<typename kinds::state, Real, states> m;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      each<states>([&](int j) SALTUS_INLINE_LAMBDA { m.values[i][j] = Real(0.0); });
    });
    Model::mass(constants<Model, Real>{c.p, c.d}, m);
    matrix<Real, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      each<states>([&](int j) SALTUS_INLINE_LAMBDA { r[i][j] = m.values[i][j]; });
    });
    return r;
  }

  /// M dy - f.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    vec<Value, states> r;
    const auto f = Functions::rhs(t, y, c);
    const auto m = mass(c);
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = -f[i];
      for (int j = 0; j < states; ++j) r[i] = fma(Value(m[i][j]), dy[j], r[i]);
    });
    return r;
  }
};

}  // namespace saltus
