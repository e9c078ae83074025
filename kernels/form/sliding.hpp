// Sliding (Filippov): a form whose instances may slide along guards. While an instance slides, f is the convex combination of the fields on
// both sides that keeps the guard constant, and two guards of the engine's own watch for the end. event/slide.hpp begins and ends slides.
#pragma once

#include "form/plain.hpp"

namespace saltus {

template <class Form>
struct sliding : Form {
  using Form::guards;
  using Form::model_guards;
  using Form::states;
  static_assert(Form::has_field, "sliding is between fields: dy/dt = f(t, y)");
  static constexpr int leaving_up = model_guards;        ///< the engine's guard -dg/dt above a surface of sliding
  static constexpr int leaving_down = model_guards + 1;  ///< the engine's guard dg/dt below it
  template <class Real, int N>
  using rated = typename Form::template rated<Real, N>;

  template <class Real>
  struct step_constants : Form::template step_constants<Real> {
    Real surface;  ///< `surface_of` the guard along which the instance slides; 0: none
    Real pull;     ///< dg/dt while sliding: it corrects the drift of g by local errors
  };
  SALTUS_FN static constexpr double surface_of(int guard) { return static_cast<double>(guard + 1); }
  template <class Real>
  SALTUS_FN static mask_of<Real> is_sliding(const step_constants<Real>& c) {
    return c.surface > Real(0.0);
  }
  template <class Real>
  SALTUS_FN static mask_of<Real> slides_along(const step_constants<Real>& c, int guard) {
    return c.surface == Real(surface_of(guard));
  }

  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A& a, B& b, F&& body) {
    Form::each_memory(a, b, body);
    body(a.surface, b.surface);
    body(a.pull, b.pull);
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> rhs(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    if (any(is_sliding(c))) return slide(t, y, c);
    return Form::rhs(t, y, c);
  }

  template <class Value, class Real>
  SALTUS_FN static vec<Value, states> residual(Value t, const vec<Value, states>& y, const vec<Value, states>& dy,
                                               const step_constants<Real>& c) {
    return Form::less_rates(rhs(t, y, c), dy);
  }

  template <class Real>
  SALTUS_FN static vec<Real, guards> guard_values(Real t, const vec<Real, states>& y, const step_constants<Real>& c) {
    vec<Real, guards> all = Form::guard_values(t, y, c);
    vec<Real, states> nowhere;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { nowhere[i] = Real(0.0); });
    rated<Real, guards> r;
    r.value = all;
    watch_slides(t, y, nowhere, c, r);
    return r.value;
  }

  template <class Real>
  SALTUS_FN static rated<Real, guards> guards_along(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                                    const step_constants<Real>& c) {
    auto r = Form::guards_along(t, y, f, c);
    watch_slides(t, y, f, c, r);
    return r;
  }

  /// Time derivatives of the guard of the surface along the fields above and below it.
  template <class Value>
  struct surface_rates {
    Value up, down;
  };

  /// The model's fields on both sides of a surface, and the time derivatives of its guard along them. `surface` as in `step_constants`.
  template <class Value, class Real>
  struct both_sides {
    vec<Value, states> up, down;
    surface_rates<Value> rate;
    Value g;

    SALTUS_FN both_sides(Value t, const vec<Value, states>& y, const step_constants<Real>& c, Real surface) {
      auto above = c, below = c;
      each_surface([&](int i) SALTUS_INLINE_LAMBDA {
        const auto here = surface == Real(surface_of(i));
        above.guard_values[i] = select(here, Real(1.0), c.guard_values[i]);
        below.guard_values[i] = select(here, Real(-1.0), c.guard_values[i]);
      });
      up = Form::field(t, y, above);
      down = Form::field(t, y, below);
      const auto gu = Form::model_guards_at(dual<Value>(t, Value(1.0)), Form::along(y, up), above);
      const auto gd = Form::model_guards_at(dual<Value>(t, Value(1.0)), Form::along(y, down), below);
      g = rate.up = rate.down = Value(0.0);
      each_surface([&](int i) SALTUS_INLINE_LAMBDA {
        const auto here = surface == Real(surface_of(i));
        g = select(here, gu[i].value, g);
        rate.up = select(here, gu[i].d[0], rate.up);
        rate.down = select(here, gd[i].d[0], rate.down);
      });
    }
  };

  /// The guards that watch for the end of a slide, at a point through which y moves by dy in dt; their rates are their changes.
  template <class Real>
  SALTUS_FN static rated<Real, 2> leaving_through(Real t, Real dt, const vec<Real, states>& y,
                                                  const vec<Real, states>& dy, const step_constants<Real>& c) {
    const both_sides<dual<Real>, Real> s(dual<Real>(t, dt), Form::along(y, dy), c, c.surface);
    rated<Real, 2> r;
    r.value[0] = -s.rate.up.value, r.rate[0] = -s.rate.up.d[0];
    r.value[1] = s.rate.down.value, r.rate[1] = s.rate.down.d[0];
    return r;
  }

  /// body(i) for every guard along which the model may slide.
  template <class F>
  SALTUS_FN static void each_surface(F&& body) {
    each<model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      if (Form::traits(i).slides) body(i);
    });
  }

 private:
  /// Filippov's field alpha f_up + (1 - alpha) f_down with dg/dt = pull, in the lanes that slide; f in the others. Rounding of
  /// alpha leaves a part of dg/dt, which is removed: over a long step it would move a block at rest.
  template <class Value, class Real>
  SALTUS_FN_COLD static vec<Value, states> slide(Value t, const vec<Value, states>& y, const step_constants<Real>& c) {
    const both_sides<Value, Real> s(t, y, c, c.surface);
    const Value alpha = (s.rate.down - Value(c.pull)) / (s.rate.down - s.rate.up);
    vec<Value, states> f;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { f[i] = fma(alpha, s.up[i] - s.down[i], s.down[i]); });
    const auto g = Form::model_guards_at(dual<Value>(t, Value(1.0)), Form::along(y, f), c);
    Value left = Value(0.0);
    each_surface([&](int i)
                     SALTUS_INLINE_LAMBDA { left = select(slides_along(c, i), Value(c.pull) - g[i].d[0], left); });
    const Value more = left / (s.rate.up - s.rate.down);
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      f[i] = select(is_sliding(c), fma(more, s.up[i] - s.down[i], f[i]), s.up[i]);
    });
    return f;
  }

  /// Fills in the engine's guards. While sliding, both are positive until one of the sides no longer pushes onto the surface; the surface's
  /// own guard is constant. Their time derivatives need second derivatives: duals of duals.
  template <class Real>
  SALTUS_FN static void watch_slides(Real t, const vec<Real, states>& y, const vec<Real, states>& f,
                                     const step_constants<Real>& c, rated<Real, guards>& r) {
    const auto slides = is_sliding(c);
    r.value[leaving_up] = r.value[leaving_down] = Real(1.0);
    r.rate[leaving_up] = r.rate[leaving_down] = Real(0.0);
    if (none(slides)) return;
    const auto leaving = leaving_through(t, Real(1.0), y, f, c);
    each<2>([&](int i) SALTUS_INLINE_LAMBDA {
      r.value[leaving_up + i] = select(slides, leaving.value[i], Real(1.0));
      r.rate[leaving_up + i] = select(slides, leaving.rate[i], Real(0.0));
    });
    each_surface([&](int i) SALTUS_INLINE_LAMBDA {
      const auto here = slides_along(c, i);
      r.value[i] = select(here, c.guard_values[i], r.value[i]);
      r.rate[i] = select(here, Real(0.0), r.rate[i]);
    });
  }
};

}  // namespace saltus
