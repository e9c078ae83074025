// One step of an explicit Runge-Kutta method: stages, new point, error estimate, dense output. Nothing is mutated.
#pragma once

#include "method/combine.hpp"
#include "method/dense_output.hpp"
#include "method/explicit_method.hpp"
#include "method/method_concept.hpp"
#include "method/norm.hpp"
#include "method/quadrature.hpp"

namespace saltus {
/// The address at which `new` constructs an object: <new> is not available on devices.
struct address {
  void* at;
};
}  // namespace saltus

SALTUS_FN void* operator new(decltype(sizeof 0), saltus::address where) noexcept { return where.at; }

namespace saltus {

/// The result of a step, with all of its stages.
template <class Method, class Real, int n>
requires(keeps_stages<Method>) struct stages<Method, Real, n> : quadratures_of<Method, Real> {
  static constexpr int count = Method::stages + (Method::fsal ? 0 : 1) + Method::extra_stages;
  static constexpr int last = Method::fsal ? Method::stages - 1 : Method::stages;  ///< index of f at the new point

  Real t, h;
  vec<Real, n> y;         ///< where the step began
  vec<Real, n> k[count];  ///< k[0] = f(t, y); k[last] = f(t + h, y1); beyond it the extra stages of dense output
  vec<Real, n> y1;

  SALTUS_FN const vec<Real, n>& f0() const { return k[0]; }
  SALTUS_FN const vec<Real, n>& f1() const { return k[last]; }
  SALTUS_FN void set_end_slope(int i, Real slope) { k[last][i] = slope; }

  /// Copies the step `from`, without the extra stages of its dense output, in the lanes of `where`.
  SALTUS_FN void take(const stages& from, mask_of<Real> where) {
    h = select(where, from.h, h);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y1[i] = select(where, from.y1[i], y1[i]);
      for (int j = 0; j < count - Method::extra_stages; ++j) k[j][i] = select(where, from.k[j][i], k[j][i]);
    });
    this->take_quadratures(from, where);
  }
};

namespace detail {

/// The slope that leads to stage i, k[i] = f(t + c_i h, y + h slope); or one component of it.
template <class Method, int i, class Stages, class... Component>
SALTUS_FN auto slope_of_stage(const Stages& k, Component... component) {
  return combine<i>(k, component..., [](auto j) { return Method::a[i][decltype(j)::value]; });
}

/// Lets the system move the point of a stage: a system with constraints may project stages onto them.
template <bool at_end, class F, class Real, int n>
SALTUS_FN void settle_stage(const F& f, Real t, vec<Real, n>& y) {
  if constexpr (requires { f.template settle<at_end>(t, y); }) f.template settle<at_end>(t, y);
}

/// The right-hand side for points of the step s that are evaluated after the step.
template <class F, class Stages>
SALTUS_FN decltype(auto) within_step(const F& f, const Stages& s) {
  if constexpr (requires { f.within_step(s.t, s.y); }) return f.within_step(s.t, s.y);
  else return (f);
}

/// to = f(t, y), constructed in place: copying many states takes as long as a stage.
template <class F, class Real, int n>
SALTUS_FN void evaluate(const F& f, Real t, const vec<Real, n>& y, vec<Real, n>& to) {
  if constexpr (n > max_unrolled) new (address{&to}) vec<Real, n>(f(t, y));
  else to = f(t, y);
}

}  // namespace detail

/// One step of length h. `f(t, y)` is the right-hand side.
template <class Method, class F, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN stages<Method, Real, n> step(const F& f, const solution_point<Real, n>& from,
                                                                      Real h) {
  const Real t = from.t;
  const vec<Real, n>& y = from.y;
  stages<Method, Real, n> s;
  s.t = t;
  s.h = h;
  s.y = y;
  s.k[0] = from.rate;
  detail::quadrature_sum<Method, Real> sum(f, t, y);
  static_for<Method::stages - 1>([&](auto before) SALTUS_INLINE_LAMBDA {
    constexpr int i = before + 1;
    constexpr double c = Method::c[i];
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { s.y1[j] = fma(h, detail::slope_of_stage<Method, i>(s.k, j), y[j]); });
    const Real t_of_stage = fma(SALTUS_COEFFICIENT(Real, c), h, t);
    detail::settle_stage<Method::fsal && i == Method::stages - 1>(f, t_of_stage, s.y1);
    detail::evaluate(f, t_of_stage, s.y1, s.k[i]);
    sum.template add<i>(f, t_of_stage, s.y1);
  });
  if constexpr (!Method::fsal) {
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      const Real slope = detail::combine<Method::stages>(s.k, j, [](auto l) { return Method::b[decltype(l)::value]; });
      s.y1[j] = fma(h, slope, y[j]);
    });
    detail::settle_stage<true>(f, t + h, s.y1);
    detail::evaluate(f, t + h, s.y1, s.k[s.last]);
  }
  sum.finish(s);
  return s;
}

/// The square of the scaled error norm of a step, of its first m states.
template <class Method, norm_kind Norm, class Real, int n, int m>
requires(keeps_stages<Method>) SALTUS_FN Real
    error_norm_squared(const stages<Method, Real, n>& s, Real rtol, const vec<Real, m>& atol) {
  const auto squared = [&](const auto& weight) SALTUS_INLINE_LAMBDA {
    return scaled_norm_squared<Norm>(detail::combine<Method::stages, m>(s.k, weight), s.y, s.y1, rtol, atol);
  };
  const Real sum = squared([](auto j) { return Method::e[decltype(j)::value]; }), h2 = s.h * s.h;
  if constexpr (Method::two_errors) {
    // Hairer, Norsett, Wanner II.10: err = h err5^2 / sqrt(err5^2 + 0.01 err3^2).
    const Real sum3 = squared([](auto j) { return Method::e3[decltype(j)::value]; }), both = fma(Real(0.01), sum3, sum);
    return select(both == Real(0.0), Real(0.0), h2 * sum * (sum / both));
  } else if constexpr (Method::blind_estimate) {
    const Real sum5 = squared([](auto j) { return Method::seeing_e[decltype(j)::value]; });
    constexpr double share = 1.0 / 150;  // of smooth f that depend on y it seldom counts
    const Real sum3 = squared([](auto j) { return Method::seeing_e3[decltype(j)::value]; }), both = sum5 + sum3;
    const Real seen = select(both == Real(0.0), Real(0.0), sum5 * (sum5 / both));
    return h2 * max(sum, Real(share * share) * seen);
  } else {
    return h2 * sum;
  }
}

/// The local error of a step as its embedded formula estimates it.
template <class Method, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN vec<Real, n> local_error(const stages<Method, Real, n>& s) {
  vec<Real, n> r;
  if constexpr (Method::embedded_order > 0) {
    const auto e = detail::combine<Method::stages>(s.k, [](auto j) { return Method::e[decltype(j)::value]; });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = s.h * e[i]; });
  } else {
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = Real(0.0); });
  }
  return r;
}

/// The middle of a step minus that of the cubic through its ends, from its stages.
template <class Method, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN vec<Real, n> middle_off_cubic(const stages<Method, Real, n>& s) {
  auto r = detail::combine<Method::stages>(s.k, [](auto j) { return Method::middle[decltype(j)::value]; });
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = s.h * r[i]; });
  return r;
}

/// Builds the dense output of a step, evaluating the method's extra stages if it has any.
template <class Method, class F, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN dense_output<Method, Real, n> interpolate(const F& f,
                                                                                   stages<Method, Real, n> s) {
  if constexpr (Method::extra_stages > 0) {
    const auto& field = detail::within_step(f, s);
    static_for<Method::extra_stages>([&](auto extra) SALTUS_INLINE_LAMBDA {
      constexpr int i = Method::stages + extra;
      constexpr double c = Method::c[i];
      s.k[i] = field(fma(SALTUS_COEFFICIENT(Real, c), s.h, s.t),
                     detail::advance(s.y, s.h, detail::slope_of_stage<Method, i>(s.k)));
    });
  }
  auto q = detail::hermite<Method>(s);
  static_for<Method::dense_rows>([&](auto row) SALTUS_INLINE_LAMBDA {
    constexpr int r = row;
    const auto slope = detail::combine<Method::stages + Method::extra_stages>(
        s.k, [](auto j) { return Method::d[r][decltype(j)::value]; });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { q.term[3 + r][i] = s.h * slope[i]; });
  });
  return q;
}

}  // namespace saltus
