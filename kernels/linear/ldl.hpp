// L D L' of a small symmetric positive definite matrix, one per lane: mass matrices, and matrices of constraints. L D U for matrices that
// friction makes unsymmetric. Without exchanges and square roots, over any number type with division, duals included.
#pragma once

#include "linear/lu.hpp"

namespace saltus {

/// A = L D L', L with a diagonal of ones. Only the lower triangle of A is read.
template <class Number, int n, bool diagonal = false>
struct ldl {
  matrix<Number, n> l;       ///< below the diagonal
  vec<Number, n> d, over_d;  ///< D, and its reciprocal

  /// Factorises the matrix with the entries from[i][j].
  template <class Matrix>
  SALTUS_FN explicit ldl(const Matrix& from) {
    detail::each_from<n>(0, [&](int j) SALTUS_INLINE_LAMBDA {
      // Column by column; w_k = l_jk d_k.
      vec<Number, n> w;
      Number pivot = from[j][j];
      detail::each_before<n>(j, [&](int k) SALTUS_INLINE_LAMBDA {
        w[k] = l[j][k] * d[k];
        pivot = fma(-w[k], l[j][k], pivot);
      });
      d[j] = pivot;
      over_d[j] = Number(1.0) / pivot;
      detail::each_from<n>(j + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        Number x = from[i][j];
        detail::each_before<n>(j, [&](int k) SALTUS_INLINE_LAMBDA { x = fma(-w[k], l[i][k], x); });
        l[i][j] = x * over_d[j];
      });
    });
  }

  /// L^-1 b.
  SALTUS_FN vec<Number, n> forward(vec<Number, n> b) const {
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA { b[i] = fma(-l[i][k], b[k], b[i]); });
    });
    return b;
  }
  /// L'^-1 D^-1 b: `backward(forward(b))` is the solution x of A x = b.
  SALTUS_FN vec<Number, n> backward(vec<Number, n> b) const {
    detail::each_from<n>(0, [&](int back) SALTUS_INLINE_LAMBDA {
      const int k = n - 1 - back;
      b[k] = b[k] * over_d[k];
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA { b[k] = fma(-l[i][k], b[i], b[k]); });
    });
    return b;
  }
  SALTUS_FN vec<Number, n> solve(const vec<Number, n>& b) const { return backward(forward(b)); }
};

/// The factorisation of a diagonal matrix.
template <class Number, int n>
struct ldl<Number, n, true> {
  vec<Number, n> d, over_d;

  SALTUS_FN explicit ldl(const vec<Number, n>& diagonal) : d(diagonal) {
    detail::each_from<n>(0, [&](int j) SALTUS_INLINE_LAMBDA { over_d[j] = Number(1.0) / d[j]; });
  }

  SALTUS_FN vec<Number, n> forward(const vec<Number, n>& b) const { return b; }
  SALTUS_FN vec<Number, n> backward(vec<Number, n> b) const {
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA { b[k] = b[k] * over_d[k]; });
    return b;
  }
  SALTUS_FN vec<Number, n> solve(const vec<Number, n>& b) const { return backward(b); }
};

/// A = L D U, L and U with unit diagonals. D are the quotients of leading principal minors; all of them are positive for a regular contact
/// problem.
template <class Number, int n>
struct ldu {
  matrix<Number, n> a;  ///< L below the diagonal, U above it
  vec<Number, n> d, over_d;

  SALTUS_FN explicit ldu(const matrix<Number, n>& from) : a(from) {
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      d[k] = a[k][k];
      over_d[k] = Number(1.0) / d[k];
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        const Number below = a[i][k] * over_d[k];
        detail::each_from<n>(k + 1, [&](int j) SALTUS_INLINE_LAMBDA { a[i][j] = fma(-below, a[k][j], a[i][j]); });
        a[i][k] = below;
      });
      detail::each_from<n>(k + 1, [&](int j) SALTUS_INLINE_LAMBDA { a[k][j] = a[k][j] * over_d[k]; });
    });
  }

  SALTUS_FN vec<Number, n> solve(vec<Number, n> b) const {
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA { b[i] = fma(-a[i][k], b[k], b[i]); });
    });
    detail::each_from<n>(0, [&](int back) SALTUS_INLINE_LAMBDA {
      const int k = n - 1 - back;
      b[k] = b[k] * over_d[k];
      detail::each_from<n>(k + 1, [&](int j) SALTUS_INLINE_LAMBDA { b[k] = fma(-a[k][j], b[j], b[k]); });
    });
    return b;
  }
};

}  // namespace saltus
