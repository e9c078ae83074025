// y' = f(t, y), M y' = f(t, y), F(t, y, y') = 0: a model's functions evaluated over any Real, with the rates of guards and
// outputs by dual numbers.
//
// What the engine integrates may differ from what the model wrote in two ways, and only here:
//  - backward in time, engine time is minus the model's time, and so is f;
//  - where an instance slides along a guard (Filippov), f is the convex combination of the fields on both sides whose
//    guard rate vanishes, and two guards of the engine's own watch for its end.
#pragma once

#include "linear/lu.hpp"
#include "model/contract.hpp"
#include "number/dual.hpp"
#include "number/with_rate.hpp"

namespace saltus {

template <class Model_, int TimeSign = 1>
struct ode {
  using Model = Model_;
  using kinds = contract<Model>;
  static constexpr int time_sign = TimeSign;  ///< model time = time_sign * engine time
  static constexpr int states = kinds::state_count;
  static constexpr int params = kinds::parameter_count;
  static constexpr int discretes = kinds::discrete_count;
  static constexpr int model_guards = kinds::guard_count;
  static constexpr bool slides = kinds::sliding_count > 0;
  static constexpr int leaving_up = model_guards;        ///< the engine's guard -dg/dt above a surface of sliding
  static constexpr int leaving_down = model_guards + 1;  ///< the engine's guard dg/dt below it
  static constexpr int guards = model_guards + (slides ? 2 : 0);
  static constexpr int time_events = kinds::time_event_count;
  static constexpr int outputs = kinds::output_count;

  static constexpr auto equations = kinds::equations;
  static constexpr bool is_plain = equations == detail::equations::plain;
  static constexpr int highest_index = kinds::highest_index;
  static constexpr bool has_constraints = highest_index > 0;  ///< and it is known which states they are for
  static constexpr bool is_mixed = kinds::mass_is_singular;

  /// What is held constant through a step: parameters, discrete variables, guard signs (as values at the step's start).
  template <class Real>
  struct held {
    vec<Real, params> p;
    vec<Real, discretes> d;
    vec<Real, guards> locked;
    Real surface;  ///< number of the guard along which the instance slides; -1: none
    Real pull;     ///< dg/dt while sliding: it takes back what rounding and local errors have left of g
  };

  template <class Real, int N>
  using rated = with_rate<vec<Real, N>>;

  /// What a component holds that the model forgets to set: a NaN, which is reported as such.
  static constexpr double unset = __builtin_bit_cast(double, 0x7ff8000000000000ll);

  /// Guard i, of the model or of the engine.
  SALTUS_FN static constexpr detail::guard_traits traits(int i) {
    if constexpr (model_guards > 0)
      if (i < model_guards) return guard_traits_of<Model>(i);
    return {falling, bilateral, false, false, false};
  }

  /// The index of state i: 0 differential, 1 or 2 algebraic.
  SALTUS_FN static constexpr int index(int i) { return index_of_state<Model>(i); }

  static constexpr int colours = colouring_of<Model>.count;  ///< directions that the columns of df/dy need
  SALTUS_FN static constexpr int colour(int j) { return colouring_of<Model>.of[j]; }
  SALTUS_FN static constexpr bool entry(int i, int j) { return colouring_of<Model>.entry[i][j]; }

  /// f(t, y); Value is Real, or a dual of it.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const held<Real>& c) {
    if constexpr (slides) {
      if (any(is_sliding(c))) return slide(t, y, c);
    }
    return field(t, y, c);
  }

  /// The constant mass matrix.
  template <class Real>
  SALTUS_FN static matrix<Real, states> mass(const held<Real>& c) {
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

  /// F(t, y, dy): M dy - f, or what the model wrote.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const held<Real>& c) {
    vec<Value, states> r;
    if constexpr (kinds::has_residual) {
      named<typename kinds::state, Value, states> rate, out;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        rate.values[i] = time_sign < 0 ? -dy[i] : dy[i];
        out.values[i] = Value(unset);
      });
      Model::residual(point_at(t, y, c), rate, out);
      r = out.values;
    } else {
      const auto f = rhs(t, y, c);
      if constexpr (equations == detail::equations::implicit) {
        named_matrix<typename kinds::state, Value, states> m;
        each<states>([&](int i) SALTUS_INLINE_LAMBDA {
          each<states>([&](int j) SALTUS_INLINE_LAMBDA { m.values[i][j] = Value(0.0); });
        });
        Model::mass(point_at(t, y, c), m);
        each<states>([&](int i) SALTUS_INLINE_LAMBDA {
          r[i] = -f[i];
          for (int j = 0; j < states; ++j) r[i] = fma(m.values[i][j], dy[j], r[i]);
        });
      } else if constexpr (equations == detail::equations::with_mass) {
        const auto m = mass(c);
        each<states>([&](int i) SALTUS_INLINE_LAMBDA {
          r[i] = -f[i];
          for (int j = 0; j < states; ++j) r[i] = fma(Value(m[i][j]), dy[j], r[i]);
        });
      } else {
        each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = index(i) == 0 ? dy[i] - f[i] : -f[i]; });
      }
    }
    return r;
  }

  template <class Real>
  SALTUS_FN static vec<Real, guards> guard_values(Real t, const vec<Real, states>& y, const held<Real>& c) {
    vec<Real, guards> all;
    if constexpr (model_guards > 0) {
      const auto g = model_guards_at(t, y, c);
      each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA { all[i] = g[i]; });
    }
    if constexpr (slides) {
      vec<Real, states> nowhere;
      each<states>([&](int i) SALTUS_INLINE_LAMBDA { nowhere[i] = Real(0.0); });
      rated<Real, guards> r;
      r.value = all;
      watch_slides(t, y, nowhere, c, r);
      all = r.value;
    }
    return all;
  }

  /// g and dg/dt = dg/dt + dg/dy f (Compere 5.2), the rate by a dual number.
  template <class Real>
  SALTUS_FN static rated<Real, guards> guards_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                    const held<Real>& c) {
    rated<Real, guards> r;
    if constexpr (model_guards > 0) {
      const auto g = model_guards_at(dual<Real>(t, Real(1.0)), along(y, f), c);
      each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
        r.value[i] = g[i].value;
        r.rate[i] = g[i].d[0];
      });
    }
    if constexpr (slides) watch_slides(t, y, f, c, r);
    return r;
  }

  /// The model's guards at a point that is passed in the direction (dt, dy): their values, and what they change by.
  template <class Real>
  SALTUS_FN static rated<Real, model_guards> model_guards_through(Real t, Real dt, const vec<Real, states>& y,
                                                                  const vec<Real, states>& dy, const held<Real>& c) {
    rated<Real, model_guards> r;
    const auto g = model_guards_at(dual<Real>(t, dt), along(y, dy), c);
    each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      r.value[i] = g[i].value;
      r.rate[i] = g[i].d[0];
    });
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
      Model::outputs(point_at(dual<Real>(t, Real(1.0)), yd, c), out);
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA {
        r.value[i] = out.values[i].value;
        r.rate[i] = out.values[i].d[0];
      });
    }
    return r;
  }

  template <class Real>
  SALTUS_FN static vec<Real, outputs> output_values(Real t, const vec<Real, states>& y, const held<Real>& c) {
    named<typename kinds::output, Real, outputs> out;
    if constexpr (outputs > 0) {
      each<outputs>([&](int i) SALTUS_INLINE_LAMBDA { out.values[i] = Real(unset); });
      Model::outputs(point_at(t, y, c), out);
    }
    return out.values;
  }

  /// Engine time at which each time event comes next after t; `sound` where the model's times make sense.
  template <class Real>
  SALTUS_FN static vec<Real, time_events> next_time_events(Real t, const vec<Real, states>& y, const held<Real>& c,
                                                           mask_of<Real>& sound) {
    schedule<Model, Real, time_sign> when;
    when.t = model_time(t);
    when.sound = mask_of<Real>::all(true);
    each<time_events>([&](int i) SALTUS_INLINE_LAMBDA { when.next[i] = Real(limits<scalar_of<Real>>::largest); });
    if constexpr (time_events > 0) Model::time_events(point_at(t, y, c), when);
    sound = when.sound;
    return when.next;
  }

  template <class Real>
  SALTUS_FN static Real max_step(Real t, const vec<Real, states>& y, const held<Real>& c) {
    return Model::max_step(point_at(t, y, c));
  }

  template <class Value>
  SALTUS_FN static Value model_time(Value t) {
    if constexpr (time_sign > 0) return t;
    else return -t;
  }

  template <class Real>
  SALTUS_FN static mask_of<Real> is_sliding(const held<Real>& c) {
    return c.surface >= Real(0.0);
  }

  /// Rates of the guard of the surface along the fields above and below it.
  template <class Value>
  struct surface_rates {
    Value up, down;
  };

  /// The model's fields on both sides of a surface, and the rates of its guard along them. `surface` as in `held`.
  template <class Value, class Real>
  struct both_sides {
    vec<Value, states> up, down;
    surface_rates<Value> rate;
    Value g;

    SALTUS_FN both_sides(Value t, const vec<Value, states>& y, const held<Real>& c, Real surface) {
      auto above = c, below = c;
      each_surface([&](int i) SALTUS_INLINE_LAMBDA {
        const auto here = surface == Real(static_cast<double>(i));
        above.locked[i] = select(here, Real(1.0), c.locked[i]);
        below.locked[i] = select(here, Real(-1.0), c.locked[i]);
      });
      up = field(t, y, above);
      down = field(t, y, below);
      const auto gu = model_guards_at(dual<Value>(t, Value(1.0)), along(y, up), above);
      const auto gd = model_guards_at(dual<Value>(t, Value(1.0)), along(y, down), below);
      g = rate.up = rate.down = Value(0.0);
      each_surface([&](int i) SALTUS_INLINE_LAMBDA {
        const auto here = surface == Real(static_cast<double>(i));
        g = select(here, gu[i].value, g);
        rate.up = select(here, gu[i].d[0], rate.up);
        rate.down = select(here, gd[i].d[0], rate.down);
      });
    }
  };

  /// body(i) for every guard along which the model may slide.
  template <class F>
  SALTUS_FN static void each_surface(F&& body) {
    each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      if (traits(i).slides) body(i);
    });
  }

 private:
  template <class Value, class Real>
  SALTUS_FN static point<Model, Value, Real> point_at(Value t, const vec<Value, states>& y, const held<Real>& c) {
    return {model_time(t), y, c.p, c.d, c.locked.data};
  }

  /// The model's own right-hand side, in engine time.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> field(Value t, const vec<Value, states>& y, const held<Real>& c) {
    vec<Value, states> f;  // returned where it lies
    named_by<typename kinds::state, Value, states> dy{f};
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = Value(unset); });
    Model::rhs(point_at(t, y, c), dy);
    if constexpr (time_sign < 0) each<states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = -f[i]; });
    return f;
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, model_guards> model_guards_at(Value t, const vec<Value, states>& y, const held<Real>& c) {
    named<typename kinds::guard, Value, model_guards> g;
    each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA { g.values[i] = Value(unset); });
    Model::guards(point_at(t, y, c), g);
    return g.values;
  }

  /// Filippov's field alpha f_up + (1 - alpha) f_down with dg/dt = pull, in the lanes that slide; f in the others.
  template <class Value, class Real>
  SALTUS_FN_COLD static vec<Value, states> slide(Value t, const vec<Value, states>& y, const held<Real>& c) {
    const both_sides<Value, Real> s(t, y, c, c.surface);
    const Value alpha = (s.rate.down - Value(c.pull)) / (s.rate.down - s.rate.up);
    vec<Value, states> f;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      f[i] = select(is_sliding(c), fma(alpha, s.up[i] - s.down[i], s.down[i]), s.up[i]);
    });
    return f;
  }

  /// Fills in the engine's guards: while sliding, both are positive until one of the sides no longer pushes onto the
  /// surface, whose own guard stands still. Their rates need second derivatives: duals of duals.
  template <class Real>
  SALTUS_FN static void watch_slides(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                     const held<Real>& c, rated<Real, guards>& r) {
    const auto sliding = is_sliding(c);
    r.value[leaving_up] = r.value[leaving_down] = Real(1.0);
    r.rate[leaving_up] = r.rate[leaving_down] = Real(0.0);
    if (none(sliding)) return;
    const both_sides<dual<Real>, Real> s(dual<Real>(t, Real(1.0)), along(y, f), c, c.surface);
    r.value[leaving_up] = select(sliding, -s.rate.up.value, Real(1.0));
    r.rate[leaving_up] = select(sliding, -s.rate.up.d[0], Real(0.0));
    r.value[leaving_down] = select(sliding, s.rate.down.value, Real(1.0));
    r.rate[leaving_down] = select(sliding, s.rate.down.d[0], Real(0.0));
    each_surface([&](int i) SALTUS_INLINE_LAMBDA {
      const auto here = c.surface == Real(static_cast<double>(i));
      r.value[i] = select(here, c.locked[i], r.value[i]);
      r.rate[i] = select(here, Real(0.0), r.rate[i]);
    });
  }

  template <class Value>
  SALTUS_FN static vec<dual<Value>, states> along(const vec<Value, states>& y, const vec<Value, states>& f) {
    vec<dual<Value>, states> r;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = dual<Value>(y[i], f[i]); });
    return r;
  }
};

}  // namespace saltus
