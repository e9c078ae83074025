// The matrices of a large mechanical system as one sparse matrix,
//
//     [M J'; J 0] [a; -lambda] = [f; s]
//
// which is M a = f + J' lambda, J a = s. Each multiplier is eliminated after all velocities of its constraint. If M is positive definite
// and the constraints are independent, pivots of velocities are then positive and those of multipliers negative, as in the dense
// factorisation, which eliminates all velocities and then all multipliers. The host finds the order from the structure of the model
// (host/compile/elimination.hpp); it is the same for all instances. A constraint that does not hold has a row of zeros and a pivot of -1.
#pragma once

#include "linear/sparse_ldl.hpp"
#include "model/views.hpp"

namespace saltus {

/// The module's tables for its model's sparse matrix, beside those of sparse_ldl:
///
///     position[]               of each velocity, then of each multiplier, in the order of elimination
///     colours, colour_of[]     number of directions for J; that of each velocity
///     jacobian_row[], jacobian_column[], jacobian_number[], colour_start[]   entries of J by colours, with their numbers
///     mass_start[velocities + 1], mass_column[], mass_number[]               of the lower triangle of M, by rows
template <class Model>
struct elimination_tables {};

namespace detail {

/// The number of an entry of M; -1: no entry. A row has few entries.
template <class Tables>
struct mass_numbers {
  SALTUS_FN static int of(int row, int column) {
    const int last = row < column ? column : row, first = row < column ? row : column;
    for (int e = Tables::mass_start[last]; e < Tables::mass_start[last + 1]; ++e)
      if (Tables::mass_column[e] == first) return Tables::mass_number[e];
    return -1;
  }
};

}  // namespace detail

template <class Bodies, class Value>
struct sparse_inertia {
  using tables = typename Bodies::tables;
  static constexpr int velocities = Bodies::velocities, constraints = Bodies::constraints;
  using by_velocity = vec<Value, velocities>;
  using by_constraint = vec<Value, constraints>;

  sparse_ldl<Value, tables> factor;

  SALTUS_FN static constexpr int position_of_multiplier(int k) { return tables::position[velocities + k]; }

  /// Factorises the matrix at a point, with the constraints that hold there; with `of_positions`, the holonomic ones alone.
  template <bool of_positions, class Point, class Holds>
  SALTUS_FN void take(const Point& at, Holds&& holds) {
    factor.clear();
    take_mass(at);
    decltype(holds(0)) held[constraints > 0 ? constraints : 1];
    for (int k = 0; k < constraints; ++k) {
      held[k] = holds(k);
      if (of_positions && !Bodies::is_holonomic(k)) held[k] = held[k] & !held[k];
    }
    if constexpr (constraints > 0)
      Bodies::along_directions(at, [&](int first, const auto& c, bool of_holonomic) SALTUS_INLINE_LAMBDA {
        constexpr int width = sizeof(c[0].d) / sizeof(c[0].d[0]);
        Bodies::template each_entry_of<width>(first, of_holonomic, [&](int e, int k, int d) SALTUS_INLINE_LAMBDA {
          factor.numbers[tables::jacobian_number[e]] = select(held[k], c[k].d[d], Value(0.0));
        });
      });
    for (int k = 0; k < constraints; ++k)
      factor.numbers[position_of_multiplier(k)] = select(held[k], Value(0.0), Value(-1.0));
    factor.factorise();
  }

  /// Solves for a and lambda.
  SALTUS_FN void solve(const by_velocity& f, const by_constraint& s, by_velocity& a, by_constraint& lambda) const {
    vec<Value, tables::unknowns> x;
    for (int j = 0; j < velocities; ++j) x[tables::position[j]] = f[j];
    for (int k = 0; k < constraints; ++k) x[position_of_multiplier(k)] = s[k];
    factor.solve(x);
    for (int j = 0; j < velocities; ++j) a[j] = x[tables::position[j]];
    for (int k = 0; k < constraints; ++k) lambda[k] = -x[position_of_multiplier(k)];
  }
  /// The pivots of velocities.
  SALTUS_FN by_velocity pivots() const {
    by_velocity d;
    for (int j = 0; j < velocities; ++j) d[j] = factor.numbers[tables::position[j]];
    return d;
  }
  /// M^-1 J' (J M^-1 J')^-1 s.
  SALTUS_FN by_velocity back(const by_constraint& s) const {
    by_velocity none, a;
    by_constraint lambda;
    for (int j = 0; j < velocities; ++j) none[j] = Value(0.0);
    solve(none, s, a, lambda);
    return a;
  }

  /// Tests that M is positive definite and that each constraint is independent of those eliminated before it. `of` becomes the first that
  /// is not.
  template <class Mask>
  SALTUS_FN_COLD void judge(Mask& singular, Value& of) const {
    constexpr double dependent = 0x1p12 * limits<scalar_of<Value>>::epsilon;
    vec<Value, tables::unknowns> whole;  // the part of each pivot that comes from velocities alone
    for (int i = 0; i < tables::unknowns; ++i) whole[i] = Value(0.0);
    for (int j = 0; j < velocities; ++j) {
      const int column = tables::position[j];
      const Value d = factor.numbers[column];
      singular = singular | !(d > Value(0.0));
      for (int p = tables::start[column]; p < tables::start[column + 1]; ++p) {
        const Value l = factor.numbers[tables::unknowns + p];
        whole[tables::row[p]] = fma(l * d, l, whole[tables::row[p]]);
      }
    }
    for (int k = 0; k < constraints; ++k) {
      const int i = position_of_multiplier(k);
      const auto lost = !(-factor.numbers[i] > Value(dependent) * whole[i]);
      of = select(lost & (of < Value(0.0)), Value(static_cast<double>(k)), of);
      singular = singular | lost;
    }
  }

 private:
  /// If a model writes an entry that its structure does not have, the matrix is not finite.
  template <class Point>
  SALTUS_FN void take_mass(const Point& at) {
    named_sparse_symmetric_matrix<typename Bodies::kinds::state, Value, detail::mass_numbers<tables>,
                                  Bodies::coordinates>
        m{factor.numbers, Value(0.0)};
    Bodies::write_mass(at, m);
    Value& first = factor.numbers[tables::position[0]];
    first = select(m.beside == Value(0.0), first, Value(__builtin_bit_cast(double, 0x7ff8000000000000ll)));
  }
};

}  // namespace saltus
