// QR factorisation of a matrix of known rank, one per lane: Householder's reflections, each for the column with the largest remainder (P.
// Businger and G. H. Golub, Numer. Math. 7 (1965) 269). Every lane chooses its columns by its own numbers.
#pragma once

#include "linear/lu.hpp"
#include "number/rolled.hpp"

namespace saltus {

template <class Real, int rows, int columns, int rank>
class ranked_qr {
  static_assert(rank > 0 && rank <= rows && rank <= columns);

 public:
  SALTUS_FN_COLD explicit ranked_qr(const vec<vec<Real, columns>, rows>& a) : a_(a) {
    for (int j = 0; j < columns; ++j) column_[j] = Real(static_cast<double>(j));
    SALTUS_ROLLED for (int k = 0; k < rank; ++k) {
      choose(k);
      reflect(k);
    }
  }

  /// b becomes Q'b. Its last rows - rank components are out of reach of any A x.
  SALTUS_FN_COLD void turn(vec<Real, rows>& b) const {
    SALTUS_ROLLED for (int k = 0; k < rank; ++k) {
      Real part = first_[k] * b[k];
      for (int i = k + 1; i < rows; ++i) part = fma(a_[i][k], b[i], part);
      part = part * over_[k];
      b[k] = fma(-part, first_[k], b[k]);
      for (int i = k + 1; i < rows; ++i) b[i] = fma(-part, a_[i][k], b[i]);
    }
  }

  /// An x that minimises |A x - b|, from Q'b; zero for the columns that depend on others.
  SALTUS_FN_COLD vec<Real, columns> solve(const vec<Real, rows>& turned) const {
    vec<Real, rank> z;
    vec<Real, columns> x;
    for (int j = 0; j < columns; ++j) x[j] = Real(0.0);
    SALTUS_ROLLED for (int k = rank - 1; k >= 0; --k) {
      Real sum = turned[k];
      for (int j = k + 1; j < rank; ++j) sum = fma(-a_[k][j], z[j], sum);
      z[k] = sum / a_[k][k];
      for (int j = 0; j < columns; ++j) x[j] = select(column_[k] == Real(static_cast<double>(j)), z[k], x[j]);
    }
    return x;
  }

  /// The lanes in which another matrix is not known to be connected with A by matrices of the same rank: the determinant of its part in the
  /// range of A, in the columns that A has chosen, has another sign, or is only rounding. It changes its sign where the rank is lower.
  SALTUS_FN_COLD mask_of<Real> turns_to(const vec<vec<Real, columns>, rows>& b) const {
    matrix<Real, rank> part;
    Real sign = Real(1.0);
    SALTUS_ROLLED for (int k = 0; k < rank; ++k) {
      vec<Real, rows> column;
      for (int i = 0; i < rows; ++i) {
        column[i] = Real(0.0);
        for (int j = 0; j < columns; ++j)
          column[i] = select(column_[k] == Real(static_cast<double>(j)), b[i][j], column[i]);
      }
      turn(column);
      for (int i = 0; i < rank; ++i) part[i][k] = column[i];
      sign = copysign(sign, sign * a_[k][k]);
    }
    const Real rounding = Real(0x1p6 * limits<scalar_of<Real>>::epsilon) * abs(a_[0][0]);
    return !(sign * lu<Real, rank>(part).orientation() > rounding);
  }

  /// The smallest diagonal element of R over the largest: close to zero if the rank is lower than assumed.
  SALTUS_FN Real least() const { return abs(a_[rank - 1][rank - 1]) / abs(a_[0][0]); }
  /// The largest remaining element of A beyond the rank, over the largest diagonal element of R: above rounding if the rank is higher than
  /// assumed.
  SALTUS_FN_COLD Real rest() const {
    Real most = Real(0.0);
    for (int i = rank; i < rows; ++i)
      for (int j = rank; j < columns; ++j) most = max(most, abs(a_[i][j]));
    return most / abs(a_[0][0]);
  }

 private:
  vec<vec<Real, columns>, rows> a_;  ///< R, and below it the reflections without their first entries
  vec<Real, columns> column_;        ///< the number of the column at a position
  vec<Real, rank> first_, over_;     ///< of a reflection I - over v v', the first entry of v

  /// Moves the column with the largest remainder to position k.
  SALTUS_FN_COLD void choose(int k) {
    Real most = Real(-1.0), chosen(static_cast<double>(k));
    SALTUS_ROLLED for (int j = k; j < columns; ++j) {
      Real rest = Real(0.0);
      for (int i = k; i < rows; ++i) rest = fma(a_[i][j], a_[i][j], rest);
      const auto larger = rest > most;
      most = select(larger, rest, most);
      chosen = select(larger, Real(static_cast<double>(j)), chosen);
    }
    SALTUS_ROLLED for (int j = k + 1; j < columns; ++j) {
      const auto here = chosen == Real(static_cast<double>(j));
      if (!any(here)) continue;
      for (int i = 0; i < rows; ++i) detail::swap_where(here, a_[i][k], a_[i][j]);
      detail::swap_where(here, column_[k], column_[j]);
    }
  }
  SALTUS_FN_COLD void reflect(int k) {
    Real length2 = Real(0.0);
    for (int i = k; i < rows; ++i) length2 = fma(a_[i][k], a_[i][k], length2);
    const Real length = sqrt(length2), head = a_[k][k];
    first_[k] = head + copysign(length, head);
    over_[k] = select(length2 > Real(0.0), Real(1.0) / fma(length, abs(head), length2), Real(0.0));
    a_[k][k] = -copysign(length, head);
    SALTUS_ROLLED for (int j = k + 1; j < columns; ++j) {
      Real part = first_[k] * a_[k][j];
      for (int i = k + 1; i < rows; ++i) part = fma(a_[i][k], a_[i][j], part);
      part = part * over_[k];
      a_[k][j] = fma(-part, first_[k], a_[k][j]);
      for (int i = k + 1; i < rows; ++i) a_[i][j] = fma(-part, a_[i][k], a_[i][j]);
    }
  }
};

}  // namespace saltus
