// The matrix of the three stages of a collocation method, each stage linearised at its own point:
//
//     row i:   (1/h) M_i sum_l (A^-1)_il z_l  -  J_i z_i
//
// It is eliminated stage by stage, with pivots chosen within a stage: off-diagonal blocks are multiples of M_i, which saves products, and
// each block is small enough for registers. With A^-1 of Radau IIA the diagonal blocks stay regular for all eigenvalues of J with no
// positive real part: they are 3.22 - z, then 0.78 - z + 4.17 / (3.22 - z), z being h times the eigenvalue; the last is the denominator
// of the Pade approximation divided by these two.
#pragma once

#include "linear/factorised.hpp"
#include "linear/jacobian.hpp"

namespace saltus::detail {

template <class Method, class System, class Real, int n>
class collocation_matrix {
  using state = vec<Real, n>;
  using block = matrix<Real, n>;
  using stage = linear_system<System, Real, n>;
  using factors = decltype(factorise(block{}, algebra_of(*static_cast<const System*>(nullptr))));

 public:
  /// `of`: the equations of each stage, linearised at its point; `rate` is 1/h.
  SALTUS_FN_COLD collocation_matrix(const System& system, const stage (&of)[3], Real rate)
      : rate_(rate),
        second_mass_(of[1]),
        third_mass_(of[2]),
        first_(factorise(of[0].shifted(part<0, 0>()), algebra_of(system))),
        by_first_(columns_of(of[0])),
        second_(factorise(reduced<1, 1>(of[1]), algebra_of(system))),
        by_second_(solved(second_, reduced<1, 2>(of[1]))),
        third_to_second_(reduced<2, 1>(of[2])),
        third_(factorise(less_product_of(reduced<2, 2>(of[2])), algebra_of(system))) {}

  /// Solves in place: z is the right-hand side and becomes the solution.
  SALTUS_FN_COLD void solve(state (&z)[3]) const {
    z[0] = first_.solve(z[0]);
    subtract(part<1, 0>(), second_mass_.times_mass(z[0]), z[1]);
    z[1] = second_.solve(z[1]);
    subtract(part<2, 0>(), third_mass_.times_mass(z[0]), z[2]);
    subtract(Real(1.0), times(third_to_second_, z[1]), z[2]);
    z[2] = third_.solve(z[2]);
    subtract(Real(1.0), times(by_second_, z[2]), z[1]);
    state others;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { others[a] = fma(part<0, 1>(), z[1][a], part<0, 2>() * z[2][a]); });
    subtract(Real(1.0), times(by_first_, others), z[0]);
  }

 private:
  Real rate_;
  mass_matrix<System, Real, n> second_mass_, third_mass_;
  factors first_;
  block by_first_;  ///< first^-1 M
  factors second_;
  block by_second_, third_to_second_;  ///< of the matrix that remains when the first stage is eliminated
  factors third_;

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

  SALTUS_FN_COLD block columns_of(const stage& of) const {
    block r;
    for (int b = 0; b < n; ++b) set_column(r, b, first_.solve(of.times_mass(unit(b))));
    return r;
  }
  SALTUS_FN_COLD static block solved(const factors& w, const block& m) {
    block r;
    for (int b = 0; b < n; ++b) set_column(r, b, w.solve(column(m, b)));
    return r;
  }
  /// Block (i, l) of the matrix that remains when the first stage is eliminated.
  template <int i, int l>
  SALTUS_FN_COLD block reduced(const stage& of) const {
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
  SALTUS_FN_COLD block less_product_of(block m) const {
    for (int b = 0; b < n; ++b) {
      state to = column(m, b);
      subtract(Real(1.0), times(third_to_second_, column(by_second_, b)), to);
      set_column(m, b, to);
    }
    return m;
  }
};

}  // namespace saltus::detail
