// Order of elimination and fill-in of a sparse symmetric matrix: found once from the pattern, for all matrices with
// that pattern. Numbers are not used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/model.hpp"

namespace saltus::host {

/// L D L' of matrices of one pattern, in the layout of kernels/linear/sparse_ldl.hpp.
struct elimination_program {
  std::vector<int> position;  ///< of each unknown in the order of elimination
  std::vector<int> start;     ///< [unknowns + 1] first entry of each column of L
  std::vector<int> row;       ///< row of each entry, ascending in its column
  std::vector<int> target;    ///< number to which each multiply-add goes

  int unknowns() const { return static_cast<int>(position.size()); }
  /// The number that holds the entry of two unknowns: for i = j the unknown's position; entries of L come after the
  /// diagonal.
  int number_of(int i, int j) const;
};

/// Eliminates unknowns in the given order. `entries` are those off the diagonal, each once, in any order.
elimination_program eliminate(const std::vector<int>& order, const std::vector<matrix_entry>& entries);

/// An order for [M J'; J 0], with unknowns numbered velocities first, then multipliers: least degree, but each
/// multiplier after all its velocities. If M is positive definite and the constraints are independent, every leading
/// block is then regular, so that no pivot is zero: those of velocities are positive, those of multipliers negative.
std::vector<int> order_of_least_degree(int velocities, int constraints, const std::vector<matrix_entry>& mass,
                                       const std::vector<matrix_entry>& jacobian);

/// A direction (colour) for each column of J: no row has entries in two columns of one direction (Curtis, Powell, Reid,
/// J. Inst. Math. Appl. 13 (1974) 117).
std::vector<int> colours_of(int velocities, int constraints, const std::vector<matrix_entry>& jacobian);

/// The factorisation of a mechanical system's matrices.
struct mechanical_elimination {
  elimination_program program;
  std::vector<int> colour;  ///< of each velocity
  int colours = 0;
  int velocities = 0, constraints = 0;
  std::size_t entries = 0;    ///< of [M J'; J 0] below its diagonal
  std::size_t filled_in = 0;  ///< number of further entries of L
  bool chosen = false;        ///< true: sparse; false: the matrices are dense

  long long dense_updates() const;  ///< multiply-adds of a dense factorisation
};

/// Null if the structure of the model is unknown.
std::optional<mechanical_elimination> elimination_of(const model& m);

/// The tables of the elimination in a module; empty if its matrices are dense.
std::string elimination_text(const model& m);

}  // namespace saltus::host
