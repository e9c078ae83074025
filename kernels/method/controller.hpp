// Step-size control in log2 space: no pow, no sqrt, the same bits everywhere.
#pragma once

#include "abi/choices.hpp"
#include "method/method_concept.hpp"

namespace saltus {

/// The controller's memory of the last accepted step.
template <class Real>
struct control_memory {
  Real log_error;  ///< log2 of its error norm
  Real log_ratio;  ///< log2 of the last change of step size
  Real rejected;   ///< 1: the last trial was rejected (the step may not grow)
};

template <class Real>
struct control_decision {
  Real h;
  control_memory<Real> memory;
};

///  The next step size after a trial of size h with squared error norm `error2`.
///   elementary  Compere eq. 5.7: h 0.8 err^(-1/(p+1)), p the order of the method
///   pi          Gustafsson; Hairer, Wanner IV.2: h 0.9 err^(-0.7/k) err_old^(0.4/k), k the order of the estimate + 1
///   h211b       Soederlind 2003, b = 4: h (err err_old)^(-1/(b k)) (h/h_old)^(-1/b), aimed at err = 0.9^k
///  A rejected step shrinks by 0.9 err^(-1/k); a trial that is not finite, by 1/8.
template <class Method, controller_kind Kind, class Real>
SALTUS_FN control_decision<Real> decide(Real h, Real error2, mask_of<Real> accepted, const control_memory<Real>& old) {
  constexpr double k = methods::error_order<Method> + 1;
  constexpr double log_safety = -0.15200309344504995;    // log2(0.9)
  constexpr double log_of_four5 = -0.32192809488736235;  // log2(0.8)
  constexpr double widest = 3.0;                         // one step may change h by a factor of 8

  const mask_of<Real> sane = error2 < Real(0x1p100);  // false for NaN, whose results below are not used
  const Real log_error = Real(0.5) * rough_log2(max(error2, Real(0x1p-60)));

  Real grow;
  if constexpr (Kind == controller_kind::elementary) {
    grow = fma(Real(-1.0 / (Method::order + 1)), log_error, Real(log_of_four5));
  } else if constexpr (Kind == controller_kind::pi) {
    grow = fma(Real(-0.7 / k), log_error, fma(Real(0.4 / k), old.log_error, Real(log_safety)));
  } else {
    constexpr double b = 4.0;
    const Real aimed = (log_error + old.log_error) - Real(2.0 * k * log_safety);
    grow = fma(Real(-1.0 / (b * k)), aimed, Real(-1.0 / b) * old.log_ratio);
  }
  grow = min(max(grow, Real(-widest)), select(old.rejected > Real(0.5), Real(0.0), Real(widest)));
  const Real shrink = min(max(fma(Real(-1.0 / k), log_error, Real(log_safety)), Real(-widest)), Real(log_safety));
  const Real log_fac = select(accepted, grow, select(sane, shrink, Real(-widest)));

  control_decision<Real> r;
  r.h = h * rough_exp2(log_fac);
  r.memory.log_error = select(accepted, log_error, old.log_error);
  r.memory.log_ratio = select(accepted, log_fac, old.log_ratio);
  r.memory.rejected = select(accepted, Real(0.0), Real(1.0));
  return r;
}

}  // namespace saltus
