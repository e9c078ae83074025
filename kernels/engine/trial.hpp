// One trial step of an instance, and judgements of it beside the method's own error.
#pragma once

#include "engine/guard_errors.hpp"
#include "engine/guard_series.hpp"
#include "number/with_rate.hpp"

namespace saltus {

/// A trial step and its judgement. It depends on the instance alone: if repeated, it has the same bits.
template <class E, class Real>
struct trial {
  guard_polynomials<E, Real> guards;  ///< along the step
  stages<typename E::Method, Real, E::n> s;
  Real t1;                                          ///< its end: t + h, or t_stop exactly
  rough_of<Real> error2;                            ///< squared error norm
  typename E::form::template rated<Real, E::ng> g;  ///< guards at its end
  mask_of<Real> last;                               ///< it ends at t_stop
  mask_of<Real> accepted, suspect;
  vec<Real, E::quantities::any_output ? E::form::outputs : 0> parts;  ///< changes of the parts of the outputs
  /// The guards that watch for the end of a slide, in the middle of the step; rates are changes in half a step.
  typename E::form::template rated<Real, E::form::slides ? 2 : 0> leaving;
  mask_of<Real> crosses_corner;  ///< for models whose corners are watched
  Real part_to_corner;           ///< the part to which the next trial should be cut if this is rejected; 1: none
  Real orientation;              ///< at its end, for forms that have it
  mask_of<Real> turns_over;      ///< the orientation turns: there is a singularity in between
  mask_of<Real> changes_branch;  ///< the step has probably passed a point at which constraints depend on each other
  mask_of<Real> lost_branch;     ///< a point of the step is not on the branch of its start; in local coordinates
  /// How far the projection has moved its end, relative to its explained error; for explicit methods.
  Real moved;

  /// Constructs the step, and its guards if `make` finds them, in place: with braces a compiler would first zero the whole object, which
  /// takes as long as a stage.
  template <class Make>
  SALTUS_FN trial(const Make& make, mask_of<Real> is_last) : s(make(guards)), last(is_last) {}
};

/// The absolute tolerances of an instance: that of a derivative is its state's over the size of its parameter in this instance.
template <class E, class Real>
SALTUS_FN decltype(auto) absolute_tolerances([[maybe_unused]] const instance<E, Real>& x,
                                             const tolerances<E, Real>& tol) {
  if constexpr (E::judged == E::model_states || E::directions == 0) {
    return (tol.atol);
  } else {
    auto atol = tol.atol;
    for (int j = 0; j < E::directions; ++j) {
      const Real size = size_of_direction(x, j);
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
        atol[E::form::rate_index(i, j)] = tol.atol[E::form::rate_index(i, j)] / size;
      });
    }
    return atol;
  }
}

/// A function of absolute tolerances, of the components whose errors count: an undefined derivative does not.
template <class E, class Real, class Function>
SALTUS_FN Real of_what_counts(const instance<E, Real>& x, const tolerances<E, Real>& tol, const Function& function) {
  Real r = function(absolute_tolerances(x, tol));
  if constexpr (E::judged > E::model_states && E::directions > 0) {
    if (const auto states_alone = x.constants.undefined > Real(0.0); any(states_alone)) {
      vec<Real, E::model_states> atol;
      each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { atol[i] = tol.atol[i]; });
      r = select(states_alone, function(atol), r);
    }
  }
  return r;
}

/// The squared error given to a step in which Newton's iteration has failed: the step shrinks to a quarter.
template <class Method>
inline constexpr double unsettled = [] {
  double r = 1.0;
  for (int i = 0; i < 2 * (methods::error_order<Method> + 1); ++i) r *= 3.6;
  return r;
}();

/// Squared error of the guards as quadratures of their time derivatives (Mao and Petzold 3.1.2), relative to their values and changes: a
/// step over which a guard is not accurate is too long.
template <class E, class Real>
SALTUS_FN Real guard_error_squared(const instance<E, Real>& x, const trial<E, Real>& a, Real rtol) {
  using Method = typename E::Method;
  vec<Real, E::ng> error, change;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = change[i] = Real(0.0); });
  if constexpr (!keeps_stages<Method>) {
    // Stages of implicit methods are not points of the solution, and other methods do not keep theirs: the guards' error is then the effect
    // of the states' error.
    vec<Real, E::n> nowhere;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { nowhere[i] = Real(0.0); });
    const auto error_of_states = [&]() SALTUS_INLINE_LAMBDA {
      if constexpr (is_series_method<Method>) return local_error(a.s);
      else return a.s.error;
    }();
    const auto off = E::form::guards_along(a.t1, a.s.y1, error_of_states, x.constants);
    const auto mere = E::form::guards_along(a.t1, a.s.y1, nowhere, x.constants);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      error[i] = (off.rate[i] - mere.rate[i]) / a.s.h;
      change[i] = max(abs(x.rate[i]), abs(a.g.rate[i]));
    });
  } else
    static_for<Method::stages>([&](auto j) SALTUS_INLINE_LAMBDA {
      constexpr double c = Method::c[j], e = Method::e[j];
      const auto y = detail::advance(a.s.y, a.s.h, detail::slope_of_stage<Method, j>(a.s.k));
      const auto g = E::form::guards_along(fma(Real(c), a.s.h, a.s.t), y, a.s.k[j], x.constants);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        error[i] = fma(Real(e), g.rate[i], error[i]);
        change[i] = max(change[i], abs(g.rate[i]));
      });
    });
  Real worst = Real(0.0);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real size = max(max(abs(x.constants.guard_values[i]), abs(a.g.value[i])), a.s.h * change[i]);
    const Real r = a.s.h * error[i] / fma(rtol, size, Real(limits<typename E::T>::smallest));
    worst = max(worst, r * r);
  });
  return worst;
}

/// The middle of a step: y, on the cubic through its ends unless the method knows better; and its change in half a step, on that cubic.
template <class E, class Real>
struct middle_of_step {
  vec<Real, E::n> y, dy;

  SALTUS_FN explicit middle_of_step(const trial<E, Real>& a) {
    const Real quarter = Real(0.25) * a.s.h;
    each<E::n>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real f0 = a.s.f0()[i], f1 = a.s.f1()[i];
      y[i] = fma(Real(0.5) * quarter, f0 - f1, Real(0.5) * (a.s.y[i] + a.s.y1[i]));
      dy[i] = fma(Real(-0.5) * quarter, f0 + f1, Real(0.75) * (a.s.y1[i] - a.s.y[i]));
    });
    if constexpr (knows_middle<typename E::Method>) {
      const auto off = middle_off_cubic(a.s);
      each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = y[i] + off[i]; });
    }
  }
};

/// The middle of the cubic through two points. Rates are changes in half of the distance.
template <class Real>
SALTUS_FN with_rate<Real> middle_of_cubic(const with_rate<Real>& begin, const with_rate<Real>& end) {
  return {Real(0.5) * fma(Real(0.5), begin.rate - end.rate, begin.value + end.value),
          fma(Real(0.75), end.value - begin.value, Real(-0.25) * (begin.rate + end.rate))};
}

/// The distance of a guard from the cubic through the ends of a step, in the middle of the step. Rates are changes in half a step.
template <class Real>
SALTUS_FN with_rate<Real> distance_from_cubic(const with_rate<Real>& begin, const with_rate<Real>& middle,
                                              const with_rate<Real>& end) {
  const auto cubic = middle_of_cubic(begin, end);
  return {abs(middle.value - cubic.value), abs(middle.rate - cubic.rate)};
}

/// Guards below this are zero: the side of one that is exactly zero is kept as the sign of the smallest number.
template <class T>
inline constexpr double negligible_guard = 0x1p10 * limits<T>::smallest;

/// The squared error of guards, by the largest of their errors. An error above 1 is squared once more: it falls as h^4, and a method of high
/// order would shorten the step too little. Very short steps are not judged: a guard may jump.
template <class E, class Real>
SALTUS_FN rough_of<Real> squared_error_of_guards(const instance<E, Real>& x, Real h, Real error) {
  using rough = rough_of<Real>;
  const auto is_short = abs(h) <= Real(0x1p-20) * abs(x.t_end - x.t_begin);
  const rough r = to_rough(select(is_short, Real(0.0), error)), squared = r * r;
  return select(r > rough(1.0), squared * squared, squared);
}

/// The squared error of a slide: how far the guards that watch for its end are, in the middle of the step, from the cubics through the ends
/// of the step, over a hundredth of the difference of the fields. A block at rest has no other error, and a force that swings within a long
/// step would free it unseen.
template <class E, class Real>
SALTUS_FN_COLD rough_of<Real> slide_error_squared(const instance<E, Real>& x, trial<E, Real>& a) {
  using form = typename E::form;
  const Real half = Real(0.5) * a.s.h;
  const middle_of_step<E, Real> middle(a);
  a.leaving = form::leaving_through(a.s.t + half, half, middle.y, middle.dy, x.constants);
  Real off = Real(0.0);
  each<2>([&](int i) SALTUS_INLINE_LAMBDA {
    const int j = form::leaving_up + i;
    const with_rate<Real> begin{x.constants.guard_values[j], half * x.rate[j]};
    const with_rate<Real> end{a.g.value[j], half * a.g.rate[j]}, between{a.leaving.value[i], a.leaving.rate[i]};
    const auto distance = distance_from_cubic(begin, between, end);
    off = max(off, max(distance.value, Real(0.5) * distance.rate));
  });
  const auto& at_start = x.constants.guard_values;
  const Real part = Real(100.0) * off / (at_start[form::leaving_up] + at_start[form::leaving_down]);
  return squared_error_of_guards(x, a.s.h, select(form::is_sliding(x.constants), part, Real(0.0)));
}

/// The system of the model alone, without the quantities that its form integrates behind the states.
template <class E, class Real>
SALTUS_FN auto system_of_model(const instance<E, Real>& x, const tolerances<E, Real>& tol) {
  const step_system<E, Real> system{x.constants, &tol};
  if constexpr (E::directions > 0) return system.of_model();
  else return system;
}

/// The orientation at the end of a step, for forms without constraints, where no projection computes it.
template <class E, class Real>
SALTUS_FN Real orientation_at_end(const instance<E, Real>& x, const trial<E, Real>& a, const tolerances<E, Real>& tol) {
  const auto system = system_of_model(x, tol);
  using form = typename decltype(system)::form;
  return form::orientation_at(system, a.t1, E::form::model_part(a.s.y1), E::form::model_part(a.s.f1()));
}

/// The lanes of `where` in which the orientation at the end of a step turns within a few times the step's error, or within rounding, so that
/// the step may have passed a singularity. If the least pivot has fallen to less than a quarter, it is the step's own change instead: over
/// shorter steps it falls less, unless the solution comes to the singularity.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> may_turn_over(const instance<E, Real>& x, const trial<E, Real>& a,
                                           const tolerances<E, Real>& tol, mask_of<Real> where) {
  constexpr double some = 4.0, rounding = 16.0 * limits<typename E::T>::epsilon;
  const auto system = system_of_model(x, tol);
  using form = typename decltype(system)::form;
  if constexpr (requires(vec<Real, E::model_states> y) {
                  form::turns_within(system, solution_point{a.t1, y, y}, a.orientation, y);
                }) {
    const auto y = E::form::model_part(a.s.y1), rate = E::form::model_part(a.s.f1());
    const auto falls = abs(a.orientation) < Real(0.25) * abs(x.orientation);
    auto by = y;
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real least = max(abs(Real(some) * a.s.error[i]), Real(rounding) * abs(y[i]));
      by[i] = select(falls, y[i] - a.s.y[i], copysign(least, a.s.error[i]));
    });
    return where & form::turns_within(system, solution_point{a.t1, y, rate}, a.orientation, by);
  } else {
    return mask_of<Real>::all(false);
  }
}

/// The lanes in which a step changes no state by more than rounding of |y| + atol/rtol.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> moves_by_rounding(const trial<E, Real>& a, const tolerances<E, Real>& tol) {
  constexpr double rounding = 16.0 * limits<typename E::T>::epsilon;
  auto r = mask_of<Real>::all(true);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    r = r & (abs(a.s.y1[i] - a.s.y[i]) <= Real(rounding) * (abs(a.s.y[i]) + tol.atol[i] / tol.rtol));
  });
  return r;
}

/// The lanes of `where` whose accepted point is next to a singularity. No step is short enough there, for whichever reason steps fail.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> is_next_to_singular(const instance<E, Real>& x, const tolerances<E, Real>& tol,
                                                 mask_of<Real> where) {
  constexpr double nearby = 0x1p-16;
  const auto system = system_of_model(x, tol);
  using form = typename decltype(system)::form;
  const auto y = E::form::model_part(x.y);
  auto rate = y;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { rate[i] = E::keeps_derivative ? x.f[i] : Real(0.0); });
  if constexpr (requires { form::is_next_to_singular(system, solution_point{x.t, y, rate}, nearby); })
    return where & form::is_next_to_singular(system, solution_point{x.t, y, rate}, nearby);
  else return mask_of<Real>::all(false);
}

/// The largest residual of a constraint after any step so far, of which `s` is the last.
template <class E, class Stages, class Real>
SALTUS_FN void keep_residual(instance<E, Real>& x, const Stages& s, mask_of<Real> where) {
  if constexpr (!has_constraints<typename E::form>) return;
  else if constexpr (E::Method::is_explicit) {
    const auto c = E::form::constraint_residual(s.t + s.h, s.y1, x.constants);
    const auto worse = where & (c.residual > x.residual);
    assign_where(worse, x.residual, c.residual);
    assign_where(worse, x.residual_of, c.of);
  } else {
    const auto worse = where & (s.residual > x.residual);
    assign_where(worse, x.residual, s.residual);
    assign_where(worse, x.residual_of, s.residual_of);
  }
}

/// Lets a form and a method with a memory remember an accepted step.
template <class E, class Stages, class Real>
SALTUS_FN void remember_step(instance<E, Real>& x, const Stages& s, mask_of<Real> where) {
  E::form::remember(x.constants, x.t, x.y, s.f1(), where);
  if constexpr (methods::has_memory<typename E::Method>) x.constants.past.remember(s, where);
}

}  // namespace saltus
