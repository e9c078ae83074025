// The derivatives of an implicit step with respect to parameters: those of the step itself as it was computed, whatever its error.
//
// A stage solves equations G(u, y0, p) = 0; once it is solved its derivative solves the linear system  G_u u' = -(G_y y0' + G_p),  whose
// right-hand side is G over dual numbers with u held. So S has the order and the stability of the method: it is the method applied to the
// variational equations (a direct staggered corrector: M. Caracotsios, W. E. Stewart, Comput. Chem. Eng. 9 (1985) 359; W. F. Feehery,
// J. E. Tolsma, P. I. Barton, Appl. Numer. Math. 25 (1997) 41).
//
// For Rosenbrock methods G_u is the matrix of the step, which is there, and what is held includes it: second derivatives, by duals of
// duals. The stages of Runge-Kutta methods are solved by Newton's iteration with a matrix from the beginning of the step; their G_u is
// that at the stage, and is factorised there, so that nothing is left to iterate.
#pragma once

#include "method/dirk.hpp"
#include "method/radau.hpp"
#include "method/rosenbrock.hpp"

namespace saltus::detail {

/// Sees the stages of a step (`take_stages`) of `Settle`, and makes the same step for the derivatives of y in k directions. `Lifted` is
/// the system over dual numbers.
template <class Method, class Settle, class System, class Lifted, class Real, int n, int k>
struct derived_step {
  using lifted = dual<Real, k>;
  using points = vec<lifted, n>;

  Settle settle;
  const System& system;
  Lifted over_duals;
  Real t, h;
  points y, f0;
  stages<Method, Real, n> of[k];  ///< of each direction

  SALTUS_FN derived_step(const Settle& settles, const System& of_values, const Lifted& of_duals, Real begin,
                         Real length, const points& at, const points& slopes)
      : settle(settles), system(of_values), over_duals(of_duals), t(begin), h(length), y(at), f0(slopes) {}

  template <class Step>
  SALTUS_FN void operator()(Step& s) const {
    settle(s);
  }

  /// A step of a Rosenbrock method: its matrix and its increments.
  template <class Matrix, int count>
  requires(Method::is_rosenbrock) SALTUS_FN_COLD void take_stages(const Matrix& w, const vec<Real, n> (&u)[count]) {
    const linear_system<Lifted, lifted, n> lin(over_duals, lifted(t), y, f0);
    const Real rate = Real(1.0) / h;
    const auto matrix = lin.shifted(lifted(rate * Real(1.0 / Method::gamma)));
    points all[count], point = y;
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      points right = lin.f;
      if constexpr (i >= Method::tail) {
        each<n>([&](int a) SALTUS_INLINE_LAMBDA { point[a] = point[a] + all[i - 1][a]; });
      } else if constexpr (i > 0) {
        point = combine_onto<i>(y, all, [](auto j) { return Method::a[i][decltype(j)::value]; });
      }
      if constexpr (i > 0) {
        right = over_duals.rhs(lifted(fma(Real(Method::c[i]), h, t)), point);
        const auto sum = lin.times_mass(combine<i>(all, [](auto j) { return Method::u[i][decltype(j)::value]; }));
        each<n>([&](int a) SALTUS_INLINE_LAMBDA { right[a] = right[a] + rate * sum[a]; });
      }
      if constexpr (Method::d[i] != 0.0)
        each<n>([&](int a) SALTUS_INLINE_LAMBDA { right[a] = right[a] + (Real(Method::d[i]) * h) * lin.dt[a]; });
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        for (int b = 0; b < n; ++b) right[a] = right[a] - matrix[a][b] * u[i][b];
      });
      solve(w, right, 1.0, u[i], all[i]);
    });
    for (int j = 0; j < k; ++j) {
      vec<Real, n> last, increments[count];
      each<n>([&](int a) SALTUS_INLINE_LAMBDA { last[a] = point[a].d[j]; });
      for (int i = 0; i < count; ++i) each<n>([&](int a) SALTUS_INLINE_LAMBDA { increments[i][a] = all[i][a].d[j]; });
      begin(j);
      of[j].error = increments[count - 1];
      leave_out<System>(of[j].error);
      set_dense_output(of[j], last, increments, rate);
    }
  }

  /// A step of a diagonally implicit method: the slopes of its stages.
  template <class Matrix, int count>
  requires(Method::kind == methods::family::dirk) SALTUS_FN_COLD
      void take_stages(const Matrix& w, const vec<Real, n> (&slopes)[count]) {
    constexpr int first = Method::explicit_first ? 1 : 0;
    const Real shift = Real(1.0 / Method::gamma) / h, part = Real(Method::gamma) * h;
    points all[count], point = y;
    if constexpr (Method::explicit_first) all[0] = f0;
    static_for<count - first>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = first + decltype(stage)::value;
      const Real time = fma(Real(Method::c[i]), h, t);
      const auto sum = combine<i>(all, [](auto j) { return Method::a[i][decltype(j)::value]; });
      vec<Real, n> at;
      points held;
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        point[a] = y[a];
        if constexpr (i > 0) point[a] = point[a] + h * sum[a];
        point[a] = point[a] + part * slopes[i][a];
        held[a] = lifted(slopes[i][a]);
        at[a] = point[a].value;
      });
      const linear_system<System, Real, n> there(system, time, at, slopes[i]);
      const auto matrix = factorise(there.shifted(shift), algebra_of(system));
      solve(matrix, over_duals.residual(lifted(time), point, held), -shift, slopes[i], all[i]);
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        for (int j = 0; j < k; ++j) point[a].d[j] = fma(part, all[i][a].d[j], point[a].d[j]);
      });
    });
    const linear_system<Lifted, lifted, n> lin(over_duals, lifted(t), y, f0);
    const auto e = combine<count>(all, [](auto j) { return Method::e[decltype(j)::value]; });
    const auto s0 = combine<count>(all, [](auto j) { return Method::slope0[decltype(j)::value]; });
    solve_errors(w, lin.times_mass(e), 1.0 / Method::gamma);
    for (int j = 0; j < k; ++j) {
      begin(j);
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        of[j].y1[a] = point[a].d[j];
        of[j].slope0[a] = s0[a].d[j];
        of[j].slope1[a] = all[count - 1][a].d[j];
      });
    }
  }

  /// A step of Radau IIA: the increments of its stages, which are solved for together.
  template <class Matrix>
  requires(Method::kind == methods::family::collocation) SALTUS_FN_COLD
      void take_stages(const Matrix& w, const vec<Real, n> (&z)[3]) {
    const Real rate = Real(1.0) / h;
    matrix<Real, 3 * n> whole;
    vec<lifted, 3 * n> right, moved;
    vec<Real, 3 * n> held;
    static_for<3>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      const Real time = fma(Real(Method::c[i]), h, t);
      auto along = combine<3>(z, [](auto j) { return Method::inverse_a[i][decltype(j)::value]; });
      vec<Real, n> at;
      points point, slope_there;
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        along[a] = along[a] * rate;
        point[a] = y[a] + z[i][a];
        slope_there[a] = lifted(along[a]);
        at[a] = point[a].value;
      });
      const linear_system<System, Real, n> there(system, time, at, along);
      static_for<3>([&](auto other) SALTUS_INLINE_LAMBDA {
        constexpr int l = decltype(other)::value;
        constexpr double part = Method::inverse_a[i][l];
        for (int a = 0; a < n; ++a)
          for (int b = 0; b < n; ++b) {
            const Real own = i == l ? there.minus_j[a][b] : Real(0.0);
            if constexpr (there.has_mass) whole[n * i + a][n * l + b] = fma(rate * Real(part), there.m[a][b], own);
            else whole[n * i + a][n * l + b] = a == b && System::index(a) == 0 ? fma(rate, Real(part), own) : own;
          }
      });
      const auto r = over_duals.residual(lifted(time), point, slope_there);
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        right[n * i + a] = r[a];
        held[n * i + a] = z[i][a];
      });
    });
    solve(factorise(whole, algebra_of(system)), right, -1.0, held, moved);
    points stage[3];
    for (int i = 0; i < 3; ++i) each<n>([&](int a) SALTUS_INLINE_LAMBDA { stage[i][a] = moved[n * i + a]; });
    const linear_system<Lifted, lifted, n> lin(over_duals, lifted(t), y, f0);
    auto e = combine<3>(stage, [](auto j) { return Method::e[decltype(j)::value]; });
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { e[a] = rate * e[a]; });
    e = lin.times_mass(e);
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { e[a] = e[a] + lin.f[a]; });
    solve_errors(w, e, 1.0);
    const auto s0 = combine<3>(stage, [](auto j) { return Method::slope0[decltype(j)::value]; });
    const auto s1 = combine<3>(stage, [](auto j) { return Method::inverse_a[2][decltype(j)::value]; });
    for (int j = 0; j < k; ++j) {
      begin(j);
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        of[j].y1[a] = y[a].d[j] + stage[2][a].d[j];
        of[j].slope0[a] = s0[a].d[j] * rate;
        of[j].slope1[a] = s1[a].d[j] * rate;
      });
    }
  }

 private:
  SALTUS_FN void begin(int j) {
    of[j].t = t;
    of[j].h = h;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { of[j].y[a] = y[a].d[j]; });
  }

  /// to = value, with the derivatives `factor` w^-1 right.
  template <class Matrix, class Factor, int m>
  SALTUS_FN void solve(const Matrix& w, const vec<lifted, m>& right, Factor factor, const vec<Real, m>& value,
                       vec<lifted, m>& to) const {
    each<m>([&](int a) SALTUS_INLINE_LAMBDA { to[a].value = value[a]; });
    for (int j = 0; j < k; ++j) {
      vec<Real, m> one;
      each<m>([&](int a) SALTUS_INLINE_LAMBDA { one[a] = right[a].d[j] * Real(factor); });
      one = w.solve(one);
      each<m>([&](int a) SALTUS_INLINE_LAMBDA { to[a].d[j] = one[a]; });
    }
  }

  /// The estimates of the errors of the derivatives: the matrix takes their stiff parts out.
  template <class Matrix>
  SALTUS_FN void solve_errors(const Matrix& w, const points& inside, double factor) {
    for (int j = 0; j < k; ++j) {
      vec<Real, n> one;
      each<n>([&](int a) SALTUS_INLINE_LAMBDA { one[a] = inside[a].d[j] * Real(factor); });
      of[j].error = w.solve(one);
      leave_out<System>(of[j].error);
    }
  }
};

}  // namespace saltus::detail
