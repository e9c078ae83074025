// Detects that an explicit method's steps are limited by stability and not by its error.
#pragma once

#include "engine/trial.hpp"

namespace saltus {

/// When an instance is looked at for stiffness, in trial steps: the first time, and how soon again if its steps seem limited. Otherwise its
/// count has become four times as large, or larger by `longest`.
struct stiffness_schedule {
  static constexpr int64 first = 64, again = 16, longest = 4096;
};

/// An estimate of the largest eigenvalue of f_y in absolute value, and the evaluations of f that it took.
struct eigenvalue_estimate {
  double size;
  int evaluations;
};

/// Nonlinear power iteration at the accepted point (B. P. Sommeijer, L. F. Shampine, J. G. Verwer, J. Comput. Appl. Math. 88 (1998) 315):
/// differences of f over changes of the states by the parts `small` of their tolerances. The result is the mean of the last four growths, as
/// those of a complex pair alternate. Below `relevant` the iteration ends early.
template <class E, class T>
SALTUS_FN_COLD eigenvalue_estimate largest_eigenvalue(const instance<E, pack<T, 1>>& x,
                                                      const vec<pack<T, 1>, E::model_states>& small, double relevant) {
  using Real = pack<T, 1>;
  constexpr int turns = 9;
  const step_system<E, Real> f{x.constants};
  vec<Real, E::model_states> change;  // in units of `small`
  each<E::model_states>(
      [&](int i) SALTUS_INLINE_LAMBDA { change[i] = Real((i % 2 == 0 ? 1.0 : -1.0) * (1.0 + 0.25 * (i % 3))); });
  Real last(0.0), growths(1.0);
  for (int turn = 1; turn <= turns; ++turn) {
    auto y = x.y;
    Real before(0.0), after(0.0);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      before = fma(change[i], change[i], before);
      y[i] = fma(small[i], change[i], x.y[i]);
    });
    const auto slope = f(x.t, y);
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
      change[i] = (slope[i] - x.f[i]) / small[i];
      after = fma(change[i], change[i], after);
    });
    const Real growth = sqrt(after / before);
    if (turn >= 4 && !(sqrt(growth * last) >= Real(0.5 * relevant))) return {0.0, turn};
    last = growth;
    if (turn > turns - 4) growths = growths * growth;
    each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA { change[i] = change[i] / growth; });
  }
  return {static_cast<double>(sqrt(sqrt(growths)).v), turns};
}

/// Looks at a lane that has made as many trial steps as its next_look says. If its step is near the limit of stability (3.3 for DP5, Hairer
/// and Wanner, IV.2) in most looks, the instance is stiff. One that has used up its budget ends.
///
/// Rounding of a solve with M/(h gamma) - J breaks linear conservation laws of the equations by eps |J| |y| per unit of time, and nothing in a
/// Rosenbrock method corrects it. Over the time that is left this exceeds the tolerance where eps |lambda| (t_end - t) > rtol: `stiff_for_long`.
template <class E, class T, int W>
SALTUS_FN_COLD void look_at_lane(instance<E, pack<T, W>>& x, int lane, const tolerances<E, pack<T, W>>& tol) {
  using when = stiffness_schedule;
  constexpr double at_limit = 1.8, enough = 4.0, relief = 0.5, epsilon = limits<T>::epsilon;
  instance<E, pack<T, 1>> one;
  take(x, lane, one);
  const int64 trials = one.steps.v + one.rejected.v, budget = tol.max_steps.get(lane);
  const double rtol = static_cast<double>(tol.rtol.get(lane));
  const auto ends = [&](status why) { x.status.set(lane, static_cast<integer_of<T>>(why)); };
  if (trials >= budget) return ends(status::step_budget);

  vec<pack<T, 1>, E::model_states> small;
  const T part = max(pack<T, 1>(0x1p-10 * rtol), sqrt(pack<T, 1>(epsilon))).v;
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    small[i] = fma(pack<T, 1>(part), abs(one.y[i]), pack<T, 1>(0x1p-10 * tol.atol[i < E::judged ? i : 0].get(lane)));
  });
  const double h = static_cast<double>(one.h.v);
  const auto lambda = largest_eigenvalue(one, small, at_limit / h);
  const bool is_limited = h * lambda.size > at_limit;
  const T looks = is_limited ? one.stiff_looks.v + T(1) : max(one.stiff_looks - pack<T, 1>(relief), pack<T, 1>(0.0)).v;
  x.stiff_looks.set(lane, looks);
  x.rhs_evaluations.set(lane, one.rhs_evaluations.v + lambda.evaluations);
  if (looks >= enough)
    return ends(epsilon * lambda.size * static_cast<double>((one.t_end - one.t).v) > rtol ? status::stiff_for_long
                                                                                          : status::stiff);
  const int64 quiet = 3 * trials < when::longest ? 3 * trials : when::longest;
  const int64 next = trials + (looks > 0 ? when::again : quiet);
  x.next_look.set(lane, static_cast<integer_of<T>>(next < budget ? next : budget));
}

/// The same for every lane of `where`.
template <class E, class Real>
SALTUS_FN_COLD void look_for_stiffness(instance<E, Real>& x, mask_of<Real> where, const tolerances<E, Real>& tol) {
  for (int lane = 0; lane < Real::lanes; ++lane)
    if (where[lane]) look_at_lane(x, lane, tol);
}

}  // namespace saltus
