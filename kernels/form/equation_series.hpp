// The equations 0 = f_i(t, x, x', x'', ...) of a model run over truncated series (number/jet.hpp), with the offsets c_i, d_j of its
// structural analysis (docs/high_index.md): N. S. Nedialkov and J. D. Pryce, BIT 45 (2005) 561 and 47 (2007) 121.
//
// In stage k, k = -max d_j, .., 0, 1, .., the equations f_i^(k + c_i) determine x_j^(k + d_j), for those i and j for which k + c_i and k +
// d_j are not negative. All stages have the same matrix, J_ij = df_i/dx_j^(d_j - c_i), or rows and columns of it. From stage 1 on they are
// linear, and have as many equations as unknowns. If modes have different offsets, an instance has the values that any of them needs; in a
// mode that needs fewer, the others follow from its later stages.
#pragma once

#include "form/model_series.hpp"
#include "linear/least_change.hpp"

namespace saltus {

/// The equations of one set of offsets.
template <class Functions, int set>
struct equation_series {
  using Model = typename Functions::Model;
  using kinds = typename Functions::kinds;
  using layout = typename kinds::values;
  using time = typename Functions::time;
  static constexpr int unknowns = kinds::state_count, values = kinds::value_count;
  static constexpr int first_entry = offsets_of<Model>.first_entry[set];
  static constexpr int entries = offsets_of<Model>.first_entry[set + 1] - first_entry;
  static constexpr int first_direction = offsets_of<Model>.first_direction[set];
  static constexpr int directions = offsets_of<Model>.first_direction[set + 1] - first_direction;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  SALTUS_FN static constexpr int c(int i) {
    constexpr auto table = offsets_of<Model>;
    return table.c[set][i];
  }
  SALTUS_FN static constexpr int d(int j) {
    constexpr auto table = offsets_of<Model>;
    return table.d[set][j];
  }
  SALTUS_FN static constexpr stage_entry entry(int e) {
    constexpr auto table = offsets_of<Model>;
    return table.entry[first_entry + e];
  }
  SALTUS_FN static constexpr int level(int direction) {
    constexpr auto table = offsets_of<Model>;
    return table.level[first_direction + direction];
  }
  static constexpr int largest(int (*of)(int)) {
    int most = 0;
    for (int i = 0; i < unknowns; ++i) most = most < of(i) ? of(i) : most;
    return most;
  }
  static constexpr int most_c = largest(c), most_d = largest(d), highest = largest(layout::highest);
  /// Number of stages after those that settle the values of this set; the remaining values of an instance follow from them.
  static constexpr int more_stages = largest([](int j) { return layout::highest(j) - d(j); });

  SALTUS_FN static constexpr int min_of(int a, int b) { return a < b ? a : b; }
  SALTUS_FN static constexpr int max_of(int a, int b) { return a < b ? b : a; }

  /// Series of time and unknowns, from the values y of this set at engine time t.
  template <class Value, int length>
  struct run : model_series<Functions>::template run<Value, length> {
    template <class Of>
    SALTUS_FN run(Of engine_time, const vec<Of, values>& y)
        : model_series<Functions>::template run<Value, length>(engine_time, y,
                                                               [](int j) SALTUS_INLINE_LAMBDA { return d(j); }) {}
  };

  /// J at the values y, in as few directions as its pattern allows.
  template <class Real>
  SALTUS_FN_COLD static matrix<Real, unknowns> jacobian(Real t, const vec<Real, values>& y,
                                                        const step_constants<Real>& fixed) {
    run<dual<Real>, most_d + 1> series(t, y);
    matrix<Real, unknowns> j;
    for (int i = 0; i < unknowns; ++i)
      for (int k = 0; k < unknowns; ++k) j[i][k] = Real(0.0);
    for (int direction = 0, first = 0, end = 0; direction < directions; ++direction, first = end) {
      const auto seed = [&](int e, bool on) SALTUS_INLINE_LAMBDA {
        const int column = entry(e).column, l = d(column) - level(direction);
        series.x[column].c[l].d[0] = Real(on ? 1.0 / detail::rising(0, l) : 0.0);
      };
      for (; end < entries && entry(end).direction == direction; ++end) seed(end, true);
      const auto r = series.at_order(0, fixed);
      for (int e = first; e < end; ++e) {
        j[entry(e).row][entry(e).column] = r[entry(e).row].d[0];
        seed(e, false);
      }
    }
    return j;
  }

  /// f_i^(k + c_i) of the equations of a stage k <= 0, at the values y; zero for others. Value is Real, or a dual of it.
  template <class Value, class Real>
  SALTUS_FN_COLD static vec<Value, unknowns> residual_of_stage(int k, Value t, const vec<Value, values>& y,
                                                               const step_constants<Real>& fixed) {
    run<Value, most_d + 1> series(t, y);
    vec<Value, unknowns> r;
    for (int i = 0; i < unknowns; ++i) r[i] = Value(0.0);
    for (int order = 0; order <= most_c + k; ++order) {
      const auto f = series.at_order(order, fixed);
      for (int i = 0; i < unknowns; ++i)
        if (k + c(i) == order) r[i] = Real(detail::rising(0, order)) * f[i];
    }
    if (!series.is_complete())  // the model takes more rows than were counted
      for (int i = 0; i < unknowns; ++i) r[i] = Value(Functions::unset);
    return r;
  }

  /// The constraints F: f_i, f_i', .., f_i^(c_i) of every equation, ordered by stages.
  static constexpr int constraints = [] {
    int sum = 0;
    for (int i = 0; i < unknowns; ++i) sum += c(i) + 1;
    return sum;
  }();
  /// The row in F of equation i in stage k.
  SALTUS_FN static constexpr int constraint(int i, int k) {
    int row = 0;
    for (int l = 0; l < unknowns; ++l) row += min_of(max_of(k + c(l), 0), c(l) + 1) + (l < i && k + c(l) >= 0 ? 1 : 0);
    return row;
  }

  /// F at the values y.
  template <class Real>
  SALTUS_FN_COLD static vec<Real, constraints> constraints_at(Real t, const vec<Real, values>& y,
                                                              const step_constants<Real>& fixed) {
    run<Real, most_d + 1> series(t, y);
    vec<Real, constraints> r;
    for (int order = 0; order <= most_c; ++order) {
      const auto f = series.at_order(order, fixed);
      for (int i = 0; i < unknowns; ++i)
        if (order <= c(i)) r[constraint(i, order - c(i))] = Real(detail::rising(0, order)) * f[i];
    }
    if (!series.is_complete()) r[0] = Real(Functions::unset);
    return r;
  }

  /// dF/dy, a column for every value; zero for values that follow from others.
  template <class Real>
  SALTUS_FN_COLD static vec<vec<Real, values>, constraints> jacobian_of_constraints(Real t, const vec<Real, values>& y,
                                                                                    const step_constants<Real>& fixed) {
    run<dual<Real>, most_d + 1> series(t, y);
    vec<vec<Real, values>, constraints> r;
    for (int i = 0; i < constraints; ++i)
      for (int l = 0; l < values; ++l) r[i][l] = Real(0.0);
    for (int j = 0; j < unknowns; ++j)
      for (int l = 0; l <= d(j); ++l) {
        series.x[j].c[l].d[0] = Real(1.0 / detail::rising(0, l));
        for (int order = 0; order <= most_c; ++order) {
          const auto f = series.at_order(order, fixed);
          for (int i = 0; i < unknowns; ++i)
            if (order <= c(i))
              r[constraint(i, order - c(i))][layout::first(j) + l] = Real(detail::rising(0, order)) * f[i].d[0];
        }
        series.x[j].c[l].d[0] = Real(0.0);
      }
    return r;
  }

  /// J with its rows divided by their largest entries, factorised.
  template <class Real>
  struct factorised {
    vec<Real, unknowns> scale;
    lu<Real, unknowns> factors;

    SALTUS_FN_COLD explicit factorised(matrix<Real, unknowns> j) : factors(scaled(j, scale)) {}
    SALTUS_FN_COLD vec<Real, unknowns> solve(vec<Real, unknowns> b) const {
      for (int i = 0; i < unknowns; ++i) b[i] = b[i] * scale[i];
      return factors.solve(b);
    }

   private:
    SALTUS_FN static const matrix<Real, unknowns>& scaled(matrix<Real, unknowns>& j, vec<Real, unknowns>& scale) {
      for (int i = 0; i < unknowns; ++i) {
        Real largest = Real(0.0);
        for (int k = 0; k < unknowns; ++k) largest = max(largest, abs(j[i][k]));
        scale[i] = Real(1.0) / largest;
        for (int k = 0; k < unknowns; ++k) j[i][k] = j[i][k] * scale[i];
      }
      return j;
    }
  };

  /// Solves stages 1 .. last. After the last one the equations are not evaluated again with the new coefficients.
  template <class Value, int length, class Real>
  SALTUS_FN static void solve_stages(run<Value, length>& series, int last, const factorised<Real>& j,
                                     const step_constants<Real>& fixed) {
    series.at_order(0, fixed);
    for (int k = 1; k <= last; ++k) {
      solve_stage(series, k, j, fixed);
      if (k < last) series.at_order(k, fixed);  // with the coefficients that have just been found
    }
  }

  /// -f_i^(k + c_i) of the equations of a stage k > 0, with the coefficients present in the series.
  template <class Value, int length, class Real>
  SALTUS_FN static vec<Value, unknowns> lacking_in_stage(run<Value, length>& series, int k,
                                                         const step_constants<Real>& fixed) {
    vec<Value, unknowns> b;
    for (int order = k; order <= k + most_c; ++order) {
      const auto f = series.at_order(order, fixed);
      for (int i = 0; i < unknowns; ++i)
        if (order == k + c(i)) b[i] = Real(-detail::rising(k, c(i))) * f[i];
    }
    return b;
  }

  /// Stage k > 0: appends the coefficient of order k + d_j to the series of every unknown x_j. For duals, the derivatives follow from the
  /// residuals with the new value in place: the same factors serve all directions (implicit function theorem).
  template <class Value, int length, class Real>
  SALTUS_FN static void solve_stage(run<Value, length>& series, int k, const factorised<Real>& j,
                                    const step_constants<Real>& fixed) {
    const auto coefficient = [&](int i, const Value& z)
                                 SALTUS_INLINE_LAMBDA { return z * Real(1.0 / detail::rising(k, d(i))); };
    auto z = solved_for(j, lacking_in_stage(series, k, fixed));
    if constexpr (!is_same<Value, Real>) {
      for (int i = 0; i < unknowns; ++i) series.x[i].c[k + d(i)] = Value(coefficient(i, z[i]).value);
      const auto along = solved_for(j, lacking_in_stage(series, k, fixed));
      for (int i = 0; i < unknowns; ++i) z[i] = shifted(along[i], z[i].value);
    }
    for (int i = 0; i < unknowns; ++i) series.x[i].c[k + d(i)] = coefficient(i, z[i]);
  }

  /// J^-1 b. For duals also the derivatives of b are solved for; those of J are not included.
  template <class Value, class Real>
  SALTUS_FN static vec<Value, unknowns> solved_for(const factorised<Real>& j, const vec<Value, unknowns>& b) {
    if constexpr (is_same<Value, Real>) {
      return j.solve(b);
    } else {
      vec<Value, unknowns> r;
      const auto solve = [&](const auto& part_of) SALTUS_INLINE_LAMBDA {
        vec<Real, unknowns> part;
        for (int i = 0; i < unknowns; ++i) part[i] = part_of(b[i]);
        part = j.solve(part);
        for (int i = 0; i < unknowns; ++i) part_of(r[i]) = part[i];
      };
      solve([](auto& x) SALTUS_INLINE_LAMBDA -> auto& { return x.value; });
      for (int k = 0; k < Value::directions; ++k) solve([k](auto& x) SALTUS_INLINE_LAMBDA -> auto& { return x.d[k]; });
      return r;
    }
  }

  /// The derivative of the values y with respect to engine time.
  template <class Real>
  SALTUS_FN_COLD static vec<Real, values> rates(Real t, const vec<Real, values>& y, const step_constants<Real>& fixed) {
    run<Real, highest + 2> series(t, y);
    solve_stages(series, 1 + more_stages, factorised<Real>(jacobian(t, y, fixed)), fixed);
    vec<Real, values> r;
    for (int j = 0; j < unknowns; ++j)
      for (int l = 0; l <= layout::highest(j); ++l)
        r[layout::first(j) + l] = Real(detail::rising(0, l + 1)) * series.x[j].c[l + 1];
    if (!series.is_complete())
      for (int i = 0; i < values; ++i) r[i] = Real(Functions::unset);
    time::turn(r);
    return r;
  }

  /// The equations for implicit methods, as dy/dt = r with 0 = r for the highest derivative of each unknown. The time derivative of a value
  /// is the next value, and the equations differentiated c_i times (stage 0) determine the highest ones. So no time derivative is obtained
  /// by a further differentiation: stage 1 would multiply it by the eigenvalues of stiff equations.
  template <class Value, class Real>
  SALTUS_FN_COLD static vec<Value, values> of_index_1(Value t, const vec<Value, values>& y,
                                                      const step_constants<Real>& fixed) {
    vec<Value, values> r;
    for (int j = 0; j < unknowns; ++j)
      for (int l = 0; l < layout::highest(j); ++l) r[layout::first(j) + l] = time::turned(y[layout::first(j) + l + 1]);
    auto highest = residual_of_stage(0, t, y, fixed);
    if constexpr (more_stages > 0) highest = less_following(t, y, highest, fixed);
    for (int j = 0; j < unknowns; ++j) r[layout::first(j) + layout::highest(j)] = highest[j];
    return r;
  }

  /// For a set of offsets with redundant values in an instance: the correction that stage 0 requires of the highest derivatives of this
  /// set; for other values, their deviation from the results of later stages.
  template <class Value, class Real>
  SALTUS_FN_COLD static vec<Value, unknowns> less_following(Value t, const vec<Value, values>& y,
                                                            vec<Value, unknowns> f, const step_constants<Real>& fixed) {
    const auto at = [](const Value& x) SALTUS_INLINE_LAMBDA {
      if constexpr (is_same<Value, Real>) return x;
      else return x.value;
    };
    vec<Real, values> point;
    for (int i = 0; i < values; ++i) point[i] = at(y[i]);
    const factorised<Real> j(jacobian(at(t), point, fixed));
    run<Value, highest + 1> series(t, y);
    solve_stages(series, more_stages, j, fixed);
    f = solved_for(j, f);
    for (int i = 0; i < unknowns; ++i)
      if (const int l = layout::highest(i); l > d(i))
        f[i] = y[layout::first(i) + l] - Real(detail::rising(0, l)) * series.x[i].c[l];
    return f;
  }

  /// Sets the values of y that follow from those of this set.
  template <class Real>
  SALTUS_FN_COLD static void complete(Real t, vec<Real, values>& y, const step_constants<Real>& fixed,
                                      mask_of<Real> where) {
    run<Real, highest + 1> series(t, y);
    solve_stages(series, more_stages, factorised<Real>(jacobian(t, y, fixed)), fixed);
    for (int j = 0; j < unknowns; ++j)
      for (int l = d(j) + 1; l <= layout::highest(j); ++l) {
        Real& value = y[layout::first(j) + l];
        value = select(where, Real(detail::rising(0, l)) * series.x[j].c[l], value);
      }
  }

  /// The series of the values in the lanes of `where`: `coefficient[k]` belongs to (t - t0)^(k + 1) in engine time.
  template <int order, class Real>
  SALTUS_FN_COLD static void find_coefficients(Real t, const vec<Real, values>& y, const step_constants<Real>& fixed,
                                               vec<Real, values> (&coefficient)[order], mask_of<Real> where) {
    run<Real, order + highest + 1> series(t, y);
    solve_stages(series, order + more_stages, factorised<Real>(jacobian(t, y, fixed)), fixed);
    const bool turns = Functions::time_sign < 0;
    for (int k = 1; k <= order; ++k)
      for (int j = 0; j < unknowns; ++j)
        for (int l = 0; l <= layout::highest(j); ++l) {
          Real& to = coefficient[k - 1][layout::first(j) + l];
          const double factor = detail::rising(k, l);
          to = select(where, Real(turns && k % 2 != 0 ? -factor : factor) * series.x[j].c[k + l], to);
        }
    if (!series.is_complete())
      for (int i = 0; i < values; ++i) coefficient[0][i] = Real(Functions::unset);
  }
};

}  // namespace saltus
