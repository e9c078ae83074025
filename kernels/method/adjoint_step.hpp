// The adjoint of an implicit step of dy/dt = f(t, y): the transpose of its derivative (method/step_derivatives.hpp), exact for the step as
// computed. With mu_i the multiplier of the equations of stage i, each solved with the transposed matrix of forward mode, a step hands on
//
//     diagonally implicit   (I - h gamma J_i)^T mu_i = adjoint(k_i),    adjoint(base_i) = J_i^T mu_i
//     Radau IIA             sum over i of (A^-1)_il mu_i / h - J_l^T mu_l = adjoint(z_l)
//     Rosenbrock            W^T mu_i = adjoint(u_i),    adjoint(Y_i) = f_y^T mu_i,    and (d/d(y, p) (J u_i + d_i h f_t))^T mu_i
//
// J_i is the matrix at the stage, W that of the step. (Hager, Numer. Math. 87 (2000) 247, for Runge-Kutta methods.)
#pragma once

#include "method/collocation_matrix.hpp"
#include "method/dirk.hpp"
#include "method/radau.hpp"
#include "method/rosenbrock.hpp"

namespace saltus {

/// True for an implicit method whose first stage is the slope at the beginning.
template <class Method>
concept has_explicit_first = !Method::is_explicit && requires {
  requires Method::explicit_first;
};

namespace detail {

/// Receives the stages of a step (`take_stages`), whose end has the adjoint `weight` and the slope there `slope_weight`, and finds the adjoints
/// of its beginning and of the slope there. It uses two sweeps of a tape, which also add to the adjoints of the parameters:
///
///     sweep.through_rhs(t, y, w)               f_y^T w
///     sweep.through_slope(t, y, dt, dy, w)     (f_ty dt + f_yy dy)^T w, of the change of f along (dt, dy)
template <class Method, class System, class Sweep, class Real, int n>
struct adjoint_step {
  using state = vec<Real, n>;
  static constexpr bool sees_points = true;
  static_assert(System::kind == equations::plain);

  const System& system;
  Sweep& sweep;
  Real t, h;
  const state &y, &weight, &slope_weight;
  // The results:
  state of_start;
  state of_first_slope;  ///< of methods whose first stage it is

  template <class Step>
  SALTUS_FN void operator()(Step&) const {}

  /// A step of a Rosenbrock method: its matrix, the points of its stages and its increments.
  template <class Matrix, int count>
  requires(Method::is_rosenbrock) SALTUS_FN_COLD
      void take_stages(const Matrix& w, const state (&at)[count], const state (&u)[count]) {
    const Real rate = Real(1.0) / h;
    state of_increment[count], of_point = weight;
    begin(of_increment);
    of_start = zero();
    add(-rate, slope_weight, of_start);
    add(rate, slope_weight, of_point);
    static_for<count>([&](auto j) SALTUS_INLINE_LAMBDA {
      constexpr double sum = [] {
        double r = 0.0;
        for (int power = 0; power < Method::dense_powers; ++power) r += Method::dense[power][decltype(j)::value];
        return r;
      }();
      add(Real(-sum) * rate, slope_weight, of_increment[j]);
    });
    add(Real(1.0), of_point, of_increment[count - 1]);
    static_for<count>([&](auto before_last) SALTUS_INLINE_LAMBDA {
      through_increment<count - 1 - decltype(before_last)::value>(w, at, u, of_increment, of_point);
    });
  }

  /// A step of a diagonally implicit method: the points of its stages and its slopes there.
  template <class Matrix, int count>
  requires(Method::kind == methods::family::dirk) SALTUS_FN_COLD
      void take_stages(const Matrix&, const state (&at)[count], const state (&slopes)[count]) {
    constexpr int first = Method::explicit_first ? 1 : 0;
    state of_slope[count];
    begin(of_slope);
    of_start = zero();
    of_slope[count - 1] = slope_weight;
    add(Real(Method::gamma) * h, weight, of_slope[count - 1]);
    static_for<count - first>([&](auto before_last) SALTUS_INLINE_LAMBDA {
      through_stage<count - 1 - decltype(before_last)::value>(at, slopes, of_slope);
    });
    if constexpr (Method::explicit_first) of_first_slope = of_slope[0];
  }

  /// A step of Radau IIA: the increments of its stages.
  template <class Matrix, int count>
  requires(Method::kind == methods::family::collocation) SALTUS_FN_COLD
      void take_stages(const Matrix&, const state (&z)[count]) {
    const Real rate = Real(1.0) / h;
    state at[count], multiplier[count];
    each<count>([&](int i)
                    SALTUS_INLINE_LAMBDA { each<n>([&](int a) SALTUS_INLINE_LAMBDA { at[i][a] = y[a] + z[i][a]; }); });
    const auto equations_of = [&](int i) SALTUS_INLINE_LAMBDA {
      return linear_system<System, Real, n>(system, fma(Real(Method::c[i]), h, t), at[i], y);
    };
    begin(multiplier);
    multiplier[count - 1] = weight;
    of_start = zero();
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr double part = Method::inverse_a[count - 1][decltype(stage)::value];
      add(Real(part) * rate, slope_weight, multiplier[stage]);
      add(Real(-part) * rate, slope_weight, of_start);
    });
    collocation_matrix<Method, System, Real, n>(system, equations_of, rate).solve_transposed(multiplier);
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      constexpr double sum = [] {
        double r = 0.0;
        for (int l = 0; l < count; ++l) r += Method::inverse_a[i][l];
        return r;
      }();
      add(Real(sum) * rate, multiplier[i], of_start);
      sweep.through_rhs(fma(Real(Method::c[i]), h, t), at[i], multiplier[i]);
    });
  }

 private:
  SALTUS_FN static state zero() {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = Real(0.0); });
    return r;
  }
  template <int count>
  SALTUS_FN static void begin(state (&all)[count]) {
    for (int i = 0; i < count; ++i) all[i] = zero();
  }
  /// to + factor x
  SALTUS_FN static void add(Real factor, const state& x, state& to) {
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { to[a] = fma(factor, x[a], to[a]); });
  }

  /// Stage i of a Rosenbrock method; `of_point` is the adjoint of its point, and becomes that of the stage before it.
  template <int i, class Matrix, int count>
  SALTUS_FN_COLD void through_increment(const Matrix& w, const state (&at)[count], const state (&u)[count],
                                        state (&of_increment)[count], state& of_point) {
    const Real rate = Real(1.0) / h;
    const auto multiplier = w.solve_transposed(of_increment[i]);
    add(Real(1.0), sweep.through_slope(t, y, Real(Method::d[i]) * h, u[i], multiplier), of_start);
    add(Real(1.0), sweep.through_rhs(fma(Real(Method::c[i]), h, t), at[i], multiplier), of_point);
    static_for<i>([&](auto before) SALTUS_INLINE_LAMBDA {
      constexpr int l = decltype(before)::value;
      add(Real(Method::u[i][l]) * rate, multiplier, of_increment[l]);
      if constexpr (i < Method::tail) add(Real(Method::a[i][l]), of_point, of_increment[l]);
    });
    if constexpr (i >= Method::tail) {
      add(Real(1.0), of_point, of_increment[i - 1]);
    } else {
      add(Real(1.0), of_point, of_start);
      of_point = zero();
    }
  }

  /// Stage i of a diagonally implicit method. Its adjoint J^T mu is taken from the equations of mu, in which rounding does not grow with J.
  template <int i, int count>
  SALTUS_FN_COLD void through_stage(const state (&at)[count], const state (&slopes)[count], state (&of_slope)[count]) {
    const Real time = fma(Real(Method::c[i]), h, t), shift = Real(1.0 / Method::gamma) / h;
    const linear_system<System, Real, n> there(system, time, at[i], slopes[i]);
    state of_base = zero();
    add(shift, of_slope[i], of_base);
    const auto multiplier = factorise(there.shifted(shift), algebra_of(system)).solve_transposed(of_base);
    sweep.through_rhs(time, at[i], multiplier);
    each<n>([&](int a) SALTUS_INLINE_LAMBDA {
      of_base[a] = fma(shift, multiplier[a], -of_base[a]);
      if constexpr (i == count - 1) of_base[a] = of_base[a] + weight[a];
    });
    add(Real(1.0), of_base, of_start);
    static_for<i>([&](auto before) SALTUS_INLINE_LAMBDA {
      constexpr int l = decltype(before)::value;
      add(Real(Method::a[i][l]) * h, of_base, of_slope[l]);
    });
  }
};

}  // namespace detail
}  // namespace saltus
