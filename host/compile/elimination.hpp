// Which unknowns of a sparse symmetric matrix are eliminated when, and what of it is filled in: found once from the pattern, for
// all matrices that have it. Knows patterns, and no numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/model.hpp"

namespace saltus::host {

/// L D L' of matrices of one pattern, as kernels/linear/sparse_ldl.hpp has it.
struct elimination_program {
  std::vector<int> place;   ///< of each unknown in the order of elimination
  std::vector<int> start;   ///< [unknowns + 1] where the columns of L begin among its entries
  std::vector<int> row;     ///< of each entry, ascending in its column
  std::vector<int> target;  ///< of each multiply-add: the number it goes to

  int unknowns() const { return static_cast<int>(place.size()); }
  /// The number that the entry of two unknowns is: its place if it is on the diagonal, else behind those an entry of L.
  int number_of(int i, int j) const;
};

/// Eliminates unknowns in the given order. `entries` are those off the diagonal, each once, in any order.
elimination_program eliminate(const std::vector<int>& order, const std::vector<matrix_entry>& entries);

/// An order for [M J'; J 0], the velocities first, then the multipliers: that of least degree, but each multiplier after all of
/// its velocities. Every leading block then is regular where M is positive definite and constraints are independent, so that no
/// pivot is zero: those of velocities are positive, those of multipliers negative.
std::vector<int> order_of_least_degree(int velocities, int constraints, const std::vector<matrix_entry>& mass,
                                       const std::vector<matrix_entry>& jacobian);

/// A direction for each column of J: no row has entries in two columns of one direction (Curtis, Powell, Reid, J. Inst. Math.
/// Appl. 13 (1974) 117).
std::vector<int> colours_of(int velocities, int constraints, const std::vector<matrix_entry>& jacobian);

/// The factorisation of a mechanical system's matrices.
struct mechanical_elimination {
  elimination_program program;
  std::vector<int> colour;  ///< of each velocity
  int colours = 0;
  int velocities = 0, constraints = 0;
  std::size_t entries = 0;    ///< of [M J'; J 0] below its diagonal
  std::size_t filled_in = 0;  ///< how many more L has
  bool chosen = false;        ///< sparse; else the matrices are dense

  long long dense_updates() const;  ///< multiply-adds of a dense factorisation
};

/// Null where the structure of the model is not known.
std::optional<mechanical_elimination> elimination_of(const model& m);

/// The tables that a module has of it; empty where its matrices are dense.
std::string elimination_text(const model& m);

}  // namespace saltus::host
