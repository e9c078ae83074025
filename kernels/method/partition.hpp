// A mechanical system in dependent and independent coordinates, by the partition of one step. Equations and letters:
// method/coordinate_partitioning.hpp.
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"
#include "model/mechanics.hpp"

namespace saltus::detail {

/// The positions of the coordinates that are independent, or may be while a constraint is off. The first m belong to the constraints.
template <class Bodies>
struct free_positions {
  static constexpr int count = [] {
    int sum = Bodies::velocities - Bodies::constraints;
    for (int r = 0; r < Bodies::constraints; ++r) sum += Bodies::table.of[r].switched_by >= 0 ? 1 : 0;
    return sum;
  }();
  struct list {
    int of[count > 0 ? count : 1];
  };
  static constexpr list positions = [] {
    list l{};
    int f = 0;
    for (int p = 0; p < Bodies::velocities; ++p)
      if (p >= Bodies::constraints || Bodies::table.of[p].switched_by >= 0) l.of[f++] = p;
    return l;
  }();
};

/// The permutation of coordinates in every lane: the dependent coordinate of constraint r at position r, the independent ones behind.
template <class Bodies, class Real>
struct partition {
  static constexpr int k = Bodies::velocities, m = Bodies::constraints;
  vec<Real, k> coordinate;          ///< its number, by position
  mask_of<Real> on[m > 0 ? m : 1];  ///< true if the constraint holds
  mask_of<Real> singular;           ///< constraints depend on each other
  Real of;                          ///< the first constraint that depends on those before it; -1: none

  /// Eliminates one row of J after the other, each by its largest entry; the scaling of rows (units of constraints) does not matter.
  template <class Point, class Rows>
  SALTUS_FN_COLD partition(const Point& at, Rows rows) : singular(mask_of<Real>::all(false)), of(-1.0) {
    constexpr double dependent = 0x1p12 * limits<scalar_of<Real>>::epsilon;
    mask_of<Real> taken[k];
    each<k>([&](int j) SALTUS_INLINE_LAMBDA {
      coordinate[j] = Real(static_cast<double>(j));
      taken[j] = mask_of<Real>::all(false);
    });
    vec<Real, m> size;
    each<m>([&](int r) SALTUS_INLINE_LAMBDA {
      on[r] = Bodies::is_on(at, r);
      size[r] = Real(0.0);
      for (int j = 0; j < k; ++j) size[r] = max(size[r], abs(rows.by[r][j]));
    });
    each<m>([&](int r) SALTUS_INLINE_LAMBDA {
      Real largest = Real(0.0), chosen = Real(-1.0);
      for (int j = 0; j < k; ++j) {
        const Real here = abs(rows.by[r][j]);
        const auto larger = (!taken[j]) & (here > largest);
        largest = select(larger, here, largest);
        chosen = select(larger, Real(static_cast<double>(j)), chosen);
      }
      const auto found = on[r] & (largest > Real(dependent) * size[r]);
      const auto lost = on[r] & !found;
      of = select(lost & (of < Real(0.0)), Real(static_cast<double>(r)), of);
      singular = singular | lost;
      eliminate(rows, r, chosen, found, taken);
      const Real before = coordinate[r];
      for (int p = 0; p < k; ++p) coordinate[p] = select(found & (coordinate[p] == chosen), before, coordinate[p]);
      coordinate[r] = select(found, chosen, coordinate[r]);
    });
  }

  /// x by positions.
  SALTUS_FN vec<Real, k> permuted(const vec<Real, k>& x) const {
    vec<Real, k> r;
    if constexpr (by_selection) {
      each<k>([&](int p) SALTUS_INLINE_LAMBDA {
        r[p] = x[0];
        for (int j = 1; j < k; ++j) r[p] = select(coordinate[p] == Real(static_cast<double>(j)), x[j], r[p]);
      });
    } else {
      for (int lane = 0; lane < real_traits<Real>::lanes; ++lane)
        for (int p = 0; p < k; ++p) r[p].set(lane, x[static_cast<int>(coordinate[p].get(lane))].get(lane));
    }
    return r;
  }
  /// Back from positions.
  SALTUS_FN vec<Real, k> restored(const vec<Real, k>& x) const {
    vec<Real, k> r;
    if constexpr (by_selection) {
      each<k>([&](int j) SALTUS_INLINE_LAMBDA {
        r[j] = x[0];
        for (int p = 1; p < k; ++p) r[j] = select(coordinate[p] == Real(static_cast<double>(j)), x[p], r[j]);
      });
    } else {
      for (int lane = 0; lane < real_traits<Real>::lanes; ++lane)
        for (int p = 0; p < k; ++p) r[static_cast<int>(coordinate[p].get(lane))].set(lane, x[p].get(lane));
    }
    return r;
  }

 private:
  /// Few coordinates stay in registers; for more, each lane looks up its own.
  static constexpr bool by_selection = k <= 8;

  template <class Rows>
  SALTUS_FN static void eliminate(Rows& rows, int r, Real chosen, mask_of<Real> found, mask_of<Real> (&taken)[k]) {
    vec<Real, m> column;
    each<m>([&](int i) SALTUS_INLINE_LAMBDA { column[i] = Real(0.0); });
    for (int j = 0; j < k; ++j) {
      const auto here = found & (chosen == Real(static_cast<double>(j)));
      taken[j] = taken[j] | here;
      for (int i = r; i < m; ++i) column[i] = select(here, rows.by[i][j], column[i]);
    }
    const Real over = select(found, Real(1.0) / column[r], Real(0.0));
    for (int i = r + 1; i < m; ++i) {
      const Real factor = column[i] * over;
      for (int j = 0; j < k; ++j) rows.by[i][j] = fma(-factor, rows.by[r][j], rows.by[i][j]);
    }
  }
};

/// A mechanical system in the partition of one step.
template <class System, class Real>
struct partitioned_system {
  using form = typename System::form;
  using bodies = typename form::system_of_bodies;
  static_assert(
      bodies::coordinates == bodies::velocities && !bodies::has_kinematics,
      "this method partitions coordinates whose time derivatives are the velocities, q' = v: use another one for a "
      "model with kinematics");
  static_assert(
      !bodies::any_nonholonomic,
      "this method recovers coordinates from holonomic constraints: use another one for nonholonomic constraints");
  static_assert(
      !bodies::has_friction,
      "this method takes forces of constraints along their gradients: use another one for a model with friction");
  static_assert(
      form::approached == 0 && form::projects_positions,
      "this method stays on all constraints: use another one where they are reached in time, or not projected onto");
  static constexpr int k = bodies::velocities, m = bodies::constraints, n = 2 * k;
  using positions = free_positions<bodies>;
  static constexpr int free = positions::count;
  using by_state = vec<Real, n>;
  using by_velocity = vec<Real, k>;
  using by_constraint = vec<Real, m>;
  using by_free = vec<Real, free>;

  /// The constraints linearised at a point.
  struct tangent {
    lu<Real, m> dependent;               ///< J_u
    Real along[k][free > 0 ? free : 1];  ///< T

    SALTUS_FN void take(const tangent& from, mask_of<Real> where) {
      each<m>([&](int i) SALTUS_INLINE_LAMBDA {
        for (int j = 0; j < m; ++j) dependent.a[i][j] = select(where, from.dependent.a[i][j], dependent.a[i][j]);
        dependent.row[i] = select(where, from.dependent.row[i], dependent.row[i]);
      });
      dependent.exchanges = dependent.exchanges || from.dependent.exchanges;
      each<k>([&](int i) SALTUS_INLINE_LAMBDA {
        for (int f = 0; f < free; ++f) along[i][f] = select(where, from.along[i][f], along[i][f]);
      });
    }
    /// T x.
    SALTUS_FN by_velocity spread(const by_free& x) const {
      by_velocity r;
      each<k>([&](int i) SALTUS_INLINE_LAMBDA {
        r[i] = Real(0.0);
        for (int f = 0; f < free; ++f) r[i] = fma(along[i][f], x[f], r[i]);
      });
      return r;
    }
    /// T' x.
    SALTUS_FN by_free gather(const by_velocity& x) const {
      by_free r;
      each<free>([&](int f) SALTUS_INLINE_LAMBDA {
        r[f] = Real(0.0);
        for (int i = 0; i < k; ++i) r[f] = fma(along[i][f], x[i], r[f]);
      });
      return r;
    }
  };

  const System& system;
  partition<bodies, Real> part;

  template <class Value>
  SALTUS_FN auto at(Value t, const vec<Value, n>& y) const {
    return form::point_of_bodies(t, y, system.c);
  }

  /// x where the constraint is on, 0 elsewhere.
  SALTUS_FN void only_on(by_constraint& x) const {
    if constexpr (bodies::any_switched)
      each<m>([&](int r) SALTUS_INLINE_LAMBDA { x[r] = select(part.on[r], x[r], Real(0.0)); });
  }

  /// N x: a change of the dependent coordinates, as a vector of all coordinates.
  SALTUS_FN by_velocity of_dependent(const by_constraint& x) const {
    by_velocity r;
    each<k>([&](int p) SALTUS_INLINE_LAMBDA { r[p] = p < m ? x[p < m ? p : 0] : Real(0.0); });
    return part.restored(r);
  }
  /// The independent coordinates; 0 where a coordinate may be independent but is not.
  SALTUS_FN by_free free_of(const by_velocity& x) const {
    const auto by_position = part.permuted(x);
    by_free r;
    each<free>([&](int f) SALTUS_INLINE_LAMBDA {
      const int p = positions::positions.of[f];
      r[f] = by_position[p];
      if (p < m) r[f] = select(part.on[p < m ? p : 0], Real(0.0), r[f]);
    });
    return r;
  }

  /// J_u, and T from it, for the given rows of J.
  template <class Rows>
  SALTUS_FN tangent tangent_of(const Rows& rows) const {
    matrix<Real, m> of_dependent;
    Real of_free[m > 0 ? m : 1][free > 0 ? free : 1];
    each<m>([&](int r) SALTUS_INLINE_LAMBDA {
      by_velocity row;
      for (int j = 0; j < k; ++j) row[j] = rows.by[r][j];
      row = part.permuted(row);
      const auto on = part.on[r];
      for (int p = 0; p < m; ++p) of_dependent[r][p] = select(on, row[p], Real(r == p ? 1.0 : 0.0));
      for (int f = 0; f < free; ++f) {
        const int p = positions::positions.of[f];
        of_free[r][f] = p >= m ? select(on, row[p], Real(0.0)) : p == r ? select(on, Real(0.0), Real(-1.0)) : Real(0.0);
      }
    });
    tangent r{lu<Real, m>(of_dependent), {}};
    for (int f = 0; f < free; ++f) {
      by_constraint column;
      each<m>([&](int i) SALTUS_INLINE_LAMBDA { column[i] = -of_free[i][f]; });
      column = r.dependent.solve(column);
      by_velocity x;
      const int own = positions::positions.of[f];
      each<k>([&](int p) SALTUS_INLINE_LAMBDA { x[p] = p < m ? column[p < m ? p : 0] : Real(p == own ? 1.0 : 0.0); });
      x = part.restored(x);
      each<k>([&](int i) SALTUS_INLINE_LAMBDA { r.along[i][f] = x[i]; });
    }
    return r;
  }
  SALTUS_FN_COLD tangent tangent_at(Real t, const by_state& y) const {
    return tangent_of(bodies::jacobian_at(at(t, y)));
  }

  /// Corrects dependent coordinates and velocities by (53) and (54) with the J_u of a nearby point, down to rounding. Returns the lanes of
  /// `open` that have not converged.
  SALTUS_FN_COLD mask_of<Real> recover_with(const lu<Real, m>& dependent, Real t, by_state& y,
                                            mask_of<Real> open) const {
    constexpr double epsilon = limits<scalar_of<Real>>::epsilon;
    Real last = Real(1.0);
    for (int iteration = 0; iteration < 8 && any(open); ++iteration) {
      auto s = bodies::levels_at(at(t, y));
      only_on(s.position);
      only_on(s.velocity);
      const auto dq = of_dependent(dependent.solve(s.position)), dv = of_dependent(dependent.solve(s.velocity));
      Real size = Real(0.0);
      each<k>([&](int i) SALTUS_INLINE_LAMBDA {
        size = max(size, max(abs(dq[i]) / (abs(y[i]) + system.floor(i)),
                             abs(dv[i]) / (abs(y[k + i]) + system.floor(k + i)))) +
               not_finite(dq[i]) + not_finite(dv[i]);
        y[i] = select(open, y[i] - dq[i], y[i]);
        y[k + i] = select(open, y[k + i] - dv[i], y[k + i]);
      });
      // With strong cancellation, rounding stops the decrease above the goal.
      const auto done =
          (size <= Real(4.0 * epsilon)) | ((size <= Real(0x1p12 * epsilon)) & (size >= Real(0.25) * last));
      open = open & !done;
      last = size;
    }
    return open;
  }
  /// The same, with a new J_u where that of the nearby point does not suffice. Returns the lanes that fail.
  SALTUS_FN mask_of<Real> recover(const tangent& near, Real t, by_state& y, mask_of<Real> open) const {
    if constexpr (m == 0) return mask_of<Real>::all(false);
    open = recover_with(near.dependent, t, y, open);
    for (int times = 0; times < 3 && any(open); ++times) open = recover_with(tangent_at(t, y).dependent, t, y, open);
    return open;
  }

  /// The residual of a stage's equations at a point, with the quantities computed for it.
  struct evaluation {
    tangent here;
    by_velocity acceleration;
    by_free residual;
  };
  SALTUS_FN_COLD evaluation evaluate(Real t, const by_state& y, const by_free& unknown) const {
    const auto point = at(t, y);
    const auto rows = bodies::rows_at(point);
    evaluation r{tangent_of(rows), {}, {}};
    const auto g = of_dependent(r.here.dependent.solve(rows.bend));
    r.acceleration = r.here.spread(unknown);
    each<k>([&](int i) SALTUS_INLINE_LAMBDA { r.acceleration[i] = r.acceleration[i] - g[i]; });
    const auto mass = bodies::mass(point);
    const auto f = bodies::force(point);
    by_velocity left = times(mass, r.acceleration);
    each<k>([&](int i) SALTUS_INLINE_LAMBDA { left[i] = left[i] - f[i]; });
    r.residual = r.here.gather(left);
    return r;
  }

  /// The product of x and a symmetric matrix given by its lower triangle.
  template <class Value, class X>
  SALTUS_FN static vec<Value, k> times(const matrix<Value, k>& a, const X& x) {
    vec<Value, k> r;
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      r[i] = Value(0.0);
      for (int j = 0; j < k; ++j) r[i] = r[i] + a[i < j ? j : i][i < j ? i : j] * x[j];
    });
    return r;
  }
};

}  // namespace saltus::detail
