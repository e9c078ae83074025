// Sigma, the signature of a system of equations 0 = f_i(t, x, x', x'', ...): which derivative of which unknown is the highest in which
// equation (J. D. Pryce, BIT 41 (2001) 364). Kept by rows, since large systems are sparse.
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

/// A row for each equation, its entries in the order of their columns; where there is none, s_ij is minus infinity. As many
/// unknowns as equations.
struct signature {
  std::vector<std::vector<signature_entry>> rows;
  int size() const { return static_cast<int>(rows.size()); }
  bool operator==(const signature&) const = default;
};

/// Answers of conditions, by their numbers in a `conditions`: 1 true, 0 false, -1 either.
using answers = std::vector<signed char>;

/// The comparisons in the equations of a model on which Sigma depends: the branches of their selections have not the same orders.
/// Equal comparisons of a discrete variable, of a guard's sign, or of the same expression are one.
struct conditions {
  std::vector<int> number_of;      ///< [nodes of the record] which of them a comparison is; -1 if none
  std::vector<std::string> texts;  ///< "taut is on", "above slack", "a condition in torque_1"
  answers declared;                ///< what they are at the declared values
  int count() const { return static_cast<int>(texts.size()); }
};
conditions conditions_of(const model& m);

/// Sigma, as both branches of selections give it whose conditions have no answer: the union of them, s_ij their largest.
/// @param given  [known.count()], or empty: no answers
signature signature_of(const equation_record& record, const conditions& known, const answers& given = {});

/// The equations i with c_i = 0 in which the x_j^(d_j) do not occur jointly linearly. None: the system is quasilinear.
std::vector<int> nonlinear_equations(const equation_record& record, const std::vector<int>& c,
                                     const std::vector<int>& d, const conditions& known, const answers& given = {});

}  // namespace saltus::host
