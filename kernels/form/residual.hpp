// 0 = F(t, y, dy/dt): what the model wrote, or M(t, y) dy/dt - f(t, y) with a mass matrix that varies.
#pragma once

#include "form/consistent/by_rates.hpp"

namespace saltus {

template <class Functions>
struct residual_form : solved_for_rates<Functions> {
  using Functions::states;
  using kinds = typename Functions::kinds;
  using Model = typename Functions::Model;
  template <class Real>
  using held = typename Functions::template held<Real>;

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const held<Real>& c) {
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
      named_matrix<typename kinds::state, Value, states> m;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        each<states>([&](int j) SALTUS_INLINE_LAMBDA { m.values[i][j] = Value(0.0); });
      });
      Model::mass(Functions::point_at(t, y, c), m);
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        r[i] = -f[i];
        for (int j = 0; j < states; ++j) r[i] = fma(m.values[i][j], dy[j], r[i]);
      });
    }
    return r;
  }
};

}  // namespace saltus
