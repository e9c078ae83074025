// What a module must know to solve equations of any order stage by stage (kernels/form/equation_series.hpp).
#pragma once

#include "structure/analysis.hpp"

namespace saltus::host {

/// The entries of J, and directions by which they are found: for equations with c_i = level, unknowns no two of which are in one of
/// these equations share one.
stage_offsets stages_of(const signature& sigma, const std::vector<int>& c, const std::vector<int>& d);

/// The offsets of a model whose equations can be solved: those of the union of all branches, if they serve all modes, else a set for
/// each mode that they do not serve. Throws std::invalid_argument with a sentence if there are none.
model_offsets offsets_of(const model& m);

/// Of each unknown, the order of the highest derivative in guards and outputs.
std::vector<int> observed_orders(const model& m, const conditions& known);
/// A condition on which Sigma depends, as a module can answer it; throws std::invalid_argument if it cannot.
mode_condition answerable(const model& m, const conditions& known, int number);

/// Gives a model its unknowns and their derivatives, up to those that its offsets ask for, as states.
void add_derivatives(model& m);

/// Gives a model with equations of any order its offsets, and the derivatives x_d1, x_d2, .. of every unknown x among its states; if
/// they cannot be solved, the reason. Other models stay as they are.
void add_values(model& m);

}  // namespace saltus::host
