// Sliding (A. F. Filippov, Differential Equations with Discontinuous Righthand Sides, 1988): if the fields on both sides of a guard's
// surface push onto it, the solution stays on it.
//
//     dg/dt along f_up < 0 < dg/dt along f_down at g = 0:   slide, until one of them is 0, then leave to that side
//
// form/sliding.hpp has the field of a slide and the two guards that watch for its end; this file begins and ends slides. An instance slides
// along one guard at a time; if it would slide along two, it ends with status `two_slides`.
#pragma once

#include "engine/record_event.hpp"
#include "event/sides.hpp"

namespace saltus {

/// The values of the guards of the surfaces along which the lanes slide: zero to within rounding and local errors.
template <class E, class Real>
SALTUS_FN Real surface_value(const instance<E, Real>& x) {
  auto free = x.constants;
  free.surface = Real(0.0);
  const auto g = E::form::guard_values(x.t, x.y, free);
  Real r = Real(0.0);
  E::form::each_surface([&](int i)
                            SALTUS_INLINE_LAMBDA { r = select(E::form::slides_along(x.constants, i), g[i], r); });
  return r;
}

/// Aims the next step of sliding lanes back at their surface, by a quarter of the distance, which preserves the order of the method.
template <class E, class Real>
SALTUS_FN void aim_at_surface(instance<E, Real>& x, mask_of<Real> where) {
  where = where & E::form::is_sliding(x.constants);
  if (any(where)) assign_where(where, x.constants.pull, Real(-0.25) * surface_value(x) / x.h);
}

/// The number, among the surfaces, of the one along which an instance slides.
template <class E, class T, int W>
SALTUS_FN int surface_number(const instance<E, pack<T, W>>& x, int lane) {
  int number = 0;
  for (int i = 0; i < E::form::model_guards; ++i)
    if (E::form::traits(i).slides && static_cast<T>(E::form::surface_of(i)) < x.constants.surface.get(lane)) ++number;
  return number;
}

/// The number of the event that ends the slide of a lane.
template <class E, class T, int W>
SALTUS_FN int end_of_slide(const instance<E, pack<T, W>>& x, int lane) {
  return E::form::model_guards + E::form::time_events + surface_number(x, lane);
}

/// Logs the end of a slide, an event that changes nothing else.
template <class E, class T, int W, class Run>
SALTUS_FN_COLD void log_end_of_slide(instance<E, pack<T, W>>& x, int lane, const Run& run) {
  auto y = logged_lane<E>(loggable(x), lane);
  if constexpr (E::kept_directions > 0)
    for (int j = 0; j < E::directions; ++j)
      y[E::logged_point + j].v = E::form::time_sign * x.constants.event_time[j].get(lane);
  record_event(x, lane, end_of_slide(x, lane), y, y, run);
  x.events.set(lane, x.events.get(lane) + 1);
}

/// The guard of a slide is constant and keeps its side.
template <class E, class Real>
SALTUS_FN void keep_slide_sides(const instance<E, Real>& x,
                                typename E::form::template step_constants<Real>& constants) {
  E::form::each_surface([&](int i) SALTUS_INLINE_LAMBDA {
    constants.guard_values[i] =
        select(E::form::slides_along(constants, i), x.constants.guard_values[i], constants.guard_values[i]);
  });
}

/// Takes lanes off their surface to the side above or below it, by the difference of the fields over a time within rounding. The guard,
/// which leaves zero with time derivative zero, is then certain to be on its side. `g` receives its new value, because a guard that has a
/// side again has not crossed.
template <class E, class Real>
SALTUS_FN_COLD void leave_surface(instance<E, Real>& x, vec<Real, E::ng>& g, mask_of<Real> up, mask_of<Real> down) {
  using form = typename E::form;
  const typename form::template both_sides<Real, Real> s(x.t, form::model_part(x.y), x.constants, x.constants.surface);
  const Real tolerance = ulps_of_time(x, 16.0);
  const Real speed = max(abs(s.rate.up), abs(s.rate.down));
  const Real spread = s.rate.up - s.rate.down;
  const Real to = select(up, Real(1.0), Real(-1.0)) * speed * tolerance;
  // If the fields hardly differ any more, both lead away: the move follows one of them.
  const auto differ = abs(spread) > Real(0.25) * speed;
  const Real d = select(differ, (to - s.g) / spread, tolerance);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real direction = select(differ, s.up[i] - s.down[i], s.up[i]);
    assign_where(up | down, x.y[i], fma(d, direction, x.y[i]));
  });
  form::each_surface([&](int i) SALTUS_INLINE_LAMBDA {
    const auto here = (up | down) & form::slides_along(x.constants, i);
    assign_where(here, x.constants.guard_values[i], to);
    assign_where(here, g[i], to);
  });
  assign_where(up | down, x.constants.surface, Real(0.0));
  add_where(x.rhs_evaluations, up | down, 2);
}

/// Moves the lanes of `where` along the difference of the fields onto the surface whose sides are `s`. They are on it to within rounding of
/// time; the rest of g would stay for the whole slide, and be integrated.
template <class E, class Real, class Sides>
SALTUS_FN void put_on_surface(instance<E, Real>& x, const Sides& s, mask_of<Real> where) {
  const Real d = s.g / (s.rate.down - s.rate.up);
  each<E::model_states>([&](int i)
                            SALTUS_INLINE_LAMBDA { assign_where(where, x.y[i], fma(d, s.up[i] - s.down[i], x.y[i])); });
}

/// Ends the slides of the lanes in `where` whose guards are `due`: the instance leaves to the side that pulls it away.
template <class E, class Real>
SALTUS_FN void end_slides(instance<E, Real>& x, const vec<Real, E::ng>& due, vec<Real, E::ng>& g, mask_of<Real> where) {
  const auto up = where & (due[E::form::leaving_up] > Real(0.5));
  const auto down = where & (due[E::form::leaving_down] > Real(0.5)) & !up;
  if (any(up | down)) leave_surface(x, g, up, down);
}

/// Reviews slides after a transition that did not end them. The transition may have moved the instance off the surface, whose guard was
/// `was` before, or have changed a field so that it no longer pushes onto the surface. `g` takes over the side as in `end_slides`.
template <class E, class Real, class Run>
SALTUS_FN_COLD void review_slides(instance<E, Real>& x, Real was, vec<Real, E::ng>& g, mask_of<Real> where,
                                  const Run& run) {
  using form = typename E::form;
  const auto sliding = where & form::is_sliding(x.constants);
  if (none(sliding)) return;
  const typename form::template both_sides<Real, Real> s(x.t, form::model_part(x.y), x.constants, x.constants.surface);
  const Real tolerance = ulps_of_time(x, 64.0);
  const auto moved = sliding & (abs(s.g - was) > tolerance * max(abs(s.rate.up), abs(s.rate.down)));
  const auto up = (moved & (s.g > Real(0.0))) | (sliding & (!moved) & !(s.rate.up < Real(0.0)));
  const auto down = ((moved & (s.g < Real(0.0))) | (sliding & (!moved) & !(s.rate.down > Real(0.0)))) & !up;
  for (int lane = 0; lane < Real::lanes; ++lane)
    if ((up | down)[lane]) log_end_of_slide(x, lane, run);
  add_where(x.rhs_evaluations, sliding, 2);
  put_on_surface(x, s, sliding & !(up | down));
  if (any((up | down) & !moved)) leave_surface(x, g, up & !moved, down & !moved);
  form::each_surface([&](int i) SALTUS_INLINE_LAMBDA {
    const auto here = (up | down) & moved & form::slides_along(x.constants, i);
    assign_where(here, g[i], s.g);
  });
  assign_where(moved, x.constants.surface, Real(0.0));
}

/// No guard has fired.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> none_fired() {
  vec<Real, E::ng> r;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = Real(0.0); });
  return r;
}

/// Begins a slide in the lanes of `where` that are on a surface onto which both sides push. A lane that slides already may cross another
/// surface, but not slide along it as well. A guard that has `fired` is on its surface to within the error of its root, any other one to
/// within rounding of time.
template <class E, class Real>
SALTUS_FN_COLD void begin_slides(instance<E, Real>& x, const vec<Real, E::ng>& fired, mask_of<Real> where) {
  using form = typename E::form;
  const Real of_root = ulps_of_time(x, 4096.0), of_time = ulps_of_time(x, 16.0);
  auto began = mask_of<Real>::all(false);
  form::each_surface([&](int i) SALTUS_INLINE_LAMBDA {
    const Real number = Real(form::surface_of(i));
    const auto other = where & !(x.constants.surface == number);
    if (none(other)) return;
    const typename form::template both_sides<Real, Real> s(x.t, form::model_part(x.y), x.constants, number);
    const Real speed = max(abs(s.rate.up), abs(s.rate.down));
    const Real tolerance = speed * select(fired[i] > Real(0.5), of_root, of_time);
    const auto on_it = abs(s.g) <= max(tolerance, Real(limits<typename E::T>::smallest));
    const auto attracts = other & on_it & (s.rate.up < Real(0.0)) & (s.rate.down > Real(0.0));
    end_where(x.status, attracts & form::is_sliding(x.constants), status::two_slides);
    const auto begins = attracts & !form::is_sliding(x.constants);
    put_on_surface(x, s, begins);
    assign_where(begins, x.constants.surface, number);
    assign_where(begins, x.constants.guard_values[i],
                 select(x.constants.guard_values[i] < Real(0.0), Real(-1.0), Real(1.0)));
    add_where(x.rhs_evaluations, other, 2);
    began = began | begins;
  });
  if (none(began)) return;
  assign_where(began, x.constants.pull, Real(0.0));
  vec<Real, E::n> f = form::rhs(x.t, x.y, x.constants);
  const auto g = form::guards_along(x.t, x.y, f, x.constants);
  add_where(x.rhs_evaluations, began, 2);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(began, x.f[i], f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(began, x.constants.guard_values[i], g.value[i]);
    assign_where(began, x.rate[i], g.rate[i]);
  });
}

}  // namespace saltus
