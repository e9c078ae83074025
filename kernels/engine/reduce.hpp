// All reductions of an instance, at its start, after steps and events, and at its end. A reduction is a specialisation of `reduction_in`
// in a file of engine/reductions/, and a row in abi/reductions.def.
#pragma once

#include "engine/reductions/extremum.hpp"
#include "engine/reductions/integral.hpp"
#include "engine/reductions/of_events.hpp"
#include "engine/reductions/quantile.hpp"
#include "engine/reductions/value.hpp"

namespace saltus {

/// body(row of reduced_rates) for each row that a reduction keeps.
template <class E, class R, class Body>
SALTUS_FN void each_row_of_rates(int item, const Body& body) {
  body(item);
  if constexpr (keeps_two_rates<R>) body(E::second_row(item));
}

/// The initial values of reductions, at the first point of an instance.
template <class E, class Real>
SALTUS_FN void begin_reductions(instance<E, Real>& x, mask_of<Real> where) {
  E::each_reduction([&](auto r, [[maybe_unused]] int item, int at) SALTUS_INLINE_LAMBDA {
    using of = reduction_in<E, decltype(r)>;
    for (int k = 0; k < numbers_kept_for<decltype(r)>; ++k) assign_where(where, x.reduced[at + k], Real(0.0));
    of::begin(x, at, where);
    if constexpr (E::kept_directions > 0) {
      const auto q = of::initial_rates(x);
      assign_where(where, x.extreme[item], q.value);
      each_row_of_rates<E, decltype(r)>(item, [&](int row) SALTUS_INLINE_LAMBDA {
        each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
          const Real rate = row == item ? q.d[j] : Real(of::initial_second_rate);
          assign_where(where, x.reduced_rates[row * E::directions + j], rate);
        });
      });
    }
  });
}

/// Adds a committed step to the reductions. With Extrema = false only those are updated that are no extrema.
template <bool Extrema = true, class E, class Real, class Run>
SALTUS_FN void reduce_step(instance<E, Real>& x, const committed_step<E, Real>& of, mask_of<Real> where,
                           const Run& run) {
  E::each_reduction([&](auto r, int item, int at) SALTUS_INLINE_LAMBDA {
    using R = decltype(r);
    if constexpr (!is_of_event(R::kind) && (Extrema || row_of(R::kind).group != reduction_group::extremum)) {
      auto inside = where;
      if constexpr (R::windowed) {
        const auto window = window_of<R, Real>(run, item);
        const Real late = rounding_of_time(x, of.t1);
        inside = inside & (of.s.t >= window.from - late) & (of.t1 <= window.to + late);
        if (none(inside)) return;
      }
      reduction_in<E, R>::step(x, of, kept_reduction{item, at}, inside, run);
    }
  });
}

/// Takes in the point after an event.
template <class E, class Real>
SALTUS_FN void reduce_jump(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  E::each_reduction([&](auto r, int item, int at) SALTUS_INLINE_LAMBDA {
    reduction_in<E, decltype(r)>::jump(x, kept_reduction{item, at}, where, tol);
  });
}

/// Event number `event` has happened in a lane; `point` is its entry in the event log.
template <class E, class T, int W, class Run>
SALTUS_FN void reduce_event(instance<E, pack<T, W>>& x, int lane, int event,
                            [[maybe_unused]] const vec<pack<T, 1>, E::logged>& point, const Run& run) {
  E::each_reduction([&](auto r, int item, int at) SALTUS_INLINE_LAMBDA {
    reduction_in<E, decltype(r)>::event(x, kept_reduction{item, at}, reduced_event<E, T>{lane, event, point}, run);
  });
}

/// Final value of reduction number `item`; NaN if it is undefined.
template <class R, class E, class T, class Run>
SALTUS_FN_COLD double final_reduction(instance<E, pack<T, 1>>& x, int item, int at, const Run& run) {
  return reduction_in<E, R>::final_value(x, {item, at}, run);
}

// ---- their derivatives, if these are kept

/// The accepted point ends (Arriving) or begins a smooth piece of the trajectory.
template <bool Arriving, class E, class Real>
SALTUS_FN_COLD void take_extrema_here(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    reduction_in<E, decltype(r)>::template end_of_piece<Arriving>(x, item, where, tol);
  });
}

/// Converts derivatives of integrals from those up to a fixed time to those up to the current event, or back (-1).
template <class E, class Real>
SALTUS_FN void move_integrals(instance<E, Real>& x, mask_of<Real> where, double direction, const double* windows) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    reduction_in<E, decltype(r)>::follow_time(x, item, where, direction, windows);
  });
}

/// Removes the derivative of a value taken just before a moving event if it is at the event's very time.
template <class E, class Real, class Run>
SALTUS_FN_COLD void take_back_rates_of_values(instance<E, Real>& x, mask_of<Real> where, const Run& run) {
  E::each_reduction([&](auto r, int item, int)
                        SALTUS_INLINE_LAMBDA { reduction_in<E, decltype(r)>::take_back(x, item, where, run); });
}

/// Two events at one time, taken in one order (x) and in the other: a reduction has a derivative if both orders give the same. An extremum
/// between the two vanishes when they coincide.
template <class E, class Real>
SALTUS_FN_COLD void compare_reduced_rates(instance<E, Real>& x, const instance<E, Real>& other, mask_of<Real> where,
                                          const tolerances<E, Real>& tol) {
  const Real relative = Real(1e-7) + Real(100.0) * tol.rtol;
  E::each_reduction([&](auto r, int item, int at) SALTUS_INLINE_LAMBDA {
    using of = reduction_in<E, decltype(r)>;
    if constexpr (!of::follows_events) return;
    const auto differs = of::differ(x, other, item, tol);
    each_row_of_rates<E, decltype(r)>(item, [&](int row) SALTUS_INLINE_LAMBDA {
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        Real& rate = x.reduced_rates[row * E::directions + j];
        const Real b = other.reduced_rates[row * E::directions + j];
        const Real rounding = Real(1e-12) * (Real(1.0) + abs(x.reduced[at])) / size_of_direction(x, j);
        const auto agree = abs(rate - b) <= relative * max(abs(rate), abs(b)) + rounding;
        rate = select(where & (differs | !agree), Real(E::form::unset), rate);
      });
    });
  });
}

/// Gives x the derivatives of the reductions of `from`; none where `from` has passed an extremum that x has not.
template <class E, class Real>
SALTUS_FN_COLD void take_reduced_rates(instance<E, Real>& x, const instance<E, Real>& from, mask_of<Real> where,
                                       const tolerances<E, Real>& tol) {
  E::each_reduction([&](auto r, int item, int) SALTUS_INLINE_LAMBDA {
    using of = reduction_in<E, decltype(r)>;
    if constexpr (!of::follows_events) return;
    const auto differs = of::differ(x, from, item, tol);
    each_row_of_rates<E, decltype(r)>(item, [&](int row) SALTUS_INLINE_LAMBDA {
      each<E::directions>([&](int j) SALTUS_INLINE_LAMBDA {
        const Real rate = from.reduced_rates[row * E::directions + j];
        assign_where(where, x.reduced_rates[row * E::directions + j], select(differs, Real(E::form::unset), rate));
      });
    });
    assign_where(where, x.extreme[item], from.extreme[item]);
  });
}

}  // namespace saltus
