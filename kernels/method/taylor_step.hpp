// Taylor series: the solution as a polynomial of high order, found by running the model over truncated power series (number/jet.hpp). The
// series is its own dense output. The step size follows from its last two terms: they must be within the tolerance, so that the truncated
// rest is smaller (Jorba and Zou 2005, 3.2). The step is judged by its defect at the end, which also shows if a `select` of the model has
// changed its branch within the step.
#pragma once

#include "method/dense_output.hpp"
#include "method/norm.hpp"
#include "method/quadrature.hpp"
#include "model/checks.hpp"
#include "model/offsets.hpp"
#include "number/jet.hpp"

namespace saltus {

/// The series of the quantities integrated beside the states: of[i][k] (t - t0)^k.
template <class Method, class Real, bool = (Method::quadratures > 0)>
struct quantity_series : no_quadratures {
  SALTUS_FN void end_quadratures(Real) {}
};
template <class Method, class Real>
struct quantity_series<Method, Real, true> : quadratures_of<Method, Real> {
  using base = quadratures_of<Method, Real>;
  static constexpr int p = Method::order;
  Real of[base::count][p + 1];

  SALTUS_FN void begin_series() {
    vec<Real, base::count> q;
    each<base::count>([&](int i) SALTUS_INLINE_LAMBDA { q[i] = of[i][0]; });
    this->begin_quadratures(q);
  }
  /// q - q0 after a time h.
  SALTUS_FN Real change(int i, Real h) const {
    Real sum = of[i][p];
    for (int k = p - 1; k >= 1; --k) sum = fma(h, sum, of[i][k]);
    return h * sum;
  }
  SALTUS_FN Real largest_within(int i, Real h) const {
    const Real q0 = of[i][0];
    return max(max(abs(q0), abs(q0 + change(i, Real(0.5) * h))), abs(q0 + change(i, h)));
  }
  /// The mean of q - q0 over a step of length h, and of the square of its distance from it: those of the series. Its range is not known.
  SALTUS_FN Real mean_change(int i, Real h) const { return select(h > Real(0.0), this->integral[i] / h, Real(0.0)); }
  SALTUS_FN Real variance(int i, Real h) const {
    const Real mean = mean_change(i, h);
    return select(h > Real(0.0), max(fma(-mean, mean, this->integral[base::count + i] / h), Real(0.0)), Real(0.0));
  }
  /// The integral over a step of length h of 2 q q', q and q' being quantities i and j.
  SALTUS_FN Real integral_of_rate_of_square(int i, int j, Real h) const {
    Real sum = Real(0.0);
    for (int k = p; k >= 0; --k) {
      Real inner = Real(0.0);
      for (int l = p; l >= 0; --l) inner = fma(h, inner, of[j][l] * Real(1.0 / (k + l + 1)));
      sum = fma(h, sum, of[i][k] * inner);
    }
    return (h + h) * sum;
  }
  /// Integrates a step of length h. The last terms are the error estimates.
  SALTUS_FN void end_quadratures(Real h) {
    each<base::count>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real half = change(i, Real(0.5) * h), end = change(i, h);
      this->low[i] = min(min(half, end), Real(0.0));
      this->high[i] = max(max(half, end), Real(0.0));
      Real term[p + 1], power = h;
      for (int k = 1; k <= p; ++k, power = power * h) term[k] = power * of[i][k];
      Real sum = Real(0.0);
      for (int k = p; k >= 1; --k) sum = fma(term[k], Real(1.0 / (k + 1)), sum);
      this->integral[i] = h * sum;
      this->integral_error[i] = h * max(abs(term[p - 1]) * Real(1.0 / p), abs(term[p]) * Real(1.0 / (p + 1)));
      if (i < base::squared) {
        Real square = Real(0.0);
        for (int k = p; k >= 1; --k)
          for (int l = p; l >= 1; --l) square = fma(term[k] * term[l], Real(1.0 / (k + l + 1)), square);
        this->integral[base::count + (i < base::squared ? i : 0)] = h * square;
        this->integral_error[base::count + (i < base::squared ? i : 0)] =
            Real(2.0) * this->spread(i) * this->integral_error[i];
      }
    });
  }
};

/// `coefficient[k]` belongs to (t - t0)^(k+1).
template <class Method, class Real, int n>
requires(is_series_method<Method>) struct stages<Method, Real, n> : quantity_series<Method, Real> {
  Real t, h;
  vec<Real, n> y, y1, slope0, slope1;
  vec<Real, n> error;  ///< estimate of the local error
  vec<Real, n> coefficient[Method::order];

  SALTUS_FN const vec<Real, n>& f0() const { return slope0; }
  SALTUS_FN const vec<Real, n>& f1() const { return slope1; }
  SALTUS_FN void set_end_slope(int i, Real slope) { slope1[i] = slope; }
  /// Takes the end of another step of the same series, in the lanes of `where`.
  SALTUS_FN void take(const stages& from, mask_of<Real> where) {
    h = select(where, from.h, h);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y1[i] = select(where, from.y1[i], y1[i]);
      slope1[i] = select(where, from.slope1[i], slope1[i]);
      error[i] = select(where, from.error[i], error[i]);
    });
    this->take_quadratures(from, where);
  }
};

/// y(s) = y0 + s (term[0] + s (term[1] + ...)), s in [0, 1].
template <class Method, class Real, int n>
struct step_series {
  static constexpr int terms = Method::order;
  Real t, h;
  vec<Real, n> y0, term[terms];

  SALTUS_FN vec<Real, n> operator()(Real s) const {
    vec<Real, n> y;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real sum = term[terms - 1][i];
      for (int k = terms - 2; k >= 0; --k) sum = fma(s, sum, term[k][i]);
      y[i] = fma(s, sum, y0[i]);
    });
    return y;
  }
  SALTUS_FN vec<Real, n> slope(Real s) const {
    vec<Real, n> dy;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real sum = Real(static_cast<double>(terms)) * term[terms - 1][i];
      for (int k = terms - 2; k >= 0; --k) sum = fma(s, sum, Real(k + 1.0) * term[k][i]);
      dy[i] = sum;
    });
    return dy;
  }
  /// By repeated synthetic division.
  SALTUS_FN Real expand(int i, Real middle, Real (&c)[terms + 1]) const {
    c[0] = y0[i];
    for (int k = 1; k <= terms; ++k) c[k] = term[k - 1][i];
    for (int from = 0; from < terms; ++from)
      for (int k = terms - 1; k >= from; --k) c[k] = fma(middle, c[k + 1], c[k]);
    return size_of_terms(i) - abs(y0[i]);
  }
  SALTUS_FN Real size_of_terms(int i) const {
    Real size = abs(y0[i]);
    for (int k = 0; k < terms; ++k) size = size + abs(term[k][i]);
    return size;
  }
};

/// The dense output is the series.
template <class Method, class F, class Real, int n>
requires(is_series_method<Method>) SALTUS_FN step_series<Method, Real, n> interpolate(
    const F&, const stages<Method, Real, n>& s) {
  step_series<Method, Real, n> p;
  p.t = s.t;
  p.h = s.h;
  p.y0 = s.y;
  Real power = s.h;
  for (int k = 0; k < Method::order; ++k, power = power * s.h)
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { p.term[k][i] = power * s.coefficient[k][i]; });
  return p;
}

namespace detail {
/// The functions of a model that run over series together, and the room that they need.
template <class Model_>
struct equations_and_guards {
  using Model = Model_;
  static constexpr series_room room = room_of_series<Model>;
};
template <class Model_>
struct outputs_alone {
  using Model = Model_;
  static constexpr series_room room = room_of_outputs<Model>;
};

/// Numbers in a coefficient: its value and its derivatives.
template <class Real>
inline constexpr int numbers_in = 1;
template <class Real, int N>
inline constexpr int numbers_in<dual<Real, N>> = 1 + N;

/// Finds the coefficients of function(time, y), order by order. coefficient(k, i) supplies those of y that are known by then; found(k, i,
/// x) receives coefficient k of component i of the function. Returns false if the room was too small.
template <class Functions, int length, int n, class Real, class Coefficient, class Function, class Found>
SALTUS_FN bool run_by_orders(Real t, const Coefficient& coefficient, const Function& function, const Found& found) {
  using Model = typename Functions::Model;
  constexpr int given = n + 1;
  constexpr series_room beside = Functions::room, room = {given + beside.series, beside.numbers};
  constexpr bool unrolled = numbers_in<Real> * (beside.series + beside.numbers) <= max_unrolled_series;
  Real numbers[jet_table<Real>::size(length, room)];
  bool is_complete = true;
  // The table and all pointers to it are constructed anew for each order. A compiler then knows their values within the order, however long
  // the code before it is, and reduces all of this to arithmetic.
  const auto run = [&](int k) SALTUS_INLINE_LAMBDA {
    jet_table<Real> table(numbers, length, room);
    table.begin(k, given);
    vec<jet<Real>, n> y;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      table.row(i)[k] = coefficient(k, i);
      // Models receive series by their rows (point::value); only fields that slide use the array itself.
      if constexpr (contract<Model>::sliding_count > 0) y[i] = jet<Real>(table.row(i), &table);
    });
    table.row(n)[k] = k == 0 ? t : Real(k == 1 ? 1.0 : 0.0);
    const auto r = function(jet<Real>(table.row(n), &table, 1), y);
    each<r.size>([&](int i) SALTUS_INLINE_LAMBDA { found(k, i, r[i].coefficient(k)); });
    is_complete = is_complete && !table.overflowed();
  };
  if constexpr (unrolled) static_for<length>([&](auto k) SALTUS_INLINE_LAMBDA { run(k); });
  else
    for (int k = 0; k < length; ++k) run(k);
  return is_complete;
}

/// The coefficients of the solution through (t, y).
template <class Method, class System, class Real, int n>
SALTUS_FN_FLAT void find_coefficients(const System& system, Real t, const vec<Real, n>& y,
                                      vec<Real, n> (&coefficient)[Method::order]) {
  const auto known = [&](int k, int i) SALTUS_INLINE_LAMBDA { return k == 0 ? y[i] : coefficient[k - 1][i]; };
  const bool is_complete = run_by_orders<equations_and_guards<typename System::form::Model>, Method::order, n>(
      t, known, [&](const auto& time, const auto& at) SALTUS_INLINE_LAMBDA { return system.rhs(time, at); },
      [&](int k, int i, Real f) SALTUS_INLINE_LAMBDA { coefficient[k][i] = f * Real(1.0 / (k + 1)); });
  if (!is_complete) each<n>([&](int i) SALTUS_INLINE_LAMBDA { coefficient[0][i] = detail::not_a_number<Real>(); });
}

/// The same with the derivatives of a form that carries them. The values have the bits of the series without derivatives.
template <class Method, class System, class Real, int n>
SALTUS_FN_FLAT void find_lifted_coefficients(const System& system, Real t, const vec<Real, n>& y,
                                             vec<Real, n> (&coefficient)[Method::order]) {
  using form = typename System::form;
  const auto lifted = system.lifted();
  const auto known = [&](int k, int i)
                         SALTUS_INLINE_LAMBDA { return form::lift_state(k == 0 ? y : coefficient[k - 1], i); };
  const bool is_complete = run_by_orders<equations_and_guards<typename form::Model>, Method::order, form::model_states>(
      typename form::template lifted<Real>(t), known,
      [&](const auto& time, const auto& at) SALTUS_INLINE_LAMBDA { return lifted.rhs(time, at); },
      [&](int k, int i, const auto& f)
          SALTUS_INLINE_LAMBDA { form::put_down_state(f * Real(1.0 / (k + 1)), i, coefficient[k]); });
  if (!is_complete) each<n>([&](int i) SALTUS_INLINE_LAMBDA { coefficient[0][i] = detail::not_a_number<Real>(); });
}

/// The series of the quantities along the solution.
template <class Method, class System, class Real, int n>
SALTUS_FN_FLAT void find_quantities(const System& system, stages<Method, Real, n>& s) {
  const auto known = [&](int k, int i) SALTUS_INLINE_LAMBDA { return k == 0 ? s.y[i] : s.coefficient[k - 1][i]; };
  const bool is_complete = run_by_orders<outputs_alone<typename System::form::Model>, Method::order + 1, n>(
      s.t, known, [&](const auto& time, const auto& at) SALTUS_INLINE_LAMBDA { return system.quantities(time, at); },
      [&](int k, int i, Real q) SALTUS_INLINE_LAMBDA { s.of[i][k] = q; });
  if (!is_complete) each<Method::quadratures>([&](int i) SALTUS_INLINE_LAMBDA { s.of[i][1] = not_a_number<Real>(); });
  s.begin_series();
}

/// The same with their derivatives.
template <class Method, class System, class Real, int n>
SALTUS_FN_FLAT void find_lifted_quantities(const System& system, stages<Method, Real, n>& s) {
  using form = typename System::form;
  const auto lifted = system.lifted();
  const auto known = [&](int k, int i)
                         SALTUS_INLINE_LAMBDA { return form::lift_state(k == 0 ? s.y : s.coefficient[k - 1], i); };
  const bool is_complete = run_by_orders<outputs_alone<typename form::Model>, Method::order + 1, form::model_states>(
      typename form::template lifted<Real>(s.t), known,
      [&](const auto& time, const auto& at) SALTUS_INLINE_LAMBDA { return lifted.quantities(time, at); },
      [&](int k, int i, const auto& q) SALTUS_INLINE_LAMBDA {
        if (i >= System::own_quantities) return;
        s.of[i][k] = q.value;
        for (int j = 0; j < System::quantity_directions; ++j) s.of[System::rate_of_quantity(i, j)][k] = q.d[j];
      });
  if (!is_complete) each<Method::quadratures>([&](int i) SALTUS_INLINE_LAMBDA { s.of[i][1] = not_a_number<Real>(); });
  s.begin_series();
}

/// Point k, 1 <= k, inside a step, as a part of it. Series are compared with their functions there. The points are multiples of the golden
/// section modulo 1: at points of equal distance a wave could have the same phase.
template <class Real>
SALTUS_FN Real inner_point(int k) {
  const double many = k * 0.61803398874989485;
  return Real(many - static_cast<int>(many));
}

/// Takes in the defects of the series inside the step, each for the part of the step for which it may last. The branch of a function may end
/// there and begin again, as that of |sin t|, and the end of the step shows nothing.
template <class Method, class System, class Real, int n>
SALTUS_FN_COLD void look_inside(const System& system, stages<Method, Real, n>& s) {
  constexpr int points = 2;
  constexpr double longest = 0.382;  // between two of these points, or one and the end
  const auto series = interpolate<Method>(system, s);
  for (int k = 1; k <= points; ++k) {
    const Real at = inner_point<Real>(k);
    const auto f = system(fma(at, s.h, s.t), series(at));
    const auto own = series.slope(at);  // by the part of the step
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      const Real here = Real(longest) * fma(s.h, f[i], -own[i]);
      s.error[i] = select(abs(here) > abs(s.error[i]), here, s.error[i]);
    });
  }
}

/// The end of a step of length h and its error: the series' defect there, y'(h) - f(y(h)) = (p + 1) c h^p, if the truncated rest is
/// c h^(p+1). The slope of the series is found by repeated synthetic division.
template <class Method, class System, class Real, int n>
SALTUS_FN void end_at(const System& system, stages<Method, Real, n>& s, Real h) {
  s.h = h;
  vec<Real, n> own_slope;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    Real sum = s.coefficient[Method::order - 1][i], slope = sum;
    for (int k = Method::order - 2; k >= 0; --k) {
      sum = fma(h, sum, s.coefficient[k][i]);
      slope = fma(h, slope, sum);
    }
    s.y1[i] = fma(h, sum, s.y[i]);
    own_slope[i] = slope;
  });
  s.end_quadratures(h);
  if constexpr (requires { system.template settle<true>(s.t + h, s.y1); }) system.template settle<true>(s.t + h, s.y1);
  s.slope1 = system(s.t + h, s.y1);
  const Real share = h * Real(1.0 / (Method::order + 1));
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { s.error[i] = share * (s.slope1[i] - own_slope[i]); });
  if constexpr (smoothness_of<typename System::form::Model>.equations >= smoothness::piecewise) look_inside(system, s);
}
}  // namespace detail

/// The series through (t, y), without an end.
template <class Method, class System, class Real, int n>
SALTUS_FN stages<Method, Real, n> series_from(const System& system, Real t, const vec<Real, n>& y,
                                              const vec<Real, n>& f0) {
  stages<Method, Real, n> s;
  s.t = t;
  s.y = y;
  s.slope0 = f0;
  // A form may find the series of its solution itself (form/form_concept.hpp).
  if constexpr (requires { System::form::find_coefficients(t, y, system.c, s.coefficient); })
    System::form::find_coefficients(t, y, system.c, s.coefficient);
  else if constexpr (System::form::directions > 0)
    detail::find_lifted_coefficients<Method>(system, t, y, s.coefficient);
  else detail::find_coefficients<Method>(system, t, y, s.coefficient);
  if constexpr (Method::quadratures > 0 && System::form::directions > 0)
    detail::find_lifted_quantities<Method>(system, s);
  else if constexpr (Method::quadratures > 0) detail::find_quantities<Method>(system, s);
  return s;
}

template <class Method, class System, class Real, int n>
requires(is_series_method<Method>) SALTUS_FN stages<Method, Real, n> step(const System& system,
                                                                          const solution_point<Real, n>& from, Real h) {
  auto s = series_from<Method>(system, from.t, from.y, from.rate);
  detail::end_at<Method>(system, s, h);
  return s;
}

/// 0.89 of the longest step whose last two terms are within the tolerance.
template <class Method, norm_kind Norm, class Real, int n, int m>
SALTUS_FN Real longest_step(const stages<Method, Real, n>& s, Real rtol, const vec<Real, m>& atol) {
  constexpr int p = Method::order;
  constexpr double log_safety = -0.17;
  Real log_h = Real(1000.0);
  const auto inverse_scale = inverse_scales<Norm>(s.y, rtol, atol);
  for (int k = p - 1; k <= p; ++k) {
    const Real size2 = norm_squared<Norm>(s.coefficient[k - 1], inverse_scale);
    log_h = min(log_h, Real(-0.5 / k) * rough_log2(max(size2, Real(0x1p-1000))));
  }
  return rough_exp2(min(max(log_h + Real(log_safety), Real(-90.0)), Real(90.0)));
}

/// Lanes in which the series ends: the solution is a polynomial, and no term limits a step.
template <class Method, class Real, int n>
SALTUS_FN mask_of<Real> is_polynomial(const stages<Method, Real, n>& s) {
  Real last(0.0);
  for (int k = Method::order - 1; k <= Method::order; ++k)
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { last = max(last, abs(s.coefficient[k - 1][i])); });
  return last == Real(0.0);
}

template <class Method, class Real, int n>
requires(is_series_method<Method>) SALTUS_FN vec<Real, n> local_error(const stages<Method, Real, n>& s) {
  return s.error;
}

template <class Method, norm_kind Norm, class Real, int n, int m>
requires(is_series_method<Method>) SALTUS_FN Real
    error_norm_squared(const stages<Method, Real, n>& s, Real rtol, const vec<Real, m>& atol) {
  return scaled_norm_squared<Norm>(s.error, s.y, s.y1, rtol, atol);
}

}  // namespace saltus
