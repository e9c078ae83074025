// Detects that an explicit method's steps are limited by stability and not by its error.
#pragma once

#include "engine/trial.hpp"

namespace saltus {

/// Hairer, Wanner II, IV.2: h times the eigenvalue that the last two stages show, both at the end of the step. An instance whose steps,
/// tried or taken, repeatedly come near the limit of stability (3.3 for DP5) is stiff. The controller lets steps grow through the limit and
/// then rejects some, so not every step is near it.
///
/// Rounding of a solve with M/(h gamma) - J breaks linear conservation laws of the equations by eps |J| |y| per unit of time, and nothing in a
/// Rosenbrock method corrects it. Over the time that is left this exceeds the tolerance where eps |lambda| (t_end - t) > rtol: `stiff_for_long`.
template <class E, class Real>
SALTUS_FN void watch_stiffness(instance<E, Real>& x, const trial<E, Real>& a, mask_of<Real> where, Real rtol) {
  using Method = typename E::Method;
  constexpr int before = Method::stages - 2;
  constexpr double at_limit = 2.2, enough = 15.0, relief = 0.5;
  static_assert(Method::fsal && Method::c[before] == 1.0, "stiffness is seen by methods with two stages at the end");
  const auto slope = detail::slope_of_stage<Method, before>(a.s.k);
  Real rise = Real(0.0), apart = Real(0.0);
  each<E::model_states>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real df = a.s.k[Method::stages - 1][i] - a.s.k[before][i];
    const Real dy = a.s.y1[i] - fma(a.s.h, slope[i], a.s.y[i]);
    rise = fma(df, df, rise);
    apart = fma(dy, dy, apart);
  });
  const auto limited = a.s.h * a.s.h * rise > Real(at_limit * at_limit) * apart;
  const Real count = select(limited, x.stiff_steps + Real(1.0), max(x.stiff_steps - Real(relief), Real(0.0)));
  assign_where(where, x.stiff_steps, count);
  if (const auto stiff = where & (x.stiff_steps >= Real(enough)); any(stiff)) {
    const Real broken = Real(limits<typename E::T>::epsilon) * sqrt(rise / apart) * (x.t_end - x.t);
    end_where(x.status, stiff & (broken > rtol), status::stiff_for_long);
    end_where(x.status, stiff, status::stiff);
  }
}

}  // namespace saltus
