// The derivative array F, F', .., F^(K) of 0 = f_i(t, x, x', x'', ...), for models whose structural analysis fails: S. L. Campbell, "A
// Numerical Integrator for Simulation of Unstructured Implicit Models" (docs/high_index.md). Without offsets, the rank of a matrix
// determines which derivative follows from which equation; the host has found this rank (host/structure/rank_of_array.hpp).
//
// The values y of an instance are x_j, .., x_j^(h_j), all derivatives that occur in F. Higher ones, w, occur in F', .., F^(K) alone. With
// G = (F', .., F^(K)), scaled, G_w of rank r and Q'G_w = (R 0)',
//
//     w from the first r of Q'G = 0, of which the x_j^(h_j + 1) are unique;     0 = F, and 0 = the rest of Q'G, constrain y
//
// The iteration for w always starts at zero: F' is linear in the x_j^(h_j + 1), and F^(k) in the derivatives that are new in it. If there
// are several solutions, the values y determine which one it is.
#pragma once

#include "form/consistent/consistency.hpp"
#include "form/model_series.hpp"
#include "linear/ranked_qr.hpp"

namespace saltus {

template <class Functions>
struct derivative_array {
  using Model = typename Functions::Model;
  using series = model_series<Functions>;
  using layout = typename series::layout;
  using time = typename Functions::time;
  static constexpr int unknowns = series::unknowns, values = series::values;
  static constexpr int times = offsets_of<Model>.times, rank = offsets_of<Model>.rank;
  template <class Real>
  using step_constants = typename Functions::template step_constants<Real>;

  SALTUS_FN static constexpr int order(int j) {
    constexpr auto table = offsets_of<Model>;
    return table.order[j];
  }
  /// The order of the highest derivative of x_j in the array.
  SALTUS_FN static constexpr int last(int j) { return order(j) + times; }
  /// The index of coefficient m of x_j in w.
  SALTUS_FN static constexpr int column(int j, int m) {
    int first = 0;
    for (int l = 0; l < j; ++l) first += last(l) - layout::highest(l);
    return first + m - layout::highest(j) - 1;
  }
  static constexpr int rows = unknowns * times, columns = column(unknowns - 1, last(unknowns - 1)) + 1;
  static constexpr int constraints = unknowns + rows - rank;
  static constexpr int length = [] {
    int most = 0;
    for (int j = 0; j < unknowns; ++j) most = most < last(j) ? last(j) : most;
    return most + 1;
  }();
  /// The index of the derivative x_j^(p) among those in F.
  SALTUS_FN static constexpr int argument(int j, int p) {
    int first = 0;
    for (int l = 0; l < j; ++l) first += order(l) + 1;
    return first + p;
  }
  static constexpr int arguments = argument(unknowns, 0);

  /// Coefficients of F, and of G = (F', .., F^(K)), with their derivatives by the values y and by the coefficients w.
  template <class Real>
  struct linearised {
    vec<Real, unknowns> f;
    vec<vec<Real, values>, unknowns> f_by_y;
    vec<Real, rows> g;
    vec<vec<Real, values>, rows> g_by_y;
    vec<vec<Real, columns>, rows> g_by_w;
  };

  template <class Real>
  SALTUS_FN_CALLED static linearised<Real> linearised_at(Real t, const vec<Real, values>& y,
                                                         const vec<Real, columns>& w,
                                                         const step_constants<Real>& fixed) {
    linearised<Real> r;
    const auto by = by_arguments(t, y, w, fixed, r);
    SALTUS_ROLLED for (int k = 0; k <= times; ++k) SALTUS_ROLLED for (int i = 0; i < unknowns; ++i)
        SALTUS_ROLLED for (int j = 0; j < unknowns; ++j) {
      for (int m = 0; m <= layout::highest(j); ++m) {
        const Real entry = by.coefficient(i, k, j, m) * Real(1.0 / detail::rising(0, m));
        (k == 0 ? r.f_by_y[i] : r.g_by_y[(k - 1) * unknowns + i])[layout::first(j) + m] = entry;
      }
      for (int m = layout::highest(j) + 1; m <= last(j) && k > 0; ++m)
        r.g_by_w[(k - 1) * unknowns + i][column(j, m)] = by.coefficient(i, k, j, m);
    }
    return r;
  }

  /// F at the values y.
  template <class Real>
  SALTUS_FN_COLD static vec<Real, unknowns> equations_at(Real t, const vec<Real, values>& y,
                                                         const step_constants<Real>& fixed) {
    typename series::template run<Real, length> run(t, y,
                                                    [](int j) SALTUS_INLINE_LAMBDA { return layout::highest(j); });
    return run.at_order(0, fixed);
  }

  /// The solution of the array at a point: w, and the constraints on the values with their derivatives.
  template <class Real>
  struct solution {
    vec<Real, columns> w;
    vec<Real, constraints> constraint;
    vec<vec<Real, values>, constraints> by;
    Real least;  ///< close to zero if the rank of G_w is lower than assumed
    Real rest;   ///< above rounding if it is higher
    mask_of<Real> found;
  };

  /// The same for F alone.
  template <class Real>
  SALTUS_FN_COLD static solution<Real> written(Real t, const vec<Real, values>& y, const step_constants<Real>& fixed) {
    solution<Real> r;
    for (int j = 0; j < columns; ++j) r.w[j] = Real(0.0);
    const auto at = linearised_at(t, y, r.w, fixed);
    for (int i = 0; i < constraints; ++i) {
      r.constraint[i] = i < unknowns ? at.f[i < unknowns ? i : 0] : Real(0.0);
      for (int j = 0; j < values; ++j) r.by[i][j] = i < unknowns ? at.f_by_y[i < unknowns ? i : 0][j] : Real(0.0);
    }
    r.least = Real(1.0);
    r.rest = Real(0.0);
    r.found = mask_of<Real>::all(true);
    return r;
  }

  /// Largest remainder beyond the rank of G_w at a point that satisfies the constraints.
  template <class Real>
  static constexpr double negligible = root_epsilon<scalar_of<Real>>;

  /// Gauss-Newton iteration that uses each matrix for two steps: the second step is rounding if G is linear in w.
  template <class Real>
  using matrix_of_w = vec<vec<Real, columns>, rows>;  ///< G_w with scaled rows
  template <class Real>
  SALTUS_FN_CALLED static solution<Real> solved(Real t, const vec<Real, values>& y, const step_constants<Real>& fixed,
                                                matrix_of_w<Real>* g_by_w = nullptr) {
    constexpr int most = 12;
    constexpr double rounding = 64.0 * limits<scalar_of<Real>>::epsilon;
    constexpr double as_low_as_rounding = 0x1p-6 * root_epsilon<scalar_of<Real>>;
    solution<Real> r;
    r.found = mask_of<Real>::all(false);
    for (int j = 0; j < columns; ++j) r.w[j] = Real(0.0);
    auto open = mask_of<Real>::all(true);
    SALTUS_ROLLED for (int turn = 0; turn < most && any(open); ++turn) {
      auto here = linearised_at(t, y, r.w, fixed);
      const auto scale = scale_rows(here);
      const ranked_qr<Real, rows, columns, rank> qr(here.g_by_w);
      auto w = r.w;
      const Real first = step_of_w(qr, here.g, w);
      auto rest = g_at(t, y, w, fixed);
      for (int i = 0; i < rows; ++i) rest[i] = rest[i] * scale[i];
      const Real second = step_of_w(qr, rest, w);
      for (int j = 0; j < columns; ++j) r.w[j] = select(open, w[j], r.w[j]);
      r.least = select(open, qr.least(), r.least);
      r.rest = select(open, qr.rest(), r.rest);
      take_constraints(r, here, qr, rest, open);
      if (g_by_w != nullptr)
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) (*g_by_w)[i][j] = select(open, here.g_by_w[i][j], (*g_by_w)[i][j]);
      // The remaining error is estimated from the ratio of the two steps. The iteration ends when it is rounding, or when both steps are.
      const Real size = size_of(y, w), enough = Real(rounding) * size;
      const auto no_better = (second >= Real(0.25) * first) & (second <= Real(as_low_as_rounding) * size);
      const auto done = open & ((second <= enough) | (second * second <= enough * first) | no_better);
      r.found = r.found | done;
      open = open & !done & (second < Real(limits<scalar_of<Real>>::largest));
    }
    return r;
  }

  /// The lanes in which two points are not known to lie on one branch, because G_w may have had a lower rank between them.
  template <class Real>
  SALTUS_FN_COLD static mask_of<Real> on_other_branches(const step_ends<Real, values>& ends,
                                                        const step_constants<Real>& fixed) {
    matrix_of_w<Real> begin, end;
    const auto found = solved(ends.t0, ends.y0, fixed, &begin).found & solved(ends.t1, ends.y1, fixed, &end).found;
    return (!found) | ranked_qr<Real, rows, columns, rank>(begin).turns_to(end);
  }

  /// The derivative of the values y with respect to engine time; NaN if the iteration fails.
  template <class Real>
  SALTUS_FN_COLD static vec<Real, values> rates(Real t, const vec<Real, values>& y, const step_constants<Real>& fixed) {
    const auto at = solved(t, y, fixed);
    vec<Real, values> r;
    for (int j = 0; j < unknowns; ++j) {
      const int highest = layout::highest(j);
      for (int l = 0; l < highest; ++l) r[layout::first(j) + l] = y[layout::first(j) + l + 1];
      r[layout::first(j) + highest] =
          at.w[column(j, highest + 1)] * Real(detail::rising(0, highest + 1) / power_of_scale(highest + 1));
    }
    for (int i = 0; i < values; ++i) r[i] = select(at.found, r[i], Real(Functions::unset));
    time::turn(r);
    return r;
  }

 private:
  SALTUS_FN static constexpr double power_of_scale(int m) {
    constexpr auto table = offsets_of<Model>;
    double r = 1.0;
    for (int i = 0; i < m; ++i) r *= table.time_scale;
    return r;
  }

  /// Series of the partial derivatives of F with respect to each x_j^(p) in it. All derivatives of the array are made from these, since the
  /// derivative of F_k with respect to a coefficient of x_j^(p) depends only on the difference of orders.
  template <class Real>
  struct partial_series {
    vec<vec<vec<Real, unknowns>, times + 1>, arguments> of;
    /// dF_k/dc_m for x_j and equation i: the coefficient of order m - p of x_j^(p) is (m - p + 1) .. m c_m.
    SALTUS_FN Real coefficient(int i, int k, int j, int m) const {
      Real r = Real(0.0);
      for (int p = 0; p <= order(j) && p <= m; ++p)
        if (const int l = k - m + p; l >= 0 && l <= k)
          r = fma(of[argument(j, p)][l][i], Real(detail::rising(m - p, p)), r);
      return r;
    }
  };
  template <class Real>
  SALTUS_FN_CALLED static partial_series<Real> by_arguments(Real t, const vec<Real, values>& y,
                                                            const vec<Real, columns>& w,
                                                            const step_constants<Real>& fixed, linearised<Real>& at) {
    typename series::template run<dual<Real>, length> run(
        t, y, [](int j) SALTUS_INLINE_LAMBDA { return layout::highest(j); });
    set(run, w);
    partial_series<Real> r;
    auto complete = true;
    SALTUS_ROLLED for (int j = 0; j < unknowns; ++j) SALTUS_ROLLED for (int p = 0; p <= order(j); ++p) {
      run.x[j].c[p].d[0] = Real(1.0);
      SALTUS_ROLLED for (int k = 0; k <= times; ++k) {
        const auto f = run.at_order(k, fixed);
        for (int i = 0; i < unknowns; ++i) {
          if (j == 0 && p == 0) (k == 0 ? at.f[i] : at.g[k > 0 ? (k - 1) * unknowns + i : 0]) = f[i].value;
          Real own = f[i].d[0];
          for (int q = 0; q < p; ++q)
            if (const int l = k - p + q; l >= 0)
              own = fma(-r.of[argument(j, q)][l][i], Real(detail::rising(p - q, q)), own);
          r.of[argument(j, p)][k][i] = own * Real(1.0 / detail::rising(0, p));
        }
      }
      run.x[j].c[p].d[0] = Real(0.0);
      complete = complete && run.is_complete();
    }
    if (!complete) at.f[0] = at.g[0] = Real(Functions::unset);
    return r;
  }
  template <class Value, class Real>
  SALTUS_FN static void set(typename series::template run<Value, length>& run, const vec<Real, columns>& w) {
    for (int j = 0; j < unknowns; ++j)
      for (int m = layout::highest(j) + 1; m <= last(j); ++m)
        run.x[j].c[m] = Value(w[column(j, m)] * Real(1.0 / power_of_scale(m)));
  }
  template <class Real>
  SALTUS_FN_CALLED static vec<Real, rows> g_at(Real t, const vec<Real, values>& y, const vec<Real, columns>& w,
                                               const step_constants<Real>& fixed) {
    typename series::template run<Real, length> run(t, y,
                                                    [](int j) SALTUS_INLINE_LAMBDA { return layout::highest(j); });
    set(run, w);
    vec<Real, rows> g;
    SALTUS_ROLLED for (int k = 0; k <= times; ++k) {
      const auto f = run.at_order(k, fixed);
      for (int i = 0; i < unknowns && k > 0; ++i) g[(k - 1) * unknowns + i] = f[i];
    }
    if (!run.is_complete()) g[0] = Real(Functions::unset);
    return g;
  }

  /// Scales each row by its largest entry, and columns by powers of the time scale. Returns the factors of the rows.
  template <class Real>
  SALTUS_FN_COLD static vec<Real, rows> scale_rows(linearised<Real>& at) {
    vec<Real, rows> scale;
    for (int i = 0; i < rows; ++i) {
      Real largest = Real(0.0);
      for (int j = 0; j < unknowns; ++j) {
        for (int m = 0; m <= layout::highest(j); ++m)
          largest =
              max(largest, abs(at.g_by_y[i][layout::first(j) + m]) * Real(detail::rising(0, m) / power_of_scale(m)));
        for (int m = layout::highest(j) + 1; m <= last(j); ++m) {
          Real& entry = at.g_by_w[i][column(j, m)];
          entry = entry * Real(1.0 / power_of_scale(m));
          largest = max(largest, abs(entry));
        }
      }
      scale[i] = select(largest > Real(0.0), Real(1.0) / largest, Real(1.0));
      at.g[i] = at.g[i] * scale[i];
      for (int j = 0; j < values; ++j) at.g_by_y[i][j] = at.g_by_y[i][j] * scale[i];
      for (int j = 0; j < columns; ++j) at.g_by_w[i][j] = at.g_by_w[i][j] * scale[i];
    }
    return scale;
  }

  /// Corrects w, in scaled coefficients, by one step; g becomes Q'G. Returns the largest change.
  template <class Real>
  SALTUS_FN static Real step_of_w(const ranked_qr<Real, rows, columns, rank>& qr, vec<Real, rows>& g,
                                  vec<Real, columns>& w) {
    qr.turn(g);
    const auto by = qr.solve(g);
    Real size = Real(0.0);
    for (int j = 0; j < columns; ++j) {
      size = max(size, abs(by[j])) + not_finite(by[j]);
      w[j] = w[j] - by[j];
    }
    return size;
  }
  template <class Real>
  SALTUS_FN static Real size_of(const vec<Real, values>& y, const vec<Real, columns>& w) {
    Real size = Real(limits<scalar_of<Real>>::smallest);
    for (int j = 0; j < unknowns; ++j)
      for (int m = 0; m <= layout::highest(j); ++m)
        size = max(size, abs(y[layout::first(j) + m]) * Real(power_of_scale(m) / detail::rising(0, m)));
    for (int j = 0; j < columns; ++j) size = max(size, abs(w[j]));
    return size;
  }
  /// Takes F, and the part of Q'G that is independent of w.
  template <class Real>
  SALTUS_FN_COLD static void take_constraints(solution<Real>& r, const linearised<Real>& at,
                                              const ranked_qr<Real, rows, columns, rank>& qr,
                                              const vec<Real, rows>& turned, mask_of<Real> where) {
    for (int i = 0; i < unknowns; ++i) r.constraint[i] = select(where, at.f[i], r.constraint[i]);
    for (int i = rank; i < rows; ++i)
      r.constraint[unknowns + i - rank] = select(where, turned[i], r.constraint[unknowns + i - rank]);
    for (int j = 0; j < values; ++j) {
      vec<Real, rows> along;
      for (int i = 0; i < rows; ++i) along[i] = at.g_by_y[i][j];
      if (rows > rank) qr.turn(along);
      for (int i = 0; i < unknowns; ++i) r.by[i][j] = select(where, at.f_by_y[i][j], r.by[i][j]);
      for (int i = rank; i < rows; ++i)
        r.by[unknowns + i - rank][j] = select(where, along[i], r.by[unknowns + i - rank][j]);
    }
  }
};

}  // namespace saltus
