// One step of a Rosenbrock method: one matrix, one linear solve per stage, no iteration. The work is the same in every lane.
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"

namespace saltus {

namespace detail {

/// The end of the step and its dense output, from the last stage's point and the increments u; `rate` is 1/h.
template <class Method, class Real, int n>
SALTUS_FN void set_dense_output(stages<Method, Real, n>& s, const vec<Real, n>& point,
                                const vec<Real, n> (&u)[Method::stages], Real rate) {
  vec<Real, n> q[Method::dense_powers];
  static_for<Method::dense_powers>([&](auto power) SALTUS_INLINE_LAMBDA {
    constexpr int r = decltype(power)::value;
    q[r] = combine<Method::stages>(u, [](auto j) { return Method::dense[r][decltype(j)::value]; });
  });
  // y (1-s) + s (y1 + (1-s) (q_0 + s q_1 + s^2 q_2)), and the same in the nested form of explicit_method.hpp: s^2 = s - s (1-s).
  each<n>([&](int j) SALTUS_INLINE_LAMBDA {
    s.y1[j] = point[j] + u[Method::stages - 1][j];
    const Real D = s.y1[j] - s.y[j];
    Real at_end = q[0][j];
    for (int r = 1; r < Method::dense_powers; ++r) at_end = at_end + q[r][j];
    s.slope0[j] = (D + q[0][j]) * rate;
    s.slope1[j] = (D - at_end) * rate;
    if constexpr (Method::dense_rows > 0) s.extra[0][j] = -q[2][j];
  });
}

/// The size of the rounding of the linear solves of a step, in units of epsilon: h times the sum of |J_jj| |change of y_j|. Where y is stiff,
/// the diagonal has the size of J. Nothing in a Rosenbrock method corrects this rounding.
template <class Real, int n>
SALTUS_FN Real rounding_of_solves(const matrix<Real, n>& minus_j, const vec<Real, n>& y, const vec<Real, n>& point,
                                  const vec<Real, n>& increment, Real h) {
  Real sum = Real(0.0);
  each<n>([&](int j) SALTUS_INLINE_LAMBDA { sum = fma(abs(minus_j[j][j]), abs(point[j] + increment[j] - y[j]), sum); });
  return h * sum;
}

/// Quadratures of a Rosenbrock method: added equations, whose rows of the matrix are the gradients of the quantities.
template <class Method, class Real, bool = (Method::quadratures > 0)>
struct rosenbrock_quadratures {
  template <class System, class State>
  SALTUS_FN rosenbrock_quadratures(const System&, Real, const State&, Real) {}
  template <int, class System, class State>
  SALTUS_FN void add(const System&, const State&, const State&, const State&) {}
  template <class Stages>
  SALTUS_FN void finish(Stages&) {}
};
template <class Method, class Real>
struct rosenbrock_quadratures<Method, Real, true> : quadratures_of<Method, Real> {
  using base = quadratures_of<Method, Real>;
  static constexpr int count = Method::quadratures;
  Real t, h;
  vec<Real, base::sums> u[Method::stages];

  template <class System, class State>
  SALTUS_FN rosenbrock_quadratures(const System& system, Real t_begin, const State& y, Real length)
      : t(t_begin), h(length) {
    this->begin_quadratures(system.quantities(t, y));
  }
  /// Adds stage i at `point`, with `increment` for the states.
  template <int i, class System, class State>
  SALTUS_FN void add(const System& system, const State& y, const State& point, const State& increment) {
    const auto v = this->integrands(system.quantities(fma(Real(Method::c[i]), h, t), point));
    const auto moved = system.quantities_through(t, Real(Method::d[i]) * h, y, increment);
    const Real rate = Real(1.0) / h;
    const auto before = combine<i>(u, [](auto j) { return Method::u[i][decltype(j)::value]; });
    each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA {
      // The integrand (q - q0)^2 has no gradient at the beginning of the step.
      const Real sum = k < count ? v[k] + moved[k < count ? k : 0] : v[k];
      u[i][k] = Real(Method::gamma) * h * fma(rate, before[k], sum);
    });
  }
  template <class Stages>
  SALTUS_FN void finish(Stages& s) {
    constexpr int from = Method::tail - 1, last = Method::stages - 1;
    this->integral = combine<from>(u, [](auto j) { return Method::a[from][decltype(j)::value]; });
    each<base::sums>([&](int k) SALTUS_INLINE_LAMBDA {
      for (int i = from; i <= last; ++i) this->integral[k] = this->integral[k] + u[i][k];
    });
    this->integral_error = u[last];
    static_cast<base&>(s) = *this;
  }
};

}  // namespace detail

/// One step of length h.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::is_rosenbrock) SALTUS_FN stages<Method, Real, n> step(const System& system,
                                                                       const solution_point<Real, n>& from, Real h,
                                                                       Settle&& settle = {}) {
  const Real t = from.t;
  const vec<Real, n>& y = from.y;
  static_assert(System::kind != equations::implicit,
                "Rosenbrock methods integrate M dy/dt = f(t, y) with a constant M: use sdirk4, esdirk4 or radau5");
  constexpr int last = Method::stages - 1;
  stages<Method, Real, n> s;
  const linear_system<System, Real, n> lin(system, t, y, from.rate);
  const Real rate = Real(1.0) / h;
  const auto w = factorise(lin.shifted(rate * Real(1.0 / Method::gamma)), detail::algebra_of(system));
  vec<Real, n> u[Method::stages];
  detail::points_of_stages<Settle, Real, n, Method::stages> points;
  points[0] = y;
  detail::rosenbrock_quadratures<Method, Real> quadratures(system, t, y, h);
  static_for<Method::stages>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = decltype(stage)::value;
    vec<Real, n> right = lin.f;
    if constexpr (i >= Method::tail) {
      each<n>([&](int j) SALTUS_INLINE_LAMBDA { points[i][j] = points[i - 1][j] + u[i - 1][j]; });
    } else if constexpr (i > 0) {
      points[i] = detail::combine_onto<i>(y, u, [](auto j) { return Method::a[i][decltype(j)::value]; });
    }
    if constexpr (i > 0) {
      right = system.rhs(fma(Real(Method::c[i]), h, t), points[i]);
      const auto sum = lin.times_mass(detail::combine<i>(u, [](auto j) { return Method::u[i][decltype(j)::value]; }));
      each<n>([&](int j) SALTUS_INLINE_LAMBDA { right[j] = fma(rate, sum[j], right[j]); });
    }
    if constexpr (Method::d[i] != 0.0)
      each<n>([&](int j) SALTUS_INLINE_LAMBDA { right[j] = fma(Real(Method::d[i]) * h, lin.dt[j], right[j]); });
    u[i] = w.solve(right);
    quadratures.template add<i>(system, y, points[i], u[i]);
  });
  s.rounding = detail::rounding_of_solves(lin.minus_j, y, points[last], u[last], h);
  detail::show_stages(settle, w, points.at, u);
  s.t = t;
  s.h = h;
  s.y = y;
  s.error = u[last];
  quadratures.finish(s);
  s.solved = mask_of<Real>::all(true);
  s.singular = w.singular;
  s.evaluations = typename Real::integer(int64(lin.evaluations + last));
  detail::set_dense_output(s, points[last], u, rate);
  detail::conclude<Method, WithInterpolant>(s, system, w, settle);
  return s;
}

}  // namespace saltus
