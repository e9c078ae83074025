// Which columns of results a plan's statistics are made of. Knows the plan; what the numbers are, ensemble/statistics.hpp.
#pragma once

#include <string>
#include <vector>

#include "spec/plan.hpp"

namespace saltus::host {

/// A column that statistics are made of, called as its variable in a result file.
struct statistic_column {
  std::string name, unit, about;
  bool is_cost = false;  ///< a counter that says what an instance has cost, rather than what happened in it
};
/// All of them: final states, outputs and discrete variables, t_final, reductions, counters.
std::vector<statistic_column> statistic_columns(const plan& p);
/// The index of a column by its name; -1: there is none.
int statistic_column_called(const plan& p, const std::string& name);

}  // namespace saltus::host
