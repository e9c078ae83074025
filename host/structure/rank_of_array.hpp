// Finds, from ranks at consistent points, which derivatives the array F, F', .., F^(K) determines, for models whose
// structural analysis fails (S. L. Campbell, E. Griepentrog, SIAM J. Sci. Comput. 16 (1995) 257: assumptions A1 to A4).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace saltus::host {

/// The array up to F^(most), as coefficients of series in time, [order][equation], and one row per element with its
/// derivatives by the coefficients of the unknowns: for unknown j, those of the orders 0 .. order[j] + most.
struct array_shape {
  std::vector<int> order;    ///< highest derivative of each unknown in F
  std::vector<int> highest;  ///< highest derivative of each unknown among the values of an instance; at least `order`
  int most;
  int size() const { return static_cast<int>(order.size()); }
};
using array_function =
    std::function<void(const std::vector<double>& x, std::vector<double>& f, std::vector<double>& by)>;

struct array_rank {
  int times = 0;            ///< K: how often the equations must be differentiated
  int rank = 0;             ///< rank of the derivatives of F', .., F^(K) by the coefficients above the values
  int freedom = 0;          ///< degrees of freedom
  int points = 0;           ///< number of consistent points that were examined
  double time_scale = 1.0;  ///< a power of two: coefficients of order m times its m-th power are of similar size
  double gap = 0.0;         ///< the largest singular value taken for zero, over the smallest of the others
  std::string why;          ///< why the model cannot be integrated; empty if it can
};

/// Finds the least K for which the values of an instance determine all higher derivatives, the constraints are
/// independent, and K + 1 adds no constraint.
/// @param modes    the array in each mode; all must have the same ranks
/// @param guess    a value for each unknown; the search for consistent derivatives begins at zero
array_rank rank_of_array(const array_shape& shape, const std::vector<array_function>& modes,
                         const std::vector<double>& guess, const std::vector<std::string>& unknowns);

}  // namespace saltus::host
