// One step of an explicit Runge-Kutta method: stages, new point, error estimate, dense output. Nothing is mutated.
#pragma once

#include "method/tableaus.hpp"
#include "number/real.hpp"

namespace saltus {
/// Where `new` is to make something: <new> is not for devices.
struct place {
  void* at;
};
}  // namespace saltus

SALTUS_FN void* operator new(decltype(sizeof 0), saltus::place where) noexcept { return where.at; }

namespace saltus {

/// An explicit method whose stages are all kept until the step is done with: those here. The others are in
/// method/low_storage.hpp.
template <class Method>
concept keeps_stages = Method::is_explicit && !Method::is_low_storage;

template <class Method, class Real, int n>
struct stages {
  static constexpr int count = Method::stages + (Method::fsal ? 0 : 1) + Method::extra_stages;
  static constexpr int last = Method::fsal ? Method::stages - 1 : Method::stages;  ///< index of f at the new point

  Real t, h;
  vec<Real, n> y;         ///< where the step began
  vec<Real, n> k[count];  ///< k[0] = f(t, y); k[last] = f(t + h, y1); beyond it the extra stages of dense output
  vec<Real, n> y1;

  SALTUS_FN const vec<Real, n>& f0() const { return k[0]; }
  SALTUS_FN const vec<Real, n>& f1() const { return k[last]; }
  SALTUS_FN void set_end_slope(int i, Real slope) { k[last][i] = slope; }

  /// Becomes the step `from`, without the extra stages of its dense output, in the lanes of `where`.
  SALTUS_FN void take(const stages& from, mask_of<Real> where) {
    h = select(where, from.h, h);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y1[i] = select(where, from.y1[i], y1[i]);
      for (int j = 0; j < count - Method::extra_stages; ++j) k[j][i] = select(where, from.k[j][i], k[j][i]);
    });
  }
};

/// Right-hand-side evaluations of one step whose k[0] is known.
template <class Method>
inline constexpr int evaluations_per_step = Method::fsal ? Method::stages - 1 : Method::stages;

namespace detail {

/// Component i of sum over j < Count of table[row][j] k[j], and all of them; zero coefficients cost nothing.
#define SALTUS_COMBINE(function_name, coefficient)                                                            \
  template <class Method, int Row, int Count, class Real, int n, int S>                                       \
  SALTUS_FN Real function_name(const vec<Real, n>(&k)[S], int i) {                                            \
    Real sum = Real(0.0);                                                                                     \
    bool first = true;                                                                                        \
    static_for<Count>([&](auto j) SALTUS_INLINE_LAMBDA {                                                      \
      constexpr double w = coefficient;                                                                       \
      if constexpr (w != 0.0) {                                                                               \
        sum = first ? SALTUS_COEFFICIENT(Real, w) * k[j][i] : fma(SALTUS_COEFFICIENT(Real, w), k[j][i], sum); \
        first = false;                                                                                        \
      }                                                                                                       \
    });                                                                                                       \
    return sum;                                                                                               \
  }                                                                                                           \
  template <class Method, int Row, int Count, class Real, int n, int S>                                       \
  SALTUS_FN vec<Real, n> function_name(const vec<Real, n>(&k)[S]) {                                           \
    vec<Real, n> r;                                                                                           \
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = function_name<Method, Row, Count>(k, i); });             \
    return r;                                                                                                 \
  }
SALTUS_COMBINE(slope_of_stage, Method::a[Row][decltype(j)::value])
SALTUS_COMBINE(slope_of_step, Method::b[decltype(j)::value])
SALTUS_COMBINE(slope_of_error, Method::e[decltype(j)::value])
SALTUS_COMBINE(slope_of_second_error, Method::e3[decltype(j)::value])
SALTUS_COMBINE(slope_of_dense, Method::d[Row][decltype(j)::value])
#undef SALTUS_COMBINE

template <class Real, int n>
SALTUS_FN vec<Real, n> advance(const vec<Real, n>& y, Real h, const vec<Real, n>& slope) {
  vec<Real, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = fma(h, slope[i], y[i]); });
  return r;
}

/// to = f(t, y), made where it is to lie: a copy of many states takes as long as a stage.
template <class F, class Real, int n>
SALTUS_FN void evaluate(const F& f, Real t, const vec<Real, n>& y, vec<Real, n>& to) {
  if constexpr (n > most_unrolled) new (place{&to}) vec<Real, n>(f(t, y));
  else to = f(t, y);
}

}  // namespace detail

/// One step of length h from (t, y) with f0 = f(t, y). `f(t, y)` is the right-hand side.
template <class Method, class F, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN stages<Method, Real, n> step(const F& f, Real t, const vec<Real, n>& y,
                                                                      const vec<Real, n>& f0, Real h) {
  stages<Method, Real, n> s;
  s.t = t;
  s.h = h;
  s.y = y;
  s.k[0] = f0;
  static_for<Method::stages - 1>([&](auto before) SALTUS_INLINE_LAMBDA {
    constexpr int i = before + 1;
    constexpr double c = Method::c[i];
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { s.y1[j] = fma(h, detail::slope_of_stage<Method, i, i>(s.k, j), y[j]); });
    detail::evaluate(f, fma(SALTUS_COEFFICIENT(Real, c), h, t), s.y1, s.k[i]);
  });
  if constexpr (!Method::fsal) {
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      s.y1[j] = fma(h, detail::slope_of_step<Method, 0, Method::stages>(s.k, j), y[j]);
    });
    detail::evaluate(f, t + h, s.y1, s.k[s.last]);
  }
  return s;
}

/// The norms in which a step is judged.
enum class norm_kind { rms, max, compere };

/// The square of an error in one of these norms: a step is accepted where this is <= 1 (a NaN never is).
///  rms      Haug, Negrut, Engstler eq. 60: root mean square of e_i / (atol_i + rtol max(|y0_i|, |y1_i|))
///  max      the largest of these ratios
///  compere  Compere eq. 5.8: max |e_i| / (rtol max(max |y_i|, 1))
template <norm_kind Norm, class Real, int n>
SALTUS_FN Real scaled_norm_squared(const vec<Real, n>& e, const vec<Real, n>& y0, const vec<Real, n>& y1, Real rtol,
                                   const vec<Real, n>& atol) {
  Real sum = Real(0.0);
  if constexpr (Norm == norm_kind::compere) {
    Real largest = Real(1.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      largest = max(largest, abs(y1[i]));
      sum = max(sum, e[i] * e[i] + not_finite(e[i]));
      sum = sum + not_finite(y1[i]);  // max() may drop a NaN, a sum cannot
    });
    const Real scale = rtol * largest;
    return sum / (scale * scale);
  } else {
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real scale = fma(rtol, max(abs(y0[i]), abs(y1[i])), atol[i]);
      const Real r = e[i] / scale;
      if constexpr (Norm == norm_kind::rms) sum = fma(r, r, sum);
      else sum = max(sum, r * r) + not_finite(r);
    });
    return Norm == norm_kind::rms ? sum * Real(1.0 / n) : sum;
  }
}

/// The square of the scaled error norm of a step.
template <class Method, norm_kind Norm, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN Real
    error_norm_squared(const stages<Method, Real, n>& s, Real rtol, const vec<Real, n>& atol) {
  const auto e = detail::slope_of_error<Method, 0, Method::stages>(s.k);
  const Real sum = scaled_norm_squared<Norm>(e, s.y, s.y1, rtol, atol);
  const Real h2 = s.h * s.h;
  if constexpr (Method::two_errors) {
    // Hairer, Norsett, Wanner II.10: err = h err5^2 / sqrt(err5^2 + 0.01 err3^2).
    const auto e3 = detail::slope_of_second_error<Method, 0, Method::stages>(s.k);
    const Real sum3 = scaled_norm_squared<Norm>(e3, s.y, s.y1, rtol, atol);
    const Real both = fma(Real(0.01), sum3, sum);
    return select(both == Real(0.0), Real(0.0), h2 * sum * (sum / both));
  } else {
    return h2 * sum;
  }
}

/// The local error of a step as its embedded formula estimates it, component by component: |h e_i|.
template <class Method, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN vec<Real, n> local_error(const stages<Method, Real, n>& s) {
  vec<Real, n> r;
  if constexpr (Method::embedded_order > 0) {
    const auto e = detail::slope_of_error<Method, 0, Method::stages>(s.k);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = abs(s.h * e[i]); });
  } else {
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = Real(0.0); });
  }
  return r;
}

/// The solution between the ends of a step: cubic Hermite plus the method's own terms, in Hairer's nested form
///   y(s) = y0 + s (D + (1-s) (F1 + s (F2 + (1-s) (F3 + s (F4 + (1-s) (F5 + s F6)))))),  s in [0, 1].
template <class Method, class Real, int n>
struct dense_output {
  static constexpr int terms = 3 + Method::dense_rows;
  Real t, h;
  vec<Real, n> y0, y1;
  vec<Real, n> term[terms];

  SALTUS_FN vec<Real, n> operator()(Real s) const {
    const Real r = Real(1.0) - s;
    vec<Real, n> y;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real sum = term[terms - 1][i];
      static_for<terms - 1>([&](auto back) SALTUS_INLINE_LAMBDA {
        constexpr int j = terms - 2 - back;
        sum = fma(j % 2 == 0 ? r : s, sum, term[j][i]);
      });
      y[i] = fma(s, sum, y0[i]);
    });
    return y;
  }

  /// dy/ds: the derivative of the nested form, by the product rule from the inside out.
  SALTUS_FN vec<Real, n> slope(Real s) const {
    const Real r = Real(1.0) - s;
    vec<Real, n> dy;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real sum = term[terms - 1][i], d = Real(0.0);
      static_for<terms - 1>([&](auto back) SALTUS_INLINE_LAMBDA {
        constexpr int j = terms - 2 - back;
        if constexpr (j % 2 == 0) {
          d = fma(r, d, -sum);
          sum = fma(r, sum, term[j][i]);
        } else {
          d = fma(s, d, sum);
          sum = fma(s, sum, term[j][i]);
        }
      });
      dy[i] = fma(s, d, sum);
    });
    return dy;
  }
};

namespace detail {
/// The cubic Hermite part of a dense output.
template <class Method, class Real, int n>
SALTUS_FN dense_output<Method, Real, n> hermite(const stages<Method, Real, n>& s) {
  dense_output<Method, Real, n> q;
  q.t = s.t;
  q.h = s.h;
  q.y0 = s.y;
  q.y1 = s.y1;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const Real D = s.y1[i] - s.y[i];
    q.term[0][i] = D;
    q.term[1][i] = fma(s.h, s.f0()[i], -D);
    q.term[2][i] = fma(-s.h, s.f0()[i] + s.f1()[i], D + D);
  });
  return q;
}
}  // namespace detail

/// Builds the dense output of a step, evaluating the method's extra stages if it has any.
template <class Method, class F, class Real, int n>
requires(keeps_stages<Method>) SALTUS_FN dense_output<Method, Real, n> interpolate(const F& f,
                                                                                   stages<Method, Real, n> s) {
  static_for<Method::extra_stages>([&](auto extra) SALTUS_INLINE_LAMBDA {
    constexpr int i = Method::stages + extra;
    constexpr double c = Method::c[i];
    s.k[i] = f(fma(SALTUS_COEFFICIENT(Real, c), s.h, s.t),
               detail::advance(s.y, s.h, detail::slope_of_stage<Method, i, i>(s.k)));
  });
  auto q = detail::hermite<Method>(s);
  static_for<Method::dense_rows>([&](auto row) SALTUS_INLINE_LAMBDA {
    const auto slope = detail::slope_of_dense<Method, row, Method::stages + Method::extra_stages>(s.k);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { q.term[3 + row][i] = s.h * slope[i]; });
  });
  return q;
}

}  // namespace saltus
