#include "structure/near_dependence.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace saltus::host {

namespace {

/// The indices of large components of a unit vector.
std::vector<int> large_in(const Eigen::VectorXd& x) {
  constexpr double part = 0.05;
  std::vector<int> all;
  for (int i = 0; i < x.size(); ++i)
    if (std::abs(x[i]) > part) all.push_back(i);
  return all;
}

/// Divides rows, then columns, by their largest entries.
void scale(Eigen::MatrixXd& a) {
  for (int i = 0; i < a.rows(); ++i)
    if (const double size = a.row(i).cwiseAbs().maxCoeff(); size > 0) a.row(i) /= size;
  for (int j = 0; j < a.cols(); ++j)
    if (const double size = a.col(j).cwiseAbs().maxCoeff(); size > 0) a.col(j) /= size;
}

}  // namespace

std::vector<near_dependence> near_dependences(int n, const std::vector<double>& matrix, double tolerance) {
  if (n == 0) return {};
  Eigen::MatrixXd a =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(matrix.data(), n, n);
  scale(a);
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const auto& values = svd.singularValues();
  std::vector<near_dependence> all;
  for (int k = 0; k < n; ++k) {
    const double ratio = values[0] > 0 ? values[k] / values[0] : 0.0;
    if (!(ratio > tolerance)) all.push_back({ratio, large_in(svd.matrixU().col(k)), large_in(svd.matrixV().col(k))});
  }
  return all;
}

}  // namespace saltus::host
