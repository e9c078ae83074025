// Transversals of a signature: each equation is matched with an unknown of its own.
#pragma once

#include <vector>

#include "structure/signature.hpp"

namespace saltus::host {

struct transversal {
  std::vector<int> column_of;  ///< [size] the unknown of each equation; -1: unmatched
  std::vector<int> row_of;     ///< [size] the equation of each unknown; -1: unmatched
  bool is_complete() const;
};

/// A transversal with the largest number of entries; if it is complete, one with the largest sum of orders. Method:
/// shortest augmenting paths along the existing entries (R. Jonker, A. Volgenant, Computing 38 (1987) 325); each path
/// costs no more than sorting the entries.
transversal highest_value_transversal(const signature& sigma);

/// The part of a system that has no complete transversal: too many equations for the unknowns in them, and too few for others
/// (A. L. Dulmage, N. S. Mendelsohn, Canad. J. Math. 10 (1958) 517).
struct singular_part {
  std::vector<int> surplus_equations,
      surplus_unknowns;                                  ///< more equations than unknowns, by at least one
  std::vector<int> lacking_equations, lacking_unknowns;  ///< more unknowns than equations
};
singular_part singular_part_of(const signature& sigma, const transversal& largest);

}  // namespace saltus::host
