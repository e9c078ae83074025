// The accepted point at the start and after every jump: consistent, with sides of guards that agree with it.
#pragma once

#include "engine/first_step.hpp"
#include "engine/guard_errors.hpp"
#include "engine/step_checks.hpp"
#include "event/flat.hpp"
#include "event/sides.hpp"
#include "event/slide.hpp"

namespace saltus {

/// Rules for making a point consistent: abi::consistency, which matters at the start and is `algebraic` after events; and the states that a
/// transition has written (1, else 0), for forms that may move other than algebraic states. Written states stay.
template <class E, class Real>
struct point_rules {
  int how = abi::algebraic;
  written_states<typename E::form, Real> written{};
};

/// Makes the accepted point of a model with constraints consistent, and finds its time derivative.
template <class E, class Real>
SALTUS_FN_COLD void make_point_consistent(instance<E, Real>& x, vec<Real, E::n>& f,
                                          const typename E::form::template step_constants<Real>& constants,
                                          mask_of<Real> where, const tolerances<E, Real>& tol,
                                          const point_rules<E, Real>& rules) {
  const step_system<E, Real> system{constants, &tol};
  const int how = rules.how;
  auto y = x.y;
  consistency<Real> c = E::form::initialise(system, x.t, y, f, {where, how, x.t_end - x.t_begin, rules.written});
  if (how == abi::given) c.found = c.found & (c.moved <= Real(1.0));
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where & c.found, x.y[i], y[i]); });
  orientation_check<E>::begin(x, c, where & c.found);
  end_where(x.status, where & !c.found, status::inconsistent);
  paradox_check<E>::look(x, where, constants);
  if constexpr (has_constraints<typename E::form>) {
    const auto not_found = where & !c.found;
    assign_where(not_found, x.residual, c.residual);
    assign_where(not_found, x.residual_of, c.of);
  }
}

/// The consistent point nearest to the values given for the start; values in `given` may not move.
template <class E, class Real>
SALTUS_FN_COLD void begin_consistently(instance<E, Real>& x, const vec<Real, E::n>& given, mask_of<Real> where,
                                       const tolerances<E, Real>& tol, int how) {
  auto y = x.y;
  for (int i = 0; i < E::n; ++i) y[i] = select(y[i] == y[i], y[i], Real(0.0));
  x.constants.guard_values = E::form::guard_values(x.t, y, x.constants);
  const step_system<E, Real> system{x.constants, &tol};
  y = x.y;
  const auto c = E::form::begin(system, x.t, y, given, where, how);
  for (int i = 0; i < E::n; ++i) assign_where(where, x.y[i], y[i]);
  end_where(x.status, where & !c.found, status::inconsistent);
  assign_where(where & !c.found, x.residual, c.residual);
  assign_where(where & !c.found, x.residual_of, c.of);
}

/// f and the guards at the accepted point with sides `constants.guard_values`; returns the guards' values and time derivatives.
template <class E, class Real>
SALTUS_FN typename E::form::template rated<Real, E::ng> evaluate_at(
    instance<E, Real>& x, vec<Real, E::n>& f, const typename E::form::template step_constants<Real>& constants,
    mask_of<Real> where, const tolerances<E, Real>& tol, const point_rules<E, Real>& rules) {
  if constexpr (!moves_states<typename E::form>) f = E::form::rhs(x.t, x.y, constants);
  else make_point_consistent(x, f, constants, where, tol, rules);
  add_where(x.rhs_evaluations, where, 1);
  return E::form::guards_along(x.t, x.y, f, constants);
}

/// Finds a point and guard signs that agree, if the first points have not: each point has the signs of the one before it (Nedialkov and
/// Ramdani 3.2). The sign of one guard, changed by a transition or by the constraints, may switch another one.
template <class E, class Real>
SALTUS_FN_COLD void settle_modes(instance<E, Real>& x, vec<Real, E::n>& f,
                                 typename E::form::template step_constants<Real>& constants,
                                 typename E::form::template rated<Real, E::ng>& g, mask_of<Real> where,
                                 const tolerances<E, Real>& tol, const point_rules<E, Real>& rules) {
  constexpr int most = 8;
  const auto unsettled = [&]() SALTUS_INLINE_LAMBDA {
    auto differs = mask_of<Real>::all(false);
    const Real zero = ulps_of_time(x, misplaced);  // a guard this near to its root is on either side
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto is_off_zero = abs(g.value[i]) > abs(g.rate[i]) * zero;
      differs = differs | (is_off_zero & (constants.guard_values[i] * g.value[i] < Real(0.0)));
    });
    return differs & where & is_under_way(x);
  };
  auto open = unsettled();
  seldom(x, open, [&]() SALTUS_INLINE_LAMBDA {
    for (int round = 0; round < most && any(open); ++round) {
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(open, constants.guard_values[i], g.value[i]); });
      g = evaluate_at(x, f, constants, open, tol, rules);
      open = unsettled();
    }
  });
  if constexpr (chooses_start<typename E::form>) end_where(x.status, open, status::modes_unsettled);
}

/// Puts unilateral guards back on zero that are beyond it by no more than rounding leaves, and on their way back, however slowly.
template <class E, class Real>
SALTUS_FN void put_back_within_rounding(instance<E, Real>& x, mask_of<Real> where) {
  constexpr double most = 16.0;
  auto strays = mask_of<Real>::all(false);
  const auto is_beyond = [&](int i) SALTUS_INLINE_LAMBDA {
    const Real g = x.constants.guard_values[i], rate = x.rate[i];
    const auto guard = E::form::traits(i);
    if (guard.side != unilateral) return mask_of<Real>::all(false);
    return where &
           (guard.which == falling ? (g < Real(0.0)) & (rate > Real(0.0)) : (g > Real(0.0)) & (rate < Real(0.0)));
  };
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { strays = strays | is_beyond(i); });
  seldom(x, strays, [&]() SALTUS_INLINE_LAMBDA {
    const auto rounding = rounding_of_guards<E>(x.t, x.y, x.constants);
    each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real zero(E::form::traits(i).which == falling ? 0.0 : -limits<typename E::T>::smallest);
      assign_where(is_beyond(i) & (abs(x.constants.guard_values[i]) <= Real(most) * rounding[i]),
                   x.constants.guard_values[i], zero);
    });
  });
}

/// A form remembers the point that a jump, or the start, has reached; a method with a memory forgets its past there.
template <class E, class Real>
SALTUS_FN void begin_piece(instance<E, Real>& x, const vec<Real, E::n>& f, mask_of<Real> where) {
  E::form::remember(x.constants, x.t, x.y, f, where);
  if constexpr (keeps_invariants<typename E::form>) E::form::take_invariants(x.constants, x.t, x.y, where);
  if constexpr (methods::has_memory<typename E::Method>) x.constants.past.forget(where);
}

/// Evaluates f and the guards at the accepted point and settles their sides, at the start and after every jump.
template <class E, class Real>
SALTUS_FN_COLD void start_from(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                               const point_rules<E, Real>& rules = {}) {
  auto constants = x.constants;
  constants.guard_values = E::form::guard_values(x.t, x.y, constants);
  if constexpr (E::form::slides) keep_slide_sides<E>(x, constants);
  auto f = x.f;
  auto g = evaluate_at(x, f, constants, where, tol, rules);
  if constexpr (moves_states<typename E::form> && E::ng > 0) {
    // The algebraic states have moved, and guards with them, whose signs may switch the equations.
    constants.guard_values = g.value;
    g = evaluate_at(x, f, constants, where, tol, rules);
  }
  if constexpr (E::ng > 0 && !E::form::slides) settle_modes(x, f, constants, g, where, tol, rules);
  mask_of<Real> resettled = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real settled = settle_at_restart<E>(i, constants.guard_values[i], g.rate[i], x.constants.guard_values[i]);
    resettled = resettled | (where & ((settled < Real(0.0)) & (constants.guard_values[i] == Real(0.0))));
    constants.guard_values[i] = settled;
  });
  if constexpr (E::ng > 0) resettled = resettled | settle_flat(x, f, constants, g.rate, where, tol);
  // A guard at zero belongs to the side it is moving to, on which f may depend.
  seldom(x, resettled, [&]() SALTUS_INLINE_LAMBDA { g = evaluate_at(x, f, constants, resettled, tol, rules); });
  begin_piece(x, f, where);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    assign_where(where, x.constants.guard_values[i],
                 put_back<E>(i, constants.guard_values[i], g.rate[i], ulps_of_time(x, misplaced)));
    assign_where(where, x.rate[i], g.rate[i]);
  });
  if constexpr (E::form::model_guards > 0) put_back_within_rounding(x, where);
  if constexpr (begins_anew<E>) begin_anew_after_event(x, where, tol);
}

}  // namespace saltus
