// LU factorisation with pivoting of a small dense matrix, one per lane; over reals, and over complex numbers.
//
// Rows are exchanged if the largest candidate exceeds the diagonal element by a factor of eight (threshold pivoting): the diagonal of M/(h
// gamma) - J is mostly large enough, lanes seldom agree about an exchange, and each one costs as much as an elimination step. Every lane
// decides by its own numbers alone, so that its bits do not depend on other lanes.
#pragma once

#include "linear/complex.hpp"
#include "number/dual.hpp"

namespace saltus {

template <class Number, int n>
struct matrix {
  Number a[n > 0 ? n : 1][n > 0 ? n : 1];
  SALTUS_FN Number* operator[](int i) { return a[i]; }
  SALTUS_FN const Number* operator[](int i) const { return a[i]; }
};

template <class T, int W>
SALTUS_FN pack<T, W> magnitude(pack<T, W> x) {
  return abs(x);
}
template <class T, int W>
SALTUS_FN pack<T, W> reciprocal(pack<T, W> x) {
  return pack<T, W>(1.0) / x;
}
template <class T, int W>
SALTUS_FN pack<T, W> less_product(pack<T, W> c, pack<T, W> a, pack<T, W> b) {
  return fma(-a, b, c);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> magnitude(const dual<Real, N>& x) {
  return abs(x);
}
template <class Real, int N>
SALTUS_FN dual<Real, N> reciprocal(const dual<Real, N>& x) {
  return dual<Real, N>(1.0) / x;
}
template <class Real, int N>
SALTUS_FN dual<Real, N> less_product(const dual<Real, N>& c, const dual<Real, N>& a, const dual<Real, N>& b) {
  return fma(-a, b, c);
}

namespace detail {
template <class Mask, class Number>
SALTUS_FN void swap_where(Mask m, Number& a, Number& b) {
  const Number kept = a;
  a = select(m, b, kept);
  b = select(m, kept, b);
}

/// Up to this size the elimination is unrolled, and the matrix lives in registers.
inline constexpr int max_unrolled_rows = 8;

/// True if out-of-line functions exchange rows. In line, exchanges would be half of the code, column by column, for a rare operation, and
/// would take most of the compile time. Up to six rows in-line code is faster.
template <int n>
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
inline constexpr bool exchanges_apart = false;  // arrays that a loop indexes lie in slow local memory
#else
inline constexpr bool exchanges_apart = n > 6;
#endif

/// body(first), ..., body(n-1)
template <int n, class F>
SALTUS_FN void each_from(int first, F&& body) {
  if constexpr (n <= max_unrolled_rows) {
    static_for<n>([&](auto i) SALTUS_INLINE_LAMBDA {
      if (i >= first) body(static_cast<int>(i));
    });
  } else {
    for (int i = first; i < n; ++i) body(i);
  }
}
/// body(0), ..., body(end-1), for end <= n
template <int n, class F>
SALTUS_FN void each_before(int end, F&& body) {
  if constexpr (n <= max_unrolled_rows) {
    static_for<n>([&](auto i) SALTUS_INLINE_LAMBDA {
      if (i < end) body(static_cast<int>(i));
    });
  } else {
    for (int i = 0; i < end; ++i) body(i);
  }
}
}  // namespace detail

/// A factorised matrix: P A = L U, L with a diagonal of ones below, U above with the reciprocals of its diagonal.
template <class Number, int n>
struct lu {
  using Real = decltype(magnitude(Number{}));

  matrix<Number, n> a;
  vec<Real, n> row;        ///< the number of the row that was exchanged with row k
  mask_of<Real> singular;  ///< a pivot was zero or not finite
  bool exchanges;          ///< any lane has exchanged rows

  lu() = default;  ///< not set
  /// Column by column (left-looking): a column stays in registers while all columns to its left are eliminated from it.
  SALTUS_FN explicit lu(const matrix<Number, n>& from) : singular(mask_of<Real>::all(false)), exchanges(false) {
    detail::each_from<n>(0, [&](int j) SALTUS_INLINE_LAMBDA {
      vec<Number, n> x;
      detail::each_from<n>(0, [&](int i) SALTUS_INLINE_LAMBDA { x[i] = from[i][j]; });
      if (exchanges) exchange_rows(x, 0, j);
      detail::each_before<n>(j, [&](int k) SALTUS_INLINE_LAMBDA {
        detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA { x[i] = less_product(x[i], a[i][k], x[k]); });
      });
      pivot(x, j);
      const Number inverse = reciprocal(x[j]);
      const Real size = magnitude(inverse);  // zero for an infinite pivot
      singular = singular | !((size > Real(0.0)) & (size <= Real(limits<scalar_of<Real>>::largest)));
      detail::each_before<n>(j, [&](int i) SALTUS_INLINE_LAMBDA { a[i][j] = x[i]; });
      a[j][j] = inverse;
      detail::each_from<n>(j + 1, [&](int i) SALTUS_INLINE_LAMBDA { a[i][j] = x[i] * inverse; });
    });
  }

  /// The sign of the determinant, times the least pivot.
  SALTUS_FN Real orientation() const requires(is_same<Number, Real>) {
    Real sign = Real(1.0), largest = Real(0.0);  // of the reciprocals of pivots
    for (int k = 0; k < n; ++k) {
      sign = copysign(sign, sign * a[k][k]);
      sign = select(row[k] == Real(static_cast<double>(k)), sign, -sign);
      largest = max(largest, abs(a[k][k]));
    }
    return sign / largest;
  }

  /// The solution x of A x = b.
  SALTUS_FN vec<Number, n> solve(vec<Number, n> b) const {
    if (exchanges) exchange_rows(b, 0, n);
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA { b[i] = less_product(b[i], a[i][k], b[k]); });
    });
    detail::each_from<n>(0, [&](int back) SALTUS_INLINE_LAMBDA {
      const int k = n - 1 - back;
      b[k] = b[k] * a[k][k];
      detail::each_from<n>(back + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        const int j = n - 1 - i;
        b[j] = less_product(b[j], a[j][k], b[k]);
      });
    });
    return b;
  }
  /// The solution x of A^T x = b.
  SALTUS_FN_COLD vec<Number, n> solve_transposed(vec<Number, n> b) const {
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < k; ++i) b[k] = less_product(b[k], a[i][k], b[i]);
      b[k] = b[k] * a[k][k];
    }
    for (int k = n - 2; k >= 0; --k)
      for (int i = k + 1; i < n; ++i) b[k] = less_product(b[k], a[i][k], b[i]);
    if (exchanges)
      for (int k = n - 1; k >= 0; --k)
        for (int i = k + 1; i < n; ++i) detail::swap_where(row[k] == Real(static_cast<double>(i)), b[k], b[i]);
    return b;
  }

 private:
  /// Exchanges x[k] with the row chosen for k, for begin <= k < end.
  SALTUS_FN void exchange_rows(vec<Number, n>& x, int begin, int end) const {
    if constexpr (detail::exchanges_apart<n>) {
      // Through a copy, so that x itself stays in registers if no rows are exchanged.
      vec<Number, n> copy;
      detail::each_from<n>(0, [&](int i) SALTUS_INLINE_LAMBDA { copy[i] = x[i]; });
      exchange_rows_apart(copy, begin, end);
      detail::each_from<n>(0, [&](int i) SALTUS_INLINE_LAMBDA { x[i] = copy[i]; });
    } else {
      detail::each_before<n>(end, [&](int k) SALTUS_INLINE_LAMBDA {
        if (k < begin) return;
        detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
          detail::swap_where(row[k] == Real(static_cast<double>(i)), x[k], x[i]);
        });
      });
    }
  }
  SALTUS_FN_COLD void exchange_rows_apart(vec<Number, n>& x, int begin, int end) const {
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      if (k < begin || k >= end) return;
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        detail::swap_where(row[k] == Real(static_cast<double>(i)), x[k], x[i]);
      });
    });
  }

  /// Exchanges the parts of row j and of the row chosen for it that lie to the left of column j.
  SALTUS_FN void exchange_left_of(int j) {
    if constexpr (detail::exchanges_apart<n>) {
      exchange_left_of_apart(j);
    } else {
      detail::each_from<n>(j + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        const auto m = row[j] == Real(static_cast<double>(i));
        detail::each_before<n>(j, [&](int k) SALTUS_INLINE_LAMBDA { detail::swap_where(m, a[j][k], a[i][k]); });
      });
    }
  }
  SALTUS_FN_COLD void exchange_left_of_apart(int j) {
    for (int i = j + 1; i < n; ++i) {
      const auto m = row[j] == Real(static_cast<double>(i));
      for (int k = 0; k < j; ++k) detail::swap_where(m, a[j][k], a[i][k]);
    }
  }

  /// Chooses the pivot of column j, which is x, and exchanges rows in the lanes that need it.
  SALTUS_FN void pivot(vec<Number, n>& x, int j) {
    constexpr double reluctance = 8.0;
    const Real bar = Real(reluctance) * magnitude(x[j]);
    Real largest = bar;
    Real chosen = Real(static_cast<double>(j));
    detail::each_from<n>(j + 1, [&](int i) SALTUS_INLINE_LAMBDA {
      const Real here = magnitude(x[i]);
      const auto larger = here > largest;
      largest = select(larger, here, largest);
      chosen = select(larger, Real(static_cast<double>(i)), chosen);
    });
    row[j] = chosen;
    if (none(largest > bar)) return;
    exchanges = true;
    exchange_rows(x, j, j + 1);
    exchange_left_of(j);
  }
};

}  // namespace saltus
