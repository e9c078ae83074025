// Indices of sensitivity of a result file.
#pragma once

#include <string>
#include <vector>

#include "ensemble/indices.hpp"
#include "result/reader.hpp"

namespace saltus::host {

/// From the rows of its instances, a part of them in memory at a time; or, if it has none, those that it has itself. `outcomes`
/// are names of its variables; without any, finals, reductions and events. Throws `error`: exit_usage if the samples
/// have no such design, or there is no such outcome.
sensitivity_indices indices_of(const result_file& f, const std::vector<std::string>& outcomes = {});

}  // namespace saltus::host
