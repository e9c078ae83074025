// Guards that begin at zero with time derivative zero, as for a body at rest at its mark. Their second or a higher derivative, up to the
// fourth, decides the side to which they move. It shows in values a little ahead, found by a step of order 4, or of the method if there is
// no field. These values grow as a power of time, which rounding does not.
#pragma once

#include "engine/step_system.hpp"
#include "event/quick.hpp"
#include "event/sides.hpp"
#include "method/method_concept.hpp"

namespace saltus {

namespace detail {
/// From 2^-42 of the span to 2^-8 of it, by doubling.
inline constexpr int finest_look = 42, coarsest_look = 8;

template <class E>
SALTUS_FN constexpr bool may_be_flat(int i) {
  return i < E::form::model_guards && E::form::traits(i).side == bilateral;
}
template <class E>
inline constexpr bool has_sides_to_look_for = [] {
  bool any = false;
  for (int i = 0; i < E::form::model_guards; ++i) any = any || may_be_flat<E>(i);
  return any;
}();

/// The guards at a time tau after the accepted point, where the derivative is f; 0 if a step finds no point there.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::ng> guards_after(instance<E, Real>& x, const step_system<E, Real>& system,
                                             const vec<Real, E::n>& f, Real tau, mask_of<Real> where) {
  if constexpr (E::form::has_field) {
    vec<Real, E::n> slope = f, sum = f;
    for (int stage = 0; stage < 3; ++stage) {  // Kutta's
      const Real weight = Real(stage < 2 ? 2.0 : 1.0), part = Real(stage < 2 ? 0.5 : 1.0) * tau;
      slope = system(x.t + part, detail::advance(x.y, part, slope));
      each<E::n>([&](int i) SALTUS_INLINE_LAMBDA { sum[i] = fma(weight, slope[i], sum[i]); });
    }
    add_where(x.rhs_evaluations, where, 3);
    return E::form::guard_values(x.t + tau, detail::advance(x.y, Real(1.0 / 6.0) * tau, sum), system.c);
  } else {
    const auto s = make_step_while_landing(system, solution_point{x.t, x.y, f}, tau);
    count_evaluations(x, s, where);
    auto g = E::form::guard_values(x.t + tau, s.y1, system.c);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { g[i] = select(s.solved, g[i], Real(0.0)); });
    return g;
  }
}
}  // namespace detail

/// Guards that are flat at zero in `where`: 1 where they are. Their values must be settled.
template <class E, class Real>
SALTUS_FN vec<Real, E::ng> flat_at_zero(const vec<Real, E::ng>& values, const vec<Real, E::ng>& rates,
                                        mask_of<Real> where) {
  vec<Real, E::ng> flat;
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    const auto here = where & (abs(values[i]) <= Real(limits<typename E::T>::smallest)) & (rates[i] == Real(0.0));
    flat[i] = detail::may_be_flat<E>(i) ? select(here, Real(1.0), Real(0.0)) : Real(0.0);
  });
  return flat;
}

/// The sides to which guards that are flat at zero (`flat`) move from the accepted point: -1 below, +1 above, 0 if undecided, as for a
/// guard that stays zero. Three consecutive values, each at double the time, must have one sign and grow as a square or a higher power.
template <class E, class Real>
SALTUS_FN_COLD vec<Real, E::ng> sides_ahead(instance<E, Real>& x, const vec<Real, E::n>& f,
                                            const step_system<E, Real>& system, vec<Real, E::ng> flat) {
  constexpr double least_growth = 2.5, most_growth = 40.0;
  auto open = mask_of<Real>::all(false);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { open = open | (flat[i] > Real(0.5)); });
  const auto guards_after = [&](Real tau)
                                SALTUS_INLINE_LAMBDA { return detail::guards_after<E>(x, system, f, tau, open); };
  const auto part = [&](int look) SALTUS_INLINE_LAMBDA {
    return (x.t_end - x.t_begin) * Real(1.0 / static_cast<double>(int64(1) << look));
  };
  const auto far = guards_after(part(detail::coarsest_look));
  vec<Real, E::ng> side, before, grown;  // `grown`: consecutive values that have grown so
  Real tau = part(detail::finest_look);
  each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
    side[i] = before[i] = grown[i] = Real(0.0);
    flat[i] = select(far[i] == Real(0.0), Real(0.0), flat[i]);
  });
  for (int k = detail::coarsest_look; k <= detail::finest_look && any(open); ++k, tau = tau + tau) {
    const auto g = guards_after(tau);
    open = mask_of<Real>::all(false);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real growth = g[i] * before[i], square = before[i] * before[i];
      const auto grows =
          (growth >= Real(least_growth) * square) & (growth <= Real(most_growth) * square) & (square > Real(0.0));
      grown[i] = select(grows, grown[i] + Real(1.0), Real(0.0));
      const auto told = (flat[i] > Real(0.5)) & (grown[i] > Real(1.5));
      side[i] = select(told, side_of(g[i]), side[i]);
      flat[i] = select(told, Real(0.0), flat[i]);
      before[i] = g[i];
      open = open | (flat[i] > Real(0.5));
    });
  }
  return side;
}

/// Puts guards that are flat at zero on the side to which they move. Returns the lanes of `where` in which one moves below.
template <class E, class Real>
SALTUS_FN mask_of<Real> settle_flat(instance<E, Real>& x, const vec<Real, E::n>& f,
                                    typename E::template step_constants<Real>& constants, const vec<Real, E::ng>& rates,
                                    mask_of<Real> where, const tolerances<E, Real>& tol) {
  auto below = mask_of<Real>::all(false);
  if constexpr (detail::has_sides_to_look_for<E>) {
    const auto flat = flat_at_zero<E>(constants.guard_values, rates, where);
    Real sum = Real(0.0);
    each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA { sum = sum + flat[i]; });
    seldom(x, sum > Real(0.5), [&]() SALTUS_INLINE_LAMBDA {
      if constexpr (methods::has_memory<typename E::Method>) constants.past.forget(where);
      const auto side = sides_ahead(x, f, step_system<E, Real>{constants, &tol}, flat);
      each<E::ng>([&](int i) SALTUS_INLINE_LAMBDA {
        const auto down = side[i] < Real(0.0);
        constants.guard_values[i] = select(down, Real(-limits<typename E::T>::smallest), constants.guard_values[i]);
        below = below | down;
      });
    });
  }
  return below;
}

}  // namespace saltus
