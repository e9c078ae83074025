// Attributes of a result: of each variable, of the run, and of its outcome. They are the same in a file and in memory.
#pragma once

#include <vector>

#include "ensemble/indices.hpp"
#include "ensemble/tally.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Attributes of a variable after the CF conventions: units, long_name, role, and the meanings of its numbers.
std::vector<attribute> attributes_of(const detail::field& f);
/// Attributes of a variable of names.
std::vector<attribute> attributes_of(const detail::name_list& names);
/// Attributes of a run when it begins: the model and the sources, so that the run can be repeated.
std::vector<attribute> attributes_of(const plan& p, const provenance& origin);
/// Attributes of sensitivity indices; lists are of 64-bit integers.
std::vector<attribute> attributes_of(const sensitivity_indices& indices);
/// Attributes of a run that has ended: the numbers of instances by status.
std::vector<attribute> attributes_of(const plan& p, const tally& counts);

}  // namespace saltus::host
