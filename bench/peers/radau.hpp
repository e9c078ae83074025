// A reference solution: Radau IIA with 7 stages (order 13) in long double. A second solution of each step with 5 stages
// (order 9) controls the step size, so the solution is more accurate than its tolerance by several orders of
// magnitude.
//
// E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), sections IV.5 and IV.8. The
// coefficients are computed here as those of collocation: the nodes are the zeros of P_s - P_(s-1) on [0, 1], and a_ij is
// the integral of the j-th Lagrange polynomial from 0 to c_i.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace peers {

using real = long double;

/// Legendre polynomial P_k.
inline real legendre(int k, real x) {
  real before = 1, now = x;
  if (k == 0) return before;
  for (int i = 2; i <= k; ++i) {
    const real next = ((2 * i - 1) * x * now - (i - 1) * before) / i;
    before = now;
    now = next;
  }
  return now;
}

/// The N zeros of f in (-1, 1); any two must be at least 1/500 apart.
template <int N, class F>
std::array<real, N> zeros(F&& f) {
  std::array<real, N> found{};
  int count = 0;
  for (int k = 0; k < 1001 && count < N; ++k) {
    real low = -1 + 2 * real(k) / 1001, high = -1 + 2 * real(k + 1) / 1001;
    if ((f(low) > 0) == (f(high) > 0)) continue;
    for (int i = 0; i < 80; ++i) {
      const real middle = (low + high) / 2;
      ((f(middle) > 0) == (f(low) > 0) ? low : high) = middle;
    }
    found[static_cast<std::size_t>(count++)] = (low + high) / 2;
  }
  return found;
}

template <int S>
struct radau_table {
  std::array<real, S> c{};
  real a[S][S];

  radau_table() {
    const auto inner = zeros<S - 1>([](real x) { return (legendre(S, x) - legendre(S - 1, x)) / (x - 1); });
    for (std::size_t i = 0; i + 1 < S; ++i) c[i] = (inner[i] + 1) / 2;
    c[S - 1] = 1;
    // Gauss quadrature with S nodes integrates a Lagrange polynomial exactly.
    const auto nodes = zeros<S>([](real x) { return legendre(S, x); });
    for (std::size_t i = 0; i < S; ++i)
      for (std::size_t j = 0; j < S; ++j) {
        a[i][j] = 0;
        for (const real node : nodes) {
          const real slope = S * (node * legendre(S, node) - legendre(S - 1, node)) / (node * node - 1);
          real l = 1, x = c[i] * (node + 1) / 2;
          for (std::size_t k = 0; k < S; ++k)
            if (k != j) l *= (x - c[k]) / (c[j] - c[k]);
          a[i][j] += c[i] / ((1 - node * node) * slope * slope) * l;
        }
      }
  }
};

/// LU factorisation with partial pivoting: factors m once, then solves m x = b in place for many b.
template <int N>
struct dense_lu {
  real m[N][N];
  int pivot[N];

  bool factor() {
    for (int k = 0; k < N; ++k) {
      pivot[k] = k;
      for (int i = k + 1; i < N; ++i)
        if (std::abs(m[i][k]) > std::abs(m[pivot[k]][k])) pivot[k] = i;
      if (!(std::abs(m[pivot[k]][k]) > 0)) return false;
      if (pivot[k] != k) std::swap(m[k], m[pivot[k]]);
      for (int i = k + 1; i < N; ++i) {
        const real factor = m[i][k] /= m[k][k];
        if (factor != 0)
          for (int j = k + 1; j < N; ++j) m[i][j] -= factor * m[k][j];
      }
    }
    return true;
  }
  void solve(real* b) const {
    for (int k = 0; k < N; ++k) std::swap(b[k], b[pivot[k]]);
    for (int i = 1; i < N; ++i)
      for (int j = 0; j < i; ++j) b[i] -= m[i][j] * b[j];
    for (int i = N - 1; i >= 0; --i) {
      for (int j = i + 1; j < N; ++j) b[i] -= m[i][j] * b[j];
      b[i] /= m[i][i];
    }
  }
};

template <class Problem>
class radau {
 public:
  static constexpr int n = Problem::n;

  /// Integrates from 0 to t_end; false if a step becomes too small. The error of y_i is measured by |y_i| + small_i.
  bool solve(const double* p, double t_end, real tolerance, const double* small, real* y) {
    double start[n];
    Problem::start(p, start);
    std::copy(start, start + n, y);
    real t = 0, h = 1e-6L;
    for (steps = 0; t < t_end; ++steps) {
      const bool last = t + h >= t_end;
      if (last) h = t_end - t;
      if (!(h > 1e-18L * t_end) || steps > 1'000'000) return false;
      real better[n], worse[n];
      if (!step(seven_, better_, p, h, small, y, better) || !step(five_, worse_, p, h, small, y, worse)) {
        h /= 4;
        continue;
      }
      const real error = distance(better, worse, y, small) / tolerance;
      if (error <= 1) {
        std::copy(better, better + n, y);
        t = last ? real(t_end) : t + h;
      }
      h *= std::clamp(0.8L * std::pow(std::max(error, 1e-12L), -0.1L), 0.2L, 4.0L);
    }
    return true;
  }
  int steps = 0;

 private:
  static real distance(const real* a, const real* b, const real* y, const double* small) {
    real most = 0;
    for (int i = 0; i < n; ++i)
      most = std::max(most, std::abs(a[i] - b[i]) / (std::max(std::abs(y[i]), std::abs(a[i])) + small[i]));
    return std::isfinite(most) ? most : std::numeric_limits<real>::infinity();
  }

  /// One step from y: Newton iteration for z_i = h sum_j a_ij f(y + z_j) with the Jacobian at the start.
  template <int S>
  static bool step(const radau_table<S>& table, dense_lu<S * n>& lu, const double* p, real h, const double* small,
                   const real* y, real* next) {
    real jacobian[n][n] = {};
    Problem::template jacobian<real>(p, y, [&](int row, int column) -> real& { return jacobian[row][column]; });
    for (int i = 0; i < S; ++i)
      for (int j = 0; j < S; ++j)
        for (int row = 0; row < n; ++row)
          for (int column = 0; column < n; ++column)
            lu.m[i * n + row][j * n + column] = (i == j && row == column) - h * table.a[i][j] * jacobian[row][column];
    if (!lu.factor()) return false;

    real z[S * n] = {}, f[S * n], correction[S * n], before = std::numeric_limits<real>::infinity();
    for (int iteration = 0; iteration < 60; ++iteration) {
      for (int i = 0; i < S; ++i) {
        real at[n];
        for (int k = 0; k < n; ++k) at[k] = y[k] + z[i * n + k];
        Problem::template rhs<real>(p, nullptr, 0, at, f + i * n);
      }
      for (int i = 0; i < S; ++i)
        for (int k = 0; k < n; ++k) {
          real sum = -z[i * n + k];
          for (int j = 0; j < S; ++j) sum += h * table.a[i][j] * f[j * n + k];
          correction[i * n + k] = sum;
        }
      lu.solve(correction);
      real size = 0;
      for (int i = 0; i < S * n; ++i) {
        z[i] += correction[i];
        size = std::max(size, std::abs(correction[i]) / (std::abs(y[i % n]) + small[i % n]));
      }
      if (!std::isfinite(size) || size > 1e3L) return false;
      // Converged to rounding: the increments no longer shrink, or are as small as rounding.
      if (size < 1e-18L || (size < 1e-15L && size >= before)) {
        for (int k = 0; k < n; ++k) next[k] = y[k] + z[(S - 1) * n + k];
        return true;
      }
      if (iteration > 5 && size > before) return false;
      before = size;
    }
    return false;
  }

  radau_table<7> seven_;
  radau_table<5> five_;
  dense_lu<7 * n> better_;
  dense_lu<5 * n> worse_;
};

}  // namespace peers
