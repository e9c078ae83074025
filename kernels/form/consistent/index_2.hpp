// Index 2 (0 = g(t, y), dy = f(t, y, z)): y is projected onto the constraints along df/dz, and z follows from their time
// derivative, 0 = g_t + g_y f(t, y, z).
#pragma once

#include "form/consistent/consistency.hpp"
#include "linear/least_change.hpp"

namespace saltus {

namespace detail {

/// The largest |residual| of a constraint of index 2.
template <class Real, int m>
SALTUS_FN void largest_of(consistency<Real>& c, const vec<Real, m>& g, int (*state)(int)) {
  c.residual = Real(0.0);
  c.of = Real(-1.0);
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    const auto worse = !(abs(g[k]) <= c.residual);
    c.residual = select(worse, abs(g[k]), c.residual);
    c.of = select(worse, Real(static_cast<double>(state(k))), c.of);
  });
}

/// y + sum over k of direction k, as duals with those derivatives; time likewise along `dt`.
template <int width, class Real, int n>
SALTUS_FN vec<dual<Real, width>, n> along_all(const vec<Real, n>& y, const vec<Real, n> (&direction)[width]) {
  vec<dual<Real, width>, n> r;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    r[i] = dual<Real, width>(y[i]);
    for (int k = 0; k < width; ++k) r[i].d[k] = direction[k][i];
  });
  return r;
}

/// df/dz, one direction for every algebraic state z; returns f itself.
template <int m, class System, class Real, int n>
SALTUS_FN vec<Real, n> by_algebraic(const System& system, Real t, const vec<Real, n>& y, vec<Real, n>* direction) {
  using part = algebraic_part<System, n>;
  using Value = dual<Real, m>;
  vec<Value, n> at;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { at[i] = Value(y[i]); });
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { at[part::state(k)].d[k] = Real(1.0); });
  const auto f = system.rhs(Value(t), at);
  vec<Real, n> value;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    const bool differential = System::index(i) == 0;
    value[i] = differential ? f[i].value : Real(0.0);
    for (int k = 0; k < m; ++k) direction[k][i] = differential ? f[i].d[k] : Real(0.0);
  });
  return value;
}

/// The solution x of sum over l of by_kl x_l = r_k, with the derivatives of g as the matrix.
template <int width, class Real, int m>
SALTUS_FN vec<Real, m> solve_by(const vec<dual<Real, width>, m>& g, const vec<Real, m>& r,
                                Real* orientation = nullptr) {
  matrix<Real, m> by;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA {
    for (int l = 0; l < m; ++l) by[k][l] = g[k].d[l];
  });
  const lu<Real, m> factors(by);
  if (orientation != nullptr) *orientation = factors.orientation();
  return factors.solve(r);
}

/// The largest number of iterations of a search, and the size of an increment that suffices.
template <search_for What, class Real>
struct limits_of_search {
  using T = scalar_of<Real>;
  static constexpr int most = What == search_for::start ? 40 : 6;
  static constexpr double enough = What == search_for::start ? 64.0 * limits<T>::epsilon : root_epsilon<T>;
};

/// Projects y onto the constraints along df/dz, in the lanes of `open`. Returns the lanes that have not converged.
template <search_for What, class System, class Real, int n>
SALTUS_FN mask_of<Real> move_onto_constraints(const System& system, Real t, vec<Real, n>& y, mask_of<Real> open) {
  using part = algebraic_part<System, n>;
  using limit = limits_of_search<What, Real>;
  constexpr int m = part::count;
  vec<Real, n> direction[m];
  by_algebraic<m>(system, t, y, direction);
  for (int iteration = 0; iteration < limit::most && any(open); ++iteration) {
    const auto g = part::equations_at(system, dual<Real, m>(t), along_all(y, direction), {});
    vec<Real, m> r;
    each<m>([&](int k) SALTUS_INLINE_LAMBDA { r[k] = g[k].value; });
    const auto along = solve_by(g, r);
    Real size = Real(0.0);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      Real step = Real(0.0);
      for (int k = 0; k < m; ++k) step = fma(along[k], direction[k][i], step);
      size = max(size, abs(step) / (abs(y[i]) + system.floor(i))) + not_finite(step);
      y[i] = select(open, y[i] - step, y[i]);
    });
    open = open & !(size <= Real(limit::enough));
  }
  return open;
}

/// The same along the part of df/dz without the states that are written, which stay. In lanes of `open` in which the constraints are not
/// met, the result has the state of one that is not.
template <class System, class Real, int n>
SALTUS_FN_COLD consistency<Real> move_onto_constraints_but(const System& system, Real t, vec<Real, n>& y,
                                                           const vec<Real, n>& written, mask_of<Real> open) {
  using part = algebraic_part<System, n>;
  constexpr int m = part::count, most = 40;
  constexpr double enough = 64.0 * limits<scalar_of<Real>>::epsilon;
  vec<Real, n> direction[m];
  by_algebraic<m>(system, t, y, direction);
  for (int k = 0; k < m; ++k)
    for (int i = 0; i < n; ++i) direction[k][i] = select(written[i] > Real(0.0), Real(0.0), direction[k][i]);
  consistency<Real> c{mask_of<Real>::all(false), Real(0.0), Real(-1.0), Real(0.0)};
  for (int iteration = 0; iteration < most && any(open); ++iteration) {
    auto met = open;
    const auto l = linearise(system, t, y);
    matrix<Real, m> by;
    vec<Real, m> right;
    for (int k = 0; k < m; ++k) {
      const int row = part::state(k);
      Real terms = Real(limits<scalar_of<Real>>::smallest);
      for (int j = 0; j < m; ++j) by[k][j] = Real(0.0);
      for (int i = 0; i < n; ++i) {
        terms = fma(abs(l.dy[row][i]), abs(y[i]) + system.floor(i), terms);
        for (int j = 0; j < m; ++j) by[k][j] = fma(l.dy[row][i], direction[j][i], by[k][j]);
      }
      right[k] = -l.f[row];
      const auto is_met = abs(l.f[row]) <= Real(as_good_as_met<Real>) * terms;
      c.of = select(open & !is_met & met, Real(static_cast<double>(row)), c.of);
      met = met & is_met;
    }
    const auto along = least_change<Real, m>(by, right, [](int) SALTUS_INLINE_LAMBDA { return true; }).x;
    Real size = Real(0.0);
    for (int i = 0; i < n; ++i) {
      Real step = Real(0.0);
      for (int k = 0; k < m; ++k) step = fma(along[k], direction[k][i], step);
      size = max(size, abs(step) / (abs(y[i]) + system.floor(i))) + not_finite(step);
      y[i] = select(open, y[i] + step, y[i]);
    }
    const auto done = open & (size <= Real(enough));
    c.found = c.found | (done & met);
    open = open & !done & (size < Real(limits<scalar_of<Real>>::largest));
  }
  return c;
}

/// Solves the time derivative of the constraints for the algebraic states, in the lanes of `c.found`, where `rate` becomes f. Leaves those
/// that have converged.
template <search_for What, class System, class Real, int n>
SALTUS_FN void solve_for_algebraic(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                   consistency<Real>& c) {
  using part = algebraic_part<System, n>;
  using limit = limits_of_search<What, Real>;
  constexpr int m = part::count;
  vec<Real, n> direction[m + 1];
  auto open = c.found;
  for (int iteration = 0; iteration < limit::most && any(open); ++iteration) {
    const auto f = by_algebraic<m>(system, t, y, direction);
    direction[m] = f;
    dual<Real, m + 1> time(t);
    time.d[m] = Real(1.0);
    const auto g = part::equations_at(system, time, along_all(y, direction), {});
    vec<Real, m> r;
    each<m>([&](int k) SALTUS_INLINE_LAMBDA { r[k] = g[k].d[m]; });
    Real here = Real(0.0);
    const auto change = solve_by(g, r, &here);
    c.orientation = select(open, here, c.orientation);
    Real size = Real(0.0);
    each<m>([&](int k) SALTUS_INLINE_LAMBDA {
      const int i = part::state(k);
      size = max(size, abs(change[k]) / (abs(y[i]) + system.floor(i))) + not_finite(change[k]);
      y[i] = select(open, y[i] - change[k], y[i]);
    });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { rate[i] = select(open, f[i], rate[i]); });
    open = open & !(size <= Real(limit::enough));
  }
  c.found = c.found & !open;
}

}  // namespace detail

/// The time derivatives of all states at a consistent point, those of the algebraic ones from 0 = d2g/dt2. Value may be a dual, to
/// differentiate them.
template <class System, class Value, int n>
SALTUS_FN_COLD vec<Value, n> rates_of_index_2(const System& system, Value t, const vec<Value, n>& y) {
  using part = detail::algebraic_part<System, n>;
  using once = dual<Value>;
  using twice = dual<once>;
  constexpr int m = part::count;
  vec<Value, n> direction[m];
  auto rate = detail::by_algebraic<m>(system, t, y, direction);
  vec<once, n> at, along;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { at[i] = once(y[i], rate[i]); });
  const auto f = system.rhs(once(t, Value(1.0)), at);  // and f' without the part of the algebraic states
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { along[i] = System::index(i) == 0 ? f[i] : once(Value(0.0)); });
  vec<twice, n> bent;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { bent[i] = twice(at[i], along[i]); });
  const auto g2 = part::equations_at(system, twice(once(t, Value(1.0)), once(Value(1.0))), bent, {});
  vec<Value, m> right;
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { right[k] = g2[k].d[0].d[0]; });
  const auto g = part::equations_at(system, dual<Value, m>(t), detail::along_all(y, direction), {});
  const auto change = detail::solve_by(g, right);
  each<m>([&](int k) SALTUS_INLINE_LAMBDA { rate[part::state(k)] = -change[k]; });
  return rate;
}

/// Index 2. In the lanes of `where` it projects the states onto the constraints and sets the algebraic states so that the constraints stay
/// met. `rate` becomes f; it is zero for algebraic states.
template <search_for What, class System, class Real, int n>
SALTUS_FN_APART consistency<Real> make_consistent_2(const System& system, Real t, vec<Real, n>& y, vec<Real, n>& rate,
                                                    mask_of<Real> where) {
  using part = detail::algebraic_part<System, n>;
  const auto begun = y;
  consistency<Real> c{mask_of<Real>::all(false), Real(0.0), Real(-1.0), Real(0.0)};
  c.found = where & !detail::move_onto_constraints<What>(system, t, y, where);
  detail::solve_for_algebraic<What>(system, t, y, rate, c);
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = select(c.found, y[i], begun[i]); });
  detail::largest_of<Real, part::count>(c, part::equations_at(system, t, y, rate), &part::state);
  detail::how_far(c, system, begun, y);
  return c;
}

}  // namespace saltus
