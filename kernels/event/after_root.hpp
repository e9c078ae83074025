// Guards that fire before their root, because another event is due there, go over to their new sides.
#pragma once

#include "event/restart.hpp"

namespace saltus {

/// Lanes in which bilateral guard i with this value and rate moves to its root, within `tolerance` (a time), in its direction.
template <class E, class Real>
SALTUS_FN mask_of<Real> comes_to_root(int i, Real value, Real rate, Real tolerance) {
  const auto guard = E::form::traits(i);
  if (guard.side != bilateral) return mask_of<Real>::all(false);
  const Real side = side_of(value);
  auto comes = (side * rate < Real(0.0)) & (side * value <= abs(rate) * tolerance);
  if (guard.which == falling) comes = comes & (side > Real(0.0));
  if (guard.which == rising) comes = comes & (side < Real(0.0));
  return comes;
}

/// The smallest value on the other side.
template <class E, class Real>
SALTUS_FN Real across(Real value) {
  return side_of(value) * Real(-limits<typename E::T>::smallest);
}

/// True if a guard fires in both directions, so that its own event may turn it back.
template <class E>
constexpr bool has_guards_that_return() {
  for (int i = 0; i < E::ng; ++i)
    if (E::form::traits(i).which == both && E::form::traits(i).side == bilateral) return true;
  return false;
}

/// The rates of guards with the states y in place of those of x.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::ng> rates_with_states(const instance<E, Real>& x, const vec<Real, E::n>& y,
                                                  mask_of<Real> where, const tolerances<E, Real>& tol) {
  auto other = x;
  other.y = y;
  auto f = x.f;
  return evaluate_at<E>(other, f, other.constants, where, tol, {}).rate;
}

/// The transitions so far at one time.
template <class E, class Real>
struct event_iteration {
  vec<Real, E::n> entry;   ///< states before the first of them
  vec<Real, E::ng> fired;  ///< 1 for every guard that has fired
  vec<Real, E::ng> from;   ///< the sides from which guards have fired; of the others, the last sides
  mask_of<Real> jumps;     ///< they have moved states
  Real before_root;        ///< the longest time before its root at which a guard may have fired
};

/// The point before a transition.
template <class E, class Real>
struct point_before {
  vec<Real, E::n> y;
  vec<Real, E::form::discretes> d;
  with_rate<vec<Real, E::ng>> g;
};

/// 1 for bilateral guards that have fired before their roots or at zero, because another event was due there, and that the transition has
/// not moved; else 0.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> fired_before_root(const instance<E, Real>& x, const point_before<E, Real>& before,
                                             const event_iteration<E, Real>& so_far, mask_of<Real> where) {
  const Real zero(limits<typename E::T>::smallest);
  vec<Real, E::ng> r;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    r[i] = Real(0.0);
    if (i >= E::form::model_guards || E::form::traits(i).side != bilateral) return;
    const Real now = x.constants.guard_values[i], was = before.g.value[i];
    const auto at_zero = (abs(now) <= zero) & (abs(was) <= zero);
    const auto stays = at_zero | ((now == was) & comes_to_root<E>(i, was, before.g.rate[i], so_far.before_root));
    const auto early = stays & (so_far.fired[i] > Real(0.5)) & (side_of(now) == side_of(so_far.from[i]));
    r[i] = select(where & early, Real(1.0), Real(0.0));
  });
  return r;
}

/// Puts guards that have fired before their roots (`early`) on their new sides, and with them guards of the same function, found by equal
/// values and rates. If the transition has turned them round, they return in the next step, and the guard of that direction fires there.
/// Returns the lanes.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> go_across(instance<E, Real>& x, const vec<Real, E::ng>& early,
                                       const event_iteration<E, Real>& so_far) {
  const auto g = x.constants.guard_values;
  auto any_over = mask_of<Real>::all(false);
  for (int i = 0; i < E::form::model_guards; ++i)
    for (int j = 0; j < E::form::model_guards; ++j) {
      if (E::form::traits(j).side != bilateral) continue;
      const auto same = (abs(g[i]) == abs(g[j])) & (abs(x.rate[i]) == abs(x.rate[j])) & (so_far.fired[j] < Real(0.5));
      const auto over = (early[i] > Real(0.5)) & (i == j ? mask_of<Real>::all(true) : same);
      assign_where(over, x.constants.guard_values[j], across<E>(g[j]));
      any_over = any_over | over;
    }
  return any_over;
}

/// A bilateral guard that has fired shortly before its root, because another event was due there, moves to its new side, so that it does not
/// fire again at the root. A guard that has crossed its root and returns fires again if the equations turn it, by its sign or a discrete
/// variable. If a jump of the states has turned it, as a bounce does, it is back on its side: with the states before it would not return.
/// Returns the lanes in which a guard has changed sides.
template <class E, class Real>
SALTUS_FN mask_of<Real> take_over(instance<E, Real>& x, const event_iteration<E, Real>& so_far, mask_of<Real> where,
                                  const tolerances<E, Real>& tol) {
  const auto returns = [&](int i) SALTUS_INLINE_LAMBDA {
    return where & (so_far.fired[i] > Real(0.5)) &
           comes_to_root<E>(i, x.constants.guard_values[i], x.rate[i], so_far.before_root);
  };
  const auto has_crossed = [&](int i) SALTUS_INLINE_LAMBDA {
    return side_of(x.constants.guard_values[i]) != side_of(so_far.from[i]);
  };
  auto rate = x.rate;
  if constexpr (has_guards_that_return<E>()) {
    auto doubtful = mask_of<Real>::all(false);
    each<E::ng>([&](int i)
                    SALTUS_INLINE_LAMBDA { doubtful = doubtful | (returns(i) & has_crossed(i) & so_far.jumps); });
    seldom(x, doubtful, [&]() SALTUS_INLINE_LAMBDA { rate = rates_with_states(x, so_far.entry, doubtful, tol); });
  }
  auto any_over = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    Real& value = x.constants.guard_values[i];
    const auto turned = so_far.jumps & !comes_to_root<E>(i, value, rate[i], so_far.before_root);
    const auto over = returns(i) & (turned | !has_crossed(i));
    assign_where(over, value, across<E>(value));
    any_over = any_over | over;
  });
  return any_over;
}

/// A guard that has crossed, and is on its old side again only since algebraic states have been solved for anew: a step leaves an error in
/// them. Its event has changed nothing, and without it the guard is back as well. Such guards are put on their new side, or they would
/// fire twice. Rates are those before the transition: the slope of an algebraic state of index 2 is not known after it. Returns the lanes.
template <class E, class Real>
SALTUS_FN_COLD mask_of<Real> take_over_solved(instance<E, Real>& x, const point_before<E, Real>& before,
                                              const event_iteration<E, Real>& so_far, mask_of<Real> where,
                                              const tolerances<E, Real>& tol) {
  const auto& from = so_far.from;
  each<E::form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { where = where & (x.constants.d[i] == before.d[i]); });
  const auto is_back = [&](int i, Real value) SALTUS_INLINE_LAMBDA {
    return where & (so_far.fired[i] > Real(0.5)) & (side_of(before.g.value[i]) != side_of(from[i])) &
           (side_of(value) == side_of(from[i])) & comes_to_root<E>(i, value, before.g.rate[i], x.h);
  };
  auto back = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { back = back | is_back(i, x.constants.guard_values[i]); });
  if (none(back)) return back;
  auto without = x;
  without.y = before.y;
  without.constants.guard_values = from;
  auto f = x.f;
  const auto there = evaluate_at<E>(without, f, without.constants, back, tol, {});
  auto any_over = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    Real& value = x.constants.guard_values[i];
    const auto over = is_back(i, value) & (side_of(there.value[i]) == side_of(from[i]));
    assign_where(over, value, across<E>(value));
    any_over = any_over | over;
  });
  return any_over;
}

/// The guards as a transition sees them: one that fires before its root, because another event is due there, is on its new side.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> guards_after(const instance<E, Real>& x, const vec<Real, E::ng>& g,
                                        const vec<Real, E::ng>& fired, const vec<Real, E::ng>& from, Real tolerance) {
  auto r = g;
  if constexpr (E::ng + E::form::time_events > 1)
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const auto over = (fired[i] > Real(0.5)) & comes_to_root<E>(i, g[i], x.rate[i], tolerance) &
                        (side_of(g[i]) == side_of(from[i]));
      assign_where(over, r[i], across<E>(g[i]));
    });
  return r;
}

/// f and the rates of guards on the sides that guards have been put on since they were found.
template <class E, class Real>
SALTUS_FN_COLD void turn_to_sides(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                                  const point_rules<E, Real>& rules) {
  auto f = x.f;
  const auto g = evaluate_at(x, f, x.constants, where, tol, rules);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.f[i], f[i]); });
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.rate[i], g.rate[i]); });
}

}  // namespace saltus
