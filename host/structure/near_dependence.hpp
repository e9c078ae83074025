// Where the structural analysis fails at a point, det J = 0: which equations and unknowns to look at.
#pragma once

#include <vector>

namespace saltus::host {

/// Equations (rows) that are nearly dependent, and unknowns (columns): those with a part in one singular vector.
struct near_dependence {
  double ratio;  ///< the singular value to the largest one, rows and columns scaled
  std::vector<int> equations, unknowns;
};
/// One for each singular value that is not above `tolerance` times the largest.
/// @param matrix  n x n, row by row
std::vector<near_dependence> near_dependences(int n, const std::vector<double>& matrix, double tolerance = 1e-10);

}  // namespace saltus::host
