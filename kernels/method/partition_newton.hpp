// Newton's matrix of the stages of coordinate partitioning, R in method/coordinate_partitioning.hpp, and the filter for errors.
#pragma once

#include "method/partition.hpp"

namespace saltus::detail {

/// The equations of a step's stages, linearised at its beginning.
template <class System, class Real>
struct linear_stages {
  using whole = partitioned_system<System, Real>;
  static constexpr int k = whole::k, m = whole::m, n = whole::n, free = whole::free;
  using by_state = typename whole::by_state;
  using by_velocity = typename whole::by_velocity;
  using by_constraint = typename whole::by_constraint;
  using by_free = typename whole::by_free;
  using bodies = typename whole::bodies;
  using how = sweeps<free>;
  static constexpr int evaluations = 2 * how::count + 1;

  const whole& bodies_in_parts;
  Real t;
  by_state y;
  by_velocity acceleration;
  by_constraint multiplier;
  typename whole::tangent here;
  matrix<Real, k> mass;
  Real turn[k][free > 0 ? free : 1];  ///< K

  SALTUS_FN_COLD linear_stages(const whole& p, Real t0, const by_state& y0, const by_velocity& a0)
      : bodies_in_parts(p),
        t(t0),
        y(y0),
        acceleration(a0),
        here(p.tangent_at(t0, y0)),
        mass(bodies::mass(p.at(t0, y0))) {
    find_multipliers();
    each_sweep<free>([&](int first) SALTUS_INLINE_LAMBDA { find_turn(first); });
  }

  /// The derivative of T' (Psi_1 - M N Psi_2) along each direction of a change of the state.
  template <int width>
  SALTUS_FN_COLD void derivative(const vec<dual<Real, width>, n>& along, by_free (&r)[width]) const {
    using Value = dual<Real, width>;
    const auto point = bodies_in_parts.at(Value(t), along);
    const auto rows = bodies::rows_at(point);
    auto left = whole::times(bodies::mass(point), acceleration);
    const auto f = bodies::force(point);
    vec<Value, m> bend = rows.bend;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      left[i] = left[i] - f[i];
      for (int c = 0; c < m; ++c) {
        left[i] = left[i] - rows.by[c][i] * multiplier[c];
        bend[c] = bend[c] + rows.by[c][i] * acceleration[i];
      }
    });
    static_for<width>([&](auto d) SALTUS_INLINE_LAMBDA {
      by_constraint second;
      each<m>([&](int c) SALTUS_INLINE_LAMBDA { second[c] = bend[c].d[d]; });
      bodies_in_parts.only_on(second);
      const auto back = whole::times(mass, bodies_in_parts.of_dependent(here.dependent.solve(second)));
      by_velocity first;
      each<k>([&](int i) SALTUS_INLINE_LAMBDA { first[i] = left[i].d[d] - back[i]; });
      r[d] = here.gather(first);
    });
  }

  /// R for h gamma.
  SALTUS_FN_COLD matrix<Real, free> reduced(Real hg) const {
    matrix<Real, free> w;
    each_sweep<free>([&](int first) SALTUS_INLINE_LAMBDA {
      vec<dual<Real, how::width>, n> along;
      each<k>([&](int i) SALTUS_INLINE_LAMBDA {
        along[i] = y[i];
        along[k + i] = y[k + i];
        for (int d = 0; d < how::width; ++d) {
          if (first + d >= free) continue;
          along[i].d[d] = hg * hg * here.along[i][first + d];
          along[k + i].d[d] = fma(hg * hg, turn[i][first + d], hg * here.along[i][first + d]);
        }
      });
      by_free r[how::width];
      derivative<how::width>(along, r);
      for (int d = 0; d < how::width; ++d) {
        if (first + d >= free) continue;
        const auto inert = inertia_of(first + d);
        each<free>([&](int i) SALTUS_INLINE_LAMBDA { w[i][first + d] = inert[i] + r[d][i]; });
      }
    });
    if constexpr (bodies::any_switched)
      for (int f = 0; f < free; ++f) {
        const int p = whole::positions::positions.of[f];
        if (p < m) w[f][f] = select(bodies_in_parts.part.on[p < m ? p : 0], Real(1.0), w[f][f]);
      }
    return w;
  }

  /// An error of the state with its stiff part damped: (I - h gamma dF)^-1 for the equations z'' = F(z, z'). `w` is R, factorised.
  template <class Matrix>
  SALTUS_FN_COLD by_state filtered(const Matrix& w, Real hg, const by_state& error) const {
    by_velocity of_q, of_v;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      of_q[i] = error[i];
      of_v[i] = error[k + i];
    });
    auto q = bodies_in_parts.free_of(of_q), v = bodies_in_parts.free_of(of_v);
    const auto dq = here.spread(q), dv = turned(q);
    vec<dual<Real>, n> along;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      along[i] = dual<Real>(y[i], dq[i]);
      along[k + i] = dual<Real>(y[k + i], dv[i]);
    });
    by_free by_q[1];
    derivative<1>(along, by_q);
    auto right = here.gather(whole::times(mass, here.spread(v)));
    each<free>([&](int f) SALTUS_INLINE_LAMBDA { right[f] = fma(-hg, by_q[0][f], right[f]); });
    v = w.solve(right);
    each<free>([&](int f) SALTUS_INLINE_LAMBDA { q[f] = fma(hg, v[f], q[f]); });
    const auto to_q = here.spread(q), to_v = here.spread(v), with_q = turned(q);
    by_state r;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = to_q[i];
      r[k + i] = to_v[i] + with_q[i];
    });
    return r;
  }

 private:
  /// K x.
  SALTUS_FN by_velocity turned(const by_free& x) const {
    by_velocity r;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = Real(0.0);
      for (int f = 0; f < free; ++f) r[i] = fma(turn[i][f], x[f], r[i]);
    });
    return r;
  }
  /// T' M T, column f.
  SALTUS_FN by_free inertia_of(int f) const {
    by_velocity x;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA { x[i] = here.along[i][f]; });
    return here.gather(whole::times(mass, x));
  }

  /// Solves J_u' lambda = the dependent part of M q'' - f.
  SALTUS_FN void find_multipliers() {
    if constexpr (m > 0) {
      const auto point = bodies_in_parts.at(t, y);
      auto left = whole::times(mass, acceleration);
      const auto f = bodies::force(point);
      each<k>([&](int i) SALTUS_INLINE_LAMBDA { left[i] = left[i] - f[i]; });
      left = bodies_in_parts.part.permuted(left);
      const auto rows = bodies::jacobian_at(point);
      matrix<Real, m> across;
      each<m>([&](int c) SALTUS_INLINE_LAMBDA {
        by_velocity row;
        for (int j = 0; j < k; ++j) row[j] = rows.by[c][j];
        row = bodies_in_parts.part.permuted(row);
        for (int p = 0; p < m; ++p) across[p][c] = select(bodies_in_parts.part.on[c], row[p], Real(p == c ? 1.0 : 0.0));
      });
      by_constraint right;
      each<m>([&](int p) SALTUS_INLINE_LAMBDA { right[p] = left[p]; });
      multiplier = lu<Real, m>(across).solve(right);
      bodies_in_parts.only_on(multiplier);
    }
  }

  /// The derivative of the dependent velocities with respect to the independent coordinates: J_u K_u = -d(d Phi/dt)/dq T.
  SALTUS_FN_COLD void find_turn(int first) {
    using Value = dual<Real, how::width>;
    vec<Value, n> along;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      along[i] = y[i];
      along[k + i] = y[k + i];
      for (int d = 0; d < how::width; ++d)
        if (first + d < free) along[i].d[d] = here.along[i][first + d];
    });
    const auto s = bodies::levels_at(bodies_in_parts.at(Value(t), along));
    for (int d = 0; d < how::width; ++d) {
      if (first + d >= free) continue;
      by_constraint by_q;
      each<m>([&](int c) SALTUS_INLINE_LAMBDA { by_q[c] = -s.velocity[c].d[d]; });
      bodies_in_parts.only_on(by_q);
      const auto x = bodies_in_parts.of_dependent(here.dependent.solve(by_q));
      each<k>([&](int i) SALTUS_INLINE_LAMBDA { turn[i][first + d] = x[i]; });
    }
  }
};

}  // namespace saltus::detail
