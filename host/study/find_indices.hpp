// Sensitivity indices of a result file.
#pragma once

#include <string>
#include <vector>

#include "ensemble/indices.hpp"
#include "result/reader.hpp"

namespace saltus::host {

/// Computes indices from the rows of instances, with part of them in memory at a time; or, if the file has no rows,
/// returns the indices in it. `outcomes` are names of variables; without any, finals, reductions and events. Throws
/// `error`: exit_usage if the samples have no suitable design, or there is no such outcome.
sensitivity_indices indices_of(const result_file& f, const std::vector<std::string>& outcomes = {});

}  // namespace saltus::host
