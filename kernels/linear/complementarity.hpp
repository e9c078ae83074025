// The linear complementarity problem: z >= 0 and w = M z + q >= 0, with z_i = 0 or w_i = 0 for each i. M is any small matrix.
//
// Lemke's method (R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, section 4.4): an additional variable z0
// makes every w large enough and is driven out along a path of pivots. Ties, which friction brings wherever there is no slip, are broken
// lexicographically (section 4.9), so that no basis recurs. The path ends with a solution or in a ray. Rays are excluded if M is copositive
// and z >= 0, M z >= 0, z' M z = 0 imply q' z >= 0 (theorem 4.4.12). Ordinary code for one instance: `Real` is a pack of one.
#pragma once

#include "linear/lu.hpp"
#include "number/dual.hpp"

namespace saltus {

template <class Real>
inline constexpr bool is_dual = false;
template <class Real, int N>
inline constexpr bool is_dual<dual<Real, N>> = true;

/// The rounding of some numbers; the derivatives of the result are the rounding of theirs, by parameters of the order of 1.
template <class Real, int N>
SALTUS_FN Real rounding_among(const vec<Real, N>& x, int count) {
  constexpr double ulps = 64.0 * limits<scalar_of<Real>>::epsilon;
  Real size = Real(0.0);
  for (int i = 0; i < count; ++i) size = max(size, abs(x[i]));
  Real r = Real(ulps) * size;
  if constexpr (is_dual<Real>)
    for (int j = 0; j < Real::directions; ++j) {
      auto rate = abs(r.d[j]);
      for (int i = 0; i < count; ++i) rate = max(rate, abs(x[i].d[j]));
      r.d[j] = fma(rate, decltype(rate)(0x1p10 * ulps), r.value);
    }
  return r;
}

/// True if both numbers of a complementary pair are zero to rounding, but not with other parameters: which of them stays zero there depends
/// on the direction of the change, and the solution has no derivative. `terms` is the size of the summands of w: if these are zero as well,
/// the pair has nothing to do with the others.
template <class Real>
SALTUS_FN bool is_undecided(const Real& z, const Real& w, const Real& terms,
                            const Real& rounding) requires(is_dual<Real>) {
  bool moves = bool(terms > rounding);
  for (int j = 0; j < Real::directions; ++j) moves = moves || bool(max(abs(z.d[j]), abs(w.d[j])) > rounding.d[j]);
  return moves && z <= rounding && w <= rounding;
}

template <class Real, int N>
class complementarity {
  static constexpr double epsilon = limits<scalar_of<Real>>::epsilon;
  static constexpr double least_pivot = 0x1p12 * epsilon;
  static constexpr int max_pivots = 16 * N;  ///< a small multiple of N is usual

 public:
  matrix<Real, N> m;  ///< entries of the order of 1
  vec<Real, N> q;
  vec<Real, N> z;  ///< the solution, exactly 0 where w is not
  int n = 0;       ///< rows that are in use

  /// Components of a solution up to this size are zero.
  SALTUS_FN Real rounding() const { return rounding_; }

  /// True if pair i of the solution is undecided.
  SALTUS_FN bool is_undecided_at(int i, const Real& rounding) const requires(is_dual<Real>) {
    Real w = q[i], terms = abs(q[i]);
    for (int j = 0; j < n; ++j) {
      w = fma(m[i][j], z[j], w);
      terms = fma(abs(m[i][j]), z[j], terms);
    }
    return is_undecided(z[i], w, terms, rounding);
  }

  /// Finds z. False if the path ends in a ray.
  SALTUS_FN bool solve() {
    Real least = Real(0.0);
    int row = -1;
    for (int i = 0; i < n; ++i) {
      z[i] = Real(0.0);
      if (q[i] <= least && q[i] < Real(0.0)) least = q[i], row = i;
    }
    rounding_ = rounding_among(q, n);
    if (!(rounding_ <= Real(limits<scalar_of<Real>>::largest))) return false;
    if (row < 0) return true;
    begin();
    int enters = 2 * n;
    for (int pivots = 0; pivots < max_pivots; ++pivots) {
      const int leaves = basis_[row];
      pivot(row, enters);
      if (leaves == 2 * n || is_driven_out()) {
        take();
        return true;
      }
      enters = leaves < n ? leaves + n : leaves - n;
      row = leaving(enters);
      if (row < 0) return false;
    }
    return false;
  }

 private:
  // Columns are w, z and z0; those of w are the inverse of the basis.
  Real tableau_[N > 0 ? N : 1][2 * N + 1];
  Real right_[N > 0 ? N : 1];
  int basis_[N > 0 ? N : 1];
  Real rounding_;

  SALTUS_FN void begin() {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        tableau_[i][j] = Real(i == j ? 1.0 : 0.0);
        tableau_[i][n + j] = -m[i][j];
      }
      tableau_[i][2 * n] = Real(-1.0);
      right_[i] = q[i];
      basis_[i] = i;
    }
  }
  SALTUS_FN void pivot(int row, int column) {
    const Real factor = Real(1.0) / tableau_[row][column];
    for (int j = 0; j <= 2 * n; ++j) tableau_[row][j] = tableau_[row][j] * factor;
    right_[row] = right_[row] * factor;
    tableau_[row][column] = Real(1.0);
    for (int i = 0; i < n; ++i) {
      const Real less = tableau_[i][column];
      if (i == row || less == Real(0.0)) continue;
      for (int j = 0; j <= 2 * n; ++j) tableau_[i][j] = fma(-less, tableau_[row][j], tableau_[i][j]);
      tableau_[i][column] = Real(0.0);
      right_[i] = fma(-less, right_[row], right_[i]);
      if (abs(right_[i]) <= rounding_) right_[i] = Real(0.0);
    }
    basis_[row] = column;
  }
  /// With friction, z0 and another variable often reach zero together, and rounding decides which of them leaves the basis.
  SALTUS_FN bool is_driven_out() const {
    Real largest = Real(0.0), z0 = Real(limits<scalar_of<Real>>::largest);
    for (int i = 0; i < n; ++i) {
      largest = max(largest, right_[i]);
      if (basis_[i] == 2 * n) z0 = right_[i];
    }
    return bool(z0 <= rounding_ + Real(64.0 * epsilon) * largest);
  }
  /// The row whose variable is the first to reach zero while that of `column` grows. -1: none does.
  SALTUS_FN int leaving(int column) const {
    int best = -1;
    for (int i = 0; i < n; ++i)
      if (tableau_[i][column] > Real(least_pivot) && (best < 0 || is_before(i, best, column))) best = i;
    return best;
  }
  SALTUS_FN bool is_before(int a, int b, int column) const {
    const Real by_a = tableau_[b][column], by_b = tableau_[a][column];
    if (right_[a] * by_a != right_[b] * by_b) return right_[a] * by_a < right_[b] * by_b;
    for (int j = 0; j < n; ++j) {
      const Real x = tableau_[a][j] * by_a, y = tableau_[b][j] * by_b;
      if (x != y) return x < y;
    }
    return false;
  }
  /// The solution of the basis, refined twice by the inverse, because the pivots have left rounding errors in it.
  SALTUS_FN void take() {
    vec<Real, N> x, off;
    for (int i = 0; i < n; ++i) x[i] = Real(0.0);
    for (int pass = 0; pass < 3; ++pass) {
      for (int i = 0; i < n; ++i) off[i] = q[i];
      for (int j = 0; j < n; ++j) {
        const int of = basis_[j];
        if (of < n) off[of] = off[of] - x[j];
        else
          for (int i = 0; i < n; ++i) off[i] = fma(of < 2 * n ? m[i][of - n] : Real(1.0), x[j], off[i]);
      }
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) x[i] = fma(tableau_[i][j], off[j], x[i]);
    }
    for (int i = 0; i < n; ++i)
      if (basis_[i] >= n && basis_[i] < 2 * n) z[basis_[i] - n] = max(x[i], Real(0.0));
  }
};

}  // namespace saltus
