// y' = f(t, y): a model's functions evaluated over any Real, with the rates of guards and outputs by dual numbers.
#pragma once

#include "model/contract.hpp"

namespace saltus {

template <class Model_>
struct ode {
  using Model                    = Model_;
  using kinds                    = contract<Model>;
  static constexpr int states    = kinds::state_count;
  static constexpr int params    = kinds::parameter_count;
  static constexpr int discretes = kinds::discrete_count;
  static constexpr int guards    = kinds::guard_count;
  static constexpr int outputs   = kinds::output_count;

  /// What is held constant through a step: parameters, discrete variables, guard signs (as values at the step's start).
  template <class Real>
  struct held {
    vec<Real, params>    p;
    vec<Real, discretes> d;
    vec<Real, guards>    locked;
  };

  /// Values and time derivatives along the solution.
  template <class Real, int N>
  struct rated {
    vec<Real, N> value, rate;
  };

  /// What a component holds that the model forgets to set: a NaN, which is reported as such.
  static constexpr double unset = __builtin_bit_cast(double, 0x7ff8000000000000ll);

  /// f(t, y)
  template <class Real>
  SALTUS_FN static vec<Real, states> rhs(Real t, const vec<Real, states>& y, const held<Real>& c) {
    named<typename kinds::state, Real, states> dy;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { dy.values[i] = Real(unset); });
    Model::rhs(point<Model, Real, Real>{t, y, c.p, c.d, c.locked}, dy);
    return dy.values;
  }

  template <class Real>
  SALTUS_FN static vec<Real, guards> guard_values(Real t, const vec<Real, states>& y, const held<Real>& c) {
    named<typename kinds::guard, Real, guards> g;
    if constexpr (guards > 0) {
      each<guards>([&](int i) SALTUS_INLINE_LAMBDA { g.values[i] = Real(unset); });
      Model::guards(point<Model, Real, Real>{t, y, c.p, c.d, c.locked}, g);
    }
    return g.values;
  }

  /// g and dg/dt = dg/dt + dg/dy f (Compere 5.2), the rate by a dual number.
  template <class Real>
  SALTUS_FN static rated<Real, guards> guards_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                    const held<Real>& c) {
    rated<Real, guards> r;
    if constexpr (guards > 0) {
      named<typename kinds::guard, dual<Real>, guards> g;
      each<guards>([&](int i) SALTUS_INLINE_LAMBDA { g.values[i] = dual<Real>(Real(unset)); });
      const auto yd = along(y, f);
      Model::guards(point<Model, dual<Real>, Real>{dual<Real>(t, Real(1.0)), yd, c.p, c.d, c.locked}, g);
      split(g.values, r);
    }
    return r;
  }

  template <class Real>
  SALTUS_FN static rated<Real, outputs> outputs_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                      const held<Real>& c) {
    rated<Real, outputs> r;
    if constexpr (outputs > 0) {
      named<typename kinds::output, dual<Real>, outputs> out;
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA { out.values[i] = dual<Real>(Real(unset)); });
      const auto yd = along(y, f);
      Model::outputs(point<Model, dual<Real>, Real>{dual<Real>(t, Real(1.0)), yd, c.p, c.d, c.locked}, out);
      split(out.values, r);
    }
    return r;
  }

  template <class Real>
  SALTUS_FN static vec<Real, outputs> output_values(Real t, const vec<Real, states>& y, const held<Real>& c) {
    named<typename kinds::output, Real, outputs> out;
    if constexpr (outputs > 0) {
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA { out.values[i] = Real(unset); });
      Model::outputs(point<Model, Real, Real>{t, y, c.p, c.d, c.locked}, out);
    }
    return out.values;
  }

 private:
  template <class Real>
  SALTUS_FN static vec<dual<Real>, states> along(const vec<Real, states>& y, const vec<Real, states>& f) {
    vec<dual<Real>, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dual<Real>(y[i], f[i]); });
    return r;
  }
  template <class Real, int N>
  SALTUS_FN static void split(const vec<dual<Real>, N>& from, rated<Real, N>& to) {
    each<N>([&](int i) SALTUS_INLINE_LAMBDA {
      to.value[i] = from[i].value;
      to.rate[i]  = from[i].d[0];
    });
  }
};

}  // namespace saltus
