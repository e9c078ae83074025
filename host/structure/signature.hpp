// Sigma, the signature of a system of equations 0 = f_i(t, x, x', x'', ...): the highest derivative of each unknown in
// each equation (J. D. Pryce, BIT 41 (2001) 364). Kept by rows, since large systems are sparse.
#pragma once

#include <string>
#include <vector>

#include "spec/model.hpp"

namespace saltus::host {

/// s_ij = `order` of the highest derivative of unknown j = `column` in an equation.
struct signature_entry {
  int column, order;
  bool operator==(const signature_entry&) const = default;
};

/// A row for each equation, its entries in the order of their columns; a missing entry means s_ij = minus infinity. The
/// system has as many unknowns as equations.
struct signature {
  std::vector<std::vector<signature_entry>> rows;
  int size() const { return static_cast<int>(rows.size()); }
  bool operator==(const signature&) const = default;
};

/// Answers to conditions, by their number in a `conditions`: 1 true, 0 false, -1 unknown.
using answers = std::vector<signed char>;

/// The comparisons in the equations of a model on which Sigma depends: the branches of their selections have different
/// orders. Equal comparisons of a discrete variable, of a guard's sign, or of the same expression count as one.
struct conditions {
  std::vector<int> number_of;      ///< [nodes of the record] the condition that a comparison belongs to; -1: none
  std::vector<std::string> texts;  ///< "taut is on", "above slack", "a condition in torque_1"
  answers declared;                ///< answers at the declared values
  int count() const { return static_cast<int>(texts.size()); }
};
conditions conditions_of(const model& m);

/// Sigma. A selection whose condition has no answer contributes both branches: the union of entries, with the larger
/// s_ij.
/// @param given  [known.count()], or empty: no answers
signature signature_of(const equation_record& record, const conditions& known, const answers& given = {});

/// The equations i with c_i = 0 that are not jointly linear in the x_j^(d_j). None: the system is quasilinear.
std::vector<int> nonlinear_equations(const equation_record& record, const std::vector<int>& c,
                                     const std::vector<int>& d, const conditions& known, const answers& given = {});

}  // namespace saltus::host
