// The data that a module needs to solve equations of any order stage by stage (kernels/form/equation_series.hpp).
#pragma once

#include "structure/analysis.hpp"

namespace saltus::host {

/// The entries of J, and the directions that find them. For equations with c_i = level, unknowns share a direction if
/// no two of them occur in one of these equations.
stage_offsets stages_of(const signature& sigma, const std::vector<int>& c, const std::vector<int>& d);

/// The offsets of a model whose equations can be solved: those of the union of all branches if they serve all modes,
/// else one set for each mode. Throws std::invalid_argument with a sentence if there are none.
model_offsets offsets_of(const model& m);

/// For each unknown, the order of the highest derivative in guards and outputs.
std::vector<int> observed_orders(const model& m, const conditions& known);
/// A condition on which Sigma depends, in a form that a module can evaluate; throws std::invalid_argument if there is
/// none.
mode_condition answerable(const model& m, const conditions& known, int number);

/// Gives a model its unknowns and their derivatives, up to the orders that its offsets need, as states.
void add_derivatives(model& m);

/// Gives a model with equations of any order its offsets, and adds the derivatives x_d1, x_d2, .. of every unknown x to
/// its states; if the equations cannot be solved, stores the reason. Leaves other models unchanged.
void add_values(model& m);

}  // namespace saltus::host
