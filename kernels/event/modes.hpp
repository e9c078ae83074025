// The model's `mode`: discrete variables that follow the sides of guards.
#pragma once

#include "event/after_root.hpp"
#include "event/call_model.hpp"
#include "event/kept_events.hpp"

namespace saltus {

/// Calls the model's `mode` for the lanes in `where`, with the guards g.
template <class E, class T, int W>
SALTUS_FN void call_mode(instance<E, pack<T, W>>& x, const vec<pack<T, W>, E::ng>& g, mask_of<pack<T, W>> where) {
  const due_events<E, pack<T, W>>* const nothing = nullptr;
  for (int lane = 0; lane < W; ++lane)
    if (where[lane] && with_event<E>(x, lane, g, nothing, [](auto& now) SALTUS_INLINE_LAMBDA { E::Model::mode(now); }))
      end_lane<E>(x, lane, status::stopped);
}

/// The discrete variables of an instance, with their derivatives if these are kept.
template <class E, class Real>
struct discrete_state {
  vec<Real, E::form::discretes> values;
  vec<Real, E::form::discretes * E::directions> rates;

  SALTUS_FN explicit discrete_state(const instance<E, Real>& x) : values(x.constants.d) {
    if constexpr (E::directions > 0) rates = x.constants.discrete_rates;
  }
  SALTUS_FN void give(instance<E, Real>& x, mask_of<Real> where) const {
    each<E::form::discretes>([&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.constants.d[i], values[i]); });
    if constexpr (E::directions > 0)
      each<E::form::discretes * E::directions>(
          [&](int i) SALTUS_INLINE_LAMBDA { assign_where(where, x.constants.discrete_rates[i], rates[i]); });
  }
};

/// A call of `mode`: the guards that it has seen, and the discrete variables before it.
template <class E, class Real>
struct mode_call {
  vec<Real, E::ng> seen;
  discrete_state<E, Real> before;
};

/// Discrete variables follow the signs of guards at a point that a jump has reached, or at the start.
template <class E, class Real>
SALTUS_FN mode_call<E, Real> set_modes(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol,
                                       const point_rules<E, Real>& rules) {
  if constexpr (!E::form::kinds::has_mode) {
    return {x.constants.guard_values, discrete_state<E, Real>(x)};
  } else {
    // Guards may follow algebraic states, so these come first.
    if constexpr (moves_states<typename E::form>) start_from<E>(x, where, tol, rules);
    const mode_call<E, Real> call{E::form::guard_values(x.t, x.y, x.constants), discrete_state<E, Real>(x)};
    call_mode<E>(x, call.seen, where);
    return call;
  }
}

/// A guard that `mode` has seen at zero, or within rounding of it, may have been put on the other side since. Then `mode` is called anew with
/// the sides, as if for the first time, and the point is evaluated with its discrete variables. Such guards keep their sides.
template <class E, class Real, class Run>
SALTUS_FN void follow_sides(instance<E, Real>& x, const mode_call<E, Real>& call, mask_of<Real> where,
                            const tolerances<E, Real>& tol, const point_rules<E, Real>& rules,
                            [[maybe_unused]] const Run& run) {
  if constexpr (E::form::kinds::has_mode) {
    auto& sides = x.constants.guard_values;
    const auto is_put = [&](int i)
                            SALTUS_INLINE_LAMBDA { return abs(sides[i]) <= Real(limits<typename E::T>::smallest); };
    auto turned = mask_of<Real>::all(false);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      turned = turned | (is_put(i) & ((call.seen[i] >= Real(0.0)) ^ (sides[i] >= Real(0.0))));
    });
    turned = turned & where & is_under_way(x);
    if constexpr (E::gradient) {
      auto at_call = x;
      call.before.give(at_call, where);
      keep_mode(at_call, call.seen, where & !turned, run);
      keep_mode(at_call, sides, turned, run);
    }
    seldom(x, turned, [&]() SALTUS_INLINE_LAMBDA {
      const auto before = E::form::guard_values(x.t, x.y, x.constants);
      call.before.give(x, turned);
      call_mode<E>(x, sides, turned);
      const auto after = E::form::guard_values(x.t, x.y, x.constants);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        assign_where(turned & !(is_put(i) & (before[i] == after[i])), sides[i], after[i]);
      });
      turn_to_sides(x, turned, tol, rules);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        const auto moved = turned & !(before[i] == after[i]);
        assign_where(moved, sides[i], settle<E>(i, after[i], x.rate[i]));
      });
      begin_piece(x, x.f, turned);
    });
  }
}

/// True if `mode` changes a discrete variable in one lane at a point of a step, with these values of the guards.
template <class E, class T, int W>
SALTUS_FN bool changes_mode(const instance<E, pack<T, W>>& x, int lane, pack<T, W> t, const vec<pack<T, W>, E::n>& y,
                            const vec<pack<T, W>, E::ng>& g) {
  using Scalar = pack<T, 1>;
  const due_events<E, Scalar>* const nothing = nullptr;
  instance<E, Scalar> there;
  take(x, lane, there);
  there.t.v = t.get(lane);
  each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { there.y[i].v = y[i].get(lane); });
  vec<Scalar, E::ng> values;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { values[i].v = g[i].get(lane); });
  bool changed = with_event<E>(there, 0, values, nothing, [](auto& now) SALTUS_INLINE_LAMBDA { E::Model::mode(now); });
  for (int i = 0; i < E::form::discretes; ++i)
    changed = changed || !(there.constants.d[i].v == x.constants.d[i].get(lane));
  return changed;
}

}  // namespace saltus
