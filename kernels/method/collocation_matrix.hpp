// The matrix of all stages of a collocation method, each stage linearised at its own point:
//
//     row i:   (1/h) M_i sum_l (A^-1)_il z_l  -  J_i z_i
//
// It is eliminated stage by stage, with pivots chosen within a stage: off-diagonal blocks are multiples of M_i, which saves products of the
// first stage, and each block is small enough for registers. With A^-1 of Radau IIA the diagonal blocks stay regular for all eigenvalues of
// J with no positive real part, as no leading part of A^-1 has an eigenvalue with a negative one (tests/test_tableaus.cpp).
#pragma once

#include "linear/factorised.hpp"
#include "linear/jacobian.hpp"

namespace saltus::detail {

template <class Method, class System, class Real, int n>
class collocation_matrix {
  static constexpr int count = Method::stages;
  using state = vec<Real, n>;
  using block = matrix<Real, n>;
  using stage = linear_system<System, Real, n>;
  using factors = decltype(factorise(block{}, algebra_of(*static_cast<const System*>(nullptr))));

 public:
  /// equations_of(i): those of stage i, linearised at its point; `rate` is 1/h.
  template <class Equations>
  SALTUS_FN_COLD collocation_matrix(const System& system, const Equations& equations_of, Real rate) : rate_(rate) {
    const stage first = equations_of(0);
    pivot_[0] = factorise(first.shifted(part<0, 0>()), algebra_of(system));
    for (int b = 0; b < n; ++b) set_column(by_first_, b, pivot_[0].solve(first.times_mass(unit(b))));
    static_for<count - 1>([&](auto after_first) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(after_first)::value + 1;
      const stage here = equations_of(i);
      mass_[i] = here;
      static_for<count - 1>([&](auto l) SALTUS_INLINE_LAMBDA {
        rest_[i][decltype(l)::value + 1] = without_first<i, decltype(l)::value + 1>(here);
      });
    });
    for (int k = 1; k < count; ++k) eliminate(k, system);
  }

  /// Solves in place: z is the right-hand side and becomes the solution.
  SALTUS_FN_COLD void solve(state (&z)[count]) const {
    z[0] = pivot_[0].solve(z[0]);
    static_for<count - 1>([&](auto after_first) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(after_first)::value + 1;
      subtract(part<i, 0>(), mass_[i].times_mass(z[0]), z[i]);
    });
    for (int k = 1; k < count; ++k) {
      z[k] = pivot_[k].solve(z[k]);
      for (int i = k + 1; i < count; ++i) subtract(Real(1.0), times(rest_[i][k], z[k]), z[i]);
    }
    for (int k = count - 2; k > 0; --k)
      for (int l = count - 1; l > k; --l) subtract(Real(1.0), times(rest_[k][l], z[l]), z[k]);
    state others;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { others[a] = part<0, count - 1>() * z[count - 1][a]; });
    static_for<count - 2>([&](auto before_last) SALTUS_INLINE_LAMBDA {
      constexpr int l = count - 2 - decltype(before_last)::value;
      each<n>([&](int a) SALTUS_INLINE_LAMBDA { others[a] = fma(part<0, l>(), z[l][a], others[a]); });
    });
    subtract(Real(1.0), times(by_first_, others), z[0]);
  }

  /// The same with the transposed matrix, where M is I: the steps of `solve` transposed, from the last to the first.
  SALTUS_FN_COLD void solve_transposed(state (&z)[count]) const requires(System::kind == equations::plain) {
    const auto of_first = times_transposed(by_first_, z[0]);
    static_for<count - 1>([&](auto before) SALTUS_INLINE_LAMBDA {
      constexpr int l = decltype(before)::value + 1;
      subtract(part<0, l>(), of_first, z[l]);
    });
    for (int k = 1; k < count - 1; ++k)
      for (int l = k + 1; l < count; ++l) subtract(Real(1.0), times_transposed(rest_[k][l], z[k]), z[l]);
    for (int k = count - 1; k > 0; --k) {
      for (int i = k + 1; i < count; ++i) subtract(Real(1.0), times_transposed(rest_[i][k], z[i]), z[k]);
      z[k] = pivot_[k].solve_transposed(z[k]);
    }
    static_for<count - 1>([&](auto after_first) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(after_first)::value + 1;
      subtract(part<i, 0>(), z[i], z[0]);
    });
    z[0] = pivot_[0].solve_transposed(z[0]);
  }

 private:
  Real rate_;
  mass_matrix<System, Real, n> mass_[count];
  factors pivot_[count];
  block by_first_;  ///< pivot[0]^-1 M
  /// The matrix that remains when the first stage is eliminated: blocks below the diagonal reduce the rows there, blocks above it are those
  /// of the reduced rows.
  block rest_[count][count];

  template <int i, int l>
  SALTUS_FN Real part() const {
    return rate_ * Real(Method::inverse_a[i][l]);
  }
  SALTUS_FN static void subtract(Real factor, const state& x, state& from) {
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { from[a] = fma(-factor, x[a], from[a]); });
  }
  SALTUS_FN static state times(const block& m, const state& x) {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA {
      Real sum = m[a][0] * x[0];
      for (int b = 1; b < n; ++b) sum = fma(m[a][b], x[b], sum);
      r[a] = sum;
    });
    return r;
  }
  SALTUS_FN static state times_transposed(const block& m, const state& x) {
    state r;
    each<n>([&](int b) SALTUS_INLINE_LAMBDA {
      Real sum = m[0][b] * x[0];
      for (int a = 1; a < n; ++a) sum = fma(m[a][b], x[a], sum);
      r[b] = sum;
    });
    return r;
  }
  SALTUS_FN static state column(const block& m, int b) {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = m[a][b]; });
    return r;
  }
  SALTUS_FN static state unit(int b) {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = Real(a == b ? 1.0 : 0.0); });
    return r;
  }
  SALTUS_FN static void set_column(block& m, int b, const state& x) {
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { m[a][b] = x[a]; });
  }

  /// Block (i, l) of the matrix that remains when the first stage is eliminated.
  template <int i, int l>
  SALTUS_FN_COLD block without_first(const stage& of) const {
    block r;
    if constexpr (i == l) r = of.shifted(part<i, i>());
    for (int b = 0; b < n; ++b) {
      state to = column(r, b);
      if constexpr (i != l) {
        const auto mass = of.times_mass(unit(b));
        each<n>([&](int a) SALTUS_INLINE_LAMBDA { to[a] = part<i, l>() * mass[a]; });
      }
      subtract(part<i, 0>() * part<0, l>(), of.times_mass(column(by_first_, b)), to);
      set_column(r, b, to);
    }
    return r;
  }
  /// Eliminates stage k of the rest.
  SALTUS_FN_COLD void eliminate(int k, const System& system) {
    pivot_[k] = factorise(rest_[k][k], algebra_of(system));
    for (int l = k + 1; l < count; ++l)
      for (int b = 0; b < n; ++b) {
        set_column(rest_[k][l], b, pivot_[k].solve(column(rest_[k][l], b)));
        for (int i = k + 1; i < count; ++i) {
          state to = column(rest_[i][l], b);
          subtract(Real(1.0), times(rest_[i][k], column(rest_[k][l], b)), to);
          set_column(rest_[i][l], b, to);
        }
      }
  }
};

}  // namespace saltus::detail
