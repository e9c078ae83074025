// One step of a diagonally implicit Runge-Kutta method in descriptor form: accelerations are the unknowns of a stage, and a part of
// the coordinates and velocities is integrated, from which the constraints give the rest (E. J. Haug, D. Negrut, C. Engstler,
// "Implicit integration of the equations of multibody dynamics in descriptor form"; equation numbers below are theirs).
//
// With J = d Phi/dq, u the dependent and z the independent ones of the coordinates q = (u, z), J = (J_u, J_z):
//
//     H = -J_u^-1 J_z,  T = (H; I),  J T = 0                 what all coordinates move by with z
//     z_i = z + h sum a_ij z'_j,  z'_i = z' + h sum a_ij z''_j        (30, 31, with abar = a a)
//     Phi(t_i, u_i, z_i) = 0,  J_u u'_i = -Phi_t - J_z z'_i           (53, 54): by Newton, to rounding
//     q'' = T z'' - g,  J_u g_u = b,  b = d/dt (J q' + Phi_t) without accelerations
//     0 = T' (M q'' - f)                                     what is left of (48): J' lambda has no part along T
//
// so that k - m equations are left of the k + m of (52). Newton's matrix is evaluated once for a trial step, where it begins:
//
//     R = T' M T + T' (dPsi_1 - M N dPsi_2),    N = (J_u^-1; 0)
//
// with the derivatives of Psi_1 = M q'' - f - J' lambda and Psi_2 = J q'' + b along (h^2 gamma^2 T, h gamma T + h^2 gamma^2 K)
// in (q, q'), where K is how dependent velocities follow z at fixed z': the columns of (51), of which R is the Schur complement.
//
// The partition is chosen anew at the beginning of every step, in every lane by itself: for one constraint after the other the
// independent coordinate with the largest entry is made dependent. It costs less than one evaluation of J by dual numbers, no
// instance has to remember it, and nothing has to watch the condition of J_u: in a one-step method a new choice changes nothing
// but which coordinates are solved for. A step during which J_u becomes singular has no solution, and is tried again shorter.
//
// A constraint that is off has the row of the identity in J_u, and its coordinate counts as an independent one.
//
// Only for holonomic constraints and q' = v.
#pragma once

#include "method/implicit_method.hpp"
#include "method/implicit_step.hpp"
#include "model/mechanics.hpp"

namespace saltus {

namespace detail {

/// The places of those coordinates that are independent, or may be while a constraint is off. Places 0 to m-1 belong to the
/// constraints.
template <class Bodies>
struct free_places {
  static constexpr int count = [] {
    int sum = Bodies::velocities - Bodies::constraints;
    for (int r = 0; r < Bodies::constraints; ++r) sum += Bodies::table.of[r].switched_by >= 0 ? 1 : 0;
    return sum;
  }();
  struct list {
    int of[count > 0 ? count : 1];
  };
  static constexpr list places = [] {
    list l{};
    int f = 0;
    for (int p = 0; p < Bodies::velocities; ++p)
      if (p >= Bodies::constraints || Bodies::table.of[p].switched_by >= 0) l.of[f++] = p;
    return l;
  }();
};

/// Which coordinate stands at which place: that of constraint r at place r, the independent ones behind. A permutation in every
/// lane.
template <class Bodies, class Real>
struct partition {
  static constexpr int k = Bodies::velocities, m = Bodies::constraints;
  vec<Real, k> coordinate;          ///< its number, by place
  mask_of<Real> on[m > 0 ? m : 1];  ///< does the constraint hold?
  mask_of<Real> singular;           ///< constraints depend on each other
  Real of;                          ///< the first that depends on those before it; -1: none

  /// Eliminates one row of J after the other, each by its largest entry: lengths of rows, units of constraints, do not matter.
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
        const auto larger = !taken[j] & (here > largest);
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

  /// x by places.
  SALTUS_FN vec<Real, k> in_places(const vec<Real, k>& x) const {
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
  /// Back from places.
  SALTUS_FN vec<Real, k> from_places(const vec<Real, k>& x) const {
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
  /// Few coordinates stay in registers; more than that are looked up, lane by lane.
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
      !form::reaches && form::projects_positions,
      "this method stays on all constraints: use another one where they are reached in time, or not projected onto");
  static constexpr int k = bodies::velocities, m = bodies::constraints, n = 2 * k;
  using places = free_places<bodies>;
  static constexpr int free = places::count;
  using by_state = vec<Real, n>;
  using by_velocity = vec<Real, k>;
  using by_constraint = vec<Real, m>;
  using by_free = vec<Real, free>;

  /// What the constraints are like at a point.
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

  /// N x: a change of the dependent coordinates, among all.
  SALTUS_FN by_velocity of_dependent(const by_constraint& x) const {
    by_velocity r;
    each<k>([&](int p) SALTUS_INLINE_LAMBDA { r[p] = p < m ? x[p < m ? p : 0] : Real(0.0); });
    return part.from_places(r);
  }
  /// The independent ones of all; 0 where one may be free but is not.
  SALTUS_FN by_free free_of(const by_velocity& x) const {
    const auto by_place = part.in_places(x);
    by_free r;
    each<free>([&](int f) SALTUS_INLINE_LAMBDA {
      const int p = places::places.of[f];
      r[f] = by_place[p];
      if (p < m) r[f] = select(part.on[p < m ? p : 0], Real(0.0), r[f]);
    });
    return r;
  }

  /// J_u and what makes T of it, where the rows of J are these.
  template <class Rows>
  SALTUS_FN tangent tangent_of(const Rows& rows) const {
    matrix<Real, m> of_dependent;
    Real of_free[m > 0 ? m : 1][free > 0 ? free : 1];
    each<m>([&](int r) SALTUS_INLINE_LAMBDA {
      by_velocity row;
      for (int j = 0; j < k; ++j) row[j] = rows.by[r][j];
      row = part.in_places(row);
      const auto on = part.on[r];
      for (int p = 0; p < m; ++p) of_dependent[r][p] = select(on, row[p], Real(r == p ? 1.0 : 0.0));
      for (int f = 0; f < free; ++f) {
        const int p = places::places.of[f];
        of_free[r][f] = p >= m ? select(on, row[p], Real(0.0)) : p == r ? select(on, Real(0.0), Real(-1.0)) : Real(0.0);
      }
    });
    tangent r{lu<Real, m>(of_dependent), {}};
    for (int f = 0; f < free; ++f) {
      by_constraint column;
      each<m>([&](int i) SALTUS_INLINE_LAMBDA { column[i] = -of_free[i][f]; });
      column = r.dependent.solve(column);
      by_velocity x;
      const int own = places::places.of[f];
      each<k>([&](int p) SALTUS_INLINE_LAMBDA { x[p] = p < m ? column[p < m ? p : 0] : Real(p == own ? 1.0 : 0.0); });
      x = part.from_places(x);
      each<k>([&](int i) SALTUS_INLINE_LAMBDA { r.along[i][f] = x[i]; });
    }
    return r;
  }
  SALTUS_FN_COLD tangent tangent_at(Real t, const by_state& y) const {
    return tangent_of(bodies::jacobian_at(at(t, y)));
  }

  /// Corrects dependent coordinates and velocities by (53) and (54), with the J_u of a point near by, until no more than rounding
  /// is left. Returns the lanes of `open` in which more is.
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
      // Rounding ends the decrease before the goal where cancellation is strong.
      const auto done =
          (size <= Real(4.0 * epsilon)) | ((size <= Real(0x1p12 * epsilon)) & (size >= Real(0.25) * last));
      open = open & !done;
      last = size;
    }
    return open;
  }
  /// The same, with J_u taken anew where that of the point near by is not near enough. Returns the lanes that fail.
  SALTUS_FN mask_of<Real> recover(const tangent& near, Real t, by_state& y, mask_of<Real> open) const {
    if constexpr (m == 0) return mask_of<Real>::all(false);
    open = recover_with(near.dependent, t, y, open);
    for (int times = 0; times < 3 && any(open); ++times) open = recover_with(tangent_at(t, y).dependent, t, y, open);
    return open;
  }

  /// What a stage's equations leave at a point, and what they need there.
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

  /// A symmetric matrix, whose lower triangle is given, times x.
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

/// The equations of a step's stages made linear where it begins.
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

  /// What is left of Psi_1 - M N Psi_2 along T by a change of the state, for each of its directions.
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
        const int p = whole::places::places.of[f];
        if (p < m) w[f][f] = select(bodies_in_parts.part.on[p < m ? p : 0], Real(1.0), w[f][f]);
      }
    return w;
  }

  /// An error of the state freed of its stiff part, (I - h gamma dF)^-1 for the equations z'' = F(z, z'). `w` is R, factorised.
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

  /// J_u' lambda is the dependent part of M q'' - f.
  SALTUS_FN void find_multipliers() {
    if constexpr (m > 0) {
      const auto point = bodies_in_parts.at(t, y);
      auto left = whole::times(mass, acceleration);
      const auto f = bodies::force(point);
      each<k>([&](int i) SALTUS_INLINE_LAMBDA { left[i] = left[i] - f[i]; });
      left = bodies_in_parts.part.in_places(left);
      const auto rows = bodies::jacobian_at(point);
      matrix<Real, m> across;
      each<m>([&](int c) SALTUS_INLINE_LAMBDA {
        by_velocity row;
        for (int j = 0; j < k; ++j) row[j] = rows.by[c][j];
        row = bodies_in_parts.part.in_places(row);
        for (int p = 0; p < m; ++p) across[p][c] = select(bodies_in_parts.part.on[c], row[p], Real(p == c ? 1.0 : 0.0));
      });
      by_constraint right;
      each<m>([&](int p) SALTUS_INLINE_LAMBDA { right[p] = left[p]; });
      multiplier = lu<Real, m>(across).solve(right);
      bodies_in_parts.only_on(multiplier);
    }
  }

  /// How dependent velocities follow the independent coordinates: J_u K_u = -d(d Phi/dt)/dq T.
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

/// The stages of a step, one after the other.
template <class System, class Real>
struct descriptor_stage {
  using whole = partitioned_system<System, Real>;
  static constexpr int k = whole::k, n = whole::n;
  typename whole::by_state y;
  typename whole::by_velocity acceleration;
  typename whole::by_free unknown;
  typename whole::tangent near;  ///< of the last point
};

/// Newton's iteration for one stage: q = q0 + h gamma q', q' = v0 + h gamma q''. The stage begins from the accelerations of the
/// last one.
template <class System, class Real, class Matrix>
SALTUS_FN_COLD void solve_stage(const partitioned_system<System, Real>& p, const Matrix& w, Real t, Real hg,
                                const vec<Real, 2 * partitioned_system<System, Real>::k>& base,
                                const vec<Real, 2 * partitioned_system<System, Real>::k>& weight,
                                newton_watch<Real>& newton, descriptor_stage<System, Real>& s, Real& iterations) {
  using whole = partitioned_system<System, Real>;
  constexpr int k = whole::k, n = whole::n;
  constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon;
  each<k>([&](int i) SALTUS_INLINE_LAMBDA {
    s.y[k + i] = fma(hg, s.acceleration[i], base[k + i]);
    s.y[i] = fma(hg, s.y[k + i], base[i]);
  });
  s.unknown = p.free_of(s.acceleration);
  auto lost = mask_of<Real>::all(false), still = mask_of<Real>::all(false);
  newton.next_stage();
  for (int iteration = 0; iteration < newton.max_iterations && any(newton.open); ++iteration) {
    const auto here = newton.open;
    lost = lost | p.recover(s.near, t, s.y, here);
    const auto e = p.evaluate(t, s.y, s.unknown);
    const auto change = w.solve(e.residual);
    const auto all = e.here.spread(change);
    vec<Real, n> moved;
    still = mask_of<Real>::all(true);
    each<k>([&](int i) SALTUS_INLINE_LAMBDA {
      moved[k + i] = hg * all[i];
      moved[i] = hg * moved[k + i];
      s.acceleration[i] = select(here, e.acceleration[i] - all[i], s.acceleration[i]);
    });
    each<n>([&](int i) SALTUS_INLINE_LAMBDA {
      still = still & (abs(moved[i]) <= Real(rounding) * (abs(s.y[i]) + p.system.floor(i)));
      s.y[i] = select(here, s.y[i] - moved[i], s.y[i]);
    });
    each<whole::free>(
        [&](int f) SALTUS_INLINE_LAMBDA { s.unknown[f] = select(here, s.unknown[f] - change[f], s.unknown[f]); });
    s.near.take(e.here, here);
    iterations = iterations + select(here, Real(1.0), Real(0.0));
    newton.take_in(weighted_square(moved, weight));
  }
  // Increments do not shrink below what rounding makes of them.
  newton.give_up([&]() SALTUS_INLINE_LAMBDA { return still; });
  lost = lost | p.recover(s.near, t, s.y, !newton.failed);
  newton.failed = newton.failed | lost;
  newton.given_up = newton.failed;
}

}  // namespace detail

/// One step of length h from (t, y), where the slope is f0.
template <class Method, bool WithInterpolant = false, class System, class Real, int n, class Settle = detail::as_it_is>
requires(Method::kind == methods::family::coordinate_partitioning) SALTUS_FN_COLD stages<Method, Real, n> step(
    const System& system, Real t, const vec<Real, n>& y, const vec<Real, n>& f0, Real h, Settle&& settle = {}) {
  using whole = detail::partitioned_system<System, Real>;
  constexpr int k = whole::k, first = Method::explicit_first ? 1 : 0;
  const Real sign = Real(static_cast<double>(System::form::time_sign));
  const Real hm = sign * h, hg = Real(Method::gamma) * hm;  // by the model's time
  const vec<Real, n> weight = system.weight(y);
  vec<Real, k> begin, v[Method::stages], a[Method::stages];
  each<k>([&](int i) SALTUS_INLINE_LAMBDA { begin[i] = sign * f0[k + i]; });

  const auto point = System::form::point_of_bodies(t, y, system.c);
  const whole p{system, {point, whole::bodies::jacobian_at(point)}};
  const detail::linear_stages<System, Real> lin(p, t, y, begin);
  const auto w = factorise(lin.reduced(hg), detail::algebra_of(system));
  stages<Method, Real, n> s;
  s.singular = p.part.singular | w.singular;
  detail::newton_watch<Real> newton(!s.singular);
  const auto start = detail::first_increment(y, f0, weight, Real(Method::gamma) * h);
  detail::descriptor_stage<System, Real> at{y, {}, {}, lin.here};
  each<k>([&](int i) SALTUS_INLINE_LAMBDA {
    v[0][i] = y[k + i];
    a[0][i] = begin[i];
    at.acceleration[i] = start[k + i] / hg;
  });
  Real iterations = Real(0.0);

  static_for<Method::stages - first>([&](auto stage) SALTUS_INLINE_LAMBDA {
    constexpr int i = first + decltype(stage)::value;
    const auto before = [](auto j) { return Method::a[i][decltype(j)::value]; };
    const auto to_q = detail::combine<i>(v, before), to_v = detail::combine<i>(a, before);
    vec<Real, n> base;
    each<k>([&](int j) SALTUS_INLINE_LAMBDA {
      base[j] = i > 0 ? fma(hm, to_q[j], y[j]) : y[j];
      base[k + j] = i > 0 ? fma(hm, to_v[j], y[k + j]) : y[k + j];
    });
    detail::solve_stage(p, w, fma(Real(Method::c[i]), h, t), hg, base, weight, newton, at, iterations);
    a[i] = at.acceleration;
    each<k>([&](int j) SALTUS_INLINE_LAMBDA { v[i][j] = at.y[k + j]; });
  });

  const auto errors = [](auto j) { return Method::e[decltype(j)::value]; };
  const auto error_q = detail::combine<Method::stages>(v, errors), error_v = detail::combine<Method::stages>(a, errors);
  const auto slope0 = detail::combine<Method::stages>(a, [](auto j) { return Method::slope0[decltype(j)::value]; });
  vec<Real, n> difference;
  s.t = t;
  s.h = h;
  s.y = y;
  s.y1 = at.y;
  each<k>([&](int i) SALTUS_INLINE_LAMBDA {
    difference[i] = hm * error_q[i];
    difference[k + i] = hm * error_v[i];
    s.slope0[i] = sign * y[k + i];
    s.slope0[k + i] = sign * slope0[i];
    s.slope1[i] = sign * at.y[k + i];
    s.slope1[k + i] = sign * at.acceleration[i];
  });
  s.error = lin.filtered(w, hg, difference);
  s.solved = !newton.failed;
  s.residual = Real(0.0);
  s.residual_of = p.part.of;
  s.evaluations = typename Real::integer(int64(lin.evaluations + 1)) + to_integer(iterations);
  settle(s);
  if constexpr (WithInterpolant) {
    // As detail::interpolant_error, with this matrix.
    const Real place = Real(0.3);
    const auto interpolant = interpolate<Method>(system, s);
    auto slope = interpolant.slope(place);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { slope[i] = slope[i] / h; });
    auto left = system.residual(fma(place, h, t), interpolant(place), slope);
    each<n>([&](int i) SALTUS_INLINE_LAMBDA { left[i] = left[i] * (Real(Method::gamma) * h); });
    s.interpolant_error = lin.filtered(w, hg, left);
    s.evaluations = s.evaluations + typename Real::integer(int64(2));
  }
  return s;
}

}  // namespace saltus
