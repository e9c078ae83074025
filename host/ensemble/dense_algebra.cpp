#include <complex>
#include <utility>
#include <vector>

#include <Eigen/LU>

#include "ensemble/settings.hpp"

namespace saltus::host {

namespace {

// Complex numbers arrive as pairs of doubles, the layout of std::complex<double>.
template <class Number>
void factor(int n, double* a, int* rows) {
  using matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<matrix> whole(reinterpret_cast<Number*>(a), n, n);
  const Eigen::PartialPivLU<Eigen::Ref<matrix>> lu(whole);
  // Converts the permutation to a sequence of exchanges; `row_at` and `position_of` follow the rows through them.
  const auto& to = lu.permutationP().indices();  // row i goes to position to[i]
  std::vector<int> row_at(n), position_of(n);
  for (int i = 0; i < n; ++i) row_at[i] = position_of[i] = i;
  std::vector<int> wanted(n);
  for (int i = 0; i < n; ++i) wanted[to[i]] = i;
  for (int k = 0; k < n; ++k) {
    const int from = position_of[wanted[k]];
    rows[k] = from;
    std::swap(row_at[k], row_at[from]);
    position_of[row_at[k]] = k;
    position_of[row_at[from]] = from;
  }
}

template <class Number>
void solve(int n, const double* a, const int* rows, double* b) {
  using matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
  using column = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
  const Eigen::Map<const matrix> lu(reinterpret_cast<const Number*>(a), n, n);
  Eigen::Map<column> x(reinterpret_cast<Number*>(b), n);
  for (int k = 0; k < n; ++k) std::swap(x[k], x[rows[k]]);
  lu.template triangularView<Eigen::UnitLower>().solveInPlace(x);
  lu.template triangularView<Eigen::Upper>().solveInPlace(x);
}

}  // namespace

const abi::dense_algebra dense_algebra = {&factor<double>, &solve<double>, &factor<std::complex<double>>,
                                          &solve<std::complex<double>>};

}  // namespace saltus::host
