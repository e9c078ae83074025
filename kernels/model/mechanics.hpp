// A mechanical system at a point: accelerations and multipliers from its mass matrix, forces and constraints. All derivatives are taken
// by dual numbers from the model's functions.
//
//     q' = N(q) v,   M(q) v' = f(t, q, v) + J' lambda,   0 = Phi_h(t, q),  0 = Phi_n(t, q, v)
//
// with q' = v where the model has no `kinematics`. On the level of velocities the constraints are
//
//     s_h = d Phi_h/dt + sigma Phi_h,   s_n = Phi_n,   J = ds/dv,   ds/dt = J v' + b
//
// and 0 = ds/dt gives the multipliers, (J M^-1 J') lambda = -(b + J M^-1 f): the equivalent control of the sliding mode s = 0
// (M. D. Compere, dissertation, UT Austin 2001, eqs. 3.24 to 3.26; sigma is each constraint's decay_rate). Constraints are in
// the order of their list. One that is off has a row of zeros and the multiplier 0.
//
// Coulomb friction is a force along B, proportional to a multiplier. A model with a function `friction` has
//
//     M v' = f + (J' + B) lambda,   (J M^-1 (J' + B)) lambda = -(b + J M^-1 f)
//
// whose matrix is not symmetric. If one of its leading principal minors is not positive, a push on a contact does not open it:
// Painleve's paradox. Constraints are eliminated in the order of their list, so contacts with friction must stand last.
#pragma once

#include "linear/jacobian.hpp"
#include "linear/ldl.hpp"
#include "model/sparse_inertia.hpp"
#include "model/views.hpp"

namespace saltus {

/// The constraints at a point and their time derivatives along the motion without accelerations.
template <class Value, int constraints>
struct constraint_motion {
  vec<Value, constraints> position;  ///< Phi of a holonomic constraint; 0 of others
  vec<Value, constraints> velocity;  ///< d Phi/dt of a holonomic constraint, Phi of others
  vec<Value, constraints> bend;      ///< b: ds/dt without accelerations
};

/// The same with the Jacobian, one row per constraint; rows of constraints that are off are zero.
template <class Value, int velocities, int constraints>
struct constraint_rows : constraint_motion<Value, constraints> {
  Value by[constraints > 0 ? constraints : 1][velocities];  ///< J

  /// J v.
  SALTUS_FN vec<Value, constraints> along(const vec<Value, velocities>& v) const {
    vec<Value, constraints> r;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      r[k] = by[k][0] * v[0];
      for (int j = 1; j < velocities; ++j) r[k] = fma(by[k][j], v[j], r[k]);
    });
    return r;
  }
  /// J' lambda.
  SALTUS_FN vec<Value, velocities> force(const vec<Value, constraints>& lambda) const {
    vec<Value, velocities> r;
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
      r[j] = Value(0.0);
      for (int k = 0; k < constraints; ++k) r[j] = fma(by[k][j], lambda[k], r[j]);
    });
    return r;
  }
};

/// Constants of a model and its functions at a point.
template <class Model>
struct mechanics {
  using kinds = detail::kinds<Model>;
  static constexpr int states = kinds::state_count;
  static constexpr int coordinates = static_cast<int>(Model::first_velocity);
  static constexpr int velocities = states - coordinates;
  static constexpr int constraints = kinds::constraint_count;
  static constexpr int invariants = kinds::invariant_count;
  static constexpr auto table = detail::make_constraint_table<Model, constraints>();
  using one = pack<double, 1>;
  static constexpr bool has_kinematics =
      requires(const point<Model, one, one>& at, named_by<typename kinds::state, one, states>& dq) {
    Model::kinematics(at, dq);
  };
  template <class Value>
  using forces_of_friction =
      named_friction<typename kinds::state, typename kinds::constraint, Value, velocities, constraints, coordinates>;
  static constexpr bool has_friction = [] {
    if constexpr (constraints == 0) return false;
    else return requires(const point<Model, one, one>& at, forces_of_friction<one>& b) {
        Model::friction(at, b);
      };
  }();

  template <class Value>
  using rows = constraint_rows<Value, velocities, constraints>;
  template <class Value>
  using by_velocity = vec<Value, velocities>;
  template <class Value>
  using by_constraint = vec<Value, constraints>;
  template <class Value, class Real>
  using point_of = point<Model, Value, Real>;

  static constexpr int quaternions = detail::count_quaternions<Model>();
  /// The first coordinate of unit quaternion k.
  SALTUS_FN static constexpr int quaternion(int k) {
    if constexpr (quaternions > 0) return static_cast<int>(Model::quaternion_list[k]);
    else return k;
  }
  static_assert(quaternions == 0 || has_kinematics,
                "four coordinates of a quaternion have three velocities: write static void kinematics(at, dq)");

  static constexpr bool mass_is_diagonal = [] {
    if constexpr (requires { Model::mass_is_diagonal; }) return static_cast<bool>(Model::mass_is_diagonal);
    else return false;
  }();
  template <class Value>
  using mass_factor = ldl<Value, velocities, mass_is_diagonal>;

  /// True if M, with all constraints, is factorised as a sparse matrix. Its tables are then part of the module.
  using tables = elimination_tables<Model>;
  static constexpr bool is_sparse = !has_friction && requires { tables::unknowns; };
  /// Columns of J that share a direction.
  static constexpr int directions = [] {
    if constexpr (is_sparse) return tables::colours;
    else return velocities;
  }();
  SALTUS_FN static constexpr int direction_of(int velocity) {
    if constexpr (is_sparse) return tables::colour_of[velocity];
    else return velocity;
  }
  template <class Value>
  using sparse_inertia = saltus::sparse_inertia<mechanics, Value>;

  SALTUS_FN static constexpr bool is_holonomic(int k) { return table.of[k].holonomic; }
  static constexpr bool any_nonholonomic = [] {
    for (int k = 0; k < constraints; ++k)
      if (!table.of[k].holonomic) return true;
    return false;
  }();
  static constexpr bool any_switched = [] {
    for (int k = 0; k < constraints; ++k)
      if (table.of[k].switched_by >= 0) return true;
    return false;
  }();

  /// The lanes in which constraint k holds.
  template <class Value, class Real>
  SALTUS_FN static mask_of<Real> is_on(const point_of<Value, Real>& at, int k) {
    if (table.of[k].switched_by < 0) return mask_of<Real>::all(true);
    return at.modes[table.of[k].switched_by] > Real(0.5);
  }

  /// dq/dt.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, coordinates> rates(const point_of<Value, Real>& at) {
    vec<Value, coordinates> r;
    if constexpr (has_kinematics) {
      vec<Value, states> all;
      named_by<typename kinds::state, Value, states> dq{all};
      each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { all[i] = Value(unset); });
      Model::kinematics(at, dq);
      each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = all[i]; });
    } else {
      each<coordinates>([&](int i) SALTUS_INLINE_LAMBDA { r[i] = at.y[coordinates + i]; });
    }
    return r;
  }

  template <class Value, class Real>
  SALTUS_FN static matrix<Value, velocities> mass(const point_of<Value, Real>& at) {
    matrix<Value, velocities> r;
    const auto m = written_mass<false>(at);
    each<velocities>([&](int i) SALTUS_INLINE_LAMBDA {
      for (int j = 0; j <= i; ++j) r[i][j] = m.values[i][j];
    });
    return r;
  }
  /// M factorised. If a model declares its matrix diagonal and writes other entries, the factor is not finite.
  template <class Value, class Real>
  SALTUS_FN static mass_factor<Value> factorised_mass(const point_of<Value, Real>& at) {
    auto m = written_mass<mass_is_diagonal>(at);
    if constexpr (mass_is_diagonal)
      each<velocities>(
          [&](int i) SALTUS_INLINE_LAMBDA { m.values[i] = select(m.beside == Value(0.0), m.values[i], Value(unset)); });
    return mass_factor<Value>(m.values);
  }

  template <class Value, class Real>
  SALTUS_FN static by_velocity<Value> force(const point_of<Value, Real>& at) {
    vec<Value, states> all;
    named_by<typename kinds::state, Value, states> f{all};
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { all[coordinates + j] = Value(unset); });
    Model::force(at, f);
    by_velocity<Value> r;
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { r[j] = all[coordinates + j]; });
    return r;
  }

  /// The constraints and the derivatives needed of them; zero for constraints that are off.
  template <class Value, class Real>
  SALTUS_FN static rows<Value> rows_at(const point_of<Value, Real>& at) {
    auto r = all_rows_at(at);
    switch_off(at, r);
    return r;
  }

  /// The same, whether they are on or off.
  template <class Value, class Real>
  SALTUS_FN static rows<Value> all_rows_at(const point_of<Value, Real>& at) {
    rows<Value> r;
    along_the_motion(at, r);
    by_the_velocities(at, r);
    return r;
  }

  /// Sets the rows of constraints that are off to zero.
  template <class Value, class Real>
  SALTUS_FN static void switch_off(const point_of<Value, Real>& at, rows<Value>& r) {
    if constexpr (any_switched)
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        if (table.of[k].switched_by < 0) return;
        const auto on = is_on(at, k);
        r.position[k] = select(on, r.position[k], Value(0.0));
        r.velocity[k] = select(on, r.velocity[k], Value(0.0));
        r.bend[k] = select(on, r.bend[k], Value(0.0));
        each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { r.by[k][j] = select(on, r.by[k][j], Value(0.0)); });
      });
  }

  /// J alone, of all constraints, on or off.
  template <class Value, class Real>
  SALTUS_FN static rows<Value> jacobian_at(const point_of<Value, Real>& at) {
    rows<Value> r;
    by_the_velocities(at, r);
    return r;
  }

  /// x + rows' lambda.
  template <class Value, int N>
  SALTUS_FN static by_velocity<Value> add(const Value (&rows_)[N][velocities], const by_constraint<Value>& lambda,
                                          by_velocity<Value> x) {
    each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
      for (int k = 0; k < constraints; ++k) x[j] = fma(rows_[k][j], lambda[k], x[j]);
    });
    return x;
  }

  /// M factorised, with M^-1 J' and J M^-1 J'. If constraints are redundant, or M is not positive definite, solutions are not finite or
  /// `over_d` is huge.
  ///
  /// M alone may be singular, as that of Euler parameters with their four rates, while (M J'; J 0) is regular. Then M + J' W J replaces M,
  /// W diagonal and positive: for accelerations with J v' = c, (M + J' W J) v' = f + J' W c + J' lambda has the same solution (augmented
  /// Lagrangian), and velocities with J v = 0 have the same kinetic energy.
  template <class Value>
  struct inertia {
    by_constraint<Value> weight;  ///< W; non-zero only in lanes that need it
    bool is_augmented = false;    ///< in any lane
    mass_factor<Value> mass;
    Value reduced[constraints > 0 ? constraints : 1][velocities];  ///< L^-1 J', a row each

    template <class Real>
    SALTUS_FN inertia(const point_of<Value, Real>& at, const rows<Value>& r) : mass(factorised_with(at, r)) {
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { reduce(r.by[k], reduced[k]); });
    }
    /// f + J' W c.
    SALTUS_FN by_velocity<Value> loaded(by_velocity<Value> f, const rows<Value>& r,
                                        const by_constraint<Value>& c) const {
      if (!is_augmented) return f;
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
        Value sum = f[j];
        for (int k = 0; k < constraints; ++k)
          sum = select(weight[k] > Value(0.0), fma(r.by[k][j], weight[k] * c[k], sum), sum);
        f[j] = sum;
      });
      return f;
    }
    /// L^-1 times a row.
    SALTUS_FN void reduce(const Value (&from)[velocities], Value (&to)[velocities]) const {
      by_velocity<Value> row;
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { row[j] = from[j]; });
      row = mass.forward(row);
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { to[j] = row[j]; });
    }

    /// (L^-1 J') D^-1 x, for x = L^-1 b: J M^-1 b.
    SALTUS_FN by_constraint<Value> along(const by_velocity<Value>& x) const {
      by_constraint<Value> r;
      by_velocity<Value> scaled;
      each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { scaled[j] = x[j] * mass.over_d[j]; });
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        r[k] = reduced[k][0] * scaled[0];
        for (int j = 1; j < velocities; ++j) r[k] = fma(reduced[k][j], scaled[j], r[k]);
      });
      return r;
    }
    /// x + L^-1 J' lambda.
    SALTUS_FN by_velocity<Value> force(const by_constraint<Value>& lambda, const by_velocity<Value>& x) const {
      return add(reduced, lambda, x);
    }

   private:
    template <class Real>
    SALTUS_FN mass_factor<Value> factorised_with(const point_of<Value, Real>& at, const rows<Value>& r) {
      if constexpr (mass_is_diagonal) return factorised_mass(at);
      else {
        // If a pivot is as small as the square root of epsilon, the next one is only rounding.
        constexpr double dependent = sizeof(scalar_of<Real>) == 8 ? 0x1p-24 : 0x1p-10;
        const auto m = written_mass<false>(at);
        mass_factor<Value> factor(m.values);
        auto singular = mask_of<Real>::all(false);
        each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
          singular = singular | !(factor.d[j] > Value(dependent) * m.values[j][j]);
        });
        if (any(singular)) augment(at, r, m.values, singular, factor);
        return factor;
      }
    }
    template <class Real>
    SALTUS_FN_COLD void augment(const point_of<Value, Real>& at, const rows<Value>& r,
                                const Value (&m)[velocities][velocities], mask_of<Real> singular,
                                mass_factor<Value>& factor) {
      is_augmented = true;
      matrix<Value, velocities> sum;
      Value largest = m[0][0];
      for (int i = 0; i < velocities; ++i) {
        largest = max(largest, m[i][i]);
        for (int j = 0; j <= i; ++j) sum[i][j] = m[i][j];
      }
      for (int k = 0; k < constraints; ++k) {
        Value square = Value(0.0);
        for (int j = 0; j < velocities; ++j) square = fma(r.by[k][j], r.by[k][j], square);
        weight[k] = select(singular & is_on(at, k) & (square > Value(0.0)), largest / square, Value(0.0));
        for (int i = 0; i < velocities; ++i)
          for (int j = 0; j <= i; ++j)
            sum[i][j] = select(weight[k] > Value(0.0), fma(weight[k] * r.by[k][i], r.by[k][j], sum[i][j]), sum[i][j]);
      }
      factor = mass_factor<Value>(sum);
      for (int j = 0; j < velocities; ++j) {  // (M J'; J 0) is singular, too
        constexpr double dependent = 0x1p12 * limits<scalar_of<Real>>::epsilon;
        const auto lost = singular & !(factor.d[j] > Value(dependent) * sum[j][j]);
        factor.d[j] = select(lost, Value(0.0), factor.d[j]);
        factor.over_d[j] = select(lost, Value(unset), factor.over_d[j]);
      }
    }

   public:
    /// J M^-1 J' factorised. Constraints that do not hold, by `holds(k)`, count as rows of the identity. With `holonomic` so do constraints
    /// that are not holonomic.
    template <bool holonomic, class Holds>
    SALTUS_FN ldl<Value, constraints> of_constraints(Holds&& holds) const {
      matrix<Value, constraints> a;
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        by_velocity<Value> scaled;
        each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { scaled[j] = reduced[k][j] * mass.over_d[j]; });
        for (int l = 0; l <= k; ++l) {
          if (holonomic && !(is_holonomic(k) && is_holonomic(l))) {
            a[k][l] = Value(l == k ? 1.0 : 0.0);
            continue;
          }
          a[k][l] = scaled[0] * reduced[l][0];
          for (int j = 1; j < velocities; ++j) a[k][l] = fma(scaled[j], reduced[l][j], a[k][l]);
        }
        a[k][k] = select(holds(k), a[k][k], Value(1.0));
      });
      return ldl<Value, constraints>(a);
    }
  };

  /// The constraints with friction: L^-1 (J' + B), and J M^-1 (J' + B) factorised.
  template <class Value>
  struct rubbed {
    Value pushed[constraints > 0 ? constraints : 1][velocities];
    ldu<Value, constraints> factor;

    template <class Real>
    SALTUS_FN rubbed(const point_of<Value, Real>& at, const rows<Value>& all, const inertia<Value>& m)
        : factor(eliminated(at, all, m, pushed)) {}

    /// Painleve's paradox: a push on a contact with friction does not open it, or closes it.
    template <class Real>
    SALTUS_FN mask_of<Real> is_paradoxical(const inertia<Real>& m) const {
      constexpr double dependent = 0x1p12 * limits<scalar_of<Real>>::epsilon;
      auto r = mask_of<Real>::all(false);
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        Real whole = Real(0.0);  // without friction
        for (int j = 0; j < velocities; ++j) whole = fma(m.reduced[k][j] * m.mass.over_d[j], m.reduced[k][j], whole);
        r = r | !(factor.d[k] > Real(dependent) * whole);
      });
      return r;
    }
    /// x + L^-1 (J' + B) lambda.
    SALTUS_FN by_velocity<Value> force(const by_constraint<Value>& lambda, const by_velocity<Value>& x) const {
      return add(pushed, lambda, x);
    }

   private:
    template <class Real>
    SALTUS_FN static matrix<Value, constraints> eliminated(
        const point_of<Value, Real>& at, const rows<Value>& all, const inertia<Value>& m,
        Value (&pushed)[constraints > 0 ? constraints : 1][velocities]) {
      forces_of_friction<Value> b;
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        for (int j = 0; j < velocities; ++j) b.on_velocity[k][j] = Value(0.0);
        for (int l = 0; l < constraints; ++l) b.along_gradient[k][l] = Value(0.0);
      });
      Model::friction(at, b);
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        Value row[velocities];
        each<velocities>([&](int j) SALTUS_INLINE_LAMBDA {
          row[j] = b.on_velocity[k][j];
          for (int l = 0; l < constraints; ++l) row[j] = fma(b.along_gradient[k][l], all.by[l][j], row[j]);
        });
        m.reduce(row, pushed[k]);
        each<velocities>([&](int j) SALTUS_INLINE_LAMBDA { pushed[k][j] = pushed[k][j] + m.reduced[k][j]; });
      });
      matrix<Value, constraints> a;
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
        for (int l = 0; l < constraints; ++l) {
          a[k][l] = m.reduced[k][0] * m.mass.over_d[0] * pushed[l][0];
          for (int j = 1; j < velocities; ++j) a[k][l] = fma(m.reduced[k][j] * m.mass.over_d[j], pushed[l][j], a[k][l]);
        }
        a[k][k] = select(is_on(at, k), a[k][k], Value(1.0));
      });
      return a;
    }
  };

  /// Accelerations and multipliers with ds/dt = drive. Out of line, because the code is too large for every stage of a method.
  template <class Value, class Real>
  SALTUS_FN_COLD static void move(const point_of<Value, Real>& at, const by_constraint<Value>& drive,
                                  by_velocity<Value>& acceleration, by_constraint<Value>& multiplier) {
    if constexpr (is_sparse) {
      move_sparsely(at, drive, acceleration, multiplier);
    } else if constexpr (constraints > 0) {
      auto r = all_rows_at(at);
      [[maybe_unused]] const auto all = [&]() SALTUS_INLINE_LAMBDA {
        if constexpr (has_friction) return r;
        else return 0;  // not used
      }();
      switch_off(at, r);
      const inertia<Value> m(at, r);
      by_constraint<Value> wanted;
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { wanted[k] = drive[k] - r.bend[k]; });
      const auto f = m.mass.forward(m.loaded(force(at), r, wanted));
      const auto free = m.along(f);
      by_constraint<Value> right;
      each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { right[k] = drive[k] - (r.bend[k] + free[k]); });
      const auto holds = [&](int k) SALTUS_INLINE_LAMBDA { return is_on(at, k); };
      if constexpr (any_switched)
        each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { right[k] = select(holds(k), right[k], Value(0.0)); });
      if constexpr (has_friction) {
        const rubbed<Value> b(at, all, m);
        multiplier = b.factor.solve(right);
        acceleration = m.mass.backward(b.force(multiplier, f));
      } else {
        multiplier = m.template of_constraints<false>(holds).solve(right);
        acceleration = m.mass.backward(m.force(multiplier, f));
      }
    } else {
      const auto m = factorised_mass(at);
      acceleration = m.solve(force(at));
      set_undefined(m.d, acceleration);
    }
  }
  template <class Value>
  SALTUS_FN static auto all_positive(const by_velocity<Value>& pivots) {
    auto r = pivots[0] > Value(0.0);
    for (int j = 1; j < velocities; ++j) r = r & (pivots[j] > Value(0.0));
    return r;
  }
  template <class Real>
  SALTUS_FN_COLD static mask_of<Real> mass_is_definite(const point_of<Real, Real>& at) {
    return all_positive(factorised_mass(at).d);
  }
  /// The same with the sparse matrix.
  template <class Value, class Real>
  SALTUS_FN static void move_sparsely(const point_of<Value, Real>& at, const by_constraint<Value>& drive,
                                      by_velocity<Value>& acceleration, by_constraint<Value>& multiplier) {
    const auto holds = [&](int k) SALTUS_INLINE_LAMBDA { return is_on(at, k); };
    sparse_inertia<Value> m;
    m.template take<false>(at, holds);
    constraint_motion<Value, constraints> c;
    if constexpr (constraints > 0) along_the_motion(at, c);
    by_constraint<Value> right;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      right[k] = drive[k] - c.bend[k];
      if (table.of[k].switched_by >= 0) right[k] = select(holds(k), right[k], Value(0.0));
    });
    m.solve(force(at), right, acceleration, multiplier);
    if constexpr (constraints == 0) set_undefined(m.pivots(), acceleration);
  }
  /// Accelerations become NaN where a pivot shows that M is not positive definite. With constraints, projection judges M.
  template <class Value>
  SALTUS_FN static void set_undefined(const by_velocity<Value>& pivots, by_velocity<Value>& acceleration) {
    const auto regular = all_positive(pivots);
    each<velocities>([&](int j)
                         SALTUS_INLINE_LAMBDA { acceleration[j] = select(regular, acceleration[j], Value(unset)); });
  }
  /// The smallest pivot of M, relative to the element of M at the same indices here or at another point, whichever is larger.
  template <class Real>
  SALTUS_FN_COLD static Real regularity_of_mass(const point_of<Real, Real>& at, const point_of<Real, Real>& before) {
    const auto here = written_mass<false>(at), there = written_mass<false>(before);
    const ldl<Real, velocities> factor(here.values);
    Real least = Real(1.0);
    for (int j = 0; j < velocities; ++j)
      least = min(least, factor.d[j] / max(abs(here.values[j][j]), abs(there.values[j][j])));
    return least;
  }
  /// Painleve's paradox (`rubbed`) at a point.
  template <class Real>
  SALTUS_FN_COLD static mask_of<Real> is_paradoxical(const point_of<Real, Real>& at) {
    const auto all = all_rows_at(at);
    auto r = all;
    switch_off(at, r);
    const inertia<Real> m(at, r);
    return rubbed<Real>(at, all, m).is_paradoxical(m);
  }
  /// The same with ds/dt = 0.
  template <class Value, class Real>
  SALTUS_FN static void move(const point_of<Value, Real>& at, by_velocity<Value>& acceleration,
                             by_constraint<Value>& multiplier) {
    by_constraint<Value> still;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { still[k] = Value(0.0); });
    move(at, still, acceleration, multiplier);
  }

  /// Residuals of the constraints on the levels of position and velocity, as in `constraint_rows`, also of those that are off.
  template <class Value>
  struct both_levels {
    by_constraint<Value> position, velocity;
  };
  template <class Value, class Real>
  SALTUS_FN static both_levels<Value> levels_at(const point_of<Value, Real>& at) {
    using once = dual<Value>;
    const auto rate = rates(at);
    vec<once, states> y;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      y[i] = i < coordinates ? once(at.y[i], rate[i % coordinates]) : once(at.y[i]);
    });
    const auto c = values(moved(at, once(at.t, Value(1.0)), y));
    both_levels<Value> r;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      r.position[k] = is_holonomic(k) ? c[k].value : Value(0.0);
      r.velocity[k] = is_holonomic(k) ? c[k].d[0] : c[k].value;
    });
    return r;
  }
  /// s of constraint k.
  template <class Value>
  SALTUS_FN static Value deviation(const both_levels<Value>& at, int k) {
    if (!is_holonomic(k) || table.of[k].decay_rate == 0.0) return at.velocity[k];
    return fma(Value(table.of[k].decay_rate), at.position[k], at.velocity[k]);
  }

  /// N(q) d: the change of the coordinates if the velocities integrate to d.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, coordinates> shift(const point_of<Value, Real>& at, const by_velocity<Value>& d) {
    vec<Value, states> y;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA { y[i] = i < coordinates ? at.y[i] : d[i - coordinates]; });
    return rates(moved(at, at.t, y));
  }

  /// J in sweeps of several directions: body(first direction, values of the constraints with derivatives, holonomic). For holonomic
  /// constraints the directions are N(q) e_j, for others v_j; `body` may take only the constraints of that kind.
  template <class Value, class Real, class F>
  SALTUS_FN static void along_directions(const point_of<Value, Real>& at, F&& body) {
    constexpr int width = sweeps<directions>::width;
    using seeds = dual<Value, width>;
    each_sweep<directions>([&](int first) SALTUS_INLINE_LAMBDA {
      const auto direction = [](int j) SALTUS_INLINE_LAMBDA { return direction_of(j); };
      const auto seed = seeds_at < width, has_kinematics || any_nonholonomic > (at, first, direction);
      body(first, values(moved(at, seeds(at.t), seed.further)), true);
      if constexpr (any_nonholonomic) body(first, values(moved(at, seeds(at.t), seed.faster)), false);
    });
  }

  /// Invariants and their derivatives with respect to velocities and along the moves N(q) e_j of the coordinates, a row each.
  template <class Value>
  struct invariant_rows {
    vec<Value, invariants> value;
    Value by_position[invariants > 0 ? invariants : 1][velocities],
        by_speed[invariants > 0 ? invariants : 1][velocities];
  };
  template <class Value, class Real>
  SALTUS_FN static vec<Value, invariants> invariants_at(const point_of<Value, Real>& at) {
    named<typename kinds::invariant, Value, invariants> i;
    each<invariants>([&](int k) SALTUS_INLINE_LAMBDA { i.values[k] = Value(unset); });
    Model::invariants(at, i);
    return i.values;
  }
  template <class Value, class Real>
  SALTUS_FN static invariant_rows<Value> invariant_rows_at(const point_of<Value, Real>& at) {
    constexpr int width = sweeps<velocities>::width;
    using seeds = dual<Value, width>;
    invariant_rows<Value> r;
    each_sweep<velocities>([&](int first) SALTUS_INLINE_LAMBDA {
      const auto seed = seeds_at<width, true>(at, first, [](int j) SALTUS_INLINE_LAMBDA { return j; });
      const auto further = invariants_at(moved(at, seeds(at.t), seed.further));
      const auto faster = invariants_at(moved(at, seeds(at.t), seed.faster));
      each<invariants>([&](int k) SALTUS_INLINE_LAMBDA {
        r.value[k] = faster[k].value;
        static_for<width>([&](auto d) SALTUS_INLINE_LAMBDA {
          if (first + d >= velocities) return;
          r.by_position[k][first + d] = further[k].d[d];
          r.by_speed[k][first + d] = faster[k].d[d];
        });
      });
    });
    return r;
  }
  /// Calls the model's `mass`.
  template <class Value, class Real, class Matrix>
  SALTUS_FN static void write_mass(const point_of<Value, Real>& at, Matrix& m) {
    Model::mass(at, m);
  }
  /// body(entry, its constraint, its derivative) for the entries of J in the sweep of directions that begins with `first`.
  template <int width, class F>
  SALTUS_FN static void each_entry_of(int first, bool by_position, F&& body) {
    static_for<width>([&](auto d) SALTUS_INLINE_LAMBDA {
      if (first + d < directions)
        for (int e = tables::colour_start[first + d], end = tables::colour_start[first + d + 1]; e < end; ++e)
          if (const int k = tables::jacobian_row[e]; !any_nonholonomic || is_holonomic(k) == by_position) body(e, k, d);
    });
  }

  /// The same model, parameters and modes at another point, over another number.
  template <class Other, class Value, class Real>
  SALTUS_FN static point_of<Other, Real> moved(const point_of<Value, Real>& at, Other t, const vec<Other, states>& y) {
    return {t, y, at.p, at.modes, at.guard_values, at.pieces};
  }

 private:
  static constexpr double unset = __builtin_bit_cast(double, 0x7ff8000000000000ll);

  /// Seeds for the sweep of directions that begins with `first`: one unit more of each velocity, and one unit along the coordinates that it
  /// moves; velocity j is in direction(j).
  template <class Value, int width>
  struct seeds_of {
    vec<dual<Value, width>, states> faster, further;
  };
  template <int width, bool with_faster, class Value, class Real, class Direction>
  SALTUS_FN static seeds_of<Value, width> seeds_at(const point_of<Value, Real>& at, int first, Direction&& direction) {
    using seeds = dual<Value, width>;
    seeds_of<Value, width> r;
    if constexpr (with_faster)
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        r.faster[i] =
            i < coordinates ? seeds(at.y[i]) : seeded<width>(at.y[i], direction(i - coordinates), first, Value(1.0));
      });
    if constexpr (has_kinematics) {
      const auto turn = rates(moved(at, seeds(at.t), r.faster));
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        r.further[i] = seeds(at.y[i]);
        if (i < coordinates)
          for (int d = 0; d < width; ++d) r.further[i].d[d] = turn[i % coordinates].d[d];
      });
    } else {
      each<states>([&](int i) SALTUS_INLINE_LAMBDA {
        r.further[i] = i < coordinates ? seeded<width>(at.y[i], direction(i), first, Value(1.0)) : seeds(at.y[i]);
      });
    }
    return r;
  }

  /// The mass matrix that the model writes; zero where it writes nothing.
  template <bool diagonal, class Value, class Real>
  SALTUS_FN static auto written_mass(const point_of<Value, Real>& at) {
    named_symmetric_matrix<typename kinds::state, Value, velocities, coordinates, diagonal> m;
    if constexpr (diagonal) m.beside = Value(0.0);
    each<velocities>([&](int i) SALTUS_INLINE_LAMBDA {
      if constexpr (diagonal) m.values[i] = Value(0.0);
      else
        for (int j = 0; j <= i; ++j) m.values[i][j] = Value(0.0);
    });
    Model::mass(at, m);
    return m;
  }

  template <class Value, class Real>
  SALTUS_FN static by_constraint<Value> values(const point_of<Value, Real>& at) {
    named<typename kinds::constraint, Value, constraints> c;
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA { c.values[k] = Value(unset); });
    if constexpr (constraints > 0) Model::constraints(at, c);
    return c.values;
  }

  /// Values and time derivatives along the motion without accelerations: t' = 1, q' = N(q) v, v' = 0.
  template <class Value, class Real>
  SALTUS_FN static void along_the_motion(const point_of<Value, Real>& at, constraint_motion<Value, constraints>& r) {
    using once = dual<Value>;
    using twice = dual<once>;
    const auto rate = rates(at);
    vec<once, states> y;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      y[i] = i < coordinates ? once(at.y[i], rate[i % coordinates]) : once(at.y[i]);
    });
    const auto turn = rates(moved(at, once(at.t, Value(1.0)), y));
    vec<twice, states> along;
    each<states>([&](int i) SALTUS_INLINE_LAMBDA {
      along[i] = i < coordinates ? twice(y[i], turn[i % coordinates]) : twice(y[i]);
    });
    const auto c = values(moved(at, twice(once(at.t, Value(1.0)), once(1.0)), along));
    each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
      const auto by_position = table.of[k].holonomic;
      const Value value = c[k].value.value, first = c[k].value.d[0], second = c[k].d[0].d[0];
      r.position[k] = by_position ? value : Value(0.0);
      r.velocity[k] = by_position ? first : value;
      r.bend[k] = by_position ? second : first;
      if (by_position && table.of[k].decay_rate != 0.0)
        r.bend[k] = fma(Value(table.of[k].decay_rate), first, r.bend[k]);
    });
  }

  template <class Value, class Real>
  SALTUS_FN static void by_the_velocities(const point_of<Value, Real>& at, rows<Value>& r) {
    if constexpr (is_sparse)
      for (int k = 0; k < constraints; ++k)
        for (int j = 0; j < velocities; ++j) r.by[k][j] = Value(0.0);
    along_directions(at, [&](int first, const auto& c, bool by_position) SALTUS_INLINE_LAMBDA {
      constexpr int width = sweeps<directions>::width;
      if constexpr (is_sparse) {
        each_entry_of<width>(first, by_position, [&](int e, int k, int d) SALTUS_INLINE_LAMBDA {
          r.by[k][tables::jacobian_column[e]] = c[k].d[d];
        });
      } else {
        each<constraints>([&](int k) SALTUS_INLINE_LAMBDA {
          if (table.of[k].holonomic != by_position) return;
          static_for<width>([&](auto d) SALTUS_INLINE_LAMBDA {
            if (first + d < velocities) r.by[k][first + d] = c[k].d[d];
          });
        });
      }
    });
  }
};

/// Accelerations and multipliers at a point, computed on first use.
template <class Model, class Value, class Real>
SALTUS_FN const detail::kept_motion<Model, Value>& motion_of(const point<Model, Value, Real>& at) {
  if (!at.kept.known) mechanics<Model>::move(at, at.kept.acceleration, at.kept.multiplier);
  at.kept.known = true;
  return at.kept;
}

}  // namespace saltus
