// L D L' of a large sparse symmetric matrix, one per lane, where all matrices have one pattern. The host finds the order of elimination
// and the target of each multiply-add in advance (host/compile/elimination.hpp) and puts them into tables. No exchanges: the order of the
// tables must keep pivots from zero. Over any number type with division.
//
// Numbers of a matrix: D at its indices 0 to n-1, then L below its diagonal, column by column. Tables have
//
//     unknowns, entries     n, and the number of entries of L below its diagonal
//     start[n + 1], row[]   where columns begin among those entries; the row of each entry
//     target[]              the number that each multiply-add goes to, in the order of `factorise`
#pragma once

#include "number/real.hpp"

namespace saltus {

template <class Number, class Tables>
struct sparse_ldl {
  static constexpr int n = Tables::unknowns, entries = Tables::entries;
  Number numbers[n + entries];  ///< of A; after factorisation, of D and L
  vec<Number, n> over_d;

  SALTUS_FN void clear() {
    for (int i = 0; i < n + entries; ++i) numbers[i] = Number(0.0);
  }

  /// Column by column (right-looking): each column is subtracted from those that follow.
  SALTUS_FN_COLD void factorise() {
    int next = 0;
    Number* const l = numbers + n;
    for (int j = 0; j < n; ++j) {
      const Number over = Number(1.0) / numbers[j];
      over_d[j] = over;
      for (int p = Tables::start[j], end = Tables::start[j + 1]; p < end; ++p) {
        const Number w = l[p];
        l[p] = w * over;
        for (int q = Tables::start[j]; q <= p; ++q, ++next) {
          Number& to = numbers[Tables::target[next]];
          to = fma(-w, l[q], to);
        }
      }
    }
  }

  /// Solves A x = b, with the unknowns in the order of elimination.
  SALTUS_FN_COLD void solve(vec<Number, n>& b) const {
    const Number* const l = numbers + n;
    for (int j = 0; j < n; ++j)
      for (int p = Tables::start[j], end = Tables::start[j + 1]; p < end; ++p)
        b[Tables::row[p]] = fma(-l[p], b[j], b[Tables::row[p]]);
    for (int j = n - 1; j >= 0; --j) {
      b[j] = b[j] * over_d[j];
      for (int p = Tables::start[j], end = Tables::start[j + 1]; p < end; ++p)
        b[j] = fma(-l[p], b[Tables::row[p]], b[j]);
    }
  }
};

}  // namespace saltus
