// LU factorisation with pivoting of a small dense matrix, one per lane; over reals, and over complex numbers.
//
// Rows are exchanged where the largest candidate exceeds the diagonal element by a factor of eight (threshold pivoting): the
// diagonal of M/(h gamma) - J is mostly large enough, lanes seldom agree about an exchange, and each one costs as much as
// an elimination step. Every lane decides for itself, by its own numbers alone, so that its bits do not depend on others.
#pragma once

#include "linear/complex.hpp"

namespace saltus {

template <class Number, int n>
struct matrix {
  Number                  a[n > 0 ? n : 1][n > 0 ? n : 1];
  SALTUS_FN Number*       operator[](int i) { return a[i]; }
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

namespace detail {
template <class Mask, class Number>
SALTUS_FN void swap_where(Mask m, Number& a, Number& b) {
  const Number kept = a;
  a                 = select(m, b, kept);
  b                 = select(m, kept, b);
}

/// Up to this size elimination is unrolled, and the matrix lives in registers.
inline constexpr int most_unrolled_rows = 8;

/// body(first), ..., body(n-1)
template <int n, class F>
SALTUS_FN void each_from(int first, F&& body) {
  if constexpr (n <= most_unrolled_rows) {
    static_for<n>([&](auto i) SALTUS_INLINE_LAMBDA {
      if (i >= first) body(static_cast<int>(i));
    });
  } else {
    for (int i = first; i < n; ++i) body(i);
  }
}
}  // namespace detail

/// A factorised matrix: P A = L U, L with a diagonal of ones below, U above with the reciprocals of its diagonal.
template <class Number, int n>
struct lu {
  using Real = decltype(magnitude(Number{}));

  matrix<Number, n> a;
  vec<Real, n>      row;        ///< the number of the row that was exchanged with row k
  mask_of<Real>     singular;   ///< a pivot was zero or not finite
  bool              exchanges;  ///< any lane has exchanged rows

  SALTUS_FN explicit lu(const matrix<Number, n>& from) : singular(mask_of<Real>::all(false)), exchanges(false) {
    // element by element: a block that is copied stays in memory
    detail::each_from<n>(0, [&](int i) SALTUS_INLINE_LAMBDA {
      detail::each_from<n>(0, [&](int j) SALTUS_INLINE_LAMBDA { a[i][j] = from[i][j]; });
    });
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      pivot(k);
      const Number inverse = reciprocal(a[k][k]);
      const Real size      = magnitude(inverse);  // zero for an infinite pivot
      singular             = singular | !((size > Real(0.0)) & (size <= Real(limits<scalar_of<Real>>::largest)));
      a[k][k]              = inverse;
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        const Number factor = a[i][k] * inverse;
        a[i][k]             = factor;
        detail::each_from<n>(k + 1, [&](int j) SALTUS_INLINE_LAMBDA {
          a[i][j] = less_product(a[i][j], factor, a[k][j]);
        });
      });
    });
  }

  /// The solution x of A x = b.
  SALTUS_FN vec<Number, n> solve(vec<Number, n> b) const {
    if (exchanges)
      detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
        detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
          detail::swap_where(row[k] == Real(static_cast<double>(i)), b[k], b[i]);
        });
      });
    detail::each_from<n>(0, [&](int k) SALTUS_INLINE_LAMBDA {
      detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA { b[i] = less_product(b[i], a[i][k], b[k]); });
    });
    detail::each_from<n>(0, [&](int back) SALTUS_INLINE_LAMBDA {
      const int k = n - 1 - back;
      b[k]        = b[k] * a[k][k];
      detail::each_from<n>(back + 1, [&](int i) SALTUS_INLINE_LAMBDA {
        const int j = n - 1 - i;
        b[j]        = less_product(b[j], a[j][k], b[k]);
      });
    });
    return b;
  }

 private:
  /// Chooses the pivot of column k, and exchanges rows in the lanes that need it.
  SALTUS_FN void pivot(int k) {
    constexpr double reluctance = 8.0;
    const Real       bar        = Real(reluctance) * magnitude(a[k][k]);
    Real             largest    = bar;
    Real             chosen     = Real(static_cast<double>(k));
    detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
      const Real here   = magnitude(a[i][k]);
      const auto larger = here > largest;
      largest           = select(larger, here, largest);
      chosen            = select(larger, Real(static_cast<double>(i)), chosen);
    });
    row[k] = chosen;
    if (none(largest > bar)) return;
    exchanges = true;
    detail::each_from<n>(k + 1, [&](int i) SALTUS_INLINE_LAMBDA {
      const auto m = chosen == Real(static_cast<double>(i));
      detail::each_from<n>(0, [&](int j) SALTUS_INLINE_LAMBDA { detail::swap_where(m, a[k][j], a[i][j]); });
    });
  }
};

}  // namespace saltus
