// The derivatives of an implicit step with respect to parameters: they are exact for the step as computed, whatever its error.
//
// A stage solves equations G(u, y0, p) = 0. Its derivative solves the linear system  G_u u' = -(G_y y0' + G_p),  whose right-hand side is G
// over dual numbers with u held constant. This is the method applied to the variational equations, so the sensitivities have its order and
// stability (a direct staggered corrector: M. Caracotsios, W. E. Stewart, Comput. Chem. Eng. 9 (1985) 359; W. F. Feehery, J. E. Tolsma, P.
// I. Barton, Appl. Numer. Math. 25 (1997) 41).
//
// For Rosenbrock methods G_u is the matrix of the step, which is already factorised. It is part of G, so G over dual numbers needs second
// derivatives of f, by duals of duals. The stages of Runge-Kutta methods are solved by Newton's iteration with a matrix from the beginning
// of the step. Their G_u is the matrix at the stage and is factorised there, so no iteration is needed.
//
// The directions are processed one after the other, and the work of a stage for one direction is a function of its own. So it stays in the
// nearest cache and loads data where it uses them. A compiler that sees all stages at once keeps their common values and runs out of
// registers.
#pragma once

#include "method/collocation_matrix.hpp"
#include "method/dirk.hpp"
#include "method/radau.hpp"
#include "method/rosenbrock.hpp"

namespace saltus::detail {

/// Receives the stages of a step (`take_stages`) in place of `Settle`, and makes the same step for the derivatives of y in k directions,
/// which stand behind the n states in `y`, `f0` and `out`. lift(j) is the system over dual numbers in direction j. `WithDense`,
/// `WithError`: its dense output, or its error, is needed.
template <class Method, bool WithDense, bool WithError, class Settle, class System, class Lift, class Real, int n,
          int k>
struct derived_step {
  using state = vec<Real, n>;
  using lifted = dual<Real>;
  using points = vec<lifted, n>;
  using lifted_system = decltype(static_cast<Lift*>(nullptr)->operator()(0));
  using lifted_mass = mass_matrix<lifted_system, lifted, n>;
  using all_states = vec<Real, n*(1 + k)>;
  static constexpr bool sees_points = true;

  Settle settle;
  const System& system;
  Lift lift;
  Real t, h;
  const all_states &y, &f0;
  stages<Method, Real, n*(1 + k)>& out;

  template <class Step>
  SALTUS_FN void operator()(Step& s) const {
    settle(s);
  }

  /// A step of a Rosenbrock method: its matrix, the points of its stages and its increments.
  template <class Matrix, int count>
  requires(Method::is_rosenbrock) SALTUS_FN_COLD
      void take_stages(const Matrix& w, const state (&at)[count], const state (&u)[count]) {
    begin_quadratures();
    for (int j = 0; j < k; ++j) move_increments(j, w, u, at);
  }

  /// A step of a diagonally implicit method: the points of its stages and its slopes there.
  template <class Matrix, int count>
  requires(Method::kind == methods::family::dirk) SALTUS_FN_COLD
      void take_stages(const Matrix& w, const state (&at)[count], const state (&slopes)[count]) {
    constexpr int first = Method::explicit_first ? 1 : 0;
    state all[k][count], moved[k];
    begin_quadratures();
    if constexpr (Method::explicit_first)
      for (int j = 0; j < k; ++j) all[j][0] = rates_of(f0, j);
    static_for<count - first>(
        [&](auto stage) SALTUS_INLINE_LAMBDA { move_stage<first + decltype(stage)::value>(at, slopes, all, moved); });
    for (int j = 0; j < k; ++j) put_slopes(j, w, slopes, moved[j], all[j]);
  }

  /// A step of Radau IIA: the increments of its stages, which are solved for together.
  template <class Matrix, int count>
  requires(Method::kind == methods::family::collocation) SALTUS_FN_COLD
      void take_stages(const Matrix& w, const state (&z)[count]) {
    state at[count], slopes[count];
    const Real rate = Real(1.0) / h;
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      slopes[i] = scaled(rate, combine<count>(z, [](auto l) { return Method::inverse_a[i][decltype(l)::value]; }));
      each<n>([&](int a) SALTUS_INLINE_LAMBDA { at[i][a] = y[a] + z[i][a]; });
    });
    const auto equations_of = [&](int i) SALTUS_INLINE_LAMBDA {
      return linear_system<System, Real, n>(system, fma(Real(Method::c[i]), h, t), at[i], slopes[i]);
    };
    const collocation_matrix<Method, System, Real, n> matrix(system, equations_of, rate);
    begin_quadratures();
    for (int j = 0; j < k; ++j) move_collocation(j, matrix, w, z, at, slopes);
  }

 private:
  static constexpr bool is_implicit = System::kind == equations::implicit;
  static constexpr bool has_mass = lifted_mass::has_mass;

  // ---- values, and their derivatives in direction j

  SALTUS_FN static state values_of(const all_states& of) {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = of[a]; });
    return r;
  }
  SALTUS_FN static state rates_of(const all_states& of, int j) {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = of[n * (1 + j) + a]; });
    return r;
  }
  SALTUS_FN static state rates_of(const points& of) {
    state r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = of[a].d[0]; });
    return r;
  }
  SALTUS_FN static points with_rates(const state& values, const state& moved) {
    points r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = lifted(values[a], moved[a]); });
    return r;
  }
  SALTUS_FN static points held(const state& values) {
    points r;
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { r[a] = lifted(values[a]); });
    return r;
  }
  /// y, or f0, with its derivatives.
  SALTUS_FN static points along(const all_states& of, int j) { return with_rates(values_of(of), rates_of(of, j)); }

  /// to + factor x
  SALTUS_FN static void add(Real factor, const state& x, state& to) {
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { to[a] = fma(factor, x[a], to[a]); });
  }
  SALTUS_FN static state scaled(Real factor, state x) {
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { x[a] = factor * x[a]; });
    return x;
  }

  // ---- changes of the equations in direction j

  /// The change of f at a point that moves; the change of F there with dy/dt held.
  SALTUS_FN_FLAT static state move_field(const lifted_system& over_duals, Real time, const state& at,
                                         const state& moved) {
    return rates_of(over_duals.rhs(lifted(time), with_rates(at, moved)));
  }
  SALTUS_FN_FLAT static state move_residual(const lifted_system& over_duals, Real time, const state& at,
                                            const state& moved, const state& rate) {
    return rates_of(over_duals.residual(lifted(time), with_rates(at, moved), held(rate)));
  }

  /// M at the beginning of the step; for F(t, y, dy) = 0 it is dF/d(dy).
  SALTUS_FN lifted_mass mass_at_start(int j) const {
    lifted_mass r;
    if constexpr (is_implicit) r.m = linearise(lift(j), lifted(t), along(y, j), along(f0, j)).by_rate;
    else if constexpr (has_mass) r.m = lift(j).mass();
    return r;
  }
  /// The change of M v when v moves.
  SALTUS_FN static state move_mass(const lifted_mass& mass, const state& v, const state& moved) {
    return rates_of(mass.times_mass(with_rates(v, moved)));
  }

  // ---- integrated quantities (method/quadrature.hpp): they are followed by the derivative of quantity i in direction j

  static constexpr int quantities = Method::quadratures / (1 + k);
  SALTUS_FN static constexpr int rate_of_quantity(int i, int j) { return quantities + i * k + j; }

  SALTUS_FN_COLD vec<Real, quantities> move_quantities(const lifted_system& over_duals, Real time, const state& at,
                                                       const state& moved) const {
    vec<Real, quantities> r;
    const auto q = over_duals.quantities(lifted(time), with_rates(at, moved));
    each<quantities>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = q[i].d[0]; });
    return r;
  }
  SALTUS_FN void begin_quadratures() {
    if constexpr (quantities > 0)
      for (int j = 0; j < k; ++j) {
        const auto q = move_quantities(lift(j), t, values_of(y), rates_of(y, j));
        for (int i = 0; i < quantities; ++i) {
          const int at = rate_of_quantity(i, j);
          out.at_start[at] = q[i];
          out.low[at] = out.high[at] = out.integral[at] = out.integral_error[at] = Real(0.0);
        }
      }
  }
  /// Adds stage number `stage` of a Runge-Kutta method at (time, at), which moves in direction j.
  template <int stage>
  SALTUS_FN void add_to_quadratures(int j, Real time, const state& at, const state& moved) const {
    constexpr double b = weight_at_end_of<stage>();
    if constexpr (quantities > 0 && b != 0.0) {
      const auto q = move_quantities(lift(j), time, at, moved);
      for (int i = 0; i < quantities; ++i) {
        const int to = rate_of_quantity(i, j);
        out.integral[to] = fma(Real(b) * h, q[i] - out.at_start[to], out.integral[to]);
      }
    }
  }
  template <int stage>
  SALTUS_FN static constexpr double weight_at_end_of() {
    if constexpr (Method::is_rosenbrock) return 0.0;
    else return weight_at_end<Method>(stage);
  }
  /// The increments of the quadratures of a Rosenbrock method.
  template <int count>
  struct moved_quadratures {
    vec<Real, quantities> u[count];
  };
  template <int stage, int count>
  SALTUS_FN void move_quadrature(int j, const lifted_system& over_duals, Real rate, const state& at, const state& moved,
                                 const state& u, const state& moved_u, moved_quadratures<count>& all) {
    if constexpr (quantities > 0) {
      const auto q = move_quantities(over_duals, fma(Real(Method::c[stage]), h, t), at, moved);
      const auto along_u = over_duals.quantities_through(lifted(t), lifted(Real(Method::d[stage]) * h), along(y, j),
                                                         with_rates(u, moved_u));
      const auto before = combine<stage>(all.u, [](auto l) { return Method::u[stage][decltype(l)::value]; });
      for (int i = 0; i < quantities; ++i) {
        const Real change = q[i] - out.at_start[rate_of_quantity(i, j)];
        all.u[stage][i] = Real(Method::gamma) * h * fma(rate, before[i], change + along_u[i].d[0]);
      }
    }
  }
  template <int count>
  SALTUS_FN void put_quadratures(int j, const moved_quadratures<count>& all) {
    if constexpr (quantities > 0) {
      constexpr int from = Method::tail - 1;
      auto sum = combine<from>(all.u, [](auto l) { return Method::a[from][decltype(l)::value]; });
      for (int i = 0; i < quantities; ++i) {
        for (int stage = from; stage < count; ++stage) sum[i] = sum[i] + all.u[stage][i];
        out.integral[rate_of_quantity(i, j)] = sum[i];
      }
    }
  }

  // ---- Rosenbrock methods

  template <class Matrix, int count>
  SALTUS_FN void move_increments(int j, const Matrix& w, const state (&u)[count], const state (&at)[count]) {
    const Real rate = Real(1.0) / h;
    const auto over_duals = lift(j);
    const auto mass = mass_at_start(j);
    state moved = rates_of(y, j), right, all[count];
    decltype(moves_of_matrix<count>()) of_matrix;
    find_moves(over_duals, along(y, j), u, of_matrix, right);
    moved_quadratures<count> of_quantities;
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      if constexpr (i > 0) {
        move_point<i>(j, all, moved);
        right = move_field(over_duals, fma(Real(Method::c[i]), h, t), at[i], moved);
      }
      move_increment<i>(rate, right, of_matrix, mass, w, u, all);
      move_quadrature<i>(j, over_duals, rate, at[i], moved, u[i], all[i], of_quantities);
    });
    put_quadratures(j, of_quantities);
    put_increments(j, moved, all);
  }
  template <int i, int count>
  SALTUS_FN_COLD void move_point(int j, const state (&all)[count], state& moved) const {
    if constexpr (i >= Method::tail) add(Real(1.0), all[i - 1], moved);
    else moved = combine_onto<i>(rates_of(y, j), all, [](auto l) { return Method::a[i][decltype(l)::value]; });
  }
  template <int i, class Moves, class Matrix, int count>
  SALTUS_FN_COLD void move_increment(Real rate, const state& field, const Moves& of_matrix, const lifted_mass& mass,
                                     const Matrix& w, const state (&u)[count], state (&all)[count]) const {
    state right = field;
    if constexpr (i > 0 || has_mass) {
      constexpr auto weights = [](auto l) { return Method::u[i][decltype(l)::value]; };
      auto v = combine<i>(u, weights);
      add(Real(-1.0 / Method::gamma), u[i], v);  // u_i is multiplied by the matrix of the step, which contains M / (h
                                                 // gamma)
      add(rate, move_mass(mass, v, combine<i>(all, weights)), right);
    }
    of_matrix.template add_of_stage<i>(h, u[i], right);
    all[i] = w.solve(right);
  }

  /// The change of J u_i + d_i h f_t with u_i held, from the changes of the entries of J.
  struct moves_of_entries {
    state dt;
    matrix<Real, n> dy;

    template <int i>
    SALTUS_FN void add_of_stage(Real h, const state& u, state& to) const {
      if constexpr (Method::d[i] != 0.0) add(Real(Method::d[i]) * h, dt, to);
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        each<n>([&](int b) SALTUS_INLINE_LAMBDA {
          if (has_entry<System>(a, b)) to[a] = fma(dy[a][b], u[b], to[a]);
        });
      });
    }
  };
  /// The same for a J with many entries: derivatives of f along (d_i h, u_i), without forming J.
  template <int count>
  struct moves_along_stages {
    state of_stage[count];

    template <int i>
    SALTUS_FN void add_of_stage(Real, const state&, state& to) const {
      add(Real(1.0), of_stage[i], to);
    }
  };
  SALTUS_FN static constexpr int entries_of_jacobian() {
    int entries = 0;
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) entries += has_entry<System>(a, b) ? 1 : 0;
    return entries;
  }
  /// Chooses the cheaper one: multiplying the entries with all increments costs about as much as some evaluations of f for each.
  template <int count>
  SALTUS_FN static auto moves_of_matrix() {
    if constexpr (entries_of_jacobian() <= n * count) return moves_of_entries{};
    else return moves_along_stages<count>{};
  }

  /// Finds these changes, and the change of f at the beginning of the step.
  template <int count>
  SALTUS_FN_FLAT void find_moves(const lifted_system& over_duals, const points& begin, const state (&)[count],
                                 moves_of_entries& to, state& f) const {
    const auto l = linearise(over_duals, lifted(t), begin);
    f = rates_of(l.f);
    to.dt = rates_of(l.dt);
    each<n>([&](int a)
                SALTUS_INLINE_LAMBDA { each<n>([&](int b) SALTUS_INLINE_LAMBDA { to.dy[a][b] = l.dy[a][b].d[0]; }); });
  }
  template <int count>
  SALTUS_FN_COLD void find_moves(const lifted_system& over_duals, const points& begin, const state (&u)[count],
                                 moves_along_stages<count>& to, state& f) const {
    using how = sweeps<count, widest_sweep_of<System>()>;
    using Value = dual<lifted, how::width>;
    for (int first = 0; first < count; first += how::width) {
      Value time = Value(lifted(t));
      vec<Value, n> at;
      each<n>([&](int a) SALTUS_INLINE_LAMBDA { at[a] = Value(begin[a]); });
      for (int s = 0; s < how::width && first + s < count; ++s) {
        time.d[s] = lifted(Real(Method::d[first + s]) * h);
        each<n>([&](int a) SALTUS_INLINE_LAMBDA { at[a].d[s] = lifted(u[first + s][a]); });
      }
      const auto slopes = over_duals.rhs(time, at);
      each<n>([&](int a) SALTUS_INLINE_LAMBDA {
        f[a] = slopes[a].value.d[0];
        for (int s = 0; s < how::width && first + s < count; ++s) to.of_stage[first + s][a] = slopes[a].d[s].d[0];
      });
    }
  }

  // ---- Runge-Kutta methods

  /// The matrix of a stage at its point: one function for all stages, because an elimination is much code.
  SALTUS_FN_FLAT auto matrix_at(Real time, const state& at, const state& slope, Real shift) const {
    const linear_system<System, Real, n> there(system, time, at, slope);
    return factorise(there.shifted(shift), algebra_of(system));
  }

  /// Stage i of a diagonally implicit method, for all directions; `moved` is the change of its point in each.
  template <int i, int count>
  SALTUS_FN_COLD void move_stage(const state (&at)[count], const state (&slopes)[count], state (&all)[k][count],
                                 state (&moved)[k]) const {
    constexpr auto weights = [](auto l) { return Method::a[i][decltype(l)::value]; };
    const Real time = fma(Real(Method::c[i]), h, t), shift = Real(1.0 / Method::gamma) / h;
    const auto matrix = matrix_at(time, at[i], slopes[i], shift);
    for (int j = 0; j < k; ++j) {
      moved[j] = rates_of(y, j);
      add(h, combine<i>(all[j], weights), moved[j]);
      all[j][i] = matrix.solve(scaled(-shift, move_residual(lift(j), time, at[i], moved[j], slopes[i])));
      add(Real(Method::gamma) * h, all[j][i], moved[j]);
      add_to_quadratures<i>(j, time, at[i], moved[j]);
    }
  }

  template <class Whole, class Matrix, int count>
  SALTUS_FN_COLD void move_collocation(int j, const Whole& whole, const Matrix& w, const state (&z)[count],
                                       const state (&at)[count], const state (&slopes)[count]) {
    const auto over_duals = lift(j);
    const auto start = rates_of(y, j);
    state all[count];
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      const Real time = fma(Real(Method::c[i]), h, t);
      all[i] = scaled(Real(-1.0), move_residual(over_duals, time, at[i], start, slopes[i]));
    });
    whole.solve(all);
    static_for<count>([&](auto stage) SALTUS_INLINE_LAMBDA {
      constexpr int i = decltype(stage)::value;
      auto moved = start;
      add(Real(1.0), all[i], moved);
      add_to_quadratures<i>(j, fma(Real(Method::c[i]), h, t), at[i], moved);
    });
    put_collocation(over_duals, j, w, z, all);
  }

  // ---- results

  SALTUS_FN void put(int j, const state& x, all_states& to) const {
    each<n>([&](int a) SALTUS_INLINE_LAMBDA { to[n * (1 + j) + a] = x[a]; });
  }
  SALTUS_FN void put_error(int j, state error) {
    leave_out<System>(error);
    put(j, error, out.error);
  }
  template <int count>
  SALTUS_FN_COLD void put_increments(int j, const state& moved, const state (&all)[count]) {
    if constexpr (WithError) put_error(j, all[count - 1]);
    if constexpr (WithDense) {
      stages<Method, Real, n> s;
      s.y = rates_of(y, j);
      set_dense_output(s, moved, all, Real(1.0) / h);
      put(j, s.y1, out.y1);
      put(j, s.slope0, out.slope0);
      put(j, s.slope1, out.slope1);
      if constexpr (Method::dense_rows > 0) put(j, s.extra[0], out.extra[0]);
    } else {
      state y1 = moved;
      add(Real(1.0), all[count - 1], y1);
      put(j, y1, out.y1);
    }
  }
  template <class Matrix, int count>
  SALTUS_FN_COLD void put_slopes(int j, const Matrix& w, const state (&slopes)[count], const state& moved,
                                 const state (&all)[count]) {
    put(j, moved, out.y1);
    if constexpr (WithDense) {
      put(j, combine<count>(all, [](auto l) { return Method::slope0[decltype(l)::value]; }), out.slope0);
      put(j, all[count - 1], out.slope1);
    }
    if constexpr (WithError) {
      const auto e = [](auto l) { return Method::e[decltype(l)::value]; };
      const auto error = move_mass(mass_at_start(j), combine<count>(slopes, e), combine<count>(all, e));
      put_error(j, w.solve(scaled(Real(1.0 / Method::gamma), error)));
    }
  }
  template <class Matrix, int count>
  SALTUS_FN void put_collocation(const lifted_system& over_duals, int j, const Matrix& w, const state (&z)[count],
                                 const state (&all)[count]) {
    const Real rate = Real(1.0) / h;
    auto y1 = rates_of(y, j);
    add(Real(1.0), all[count - 1], y1);
    put(j, y1, out.y1);
    if constexpr (WithDense) {
      const auto slope = [&](auto weights) SALTUS_INLINE_LAMBDA { return scaled(rate, combine<count>(all, weights)); };
      put(j, slope([](auto l) { return Method::slope0[decltype(l)::value]; }), out.slope0);
      put(j, slope([](auto l) { return Method::inverse_a[count - 1][decltype(l)::value]; }), out.slope1);
      if constexpr (Method::dense_rows > 0)
        static_for<Method::dense_rows>([&](auto row) SALTUS_INLINE_LAMBDA {
          put(j, combine<count>(all, [](auto l) { return Method::dense[decltype(row)::value][decltype(l)::value]; }),
              out.extra[row]);
        });
    }
    if constexpr (WithError) {
      const auto e = [](auto l) { return Method::e[decltype(l)::value]; };
      const auto mass = mass_at_start(j);
      state error;
      if constexpr (is_implicit) error = move_mass(mass, values_of(f0), rates_of(f0, j));
      else error = move_field(over_duals, t, values_of(y), rates_of(y, j));
      add(rate, move_mass(mass, combine<count>(z, e), combine<count>(all, e)), error);
      put_error(j, w.solve(error));
    }
  }
};

}  // namespace saltus::detail
