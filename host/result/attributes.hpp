// What a result says beside its numbers: of each variable, of the run, of how it ended. The same in a file and in memory.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ensemble/indices.hpp"
#include "ensemble/statistics.hpp"
#include "ensemble/tally.hpp"
#include "result/provenance.hpp"
#include "result/schema.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

struct attribute {
  std::string name;
  /// Lists have the type of their variable.
  std::variant<std::string, double, long long, unsigned long long, std::vector<int>, std::vector<long long>> value;
};

/// Of a variable: units, long_name, role, and what its numbers mean, as the CF conventions have it.
std::vector<attribute> attributes_of(const detail::field& f);
/// Of a variable of names.
std::vector<attribute> attributes_of(const detail::name_list& names);
/// Of a variable of statistics, with them: of the counts of a histogram, its ends and what lies beyond them; of quantiles at sample
/// times, how exact they are.
std::vector<attribute> attributes_of_final(const detail::field& f, const plan& p, const statistics& all);
/// Of a run when it begins: the model, and where all of it comes from, so that it can be made again.
std::vector<attribute> attributes_of(const plan& p, const provenance& origin);
/// Of indices of sensitivity that have been computed; lists are of 64-bit integers.
std::vector<attribute> attributes_of(const sensitivity_indices& indices);
/// Of a run that has ended: how many instances did how.
std::vector<attribute> attributes_of(const plan& p, const tally& counts);

}  // namespace saltus::host
