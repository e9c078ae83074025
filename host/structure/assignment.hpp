// Transversals of a signature: to each equation an unknown of its own.
#pragma once

#include <vector>

#include "structure/signature.hpp"

namespace saltus::host {

struct transversal {
  std::vector<int> column_of;  ///< [size] the unknown of each equation; -1: none is left for it
  std::vector<int> row_of;     ///< [size] the equation of each unknown; -1: it is in none that is left
  bool is_complete() const;
};

/// A transversal of as many entries as can be; where it is complete, one with the largest sum of orders. By shortest augmenting
/// paths, as R. Jonker and A. Volgenant have them (Computing 38 (1987) 325), along the entries that there are: each
/// costs no more than sorting the entries.
transversal highest_value_transversal(const signature& sigma);

/// The part of a system that has no complete transversal: too many equations for the unknowns in them, and too few for others
/// (A. L. Dulmage, N. S. Mendelsohn, Canad. J. Math. 10 (1958) 517).
struct singular_part {
  std::vector<int> surplus_equations,
      surplus_unknowns;  ///< more equations than unknowns: one equation too many, or more
  std::vector<int> lacking_equations, lacking_unknowns;  ///< more unknowns than equations
};
singular_part singular_part_of(const signature& sigma, const transversal& largest);

}  // namespace saltus::host
