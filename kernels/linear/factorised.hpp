// A factorised matrix of any size. Up to `max_rows_in_lanes` rows, each lane factorises its own matrix, all lanes at once (linear/lu.hpp).
// Beyond that a full width of matrices no longer fits into the cache, and the host's blocked LU factorises one matrix after the other. The
// crossover was measured (docs/numerics.md).
#pragma once

#include "linear/lu.hpp"
#include "linear/system.hpp"

namespace saltus {

inline constexpr int max_rows_in_lanes = 48;

/// For systems without the host's linear algebra.
struct no_algebra {};

/// `Algebra` has factor(n, a, rows) and solve(n, a, rows, b) for column-major matrices of doubles, and factor_complex and
/// solve_complex for pairs of them (abi::dense_algebra).
template <class Number, int n, class Algebra>
struct factorised : lu<Number, n> {
  factorised() = default;  ///< not set
  SALTUS_FN factorised(const matrix<Number, n>& from, const Algebra*) : lu<Number, n>(from) {}
};

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
template <class Number, int n, class Algebra>
requires(n > max_rows_in_lanes && !is_same<Algebra, no_algebra>) struct factorised<Number, n, Algebra> {
  using Real = decltype(magnitude(Number{}));
  static constexpr int lanes = real_traits<Real>::lanes;
  static constexpr bool is_complex = sizeof(Number) == 2 * sizeof(Real);
  static constexpr int doubles = is_complex ? 2 : 1;

  double a[lanes][n * n * doubles];
  int rows[lanes][n];
  const Algebra* host;
  mask_of<Real> singular;

  factorised() = default;  ///< not set
  SALTUS_FN_COLD factorised(const matrix<Number, n>& from, const Algebra* algebra) : host(algebra) {
    unsigned bad = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) get(from[i][j], lane, &a[lane][(j * n + i) * doubles]);
      (is_complex ? host->factor_complex : host->factor)(n, a[lane], rows[lane]);
      for (int k = 0; k < n; ++k) {
        const double* d = &a[lane][(k * n + k) * doubles];
        // a zero or a NaN
        if (!(d[0] * d[0] + (is_complex ? d[1] * d[1] : 0.0) > 0.0)) bad |= 1u << lane;
      }
    }
    singular = mask_of<Real>::from_bits(bad);
  }

  SALTUS_FN_COLD vec<Number, n> solve(vec<Number, n> b) const {
    double one[n * doubles];
    for (int lane = 0; lane < lanes; ++lane) {
      for (int i = 0; i < n; ++i) get(b[i], lane, &one[i * doubles]);
      (is_complex ? host->solve_complex : host->solve)(n, a[lane], rows[lane], one);
      for (int i = 0; i < n; ++i) set(b[i], lane, &one[i * doubles]);
    }
    return b;
  }

 private:
  SALTUS_FN static void get(const Number& x, int lane, double* to) {
    if constexpr (is_complex) {
      to[0] = static_cast<double>(x.re.get(lane));
      to[1] = static_cast<double>(x.im.get(lane));
    } else {
      to[0] = static_cast<double>(x.get(lane));
    }
  }
  SALTUS_FN static void set(Number& x, int lane, const double* from) {
    using T = scalar_of<Real>;
    if constexpr (is_complex) {
      x.re.set(lane, static_cast<T>(from[0]));
      x.im.set(lane, static_cast<T>(from[1]));
    } else {
      x.set(lane, static_cast<T>(from[0]));
    }
  }
};
#endif

template <class Number, int n, class Algebra>
SALTUS_FN factorised<Number, n, Algebra> factorise(const matrix<Number, n>& from, const Algebra* algebra) {
  return {from, algebra};
}

namespace detail {
/// The host's linear algebra, if the system has it.
template <class System>
SALTUS_FN auto algebra_of(const System& system) {
  if constexpr (requires { system.algebra(); }) return system.algebra();
  else return static_cast<const no_algebra*>(nullptr);
}
}  // namespace detail

}  // namespace saltus
