// A test's own form of equations: points of unit mass with constraints on their coordinates, q'' = a(t, q, q') - G(q)' lambda with
// 0 = g(q), G = g_q (index 3). The form differentiates the constraints twice and eliminates the multipliers, so that an explicit method
// can integrate it, and projects every step onto g = 0 and G q' = 0. The states are q, then q'. The form remembers the last multipliers
// and refines the elimination from them, so a lost memory shows in the rounding.
#pragma once

#include "form/consistent/consistency.hpp"
#include "form/functions.hpp"

template <class Functions>
struct constrained_points : Functions {
  using Model = typename Functions::Model;
  static constexpr int n = Functions::states, coordinates = n / 2, m = Model::constraint_count;
  static constexpr bool has_field = true;

  template <class Real>
  struct step_constants : Functions::template step_constants<Real> {
    saltus::vec<Real, m> multiplier;
  };
  template <class A, class B, class F>
  SALTUS_FN static constexpr void each_memory(A& a, B& b, F&& body) {
    for (int k = 0; k < m; ++k) body(a.multiplier[k], b.multiplier[k]);
  }
  template <class Real>
  SALTUS_FN static void remember(step_constants<Real>& c, Real t, const saltus::vec<Real, n>& y,
                                 const saltus::vec<Real, n>&, saltus::mask_of<Real> where) {
    const auto now = multipliers(geometry<Real>(t, y, c), Functions::rhs(t, y, c), c);
    for (int k = 0; k < m; ++k) c.multiplier[k] = select(where, now[k], c.multiplier[k]);
  }

  template <class Value, class Real>
  SALTUS_FN static saltus::vec<Value, n> rhs(Value t, const saltus::vec<Value, n>& y, const step_constants<Real>& c) {
    const geometry<Value> at(t, y, c);
    auto f = Functions::rhs(t, y, c);
    at.add_along(f, coordinates, multipliers(at, f, c));
    return f;
  }

  template <class System, class Real>
  SALTUS_FN static saltus::consistency<Real> project(const System& system, Real t, saltus::vec<Real, n>& y,
                                                     saltus::vec<Real, n>&, saltus::mask_of<Real> where) {
    const auto begun = y;
    auto open = where;
    for (int turn = 0; turn < 20 && any(open); ++turn) {
      const geometry<Real> at(t, y, system.c);
      auto to = y;
      at.add_along(to, 0, at.solve(at.g));
      Real size = Real(0.0);
      for (int i = 0; i < coordinates; ++i) {
        size = max(size, abs(to[i] - y[i]) / (abs(y[i]) + system.floor(i))) + not_finite(to[i]);
        y[i] = select(open, to[i], y[i]);
      }
      open = open & !(size <= Real(4.0 * saltus::limits<saltus::scalar_of<Real>>::epsilon));
    }
    const geometry<Real> at(t, y, system.c);
    auto to = y;
    at.add_along(to, coordinates, at.solve(at.along(y, coordinates)));
    for (int i = coordinates; i < n; ++i) y[i] = select(where, to[i], y[i]);
    auto c = constraint_residual(t, y, system.c);
    c.found = where & (c.residual < Real(1e-10));
    saltus::detail::how_far(c, system, begun, y);
    return c;
  }

  template <class System, class Real>
  SALTUS_FN static saltus::consistency<Real> initialise(const System& system, const Real& t, saltus::vec<Real, n>& y,
                                                        saltus::vec<Real, n>& f,
                                                        const saltus::restart<constrained_points, Real>& start) {
    const auto c = project(system, t, y, f, start.where);
    f = rhs(t, y, system.c);
    return c;
  }

  template <class Real>
  SALTUS_FN static saltus::consistency<Real> constraint_residual(Real t, const saltus::vec<Real, n>& y,
                                                                 const step_constants<Real>& constants) {
    const geometry<Real> at(t, y, constants);
    saltus::consistency<Real> c{saltus::mask_of<Real>::all(true), Real(0.0), Real(0.0), Real(0.0)};
    const auto sliding_off = at.along(y, coordinates);
    for (int k = 0; k < m; ++k) c.residual = max(c.residual, max(abs(at.g[k]), abs(sliding_off[k])));
    return c;
  }

 private:
  /// The constraints at a point: g, G, and the second derivative of g along q'.
  template <class Value>
  struct geometry {
    saltus::vec<Value, m> g, bend;
    Value by[m][coordinates];

    template <class Real>
    SALTUS_FN geometry(Value t, const saltus::vec<Value, n>& y, const step_constants<Real>& c) {
      using slope = saltus::dual<Value, coordinates>;
      using once = saltus::dual<Value>;
      using twice = saltus::dual<once>;
      saltus::vec<slope, n> at;
      saltus::vec<twice, n> on;
      for (int i = 0; i < n; ++i) {
        const Value pace = i < coordinates ? y[(i + coordinates) % n] : Value(0.0);
        at[i] = slope(y[i]);
        if (i < coordinates) at[i].d[i] = Value(1.0);
        on[i] = twice(once(y[i], pace), once(pace));
      }
      saltus::vec<slope, m> first;
      saltus::vec<twice, m> second;
      Model::bonds(Functions::point_at(slope(t), at, c), first);
      Model::bonds(Functions::point_at(twice(once(t)), on, c), second);
      for (int k = 0; k < m; ++k) {
        g[k] = first[k].value;
        bend[k] = second[k].d[0].d[0];
        for (int i = 0; i < coordinates; ++i) by[k][i] = first[k].d[i];
      }
    }

    /// G of the part of x that begins at `first`.
    SALTUS_FN saltus::vec<Value, m> along(const saltus::vec<Value, n>& x, int first) const {
      saltus::vec<Value, m> r;
      for (int k = 0; k < m; ++k) {
        r[k] = Value(0.0);
        for (int i = 0; i < coordinates; ++i) r[k] = fma(by[k][i], x[first + i], r[k]);
      }
      return r;
    }
    /// Subtracts G' times `multiplier` from that part.
    SALTUS_FN void add_along(saltus::vec<Value, n>& x, int first, const saltus::vec<Value, m>& multiplier) const {
      for (int i = 0; i < coordinates; ++i)
        for (int k = 0; k < m; ++k) x[first + i] = fma(-by[k][i], multiplier[k], x[first + i]);
    }
    /// (G G')^-1 r; the matrix is positive definite, so no rows are exchanged.
    SALTUS_FN saltus::vec<Value, m> solve(saltus::vec<Value, m> r) const {
      Value a[m][m];
      for (int k = 0; k < m; ++k)
        for (int l = 0; l < m; ++l) {
          a[k][l] = Value(0.0);
          for (int i = 0; i < coordinates; ++i) a[k][l] = fma(by[k][i], by[l][i], a[k][l]);
        }
      for (int k = 0; k < m; ++k)
        for (int l = k + 1; l < m; ++l) {
          const Value factor = a[l][k] / a[k][k];
          for (int j = k; j < m; ++j) a[l][j] = fma(-factor, a[k][j], a[l][j]);
          r[l] = fma(-factor, r[k], r[l]);
        }
      for (int k = m - 1; k >= 0; --k) {
        for (int l = k + 1; l < m; ++l) r[k] = fma(-a[k][l], r[l], r[k]);
        r[k] = r[k] / a[k][k];
      }
      return r;
    }
  };

  /// The multipliers for which g'' = 0, where f holds the free accelerations: refined from those remembered.
  template <class Value, class Real>
  SALTUS_FN static saltus::vec<Value, m> multipliers(const geometry<Value>& at, saltus::vec<Value, n> f,
                                                     const step_constants<Real>& c) {
    saltus::vec<Value, m> known;
    for (int k = 0; k < m; ++k) known[k] = Value(c.multiplier[k]);
    at.add_along(f, coordinates, known);
    auto left = at.along(f, coordinates);
    for (int k = 0; k < m; ++k) left[k] = left[k] + at.bend[k];
    const auto change = at.solve(left);
    for (int k = 0; k < m; ++k) known[k] = known[k] + change[k];
    return known;
  }
};
