// The columns of results of which a plan's statistics are made. It depends on the plan; ensemble/run_statistics.hpp has the
// numbers.
#pragma once

#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

/// A column of statistics, with the name of its variable in a result file.
struct statistic_column {
  std::string name, unit, about;
  bool is_cost = false;  ///< a counter of the cost of an instance, rather than of its events
};
/// All columns: final states, outputs and discrete variables, t_final, reductions, counters.
std::vector<statistic_column> statistic_columns(const plan& p);
/// The index of a column by name; -1: there is none.
int statistic_column_called(const plan& p, const std::string& name);

}  // namespace saltus::host
