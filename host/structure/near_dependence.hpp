// If the structural analysis fails at a point (det J = 0), this finds the equations and unknowns to look at.
#pragma once

#include <vector>

namespace saltus::host {

/// Nearly dependent equations (rows) and unknowns (columns): those with a large component in one singular vector.
struct near_dependence {
  double ratio;  ///< the singular value over the largest one, after scaling of rows and columns
  std::vector<int> equations, unknowns;
};
/// Returns one element for each singular value that is at most `tolerance` times the largest.
/// @param matrix  n x n, row by row
std::vector<near_dependence> near_dependences(int n, const std::vector<double>& matrix, double tolerance = 1e-10);

}  // namespace saltus::host
