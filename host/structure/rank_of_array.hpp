// What the derivative array F, F', .., F^(K) of equations of any order determines, by the ranks of its matrices at consistent points: for
// models whose structural analysis fails (S. L. Campbell, E. Griepentrog, SIAM J. Sci. Comput. 16 (1995) 257: assumptions A1 to A4).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace saltus::host {

/// The array up to F^(most), as coefficients of series in time, [order][equation], and a row for each with its derivatives by
/// the coefficients of the unknowns: of each unknown j those of the orders 0 .. order[j] + most.
struct array_shape {
  std::vector<int> order;    ///< of the highest derivative of each unknown in F
  std::vector<int> highest;  ///< among the values of an instance: not below `order`
  int most;
  int size() const { return static_cast<int>(order.size()); }
};
using array_function =
    std::function<void(const std::vector<double>& x, std::vector<double>& f, std::vector<double>& by)>;

struct array_rank {
  int times = 0;            ///< K: so often the equations must be differentiated
  int rank = 0;             ///< of the derivatives of F', .., F^(K) by what is above the values
  int freedom = 0;          ///< degrees of freedom
  int points = 0;           ///< consistent points at which this was found
  double time_scale = 1.0;  ///< a power of two: coefficients of order m times its m-th power are of one size
  double gap = 0.0;         ///< the largest of the singular values taken for zero, over the least of the others
  std::string why;          ///< it cannot be integrated; empty if it can
};

/// The least K for which the derivatives above the values of an instance follow from these, the constraints are independent and K + 1
/// gives no more of them.
/// @param modes    the array in each mode; all must have the same ranks
/// @param guess    a value for each unknown; their derivatives are looked for from zero
array_rank rank_of_array(const array_shape& shape, const std::vector<array_function>& modes,
                         const std::vector<double>& guess, const std::vector<std::string>& unknowns);

}  // namespace saltus::host
