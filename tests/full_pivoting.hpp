// Linear equations with a few unknowns, for tests that enumerate all modes of a contact: a solver independent of the code under test.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace saltus::test {

/// Solves a x = b by Gaussian elimination with full pivoting; false if rows depend on each other.
inline bool solve(std::vector<std::vector<double>> a, std::vector<double> b, std::vector<double>& x) {
  const std::size_t n = b.size();
  std::vector<std::size_t> column(n);
  for (std::size_t i = 0; i < n; ++i) column[i] = i;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t r = k, c = k;
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = k; j < n; ++j)
        if (std::fabs(a[i][j]) > std::fabs(a[r][c])) r = i, c = j;
    if (std::fabs(a[r][c]) < 1e-9) return false;
    std::swap(a[k], a[r]), std::swap(b[k], b[r]), std::swap(column[k], column[c]);
    for (auto& row : a) std::swap(row[k], row[c]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  }
  x.resize(n);
  std::vector<double> y(n);
  for (std::size_t k = n; k-- > 0;) {
    y[k] = b[k];
    for (std::size_t j = k + 1; j < n; ++j) y[k] -= a[k][j] * y[j];
    y[k] /= a[k][k];
    x[column[k]] = y[k];
  }
  return true;
}

}  // namespace saltus::test
