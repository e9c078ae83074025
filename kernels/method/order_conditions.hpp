// The order conditions of an explicit Runge-Kutta method, checked by the compiler.
//
// A formula with weights w has order p if, for every rooted tree t with at most p nodes,
//
//     sum_i w_i phi_i(t) = 1 / gamma(t),
//
// where phi_i of the single node is 1, phi_i(t) is the product of sum_j a_ij phi_j(u) over the trees u that remain when
// the root of t is cut off, and gamma(t) is the number of nodes |t| times the product of all gamma(u) (Hairer, Norsett,
// Wanner, "Solving Ordinary Differential Equations I", II.2). A dense output has order p if, for every s in [0, 1], its
// weights w(s) give s^|t| / gamma(t) instead. Never part of a kernel; tests and host code write
//
//     static_assert(saltus::methods::order_conditions<saltus::methods::dormand_prince_5>());
//
// which costs g++ and clang less than a second for the largest method and stays within their default limits.
#pragma once

#include "method/list.hpp"

namespace saltus::methods {

/// Nodes of the largest trees tested: one more than the highest order, so that an understated order is found.
inline constexpr int largest_tree = 10;

/// Number of rooted trees with at most n nodes: sums of 1, 1, 2, 4, 9, 20, 48, 115, 286 (OEIS A000081).
inline constexpr int trees_up_to[largest_tree + 1] = {0, 1, 2, 4, 8, 17, 37, 85, 200, 486, 1205};

/// A rooted tree: tree number `branch` hung on the root of tree number `trunk`. The single node has neither.
struct rooted_tree {
  int trunk;
  int branch;
  double gamma;
};

/// All rooted trees, by their number of nodes.
struct forest {
  rooted_tree tree[trees_up_to[largest_tree]] = {{-1, -1, 1.0}};

  constexpr forest() {
    int count = 1;
    for (int nodes = 2; nodes <= largest_tree; ++nodes) {
      for (int m = 1; m < nodes; ++m) {  // nodes of the branch
        for (int branch = trees_up_to[m - 1]; branch < trees_up_to[m]; ++branch) {
          for (int trunk = trees_up_to[nodes - m - 1]; trunk < trees_up_to[nodes - m]; ++trunk) {
            // The branches of a root are hung in falling order of their numbers: every tree is found once.
            if (trunk > 0 && branch > tree[trunk].branch) continue;
            tree[count++] = {trunk, branch, tree[trunk].gamma * tree[branch].gamma * nodes / (nodes - m)};
          }
        }
      }
    }
  }
};
inline constexpr forest rooted_trees;

/// A computed number, and the sum of the absolute values of its summands: its rounding error is a few ulps of `size`.
struct measured {
  double value = 0.0;
  double size = 0.0;

  constexpr measured() = default;
  constexpr measured(double x) : measured(x, x < 0.0 ? -x : x) {}
  constexpr measured(double x, double terms) : value(x), size(terms) {}

  friend constexpr measured operator+(measured a, measured b) { return {a.value + b.value, a.size + b.size}; }
  friend constexpr measured operator-(measured a, measured b) { return {a.value - b.value, a.size + b.size}; }
  friend constexpr measured operator*(measured a, measured b) { return {a.value * b.value, a.size * b.size}; }

  /// Raises `largest` to |value| in units of size; NaN as soon as either is NaN.
  constexpr void raise(double& largest) const {
    const double x = value == 0.0 ? 0.0 : (value < 0.0 ? -value : value) / size;
    if (largest == largest && !(x <= largest)) largest = x;
  }
};

/// The weights w of a formula y + h sum_i w_i k_i.
template <int Stages>
struct formula {
  measured weight[Stages];
};

/// The coefficients of a method as values that may be changed. The stages are the method's, its extra ones, and then f1 if the method is
/// not FSAL.
template <class Method>
struct tableau {
  static constexpr int own = Method::stages + Method::extra_stages;
  static constexpr int stages = own + (Method::fsal ? 0 : 1);
  static constexpr int f1 = Method::fsal ? Method::stages - 1 : own;
  static constexpr int rows = Method::dense_rows;
  static constexpr int orders[] = {Method::order, Method::embedded_order, Method::embedded3_order, Method::dense_order,
                                   Method::middle_order};
  static_assert(Method::fsal || rows + Method::extra_stages == 0,
                "a method with dense output of its own has f1 as its last stage: write it as FSAL");

  static_assert(Method::two_errors == (Method::embedded3_order > 0), "e3 and its order come together");

  /// The most nodes of a tree to test: one more than the highest order claimed.
  static constexpr int nodes = [] {
    int highest = 0;
    for (int order : orders)
      if (order > highest) highest = order;
    return highest + 1;
  }();
  static_assert(nodes <= largest_tree, "raise largest_tree and continue trees_up_to");

  double c[stages] = {};
  double a[stages][stages] = {};
  double b[stages] = {};
  double e[stages] = {};
  double e3[stages] = {};
  double d[rows + 1][stages] = {};  // one row too many: an array has at least one
  double middle[stages] = {};

  constexpr tableau() {
    if constexpr (Method::is_low_storage) expand(Method{});
    for (int i = 0; i < own; ++i) {
      c[i] = Method::c[i];
      if constexpr (!Method::is_low_storage)
        for (int j = 0; j < own; ++j) a[i][j] = Method::a[i][j];
      if constexpr (!Method::is_low_storage)
        for (int r = 0; r < rows; ++r) d[r][i] = Method::d[r][i];
    }
    for (int i = 0; i < Method::stages; ++i) {
      b[i] = Method::is_low_storage ? a[Method::stages - 1][i] : Method::b[i];
      e[i] = Method::e[i];
      if constexpr (Method::two_errors) e3[i] = Method::e3[i];
      if constexpr (Method::middle_order > 3) middle[i] = Method::middle[i];
    }
    if constexpr (!Method::fsal) {
      c[f1] = 1.0;
      for (int i = 0; i < own; ++i) a[f1][i] = b[i];
    }
    if constexpr (Method::is_low_storage) add_quartic();
  }

  /// Adds the extra stage of a low-storage method, on the cubic through the ends of the step, and its row of d.
  constexpr void add_quartic() {
    const int last = own - 1;
    const double s = c[last], r = 1.0 - s, whole = 1.0 / slope_of_quartic(s);
    for (int i = 0; i < last; ++i) {
      const double slope0 = i == 0 ? 1.0 : 0.0, slope1 = i == f1 ? 1.0 : 0.0;
      const double rise = slope0 - b[i], bend = b[i] + b[i] - (slope0 + slope1);
      a[last][i] = s * (b[i] + r * (rise + s * bend));
      d[0][i] = -whole * (b[i] + (1.0 - 2.0 * s) * rise + s * (2.0 - 3.0 * s) * bend);
    }
    d[0][last] = whole;
  }

  /// Sets `a` to the tableau equivalent to the registers of a low-storage method with these numbers.
  template <class Numbers>
  constexpr void expand(const Numbers& m) {
    double sum[stages] = {};
    for (int i = 0; i < Method::stages - 1; ++i)
      for (int j = 0; j < Method::stages; ++j) {
        sum[j] += m.delta[i] * a[i][j];
        a[i + 1][j] = m.gamma1[i] * a[i][j] + m.gamma2[i] * sum[j] + (i == j ? m.beta[i] : 0.0);
      }
  }

  constexpr formula<stages> advancing() const {
    formula<stages> r;
    for (int i = 0; i < stages; ++i) r.weight[i] = b[i];
    return r;
  }

  /// The formula b - `estimate`: embedded(e) or embedded(e3).
  constexpr formula<stages> embedded(const double (&estimate)[stages]) const {
    formula<stages> r;
    for (int i = 0; i < stages; ++i) r.weight[i] = measured(b[i]) - estimate[i];
    return r;
  }

  /// The middle of a step by its stages alone.
  constexpr formula<stages> in_the_middle() const {
    formula<stages> r;
    for (int i = 0; i < stages; ++i) {
      const measured slope0 = i == 0 ? 1.0 : 0.0, slope1 = i == f1 ? 1.0 : 0.0;
      r.weight[i] = measured(middle[i]) + 0.5 * measured(b[i]) + 0.125 * (slope0 - slope1);
    }
    return r;
  }

  /// The dense output at s.
  constexpr formula<stages> dense(double s) const {
    formula<stages> r;
    for (int i = 0; i < stages; ++i) {
      const measured delta = b[i], slope0 = i == 0 ? 1.0 : 0.0, slope1 = i == f1 ? 1.0 : 0.0;
      measured y;  // the nested form, from the innermost bracket outwards
      for (int j = rows - 1; j >= 0; --j) y = measured(d[j][i]) + (j % 2 == 0 ? s : 1.0 - s) * y;
      y = delta + delta - (slope0 + slope1) + (1.0 - s) * y;
      y = slope0 - delta + s * y;
      r.weight[i] = s * (delta + (1.0 - s) * y);
    }
    return r;
  }
};

/// phi_i(t) of every stage, for every tree to be tested.
template <class Method>
struct elementary_weights {
  static constexpr int stages = tableau<Method>::stages;
  static constexpr int nodes = tableau<Method>::nodes;
  static constexpr int count = trees_up_to[nodes];
  measured phi[count][stages];

  constexpr explicit elementary_weights(const tableau<Method>& m) {
    measured cut[trees_up_to[nodes - 1]][stages] = {};  // sum_j a_ij phi_j(t)
    for (int t = 0; t < count; ++t) {
      const rooted_tree& tree = rooted_trees.tree[t];
      for (int i = 0; i < stages; ++i) phi[t][i] = t == 0 ? 1.0 : phi[tree.trunk][i] * cut[tree.branch][i];
      if (t >= trees_up_to[nodes - 1]) continue;
      for (int i = 0; i < stages; ++i)
        for (int j = 0; j < i; ++j)
          if (m.a[i][j] != 0.0) cut[t][i] = cut[t][i] + m.a[i][j] * phi[t][j];
    }
  }

  /// Raises residual[n], n = 1 .. order + 1, to the largest one of y(s) = y + h sum_i w_i k_i for the trees with n nodes, in units of the
  /// summands.
  constexpr void compare(const formula<stages>& w, double s, int order, double* residual) const {
    double power = 1.0;
    for (int n = 1; n <= order + 1; ++n) {
      power *= s;
      for (int t = trees_up_to[n - 1]; t < trees_up_to[n]; ++t) {
        measured sum = -power / rooted_trees.tree[t].gamma;
        for (int i = 0; i < stages; ++i) sum = sum + w.weight[i] * phi[t][i];
        sum.raise(residual[n]);
      }
    }
  }
};

/// The residuals of a method's order conditions, in units of the summands; [n]: the trees with n nodes.
struct residuals {
  using by_nodes = double[largest_tree + 1];

  double row_sum = 0.0;  ///< c_i - sum_j a_ij
  by_nodes advancing = {};
  by_nodes embedded = {};   ///< b - e
  by_nodes embedded3 = {};  ///< b - e3
  by_nodes dense = {};      ///< the largest over s = 1/8, 2/8, ... 7/8
  by_nodes middle = {};
};

/// The residuals of every formula up to one node more than its order.
template <class Method>
constexpr residuals residuals_of(const tableau<Method>& m) {
  residuals r;
  for (int i = 0; i < m.stages; ++i) {
    measured sum = -m.c[i];
    for (int j = 0; j < i; ++j) sum = sum + m.a[i][j];
    sum.raise(r.row_sum);
  }
  const elementary_weights<Method> weights(m);
  weights.compare(m.advancing(), 1.0, Method::order, r.advancing);
  if constexpr (Method::embedded_order > 0) weights.compare(m.embedded(m.e), 1.0, Method::embedded_order, r.embedded);
  if constexpr (Method::two_errors) weights.compare(m.embedded(m.e3), 1.0, Method::embedded3_order, r.embedded3);
  for (int k = 1; k < 8; ++k) weights.compare(m.dense(k / 8.0), k / 8.0, Method::dense_order, r.dense);
  weights.compare(m.in_the_middle(), 0.5, Method::middle_order, r.middle);
  return r;
}

/// The defects of a method; the first one that applies is reported.
enum class defect {
  none,
  not_explicit,  ///< a is not strictly lower triangular
  fsal,          ///< the last row of a is b although `fsal` is false, or is not b although it is true
  no_estimate,   ///< embedded_order is 0 and e is not zero, or the reverse
  row_sum,       ///< c_i is not the sum of row i
  advancing,     ///< the advancing formula is not of order `order`
  embedded,      ///< an embedded formula is not of its order
  dense,         ///< the dense output is not of order `dense_order`
  middle,        ///< the middle of a step is not of order `middle_order`
  understated    ///< one of the formulas has a higher order than claimed
};

/// The first defect of a method whose coefficients are correctly rounded; errors beyond 1e-15 of the terms count.
template <class Method>
constexpr defect defect_of(const tableau<Method>& m) {
  constexpr double rounding = 1e-15;
  constexpr double nonzero = 1e-12;

  bool lower = true, last_is_b = true, no_estimate = true;
  for (int i = 0; i < m.own; ++i)
    for (int j = i; j < m.own; ++j) lower = lower && m.a[i][j] == 0.0;
  for (int i = 0; i < Method::stages; ++i) {
    last_is_b = last_is_b && m.a[Method::stages - 1][i] == m.b[i];
    no_estimate = no_estimate && m.e[i] == 0.0;
  }
  if (!lower) return defect::not_explicit;
  if (last_is_b != Method::fsal) return defect::fsal;
  if (no_estimate != (Method::embedded_order == 0)) return defect::no_estimate;

  const residuals r = residuals_of(m);
  const auto fulfilled = [&](const residuals::by_nodes& residual, int order) {
    for (int n = 1; n <= order; ++n)
      if (!(residual[n] <= rounding)) return false;
    return true;
  };
  if (!(r.row_sum <= rounding)) return defect::row_sum;
  if (!fulfilled(r.advancing, Method::order)) return defect::advancing;
  if (!fulfilled(r.embedded, Method::embedded_order)) return defect::embedded;
  if (!fulfilled(r.embedded3, Method::embedded3_order)) return defect::embedded;
  if (!fulfilled(r.dense, Method::dense_order)) return defect::dense;
  if (!fulfilled(r.middle, Method::middle_order)) return defect::middle;

  const bool exceeded = r.advancing[Method::order + 1] < nonzero || r.dense[Method::dense_order + 1] < nonzero ||
                        (Method::middle_order > 3 && r.middle[Method::middle_order + 1] < nonzero) ||
                        (Method::embedded_order > 0 && r.embedded[Method::embedded_order + 1] < nonzero) ||
                        (Method::two_errors && r.embedded3[Method::embedded3_order + 1] < nonzero);
  return exceeded ? defect::understated : defect::none;
}

namespace detail {
template <class Method>
inline constexpr defect first_defect = defect_of(tableau<Method>());
}

/// True if every formula of the method has exactly the order that it claims.
template <class Method>
constexpr bool order_conditions() {
  return detail::first_defect<Method> == defect::none;
}

/// True for a list if true for each of its methods: order_conditions(all{}).
template <class... Method>
constexpr bool order_conditions(list<Method...>) {
  return (order_conditions<Method>() && ...);
}

}  // namespace saltus::methods
