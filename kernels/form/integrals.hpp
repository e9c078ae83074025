// Integrals over time as states behind those of a model: q' = x, q = 0 at the start, for outcomes of a gradient (run/gradient.hpp). They are
// part of the error control. No event changes them.
#pragma once

#include "form/states_behind.hpp"

namespace saltus {

/// A plain equation dy/dt = f(t, y) with its integrals. `Of` lists the integrands: output i is number i, state i is -1 - i.
template <class Base, int... Of>
struct integrals : states_behind<Base, static_cast<int>(sizeof...(Of))> {
  using behind = states_behind<Base, static_cast<int>(sizeof...(Of))>;
  static_assert(Base::has_field && !moves_states<Base> && Base::time_sign > 0,
                "integrals are those of dy/dt = f(t, y), forward in time");
  using behind::model_part;
  static constexpr int model_states = behind::model_states, states = behind::states, judged = states;
  static constexpr int integrated = static_cast<int>(sizeof...(Of));
  static constexpr bool integrates_outputs = ((Of >= 0) || ...);
  SALTUS_FN static constexpr bool integrates_output(int i) { return ((Of == i) || ...); }

  SALTUS_FN static constexpr int index(int) { return 0; }
  SALTUS_FN static constexpr bool counts(int) { return true; }
  // Every integrand may depend on every state, and nothing depends on an integral.
  static constexpr int colours = model_states;
  SALTUS_FN static constexpr int colour(int j) { return j < model_states ? j : 0; }
  SALTUS_FN static constexpr bool entry(int i, int j) {
    return j < model_states && (i >= model_states || Base::entry(i, j));
  }

  template <class Value, class Constants>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const Constants& c) {
    constexpr int of[] = {Of...};
    const auto of_model = model_part(y);
    const auto f = Base::rhs(t, of_model, c);
    vec<Value, Base::outputs> out;
    if constexpr (integrates_outputs) out = Base::output_values(t, of_model, c);
    vec<Value, states> r;
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = f[i]; });
    static_for<integrated>([&](auto k) SALTUS_INLINE_LAMBDA {
      if constexpr (of[k] >= 0) r[model_states + k] = out[of[k]];
      else r[model_states + k] = of_model[-1 - of[k]];
    });
    return r;
  }
  /// The model's right-hand side and the integrands.
  template <class Value, class Constants>
  SALTUS_FN static void visit_equations(Value t, const vec<Value, model_states>& y,
                                        const vec<Value, model_states>& rate, const Constants& c) {
    Base::visit_equations(t, y, rate, c);
    if constexpr (integrates_outputs) Base::visit_outputs(t, y, c);
  }
  template <class Value, class Constants>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const Constants& c) {
    const auto f = rhs(t, y, c);
    vec<Value, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dy[i] - f[i]; });
    return r;
  }
};

}  // namespace saltus
