// Structural analysis of differential-algebraic equations of any order (J. D. Pryce, A simple structural analysis method for DAEs,
// BIT 41 (2001) 364): how often each equation must be differentiated until the highest derivatives are determined.
//
//     d_j - c_i >= s_ij, with equality on a transversal of the largest sum; the smallest such c_i, d_j >= 0
//     J_ij = df_i/dx_j^(s_ij) where d_j - c_i = s_ij, else 0
//
// The analysis holds at a point where det J is not zero. There it is the same for f_i^(c_i) and x_j^(d_j) and any
// transversal.
#pragma once

#include <vector>

#include "structure/assignment.hpp"
#include "structure/signature.hpp"

namespace saltus::host {

/// Equations and as many unknowns; the equations determine the unknowns once those of earlier blocks are known.
struct block {
  std::vector<int> equations, unknowns;
};

struct structural_analysis {
  transversal values;
  singular_part singular;     ///< if `values` is not complete; all other members are then empty
  std::vector<int> c, d;      ///< offsets of equations and unknowns
  int index = 0;              ///< structural index: max c_i, plus 1 if some d_j is 0
  int freedom = 0;            ///< degrees of freedom, sum d_j - sum c_i: the number of initial values that are free
  std::vector<block> blocks;  ///< of J's pattern, in the order of solution: block triangular form
  bool is_sound() const { return values.is_complete(); }
};
structural_analysis analyse(const signature& sigma);

/// Do these offsets also serve this system: d_j - c_i >= s_ij, with equality on a transversal?
bool serves(const std::vector<int>& c, const std::vector<int>& d, const signature& sigma);

/// One choice of answers to conditions.
struct structural_mode {
  answers given;
  signature sigma;
  structural_analysis analysis;
  std::vector<int> nonlinear;
  bool is_served = false;  ///< by the offsets of the union
};

/// The structure of a model: that of the union of all branches, whose offsets serve every mode with is_served; and that
/// of each mode with a Sigma of its own.
struct model_structure {
  signature sigma;
  structural_analysis analysis;
  std::vector<int> nonlinear;  ///< equations that are nonlinear in the highest derivatives; none: quasilinear
  conditions known;
  std::vector<structural_mode> modes;  ///< empty: Sigma is the same in all modes
  bool all_modes = true;  ///< false: too many conditions; each mode then differs in one answer from the declared ones
};
model_structure structure_of(const model& m);

}  // namespace saltus::host
