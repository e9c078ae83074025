// A form that integrates more states behind those of a model. The model's functions take its own states, the first ones.
#pragma once

#include "form/plain.hpp"

namespace saltus {

template <class Base, int more>
struct states_behind : Base {
  using model_form = Base;
  static constexpr int model_states = Base::states;
  static constexpr int states = model_states + more;
  using Base::guards;
  using Base::model_guards;
  using Base::outputs;
  using Base::time_events;
  template <class Real, int N>
  using rated = typename Base::template rated<Real, N>;

  template <class Value>
  SALTUS_FN static vec<Value, model_states> model_part(const vec<Value, states>& y) {
    vec<Value, model_states> r;
    each<model_states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = y[i]; });
    return r;
  }

  template <class Constants, class Real>
  SALTUS_FN static void remember(Constants& c, Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                 mask_of<Real> where) {
    Base::remember(c, t, model_part(y), model_part(f), where);
  }
  template <class Real, class Constants>
  SALTUS_FN static vec<Real, guards> guard_values(Real t, const vec<Real, states>& y, const Constants& c) {
    return Base::guard_values(t, model_part(y), c);
  }
  template <class Real, class Constants>
  SALTUS_FN static rated<Real, guards> guards_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                    const Constants& c) {
    return Base::guards_along(t, model_part(y), model_part(f), c);
  }
  template <class Real, class Constants>
  SALTUS_FN static rated<Real, model_guards> model_guards_through(Real t, Real dt, const vec<Real, states>& y,
                                                                  const vec<Real, states>& dy, const Constants& c) {
    return Base::model_guards_through(t, dt, model_part(y), model_part(dy), c);
  }
  template <class Real, class Constants>
  SALTUS_FN static rated<Real, 2> leaving_through(Real t, Real dt, const vec<Real, states>& y,
                                                  const vec<Real, states>& dy, const Constants& c) {
    return Base::leaving_through(t, dt, model_part(y), model_part(dy), c);
  }
  template <class Real, class Constants>
  SALTUS_FN static rated<Real, outputs> outputs_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                      const Constants& c) {
    return Base::outputs_along(t, model_part(y), model_part(f), c);
  }
  template <class Value, class Constants>
  SALTUS_FN static vec<Value, outputs> output_values(Value t, const vec<Value, states>& y, const Constants& c) {
    return Base::output_values(t, model_part(y), c);
  }
  template <class Value, class Constants>
  SALTUS_FN static rated<Value, outputs> outputs_through(Value t, Value dt, const vec<Value, states>& y,
                                                         const vec<Value, states>& dy, const Constants& c) {
    return Base::outputs_through(t, dt, model_part(y), model_part(dy), c);
  }
  template <class Real, class Constants>
  SALTUS_FN static vec<Real, time_events> next_time_events(Real t, const vec<Real, states>& y, const Constants& c,
                                                           mask_of<Real>& sound, const vec<Real, Base::records>& rows) {
    return Base::next_time_events(t, model_part(y), c, sound, rows);
  }
  template <class Real, class Constants>
  SALTUS_FN static vec<Real, Base::records> delays(Real t, const vec<Real, states>& y, const Constants& c,
                                                   mask_of<Real>& sound) {
    return Base::delays(t, model_part(y), c, sound);
  }
  template <class Real, class Constants>
  SALTUS_FN static Real max_step(Real t, const vec<Real, states>& y, const Constants& c) {
    return Base::max_step(t, model_part(y), c);
  }
};

}  // namespace saltus
