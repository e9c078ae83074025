// The derivative array of a model at one point, for the host, which determines its rank (host/structure/rank_of_array.hpp).
#pragma once

#include "form/derivative_array.hpp"

namespace saltus {

/// Writes F, F', .., F^(K) as coefficients of series, [order][equation], into `f`, and a row of derivatives for each of them, with respect
/// to the coefficients of the unknowns, into `by`. `x` has these coefficients: those of x_1 of the orders 0 .. the last in the array, then
/// those of x_2, ...
template <class Functions>
void array_for_host(double t, const double* parameters, const double* discretes, const double* sides, const double* x,
                    double* f, double* by) {
  using Real = pack<double, 1>;
  using array = derivative_array<Functions>;
  using layout = typename array::layout;
  typename Functions::template step_constants<Real> constants;
  for (int i = 0; i < Functions::params; ++i) constants.p[i] = Real(parameters[i]);
  for (int i = 0; i < Functions::discretes; ++i) constants.d[i] = Real(discretes[i]);
  for (int i = 0; i < Functions::guards; ++i) constants.guard_values[i] = Real(sides[i]);
  // Values of tables are arbitrary here: they are given functions of time.
  for (int i = 0; i < Functions::piece_numbers; ++i) constants.pieces[i] = Real(1.0);
  vec<Real, array::values> y;
  vec<Real, array::columns> w;
  int next = 0;
  for (int j = 0; j < array::unknowns; ++j)
    for (int m = 0; m <= array::last(j); ++m, ++next)
      (m <= layout::highest(j) ? y[layout::first(j) + m] : w[array::column(j, m)]) =
          Real(m <= layout::highest(j) ? x[next] * detail::rising(0, m) : x[next]);
  const int all = next;
  const auto at = array::linearised_at(Real(t), y, w, constants);
  for (int k = 0; k <= array::times; ++k)
    for (int i = 0; i < array::unknowns; ++i) {
      const int row = k * array::unknowns + i, below = row - array::unknowns;
      f[row] = (k == 0 ? at.f[i] : at.g[below < 0 ? 0 : below]).v;
      next = row * all;
      for (int j = 0; j < array::unknowns; ++j)
        for (int m = 0; m <= array::last(j); ++m, ++next) {
          if (m > layout::highest(j)) by[next] = k == 0 ? 0.0 : at.g_by_w[below][array::column(j, m)].v;
          else {
            const auto& of = k == 0 ? at.f_by_y[i] : at.g_by_y[below];
            by[next] = of[layout::first(j) + m].v * detail::rising(0, m);
          }
        }
    }
}

}  // namespace saltus
