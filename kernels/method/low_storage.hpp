// One step of an explicit Runge-Kutta method that does not keep its stages: each stage is added to the registers of the method and to the
// error estimate as soon as it is known. The step takes six vectors for any number of stages, y and f(t, y) included.
#pragma once

#include "method/erk.hpp"

namespace saltus {

template <class Method>
concept low_storage = Method::is_explicit && Method::is_low_storage;

template <class Method, class Real, int n>
requires(low_storage<Method>) struct stages<Method, Real, n> : quadratures_of<Method, Real> {
  Real t, h;
  vec<Real, n> y, y1;
  vec<Real, n> slope0, slope1;  ///< f at both ends
  vec<Real, n> error;           ///< estimate of the local error

  SALTUS_FN const vec<Real, n>& f0() const { return slope0; }
  SALTUS_FN const vec<Real, n>& f1() const { return slope1; }
  SALTUS_FN void set_end_slope(int i, Real slope) { slope1[i] = slope; }

  /// Copies `from` in the lanes of `where`.
  SALTUS_FN void take(const stages& from, mask_of<Real> where) {
    h = select(where, from.h, h);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y1[i] = select(where, from.y1[i], y1[i]);
      slope0[i] = select(where, from.slope0[i], slope0[i]);
      slope1[i] = select(where, from.slope1[i], slope1[i]);
      error[i] = select(where, from.error[i], error[i]);
    });
    this->take_quadratures(from, where);
  }
};

namespace detail {
/// Quadratures in registers of their own, by the recurrence of the states.
template <class Method, class Real, bool = (Method::quadratures > 0)>
struct low_storage_quadratures {
  template <class System, class State>
  SALTUS_FN low_storage_quadratures(const System&, Real, const State&) {}
  template <int, class System, class State>
  SALTUS_FN void add(const System&, Real, const State&, Real) {}
  template <class System, class Stages>
  SALTUS_FN void finish(const System&, Real, Stages&) {}
};
template <class Method, class Real>
struct low_storage_quadratures<Method, Real, true> : quadratures_of<Method, Real> {
  using base = quadratures_of<Method, Real>;
  vec<Real, base::sums> sum;

  template <class System, class State>
  SALTUS_FN low_storage_quadratures(const System& system, Real t, const State& y) {
    this->begin_quadratures(system.quantities(t, y));
    each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA { sum[k] = Real(0.0); });
  }
  /// Adds stage i at (t, y); `far` is h beta_i.
  template <int i, class System, class State>
  SALTUS_FN void add(const System& system, Real t, const State& y, Real far) {
    constexpr double delta = Method::delta[i], gamma1 = Method::gamma1[i], gamma2 = Method::gamma2[i];
    constexpr double e = Method::e[i];
    const auto v = this->integrands(system.quantities(t, y));
    each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA {
      const Real point = this->integral[k];
      if constexpr (delta != 0.0) sum[k] = fma(SALTUS_COEFFICIENT(Real, delta), point, sum[k]);
      this->integral[k] =
          fma(far, v[k], fma(SALTUS_COEFFICIENT(Real, gamma2), sum[k], SALTUS_COEFFICIENT(Real, gamma1) * point));
      this->integral_error[k] = fma(SALTUS_COEFFICIENT(Real, e), v[k], this->integral_error[k]);
    });
  }
  /// Ends the step s at (t, s.y1).
  template <class System, class Stages>
  SALTUS_FN void finish(const System& system, Real t, Stages& s) {
    const auto v = this->integrands(system.quantities(t, s.y1));
    each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA {
      this->integral_error[k] =
          s.h * fma(SALTUS_COEFFICIENT(Real, Method::e[Method::stages - 1]), v[k], this->integral_error[k]);
    });
    static_cast<base&>(s) = *this;
  }
};
}  // namespace detail

/// One step of length h. `f(t, y)` is the right-hand side. The register `point` of
/// methods::low_storage_method is y1 - y here.
template <class Method, class F, class Real, int n>
requires(low_storage<Method>) SALTUS_FN stages<Method, Real, n> step(const F& f, const solution_point<Real, n>& from,
                                                                     Real h) {
  const Real t = from.t;
  const vec<Real, n>&y = from.y, &f0 = from.rate;
  constexpr int last = Method::stages - 1;
  stages<Method, Real, n> s;
  vec<Real, n> sum;
  detail::low_storage_quadratures<Method, Real> quadratures(f, t, y);
  s.t = t;
  s.h = h;
  const Real far0 = SALTUS_COEFFICIENT(Real, Method::beta[0]) * h;
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    s.y[j] = y[j];
    s.slope0[j] = f0[j];
    s.y1[j] = fma(far0, f0[j], y[j]);
    s.error[j] = SALTUS_COEFFICIENT(Real, Method::e[0]) * f0[j];
  });
  static_for<last - 1>([&](auto before) SALTUS_INLINE_LAMBDA {
    constexpr int i = before + 1;
    constexpr double c = Method::c[i], delta = Method::delta[i], gamma1 = Method::gamma1[i], gamma2 = Method::gamma2[i];
    constexpr double e = Method::e[i];
    const Real far = SALTUS_COEFFICIENT(Real, Method::beta[i]) * h;
    const Real t_of_stage = fma(SALTUS_COEFFICIENT(Real, c), h, t);
    detail::settle_stage<false>(f, t_of_stage, s.y1);
    detail::evaluate(f, t_of_stage, s.y1, s.slope1);
    quadratures.template add<i>(f, t_of_stage, s.y1, far);
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      const Real point = s.y1[j] - y[j], k = s.slope1[j];
      if constexpr (i == 1) sum[j] = SALTUS_COEFFICIENT(Real, delta) * point;
      else if constexpr (delta != 0.0) sum[j] = fma(SALTUS_COEFFICIENT(Real, delta), point, sum[j]);
      s.y1[j] =
          y[j] + fma(far, k, fma(SALTUS_COEFFICIENT(Real, gamma2), sum[j], SALTUS_COEFFICIENT(Real, gamma1) * point));
      s.error[j] = fma(SALTUS_COEFFICIENT(Real, e), k, s.error[j]);
    });
  });
  detail::settle_stage<true>(f, t + h, s.y1);
  detail::evaluate(f, t + h, s.y1, s.slope1);
  quadratures.finish(f, t + h, s);
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    s.error[j] = h * fma(SALTUS_COEFFICIENT(Real, Method::e[last]), s.slope1[j], s.error[j]);
  });
  return s;
}

/// The square of the scaled error norm of a step, of its first m states.
template <class Method, norm_kind Norm, class Real, int n, int m>
requires(low_storage<Method>) SALTUS_FN Real
    error_norm_squared(const stages<Method, Real, n>& s, Real rtol, const vec<Real, m>& atol) {
  vec<Real, m> error;
  each<m>([&](int i) SALTUS_INLINE_LAMBDA { error[i] = s.error[i]; });
  return scaled_norm_squared<Norm>(error, s.y, s.y1, rtol, atol);
}

/// The local error of a step as its embedded formula estimates it.
template <class Method, class Real, int n>
requires(low_storage<Method>) SALTUS_FN vec<Real, n> local_error(const stages<Method, Real, n>& s) { return s.error; }

/// The dense output of a step, from one evaluation on the cubic through its ends.
template <class Method, class F, class Real, int n>
requires(low_storage<Method>) SALTUS_FN dense_output<Method, Real, n> interpolate(const F& f,
                                                                                  const stages<Method, Real, n>& s) {
  constexpr double at = Method::c[Method::stages];
  auto q = detail::hermite<Method>(s);
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { q.term[3][j] = Real(0.0); });
  const auto on_cubic = q.slope(Real(at));
  const auto& field = detail::within_step(f, s);
  const auto found = field(fma(Real(at), s.h, s.t), q(Real(at)));
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    q.term[3][j] = Real(1.0 / methods::slope_of_quartic(at)) * fma(s.h, found[j], -on_cubic[j]);
  });
  return q;
}

}  // namespace saltus
