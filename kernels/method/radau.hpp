// One step of Radau IIA: a simplified Newton iteration for all stages at once, in the basis in which the matrix splits into one real block
// and complex ones (Hairer, Wanner II, IV.8).
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"

namespace saltus {

namespace detail {

/// The increments z_i of the stages, whose points are y + z_i.
template <class Method, class Real, int n>
struct radau_stages {
  static constexpr int count = Method::stages;
  vec<Real, n> z[count];
};

/// The matrices of a step: the real block, and a complex one for each pair of eigenvalues of A^-1.
template <class Method, class System, class Real, int n>
struct radau_matrices {
  static constexpr int pairs = (Method::stages - 1) / 2;
  using linear = linear_system<System, Real, n>;
  template <class Number>
  using factors = decltype(factorise(matrix<Number, n>{}, algebra_of(*static_cast<const System*>(nullptr))));
  factors<Real> real;
  factors<complex<Real>> pair[pairs];

  SALTUS_FN radau_matrices(const linear& lin, Real rate, const System& system)
      : radau_matrices(lin, rate, system, indices<pairs>{}) {}
  SALTUS_FN mask_of<Real> singular() const {
    auto r = real.singular;
    for (const auto& each_pair : pair) r = r | each_pair.singular;
    return r;
  }

 private:
  template <int... p>
  SALTUS_FN radau_matrices(const linear& lin, Real rate, const System& system, index_list<p...>)
      : real(factorise(lin.shifted(rate * Real(Method::mu)), algebra_of(system))),
        pair{factorise(
            lin.shifted(complex<Real>(rate * Real(Method::mu_pair[p][0]), rate * Real(Method::mu_pair[p][1]))),
            algebra_of(system))...} {}
};

/// Where Newton's iteration begins: along the slope.
template <class Method, class Real, int n>
SALTUS_FN radau_stages<Method, Real, n> stages_from_slope(const vec<Real, n>& y, const vec<Real, n>& slope,
                                                          const vec<Real, n>& weight, Real h) {
  const auto start = first_increment(y, slope, weight, h);
  radau_stages<Method, Real, n> at;
  static_for<Method::stages>([&](auto i) SALTUS_INLINE_LAMBDA {
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { at.z[i][j] = Real(Method::c[i]) * start[j]; });
  });
  return at;
}
/// On the dense output of the last step, in lanes that have one not much shorter.
template <class Method, class Past, class Real, int n>
SALTUS_FN void continue_past(radau_stages<Method, Real, n>& at, const Past& past, Real h) {
  // A polynomial of degree seven leaves the solution soon beyond its step: from further away Newton's iteration fails more often.
  constexpr double furthest = Method::stages > 5 ? 1.25 : 2.0;
  const Real ratio = h / past.h;
  const auto near = (past.h > Real(0.0)) & (ratio <= Real(furthest));
  static_for<Method::stages>([&](auto i) SALTUS_INLINE_LAMBDA {
    const Real later = Real(Method::c[i]) * ratio;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { at.z[i][j] = select(near, past.change(j, later), at.z[i][j]); });
  });
}

/// Residuals of the stages of a step of length h from (t, y): F(t + c_i h, y + z_i, (1/h) sum_j (A^-1)_ij z_j).
template <class Method, class System, class Real, int n>
SALTUS_FN radau_stages<Method, Real, n> stage_residuals(const System& system, const radau_stages<Method, Real, n>& at,
                                                        const solution_point<Real, n>& from, Real h) {
  const Real rate = Real(1.0) / h;
  radau_stages<Method, Real, n> r;
  static_for<Method::stages>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> point,
        slope = combine<Method::stages>(at.z, [](auto j) { return Method::inverse_a[i][decltype(j)::value]; });
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      point[j] = from.y[j] + at.z[i][j];
      slope[j] = slope[j] * rate;
    });
    r.z[i] = system.residual(fma(Real(Method::c[i]), h, from.t), point, slope);
  });
  return r;
}

/// The lanes in which all stages are solved to rounding. The arguments that registers may hold are copies: an object passed by reference to
/// an out-of-line function cannot stay there.
template <class Method, class System, class Real, int n>
SALTUS_FN_COLD mask_of<Real> are_solved_to_rounding(const System& system, linear_system<System, Real, n> lin,
                                                    radau_stages<Method, Real, n> at,
                                                    const solution_point<Real, n>& from, Real h) {
  const Real rate = Real(1.0) / h;
  const auto r = stage_residuals<Method>(system, at, from, h);
  auto solved = mask_of<Real>::all(true);
  static_for<Method::stages>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> point, slope, terms;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      point[j] = from.y[j] + at.z[i][j];
      slope[j] = terms[j] = Real(0.0);
      static_for<Method::stages>([&](auto k) SALTUS_INLINE_LAMBDA {
        const Real term = (Real(Method::inverse_a[i][decltype(k)::value]) * rate) * at.z[k][j];
        slope[j] = slope[j] + term;
        terms[j] = terms[j] + abs(term);
      });
    });
    solved = solved & is_rounding(r.z[i], lin.size_of_terms(r.z[i], point, slope, terms));
  });
  return solved;
}

/// Applies one Newton increment in the open lanes. It is solved for in the basis of the blocks.
template <class Method, class Matrices, class Real, int n>
SALTUS_FN void move_stages(radau_stages<Method, Real, n>& at, const radau_stages<Method, Real, n>& r, const Matrices& w,
                           newton_watch<Real, n>& newton) {
  constexpr int count = Method::stages;
  const auto right = [&](auto row) SALTUS_INLINE_LAMBDA {
    return combine<count>(r.z, [](auto j) { return Method::inverse_t[decltype(row)::value][decltype(j)::value]; });
  };
  const auto real = w.real.solve(right(constant<0>{}));
  vec<complex<Real>, n> pair[Matrices::pairs];
  static_for<Matrices::pairs>([&](auto p) SALTUS_INLINE_LAMBDA {
    constexpr int first = 2 * decltype(p)::value + 1;
    const auto re = right(constant<first>{}), im = right(constant<first + 1>{});
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { pair[p][j] = complex<Real>(re[j], im[j]); });
    pair[p] = w.pair[p].solve(pair[p]);
  });
  Real square = Real(0.0);
  static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> change;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA {
      Real sum = Real(0.0);
      static_for<Matrices::pairs>([&](auto before) SALTUS_INLINE_LAMBDA {
        constexpr int p = Matrices::pairs - 1 - decltype(before)::value;
        constexpr double t1 = Method::t[i][2 * p + 1], t2 = Method::t[i][2 * p + 2];
        sum = p == Matrices::pairs - 1 ? SALTUS_COEFFICIENT(Real, t2) * pair[p][j].im
                                       : fma(SALTUS_COEFFICIENT(Real, t2), pair[p][j].im, sum);
        sum = fma(SALTUS_COEFFICIENT(Real, t1), pair[p][j].re, sum);
      });
      constexpr double t0 = Method::t[i][0];
      change[j] = fma(SALTUS_COEFFICIENT(Real, t0), real[j], sum);
      at.z[i][j] = select(newton.open, at.z[i][j] - change[j], at.z[i][j]);
    });
    square = square + weighted_square(change, newton.weight);
  });
  newton.take_square(square * Real(1.0 / count), static_cast<double>(count));
}

/// The results of a step: its error, its end, and the slopes of its dense output.
template <class Method, class System, class Matrix, class Real, int n>
SALTUS_FN void set_results(stages<Method, Real, n>& s, const radau_stages<Method, Real, n>& at,
                           const linear_system<System, Real, n>& lin, const Matrix& w, Real rate) {
  auto inside = combine<Method::stages>(at.z, [](auto j) { return Method::e[decltype(j)::value]; });
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { inside[j] = inside[j] * rate; });
  inside = lin.times_mass(inside);
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { inside[j] = inside[j] + lin.f[j]; });
  s.error = w.solve(inside);
  s.slope0 = combine<Method::stages>(at.z, [](auto j) { return Method::slope0[decltype(j)::value]; });
  s.slope1 =
      combine<Method::stages>(at.z, [](auto j) { return Method::inverse_a[Method::stages - 1][decltype(j)::value]; });
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    s.y1[j] = s.y[j] + at.z[Method::stages - 1][j];
    s.slope0[j] = s.slope0[j] * rate;
    s.slope1[j] = s.slope1[j] * rate;
  });
  if constexpr (Method::dense_rows > 0)
    static_for<Method::dense_rows>([&](auto row) SALTUS_INLINE_LAMBDA {
      s.extra[row] =
          combine<Method::stages>(at.z, [](auto j) { return Method::dense[decltype(row)::value][decltype(j)::value]; });
    });
}

}  // namespace detail

/// One step of length h.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::kind == methods::family::collocation) SALTUS_FN_COLD stages<Method, Real, n> step(
    const System& system, const solution_point<Real, n>& from, Real h, Settle&& settle = {}) {
  const Real t = from.t;
  const vec<Real, n>&y = from.y, &f0 = from.rate;
  stages<Method, Real, n> s;
  const linear_system<System, Real, n> lin(system, t, y, f0);
  const Real rate = Real(1.0) / h;
  const detail::radau_matrices<Method, System, Real, n> w(lin, rate, system);
  vec<Real, n> weight = system.weight(y);
  // A state of index 2 acts on the others through h times its value, and its rounding error grows as 1/h.
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    if (System::index(j) == 2) weight[j] = weight[j] * min(h, Real(1.0));
  });
  detail::newton_watch<Real, n> newton(!w.singular(), weight, detail::error_allowed_of_stages<Method>);
  auto at = detail::stages_from_slope<Method>(y, f0, weight, h);
  if constexpr (requires { system.past(); }) detail::continue_past(at, system.past(), h);

  newton.next_stage();
  // More for more stages, over which a step is longer (as RADAU of Hairer and Wanner).
  constexpr int most = newton.max_iterations + 5 * (Method::stages - 3) / 2;
  for (int iteration = 0; iteration < most && any(newton.open); ++iteration) {
    const auto r = detail::stage_residuals<Method>(system, at, from, h);
    detail::move_stages<Method>(at, r, w, newton);
  }
  newton.give_up([&]()
                     SALTUS_INLINE_LAMBDA { return detail::are_solved_to_rounding<Method>(system, lin, at, from, h); });

  detail::show_stages(settle, w.real, at.z);
  s.t = t;
  s.h = h;
  s.y = y;
  detail::quadrature_sum<Method, Real> sum(system, t, y);
  static_for<Method::stages>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> point;
    each<n>([&](int j) SALTUS_INLINE_LAMBDA { point[j] = y[j] + at.z[i][j]; });
    sum.template add<i>(system, fma(Real(Method::c[i]), h, t), point);
  });
  sum.finish(s);
  detail::set_results(s, at, lin, w.real, rate);
  s.solved = !newton.failed;
  s.singular = w.singular();
  s.evaluations = typename Real::integer(int64(lin.evaluations)) + to_integer(newton.iterations);
  detail::conclude<Method, WithInterpolant>(s, system, w.real, settle);
  return s;
}

}  // namespace saltus
