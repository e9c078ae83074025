// The equations of a model as a graph, found by running its functions once over recording numbers (number/orders.hpp), with the model's
// default values. All kinds of equations are given as 0 = f_i(t, x, x', x'', ...):
//
//     y' = f            y_i' - f_i; for an algebraic state f_i
//     M y' = f          sum M_ij y_j' - f_i
//     mechanical        q_i' - (N v)_i,  sum M_ij v_j' - f_i - sum J_ki lambda_k,  Phi_k
//
// The multipliers lambda are unknowns, too; a constraint that is off is lambda_k = 0. An entry J_ki is recorded as depending on all
// arguments of Phi_k. Host side only.
#pragma once

#include "model/checks.hpp"
#include "model/structure.hpp"
#include "number/orders.hpp"

namespace saltus {

template <class Model>
class recorded_equations {
  using c = contract<Model>;
  using state = typename c::state;
  using Real = orders;
  using at = point<Model, Real, Real, true>;
  static constexpr int states = c::state_count;

  expression_record& record_;
  vec<Real, states> y_;
  vec<Real, c::parameter_count> p_;
  vec<Real, c::discrete_count> d_;
  Real locked_[c::guard_count + 1];
  Real pieces_[tabulated_table_of<Model>.numbers + 1];  ///< of the tables: functions of time alone
  double t_ = 0.0;

 public:
  static constexpr int count = states + c::constraint_count;  ///< number of equations, and of unknowns
  static constexpr int guards_and_outputs = c::guard_count + c::output_count;

  /// The nodes of the equations, without their names.
  static abi::equation_record get() {
    static const abi::equation_record once = run();
    return once;
  }

 private:
  static abi::equation_record run() {
    static expression_record record;
    static int equations[count], observed[guards_and_outputs + 1];
    recording = &record;
    recorded_lanes = lanes_recorded::mixed;
    recorded_equations model(record);
    for (int& i : equations) i = -1;
    model.write(equations);
    if constexpr (c::has_residual_of_any_order) model.write_observed(observed);
    recorded_lanes = lanes_recorded::one;
    recording = nullptr;
    return {record.count(),
            record.nodes(),
            count,
            equations,
            nullptr,
            nullptr,
            c::has_residual_of_any_order ? guards_and_outputs : 0,
            observed};
  }
  explicit recorded_equations(expression_record& record) : record_(record) {
    if constexpr (requires { Model::span[1]; }) t_ = Model::span[0];
    const auto start = detail::defaults_of<states>(Model::state_list);
    for (int i = 0; i < states; ++i) y_[i] = Real::input(i, start.of[i]);
    detail::each_default_parameter<Model>([&](int i, double value) { p_[i] = Real(value); });
    detail::each_default_discrete<Model>([&](int i, double value) { d_[i] = leaf(operation::discrete, i, value); });
    for (int i = 0; i < c::guard_count; ++i) locked_[i] = leaf(operation::guard, i, 1.0);
    for (Real& number : pieces_) number = Real(1.0);
  }
  Real leaf(operation what, int i, double value) { return Real(Real::Real(value), {record_.add(what, i, 0)}); }
  at here() const { return {Real(t_), y_, p_, d_, locked_, pieces_}; }
  /// Marks the derivatives that guards and outputs need, which an instance must hold.
  void write_observed(int* nodes) {
    named<typename c::guard, Real, c::guard_count> signs;
    named<typename c::output, Real, c::output_count> outs;
    clear(signs.values);
    clear(outs.values);
    if constexpr (c::guard_count > 0) Model::guards(here(), signs);
    if constexpr (c::output_count > 0) Model::outputs(here(), outs);
    for (int i = 0; i < c::guard_count; ++i) nodes[i] = signs.values[i].trace.node;
    for (int i = 0; i < c::output_count; ++i) nodes[c::guard_count + i] = outs.values[i].trace.node;
  }
  /// The mark of an equation that the model did not write.
  static Real unwritten() { return Real(Real::Real(0.0), {-1}); }
  template <class Vector>
  static void clear(Vector& values) {
    for (int i = 0; i < Vector::size; ++i) values[i] = unwritten();
  }
  static bool is_written(const Real& x) { return x.trace.node >= 0; }

  void write(int* equations) {
    vec<Real, count> r;
    clear(r);
    if constexpr (c::is_mechanical) write_mechanical(r);
    else if constexpr (c::has_residual_of_any_order) write_any_order(r);
    else if constexpr (c::has_residual) write_residual(r);
    else write_rates(r);
    for (int i = 0; i < count; ++i) equations[i] = r[i].trace.node;
  }

  void write_any_order(vec<Real, count>& r) {
    named<typename c::row_of_residual, Real, states> zeros;
    clear(zeros.values);
    Model::residual(here(), zeros);
    for (int i = 0; i < states; ++i) r[i] = zeros.values[i];
  }

  void write_residual(vec<Real, count>& r) {
    named<state, Real, states> rates, zeros;
    for (int i = 0; i < states; ++i) rates.values[i] = derivative(y_[i], 1);
    clear(zeros.values);
    const auto& dy = rates;
    Model::residual(here(), dy, zeros);
    for (int i = 0; i < states; ++i) r[i] = zeros.values[i];
  }

  void write_rates(vec<Real, count>& r) {
    vec<Real, states> f;
    clear(f);
    named_by<state, Real, states> slopes{f};
    Model::rhs(here(), slopes);
    for (int i = 0; i < states; ++i)
      if (is_written(f[i])) r[i] = -f[i];
    if constexpr (c::has_mass) {
      static named_matrix<state, Real, states> m;
      for (auto& row : m.values)
        for (Real& entry : row) entry = unwritten();
      Model::mass(here(), m);
      for (int i = 0; i < states; ++i)
        for (int j = 0; j < states; ++j)
          if (is_written(m.values[i][j])) r[i] += m.values[i][j] * derivative(y_[j], 1);
    } else {
      for (int i = 0; i < states; ++i)
        if (index_of_state<Model>(i) == 0 && is_written(r[i])) r[i] += derivative(y_[i], 1);
    }
  }

  void write_mechanical(vec<Real, count>& r) {
    constexpr int coordinates = static_cast<int>(Model::first_velocity), constraints = c::constraint_count;
    write_kinematics(r);
    write_inertia(r);
    if constexpr (constraints > 0) {
      constexpr auto table = detail::make_constraint_table<Model, constraints>();
      named<typename c::constraint, Real, constraints> phi;
      clear(phi.values);
      Model::constraints(here(), phi);
      const jacobian pattern;
      for (int k = 0; k < constraints; ++k) {
        const Real lambda = Real::input(states + k, 0.0),
                   force = lambda * Real(0.0, recorded_node::function(phi.values[k].trace));
        for (int j = 0; j < states - coordinates; ++j)
          if (pattern.entry[k][j]) r[coordinates + j] += force;
        const int by = table.of[k].switched_by;
        r[states + k] = by < 0 ? phi.values[k] : select(d_[by < 0 ? 0 : by] > Real(0.5), phi.values[k], lambda);
      }
    }
  }

  void write_kinematics(vec<Real, count>& r) {
    constexpr int coordinates = static_cast<int>(Model::first_velocity);
    vec<Real, states> rates;
    clear(rates);
    named_by<state, Real, states> dq{rates};
    if constexpr (requires { Model::kinematics(here(), dq); }) {
      Model::kinematics(here(), dq);
    } else {
      for (int i = 0; i < coordinates; ++i) rates[i] = y_[coordinates + i];
    }
    for (int i = 0; i < coordinates; ++i)
      if (is_written(rates[i])) r[i] = derivative(y_[i], 1) - rates[i];
  }

  void write_inertia(vec<Real, count>& r) {
    constexpr int coordinates = static_cast<int>(Model::first_velocity), velocities = states - coordinates;
    static named_symmetric_matrix<state, Real, velocities, coordinates> m;
    for (auto& row : m.values)
      for (Real& entry : row) entry = unwritten();
    Model::mass(here(), m);
    vec<Real, states> forces;
    clear(forces);
    named_by<state, Real, states> f{forces};
    Model::force(here(), f);
    for (int i = 0; i < velocities; ++i) {
      Real& row = r[coordinates + i];
      if (is_written(forces[coordinates + i])) row = -forces[coordinates + i];
      for (int j = 0; j < velocities; ++j) {
        const Real& entry = i < j ? m.values[j][i] : m.values[i][j];
        if (is_written(entry)) row += entry * derivative(y_[coordinates + j], 1);
      }
    }
  }

  /// True entries: velocity j moves constraint k.
  struct jacobian {
    bool entry[c::constraint_count + 1][states] = {};
    jacobian() {
      structure_of<Model>::each_jacobian_entry([this](int k, int j) { entry[k][j] = true; });
    }
  };
};

}  // namespace saltus
