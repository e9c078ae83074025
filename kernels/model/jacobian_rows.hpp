// The constraints of a mechanical system at one point. The host uses them to find constraints that depend on each other.
#pragma once

#include "model/mechanics.hpp"

namespace saltus {

/// Writes J at a point into `rows`, [constraint][velocity]; zeros where a constraint is off.
template <class Model>
void jacobian_rows(double t, const double* states, const double* parameters, const double* discretes, double* rows) {
  using bodies = mechanics<Model>;
  using kinds = detail::kinds<Model>;
  using Real = pack<double, 1>;
  vec<Real, kinds::state_count> y;
  vec<Real, kinds::parameter_count> p;
  vec<Real, kinds::discrete_count> d;
  Real sides[kinds::guard_count > 0 ? kinds::guard_count : 1];
  for (int i = 0; i < kinds::state_count; ++i) y[i] = Real(states[i]);
  for (int i = 0; i < kinds::parameter_count; ++i) p[i] = Real(parameters[i]);
  for (int i = 0; i < kinds::discrete_count; ++i) d[i] = Real(discretes[i]);
  for (Real& side : sides) side = Real(1.0);
  // Values of tables are arbitrary here: dependence of constraints does not hinge on them.
  Real pieces[tabulated_table_of<Model>.numbers + 1];
  for (Real& number : pieces) number = Real(1.0);
  const point<Model, Real, Real> at{Real(t), y, p, d, sides, pieces};
  auto r = bodies::jacobian_at(at);
  for (int k = 0; k < bodies::constraints; ++k) r.position[k] = r.velocity[k] = r.bend[k] = Real(0.0);  // not needed
  bodies::switch_off(at, r);
  for (int k = 0; k < bodies::constraints; ++k)
    for (int j = 0; j < bodies::velocities; ++j) rows[k * bodies::velocities + j] = r.by[k][j].v;
}

}  // namespace saltus
