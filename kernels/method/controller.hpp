// Step-size control in log2 space: no pow, no sqrt, the same bits everywhere.
#pragma once

#include "abi/choices.hpp"
#include "method/method_concept.hpp"
#include "number/rough.hpp"

namespace saltus {

/// The squared error norm of a trial that is not finite.
inline constexpr double beyond_any_error = 0x1p100;

/// The controller's memory of the last accepted step.
template <class Real>
struct control_memory {
  rough_of<Real> log_error;  ///< log2 of its error norm
  rough_of<Real> log_ratio;  ///< log2 of the last change of step size
  rough_of<Real> rejected;   ///< 1: the last trial was rejected (the step may not grow)
};

/// Sets the memory of the lanes in `where`; the last change of step size only matters to the one controller that uses it.
template <class Real>
SALTUS_FN void remember(control_memory<Real>& memory, const control_memory<Real>& now, mask_of<Real> where) {
  const auto there = to_rough(where);
  memory.log_error = select(there, now.log_error, memory.log_error);
  memory.log_ratio = select(there, now.log_ratio, memory.log_ratio);
  memory.rejected = select(there, now.rejected, memory.rejected);
}
/// As if the last trial of the lanes in `where` had been rejected, or not.
template <class Real>
SALTUS_FN void remember_rejection(control_memory<Real>& memory, mask_of<Real> where, bool rejected) {
  memory.rejected = select(to_rough(where), rough_of<Real>(rejected ? 1.0 : 0.0), memory.rejected);
}

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
SALTUS_FN control_decision<Real> decide(Real h, rough_of<Real> error2, mask_of<Real> accepted,
                                        const control_memory<Real>& old) {
  using rough = rough_of<Real>;
  constexpr double k = methods::error_order<Method> + 1;
  constexpr double log_safety = -0.15200309344504995;    // log2(0.9)
  constexpr double log_of_four5 = -0.32192809488736235;  // log2(0.8)
  constexpr double widest = 3.0;                         // one step may change h by a factor of 8

  const auto grows = to_rough(accepted);
  const auto sane = error2 < rough(beyond_any_error);  // false for NaN, whose results below are not used
  const rough log_error = rough(0.5) * rough_log2(max(error2, rough(0x1p-60)));

  rough grow;
  if constexpr (Kind == controller_kind::elementary) {
    grow = fma(rough(-1.0 / (Method::order + 1)), log_error, rough(log_of_four5));
  } else if constexpr (Kind == controller_kind::pi) {
    grow = fma(rough(-0.7 / k), log_error, fma(rough(0.4 / k), old.log_error, rough(log_safety)));
  } else {
    constexpr double b = 4.0;
    const rough aimed = (log_error + old.log_error) - rough(2.0 * k * log_safety);
    grow = fma(rough(-1.0 / (b * k)), aimed, rough(-1.0 / b) * old.log_ratio);
  }
  grow = min(max(grow, rough(-widest)), select(old.rejected > rough(0.5), rough(0.0), rough(widest)));
  const rough shrink = min(max(fma(rough(-1.0 / k), log_error, rough(log_safety)), rough(-widest)), rough(log_safety));
  const rough log_fac = select(grows, grow, select(sane, shrink, rough(-widest)));

  control_decision<Real> r;
  r.h = h * from_rough<Real>(rough_exp2(log_fac));
  r.memory.log_error = select(grows, log_error, old.log_error);
  r.memory.log_ratio = select(grows, log_fac, old.log_ratio);
  r.memory.rejected = select(grows, rough(0.0), rough(1.0));
  return r;
}

}  // namespace saltus
