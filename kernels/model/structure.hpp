// The entries that the matrices of a mechanical system may have, found by running the model's functions once over numbers that record their
// dependence (number/dependence.hpp). Host side only.
#pragma once

#include "abi/module.hpp"
#include "model/views.hpp"
#include "number/dependence.hpp"

namespace saltus {

/// A symmetric matrix for `mass` to fill in, which records the entries that it asks for.
template <class Id, class Real, int N, int First>
struct named_symmetric_record {
  bool asked[N][N] = {};  ///< the lower triangle counts
  Real entry = Real(0.0);

  Real& operator()(Id row, Id column) { return at(static_cast<int>(row) - First, static_cast<int>(column) - First); }
  /// Members k and l of two families.
  Real& operator()(Id row, int k, Id column, int l) {
    return at(static_cast<int>(row) + k - First, static_cast<int>(column) + l - First);
  }

 private:
  Real& at(int row, int column) {
    (row < column ? asked[column][row] : asked[row][column]) = true;
    return entry;
  }
};

namespace detail {
template <class Id, class Real, int N, int First>
inline constexpr bool is_argument<named_symmetric_record<Id, Real, N, First>> = true;
template <class Model, class Real, int N, int First>
requires requires { Model::m; }
constexpr auto hidden_by(named_symmetric_record<typename kinds<Model>::state, Real, N, First>&) { return Model::m; }
}  // namespace detail

/// abi::mechanical_structure of a model. Its functions run with its default values.
template <class Model>
class structure_of {
  using kinds = detail::kinds<Model>;
  static constexpr int states = kinds::state_count, constraints = kinds::constraint_count;
  static constexpr int coordinates = static_cast<int>(Model::first_velocity), velocities = states - coordinates;
  using Real = pack<double, 1>;
  using Value = dependent<states>;  // the inputs are coordinates and velocities; dependence on time is not needed
  using at = point<Model, Value, Real>;
  using velocity_set = input_set<states>;

  static constexpr bool has_friction = [] {
    if constexpr (constraints == 0) return false;
    else
      return requires(const at& here, named_friction<typename kinds::state, typename kinds::constraint, Value,
                                                     velocities, constraints, coordinates>& b) {
        Model::friction(here, b);
      };
  }();

  vec<Value, states> y_;
  vec<Real, kinds::parameter_count> p_;
  vec<Real, kinds::discrete_count> d_;
  Real locked_[kinds::guard_count + 1];
  Real pieces_[tabulated_table_of<Model>.numbers + 1];

 public:
  /// Null if the model has friction: its matrix is not symmetric and is treated as dense.
  static const abi::mechanical_structure* get() {
    if constexpr (has_friction) return nullptr;
    static int mass_rows[velocities * (velocities + 1) / 2], mass_columns[velocities * (velocities + 1) / 2],
        jacobian_rows[constraints * velocities + 1], jacobian_columns[constraints * velocities + 1];
    static abi::mechanical_structure s;
    s = {0, 0, mass_rows, mass_columns, jacobian_rows, jacobian_columns};
    const structure_of model;
    recorded_lanes = lanes_recorded::mixed;
    model.find_mass([&](int i, int j) {
      mass_rows[s.mass_entries] = i;
      mass_columns[s.mass_entries++] = j;
    });
    if constexpr (constraints > 0)
      model.find_jacobian([&](int k, int j) {
        jacobian_rows[s.jacobian_entries] = k;
        jacobian_columns[s.jacobian_entries++] = j;
      });
    recorded_lanes = lanes_recorded::one;
    return &s;
  }

  /// body(constraint, velocity) for each entry of J that may not be zero.
  template <class F>
  static void each_jacobian_entry(F&& body) {
    if constexpr (constraints > 0) structure_of().find_jacobian(body);
  }

 private:
  structure_of() {
    const auto start = detail::defaults_of<states>(Model::state_list);
    for (int i = 0; i < states; ++i) y_[i] = Value::input(i, start.of[i]);
    detail::each_default_parameter<Model>([&](int i, double value) { p_[i] = Real(value); });
    detail::each_default_discrete<Model>([&](int i, double value) { d_[i] = Real(value); });
    for (Real& g : locked_) g = Real(1.0);
    for (Real& number : pieces_) number = Real(1.0);
  }
  at here() const { return {Value(0.0), y_, p_, d_, locked_, pieces_}; }

  template <class F>
  void find_mass(F&& body) const {
    named_symmetric_record<typename kinds::state, Value, velocities, coordinates> m;
    Model::mass(here(), m);
    for (int i = 0; i < velocities; ++i)
      for (int j = 0; j <= i; ++j)
        if (m.asked[i][j]) body(i, j);
  }

  /// body(constraint, velocity): a holonomic constraint depends on coordinates that the velocity moves, others on the velocity itself.
  template <class F>
  void find_jacobian(F&& body) const {
    named<typename kinds::constraint, Value, constraints> c;
    Model::constraints(here(), c);
    constexpr auto table = detail::make_constraint_table<Model, constraints>();
    const auto moved = moved_by();
    for (int k = 0; k < constraints; ++k) {
      velocity_set by = c.values[k].trace;
      if (table.of[k].holonomic) {
        by = {};
        for (int i = 0; i < coordinates; ++i)
          if (c.values[k].trace.has(i)) by = by | moved.of[i];
      }
      for (int j = 0; j < velocities; ++j)
        if (by.has(coordinates + j)) body(k, j);
    }
  }

  /// The velocities on which the time derivative of each coordinate depends.
  struct sets {
    velocity_set of[coordinates > 0 ? coordinates : 1];
  };
  sets moved_by() const {
    sets r;
    vec<Value, states> rates;
    named_by<typename kinds::state, Value, states> dq{rates};
    if constexpr (requires { Model::kinematics(here(), dq); }) {
      Model::kinematics(here(), dq);
      for (int i = 0; i < coordinates; ++i) r.of[i] = rates[i].trace;
    } else {
      for (int i = 0; i < coordinates; ++i) r.of[i].insert(coordinates + i);
    }
    return r;
  }
};

}  // namespace saltus
