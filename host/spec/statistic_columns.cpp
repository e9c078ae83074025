#include "spec/statistic_columns.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "abi/counters.hpp"
#include "spec/read_reductions.hpp"

namespace saltus::host {

std::vector<statistic_column> statistic_columns(const plan& p) {
  std::vector<statistic_column> r;
  for (const std::span<const quantity> list : {std::span(std::as_const(p.model.states)),
                                               std::span(std::as_const(p.model.outputs)), declared_discretes(p.model)})
    for (const quantity& q : list)
      r.push_back({"final_" + q.name, q.unit, (q.about.empty() ? q.name : q.about) + ", at t_final"});
  r.push_back({"t_final", "", "time at which the instance ended"});
  for (const reduction& q : p.reductions) r.push_back({q.name, unit_of(q, p.model), about_reduction(q, p.model)});
  for (const abi::counter_row& counter : abi::counter_table)
    if (counter.in_statistics)
      r.push_back({counter.name, "1", counter.about, counter.name != std::string_view("events")});
  return r;
}

int statistic_column_called(const plan& p, const std::string& name) {
  const auto columns = statistic_columns(p);
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

}  // namespace saltus::host
