// The derivatives of a consistent point with respect to parameters. The unknowns u of the search satisfy E = 0
// (form/consistent/index_1.hpp), so  E_u u' = -(E_y y' + E_p).  The right-hand side is E over dual numbers with u held.
#pragma once

#include "form/consistent/index_1.hpp"

namespace saltus {

namespace detail {

/// Gives the unknowns of `to`, y or its time derivatives, the derivatives -B^-1 r.
template <class System, class Real, int n, int k, int m>
SALTUS_FN void solve_for_derivatives(const lu<Real, m>& by, const vec<dual<Real, k>, m>& r, vec<dual<Real, k>, n>& y,
                                     vec<dual<Real, k>, n>& rate) {
  using part = algebraic_part<System, n>;
  for (int j = 0; j < k; ++j) {
    vec<Real, m> right;
    each<m>([&](int e) SALTUS_INLINE_LAMBDA { right[e] = -r[e].d[j]; });
    right = by.solve(right);
    each<m>([&](int e) SALTUS_INLINE_LAMBDA {
      const int i = part::state(e);
      (part::is_rate(e) ? rate : y)[i].d[j] = right[e];
    });
  }
}

/// The time derivatives of the unknowns at a consistent point, from d/dt E = 0.
template <class System, class Real, int n, int m>
SALTUS_FN vec<Real, m> rates_of_unknowns(const System& system, const lu<Real, m>& by, Real t, const vec<Real, n>& y,
                                         const vec<Real, n>& rate) {
  using Value = dual<Real>;
  vec<Value, n> at, along;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    at[i] = System::index(i) == 0 ? Value(y[i], rate[i]) : Value(y[i]);
    along[i] = Value(rate[i]);
  });
  const auto r = algebraic_part<System, n>::equations_at(system, Value(t, Real(1.0)), at, along);
  vec<Real, m> right;
  each<m>([&](int e) SALTUS_INLINE_LAMBDA { right[e] = -r[e].d[0]; });
  return by.solve(right);
}

/// The same value without derivatives.
template <class Real, int k>
SALTUS_FN dual<Real, k> without_derivatives(const dual<Real, k>& a) {
  return dual<Real, k>(a.value);
}

}  // namespace detail

/// At a consistent (t, y) with the time derivatives of y: the parameter derivatives of algebraic states, and those of all time derivatives.
/// `over_duals` is the system over numbers with derivatives; those of states that are not algebraic are given.
template <class System, class Lifted, class Real, int n, int k>
SALTUS_FN_COLD void derive_consistent(const System& system, const Lifted& over_duals, dual<Real, k> t,
                                      vec<dual<Real, k>, n>& y, vec<dual<Real, k>, n>& rate) {
  using lifted = dual<Real, k>;
  using part = detail::algebraic_part<System, n>;
  using lifted_part = detail::algebraic_part<Lifted, n>;
  constexpr int m = part::count;
  vec<Real, n> at, along;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA {
    at[i] = y[i].value;
    along[i] = rate[i].value;
    if (System::index(i) != 0) y[i] = detail::without_derivatives(y[i]);
    if (!part::reduced) rate[i] = detail::without_derivatives(rate[i]);
  });
  const lu<Real, m> by(detail::algebraic_equations_at(system, solution_point{t.value, at, along}).by);
  detail::solve_for_derivatives<System>(by, lifted_part::equations_at(over_duals, t, y, rate), y, rate);
  if constexpr (part::reduced) {
    const auto f = over_duals.rhs(t, y);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      if (System::index(i) == 0) rate[i] = f[i];
    });
  }
  if constexpr (System::highest_index == 1) {
    // d/dt E = E_t + E_y y' + E_rate y'' = 0 gives the time derivatives of algebraic states. If time derivatives are unknowns, it also gives
    // the second ones.
    const auto solution = detail::rates_of_unknowns(system, by, t.value, at, along);
    using twice = dual<lifted>;
    vec<twice, n> y_on, rate_on;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      y_on[i] = twice(y[i], rate[i]);
      rate_on[i] = twice(rate[i], lifted(Real(0.0)));
    });
    each<m>([&](int e) SALTUS_INLINE_LAMBDA {
      const int i = part::state(e);
      (part::is_rate(e) ? rate_on : y_on)[i].d[0] = lifted(solution[e]);
    });
    const auto r = lifted_part::equations_at(over_duals, twice(t, lifted(Real(1.0))), y_on, rate_on);
    vec<lifted, m> left;
    each<m>([&](int e) SALTUS_INLINE_LAMBDA { left[e] = r[e].d[0]; });
    vec<lifted, n> rates_of_rates;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { rate[i].value = along[i]; });
    detail::solve_for_derivatives<System>(by, left, rate, rates_of_rates);
  }
}

/// d2y/dt2 at a consistent (t, y) with the time derivatives of y.
template <class System, class Real, int n>
SALTUS_FN_COLD vec<Real, n> second_rates(const System& system, Real t, const vec<Real, n>& y,
                                         const vec<Real, n>& rate) {
  using part = detail::algebraic_part<System, n>;
  using once = dual<Real>;
  using twice = dual<once>;
  constexpr int m = part::count;
  vec<Real, n> second;
  each<n>([&](int i) SALTUS_INLINE_LAMBDA { second[i] = Real(0.0); });
  const lu<Real, m> by(detail::algebraic_equations_at(system, solution_point{t, y, rate}).by);
  if constexpr (part::reduced) {
    vec<once, n> along;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { along[i] = once(y[i], rate[i]); });
    const auto f = system.rhs(once(t, Real(1.0)), along);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      if (System::index(i) == 0) second[i] = f[i].d[0];
    });
  } else {
    const auto solution = detail::rates_of_unknowns(system, by, t, y, rate);
    each<m>([&](int e) SALTUS_INLINE_LAMBDA {
      if (part::is_rate(e)) second[part::state(e)] = solution[e];
    });
  }
  if constexpr (System::highest_index == 1) {
    vec<twice, n> at, along;
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      at[i] = twice(once(y[i], rate[i]), once(rate[i], second[i]));
      along[i] = twice(once(rate[i], second[i]), once(second[i]));
    });
    const auto r = part::equations_at(system, twice(once(t, Real(1.0)), once(Real(1.0))), at, along);
    vec<Real, m> right;
    each<m>([&](int e) SALTUS_INLINE_LAMBDA { right[e] = -r[e].d[0].d[0]; });
    right = by.solve(right);
    each<m>([&](int e) SALTUS_INLINE_LAMBDA {
      if (!part::is_rate(e)) second[part::state(e)] = right[e];
    });
  }
  return second;
}

}  // namespace saltus
