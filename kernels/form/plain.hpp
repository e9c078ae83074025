// dy/dt = f(t, y).
#pragma once

#include "form/functions.hpp"

namespace saltus {

template <class Functions>
struct plain_form : Functions {
  using Functions::states;
  using model_form = plain_form;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  static constexpr bool has_field = true;

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    return less_rates(Functions::field(t, y, c), dy);
  }

 protected:
  template <class Value>
  SALTUS_FN static vec<Value, states> less_rates(const vec<Value, states>& f, const vec<Value, states>& dy) {
    vec<Value, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dy[i] - f[i]; });
    return r;
  }
};

}  // namespace saltus
