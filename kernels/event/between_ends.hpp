// The errors of guards between the ends of a step. The error of the states says nothing of them: a guard may swing, or have corners, within
// a step of any length.
#pragma once

#include "engine/guard_errors.hpp"
#include "event/sides.hpp"

namespace saltus {

/// The guards of a step between its ends. These are copies: a function that is not inlined and takes the trial itself would keep the trial of
/// every turn in memory.
template <class E, class Real>
struct between_ends {
  static constexpr int guards = E::form::model_guards;
  Real t, h;                   ///< t in the middle
  vec<Real, E::n> y;           ///< in the middle, on the cubic through the ends
  vec<Real, guards> distance;  ///< of each guard from its cubic, by its value or half of its rate
  vec<Real, guards> largest;   ///< values
  vec<Real, guards> fastest;   ///< changes in half a step

  SALTUS_FN between_ends(const instance<E, Real>& x, const trial<E, Real>& a,
                         const guards_in_middle_of<E, Real>& middle)
      : t(a.s.t + Real(0.5) * a.s.h), h(a.s.h), y(middle_of_step<E, Real>(a).y) {
    const Real half = Real(0.5) * h;
    each<guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const with_rate<Real> begin{x.constants.guard_values[i], half * x.rate[i]};
      const with_rate<Real> between{middle.value[i], middle.rate[i]}, end{a.g.value[i], half * a.g.rate[i]};
      const auto off = distance_from_cubic(begin, between, end);
      distance[i] = is_linear<E>(i) ? Real(0.0) : max(off.value, Real(0.5) * off.rate);
      if constexpr (E::form::slides)
        distance[i] = select(E::form::slides_along(x.constants, i), Real(0.0), distance[i]);
      largest[i] = max(max(abs(begin.value), abs(end.value)), abs(between.value));
      fastest[i] = max(abs(begin.rate), abs(end.rate));
    });
  }
  /// The largest distance of a guard over a quarter of its largest value and its `tolerated` error.
  SALTUS_FN Real error(const vec<Real, guards>& tolerated) const {
    constexpr double part = 0.25, rounding = 64.0 * limits<typename E::T>::epsilon;
    Real worst(0.0);
    each<guards>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real noise = fma(Real(rounding), largest[i] + fastest[i], tolerated[i]);
      worst = max(worst, distance[i] / (fma(Real(part), largest[i], noise) + Real(negligible_guard<typename E::T>)));
    });
    return worst;
  }
};

/// The squared error of the guards between the ends of a step. Where it is large, the guards may be off by what the tolerated errors of the
/// states make of them.
template <class E, class Real>
SALTUS_FN_COLD rough_of<Real> error_between_squared(const instance<E, Real>& x, const between_ends<E, Real>& step,
                                                    const tolerances<E, Real>& tol) {
  constexpr double large = 0.0625;
  vec<Real, E::form::model_guards> tolerated;
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA { tolerated[i] = Real(0.0); });
  Real error = step.error(tolerated);
  if (const auto is_large = error > Real(large); any(is_large)) {
    tolerated = tolerated_errors_of_guards<E>(step.t, step.y, x.constants, tol);
    error = select(is_large, step.error(tolerated), error);
  }
  return squared_error_of_guards(x, step.h, error);
}

/// Guards with corners or jumps at one and three quarters of a step, where they are compared with the cubics along its halves. A corner may
/// show neither at the ends nor in the middle.
template <class E, class Real>
struct guards_in_quarters {
  static constexpr int guards = E::form::model_guards;
  mask_of<Real> counts = mask_of<Real>::all(false);  ///< a guard is across, or off its cubic by more than rounding
  vec<Real, guards>
      across;  ///< the distance beyond zero of an armed guard that is on its side in the middle and at the end
  vec<Real, guards> distance;  ///< from the cubic along half the step
  vec<Real, guards> largest;   ///< values

  SALTUS_FN guards_in_quarters(const instance<E, Real>& x, const trial<E, Real>& a,
                               const guards_in_middle_of<E, Real>& middle) {
    const Real quarter = Real(0.25) * a.s.h;
    const middle_of_step<E, Real> between(a);
    // On the quartic through the ends and the middle, which is off the cubics along the halves by a sixteenth of what the middle is off the
    // cubic through the ends. A guard may hover at zero, to the accuracy of the states.
    vec<Real, E::model_states> first, last;
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      const with_rate<Real> begin{a.s.y[i], quarter * a.s.f0()[i]}, end{a.s.y1[i], quarter * a.s.f1()[i]};
      const with_rate<Real> at_middle{between.y[i], Real(0.5) * between.dy[i]};
      const Real on_cubic = fma(Real(0.5) * quarter, a.s.f0()[i] - a.s.f1()[i], Real(0.5) * (a.s.y[i] + a.s.y1[i]));
      const Real off = Real(0.0625) * (between.y[i] - on_cubic);
      first[i] = middle_of_cubic(begin, at_middle).value + off;
      last[i] = middle_of_cubic(at_middle, end).value + off;
    });
    const auto early = E::form::model_guards_at(a.s.t + quarter, first, x.constants);
    const auto late = E::form::model_guards_at(fma(Real(3.0), quarter, a.s.t), last, x.constants);
    each<guards>([&](int i) SALTUS_INLINE_LAMBDA {
      across[i] = distance[i] = largest[i] = Real(0.0);
      if (E::form::traits(i).how_smooth < smoothness::piecewise) return;
      const Real g0 = x.constants.guard_values[i], side = select(armed<E>(i, g0), side_of(g0), Real(0.0));
      const with_rate<Real> begin{g0, quarter * x.rate[i]}, end{a.g.value[i], quarter * a.g.rate[i]};
      const with_rate<Real> halfway{middle.value[i], Real(0.5) * middle.rate[i]};
      distance[i] = max(abs(early[i] - middle_of_cubic(begin, halfway).value),
                        abs(late[i] - middle_of_cubic(halfway, end).value));
      largest[i] = max(max(abs(g0), abs(end.value)), max(abs(halfway.value), max(abs(early[i]), abs(late[i]))));
      across[i] = select((side * halfway.value > Real(0.0)) & (side * end.value > Real(0.0)),
                         max(Real(0.0), -min(side * early[i], side * late[i])), Real(0.0));
      if constexpr (E::form::slides) {
        const auto slides = E::form::slides_along(x.constants, i);
        distance[i] = select(slides, Real(0.0), distance[i]);
        across[i] = select(slides, Real(0.0), across[i]);
      }
      counts = counts | (across[i] > Real(0.0)) | (distance[i] > Real(0x1p-20) * largest[i]);
    });
  }
};

/// The squared error of these guards. A step is rejected if a guard is across by more than its tolerated error, which shows at neither end.
template <class E, class Real>
SALTUS_FN_COLD rough_of<Real> error_in_quarters_squared(const instance<E, Real>& x, const between_ends<E, Real>& step,
                                                        const guards_in_quarters<E, Real>& g,
                                                        const tolerances<E, Real>& tol) {
  constexpr double part = 0.25, rounding = 64.0 * limits<typename E::T>::epsilon, rejected = 2.0;
  const auto tolerated = tolerated_errors_of_guards<E>(step.t, step.y, x.constants, tol);
  Real worst(0.0);
  each<E::form::model_guards>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real noise = fma(Real(rounding), g.largest[i], tolerated[i]);
    worst = max(worst, g.distance[i] / (fma(Real(part), g.largest[i], noise) + Real(negligible_guard<typename E::T>)));
    worst = select(g.across[i] > noise, max(worst, Real(rejected)), worst);
  });
  return squared_error_of_guards(x, step.h, worst);
}

}  // namespace saltus
